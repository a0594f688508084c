"""Clock and chance that repeat: what a recording process fixes before it runs any command.

Knows the standard library and the packages whose chance does not come from it. Ignores celosia. Nothing here is undone:
it is for a process that records and ends.
"""

from __future__ import annotations

import hashlib
import os
import random
import threading
from datetime import UTC, datetime
from typing import Any

import duckdb
import numpy as np
import time_machine
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NOW = datetime(2026, 11, 16, 15, 30, tzinfo=UTC)


class Stream:
    """Bytes that look random and depend on a name alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.restart("")

    def restart(self, name: str) -> None:
        """Begin the bytes of this name, so that one command does not move those of the next."""
        self._name, self._count = name, 0

    def draw(self, size: int) -> bytes:
        """The next so many bytes, as `os.urandom` gives them."""
        with self._lock:
            start, self._count = self._count, self._count + 1
        return hashlib.shake_256(f"{self._name}\0{start}".encode()).digest(size)


def fix_chance() -> Stream:
    """Make every source of chance draw from one stream: os, secrets, uuid4, random, numpy and new keys."""
    stream = Stream()
    os.urandom = stream.draw
    random._urandom = stream.draw  # type: ignore[attr-defined]  # behind SystemRandom, secrets and numpy's seeds
    random.seed(0)
    np.random.seed(0)
    Ed25519PrivateKey.generate = staticmethod(  # type: ignore[method-assign]
        lambda: Ed25519PrivateKey.from_private_bytes(stream.draw(32))
    )
    return stream


def use_one_thread() -> None:
    """Make every DuckDB use one thread: which of several ends first decides the order of rows nobody ordered."""
    connect = duckdb.connect

    def connect_alone(*args: Any, config: dict[str, Any] | None = None, **kwargs: Any) -> duckdb.DuckDBPyConnection:
        return connect(*args, config={**(config or {}), "threads": 1}, **kwargs)

    duckdb.connect = connect_alone


def stop_clock() -> None:
    """Hold date and time at one moment; durations go on, and nothing recorded holds one."""
    time_machine.travel(NOW, tick=False).start()
