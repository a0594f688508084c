"""An event loop of its own for the library that verifies: a notebook runs one already, and two do not nest."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def allow_own_event_loop(function: Callable[P, T]) -> Callable[P, T]:
    """The function, called in a thread of its own where this one already runs an event loop."""

    @functools.wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        if not _loop_runs():
            return function(*arguments, **named)
        context = contextvars.copy_context()  # the language of the messages
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: context.run(function, *arguments, **named)).result()

    return call


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
