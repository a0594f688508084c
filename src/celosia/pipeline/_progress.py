"""How long work says how far it is: a stage's key and a share 0..1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from celosia.kernels import is_warm, warm_up

Progress = Callable[[str, float], None] | None


def kernels_ready() -> bool:
    """Whether the compiled loops are there already; the first time takes some seconds."""
    return is_warm()


def ready_kernels(report: Progress = None) -> None:
    """Compile what the search needs if this was never done on this machine."""
    if not is_warm():
        told = stage(report, "compile")
        warm_up(None if told is None else lambda done, total: told(done / total))


def stage(report: Progress, key: str) -> Callable[[float], None] | None:
    """The progress of one stage; None where nobody watches."""
    return None if report is None else partial(report, key)
