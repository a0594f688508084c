"""Asynchronous work in a thread of its own: the browser's loop may live in the test's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Do it, and give its value or raise what it raised."""
    collected: list[Any] = []

    def body() -> None:
        try:
            collected.append(asyncio.run(work))
        except BaseException as fault:  # noqa: BLE001 - handed to the caller's thread
            collected.append(fault)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if isinstance(collected[0], BaseException):
        raise collected[0]
    return collected[0]
