"""How a long operation reports its progress: the key of a stage and a share 0..1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from celosia.kernels import is_warm, warm_up

Progress = Callable[[str, float], None] | None
ShareProgress = Callable[[float], None]
CountProgress = Callable[[int, int], None]


def ignore_share(share: float) -> None:
    """Progress that nobody watches."""


def stage_progress(report: Progress, key: str) -> ShareProgress:
    """What reports the share of one stage that is done; it is silent where nobody watches."""
    return ignore_share if report is None else partial(report, key)


def count_progress(report: Progress, key: str) -> CountProgress:
    """The same for a stage that counts how many of how many are done."""
    progress = stage_progress(report, key)
    return lambda done, total: progress(done / max(total, 1))


def are_kernels_compiled() -> bool:
    """Whether the compiled loops are there already; the first time takes some seconds."""
    return is_warm()


def compile_kernels(report: Progress = None) -> None:
    """Compile what the search needs if this was never done on this machine."""
    if not is_warm():
        warm_up(count_progress(report, "compile"))
