"""Reports made from a frame remember its library, so that `to_frame` gives the same.

Knows which library a frame is of. Ignores what is asked of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from celosia.frames import frame_kind
from celosia.model.reports.report import Report

P = ParamSpec("P")
R = TypeVar("R", bound=Report)


def remember_frame_kind(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose report remembers the kind of the first frame it was given."""

    @wraps(function)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        kinds = (frame_kind(value) for value in (*args, *kwargs.values()))
        return function(*args, **kwargs).of_kind(next((kind for kind in kinds if kind), None))

    return answer
