"""How a long operation reports its progress: the key of a stage and a share 0..1."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TextIO

from celosia import messages
from celosia.kernels import is_warm, warm_up

Progress = Callable[[str, float], None] | None
ShareProgress = Callable[[float], None]
CountProgress = Callable[[int, int], None]

_BAR = 30  # signs of a full bar
_LINE = 100
_everywhere: Progress = None


def ignore_share(share: float) -> None:
    """Progress that nobody watches."""


def show_progress(on: bool = True) -> None:
    """Show a bar on stderr, in a terminal or a notebook, for every long call from now on; False stops it."""
    global _everywhere
    _everywhere = ProgressLine(sys.stderr) if on else None


def stage_progress(report: Progress, key: str) -> ShareProgress:
    """What reports the share of one stage that is done; it is silent where nobody watches."""
    watcher = report or _everywhere
    return ignore_share if watcher is None else partial(watcher, key)


class ProgressLine:
    """One line that is written over, with the stage in words and a bar; short stages are not shown."""

    def __init__(self, stream: TextIO, patience: float = 0.5):
        self._stream, self._patience = stream, patience
        self._stage, self._start, self._shown = "", 0.0, -1

    def __call__(self, stage: str, share: float) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self._clear()
            self._stage, self._start = stage, now
        percent = int(100 * min(max(share, 0.0), 1.0))
        if percent >= 100:
            self._clear()
            self._stage = ""
        elif percent != self._shown and now - self._start >= self._patience:
            self._write(percent)

    def _write(self, percent: int) -> None:
        full = percent * _BAR // 100
        words = messages.text(f"cli.stage.{self._stage}")
        self._stream.write(f"\r{words} {'█' * full}{'░' * (_BAR - full)} {percent} % ")
        self._stream.flush()
        self._shown = percent

    def _clear(self) -> None:
        if self._shown >= 0:
            self._stream.write("\r" + " " * _LINE + "\r")
            self._stream.flush()
        self._shown = -1


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
