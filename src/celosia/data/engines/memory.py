"""How much memory the work may take, and how many combinations fit in it.

Knows what the machine has, or the container this process was put in. Ignores what is counted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from celosia.system.memory import machine_memory

_SHARE = (6, 10)  # of the machine, where nobody says: others work there too
_UNKNOWN = 4 * 10**9  # a system that does not say
_CONTAINER = Path("/sys/fs/cgroup/memory.max")
_FIXED, _EACH = 32, 40  # bytes of a combination: rows and place, then text, code and a share of sorting per column
_PAIR = 128  # bytes of a (combination, person) pair while it is searched, as measured with 20 million of them
_budget: ContextVar[int | None] = ContextVar("budget", default=None)


@contextlib.contextmanager
def memory_budget(memory: int) -> Iterator[None]:
    """Limit the memory of all readers called within the block to so many bytes."""
    token = _budget.set(memory)
    try:
        yield
    finally:
        _budget.reset(token)


def usable_memory() -> int:
    """Bytes the work may take: what `memory_budget` set, or a share of the memory of the machine or container."""
    if (budget := _budget.get()) is not None:
        return budget
    memory = machine_memory() or _UNKNOWN
    return min(memory, _container_memory() or memory) * _SHARE[0] // _SHARE[1]


def _container_memory() -> int | None:
    try:
        text = _CONTAINER.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.isdigit() else None


def most_tuples(memory: int, columns: int) -> int:
    """Combinations of so many columns that half of the memory holds; the other half is for the search."""
    return max(1, memory // 2 // (_FIXED + _EACH * columns))


def most_pairs(memory: int) -> int:
    """Pairs of a combination and a person that two thirds hold: the engine has given its part back by the search."""
    return max(1, memory * 2 // 3 // _PAIR)
