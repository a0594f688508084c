"""What stands in place of a value that cannot be read: a default, or the default with the sentence that says why.

Knows our own errors. Ignores what is read; any other exception is a fault and passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from celosia.errors import CelosiaError

T = TypeVar("T")
D = TypeVar("D")


def value_or(default: D, read: Callable[[], T]) -> T | D:
    """The value that `read` returns, or the default where it raises one of our errors."""
    return value_or_reason(default, read)[0]


def value_or_reason(default: D, read: Callable[[], T]) -> tuple[T | D, str]:
    """The value that `read` returns and no reason, or the default and the sentence of our error that it raised."""
    try:
        return read(), ""
    except CelosiaError as error:
        return default, str(error)
