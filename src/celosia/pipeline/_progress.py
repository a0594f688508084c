"""How long work says how far it is: a stage's key and a share 0..1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

Progress = Callable[[str, float], None] | None


def stage(report: Progress, key: str) -> Callable[[float], None] | None:
    """The progress of one stage; None where nobody watches."""
    return None if report is None else partial(report, key)
