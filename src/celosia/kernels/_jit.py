"""The only module that imports numba: every kernel is declared with `kernel`.

No fast-math and no parallel reductions: the same arrays give the same bits on every run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from celosia.kernels._cache import cache_folder

_folder = cache_folder()
if _folder is not None and "numba" not in sys.modules:
    os.environ["NUMBA_CACHE_DIR"] = str(_folder)

import numba  # noqa: E402  (the cache folder is chosen first)
from numba import types  # noqa: E402

__all__ = ["KERNELS", "compilations", "inline", "kernel", "types"]

KERNELS: list[Any] = []


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first call, without the interpreter lock; the result is cached in the private folder."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_folder or "")
    compiled = numba.njit(cache=_folder is not None, nogil=True)(function)
    numba.config.CACHE_DIR = before
    KERNELS.append(compiled)
    return compiled


def inline(function: Callable[..., Any]) -> Any:
    """A small helper compiled into the kernels that call it."""
    return numba.njit(inline="always")(function)


def compilations() -> int:
    """How many times this process compiled a kernel that it did not find in the cache."""
    return sum(sum(compiled.stats.cache_misses.values()) for compiled in KERNELS)
