"""Runs the cases of a bench: jobs in processes of their own, round after round, with the memory of all they start.

Knows processes and folders. Ignores what is measured, history and pages. Memory is that of the job's process and all
below it: exact for the process alone, looked at four times a second where it starts others (pages they share are then
counted once for each).
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import psutil  # type: ignore[import-untyped]

from bench.frame import Bench, Case, Job, Measured, Round, Scale, Taken, disagreement, measured, rounds_for

REPOSITORY = Path(__file__).resolve().parents[1]
EVERY = 0.25  # seconds between two looks at the memory; a look costs milliseconds of processor
Say = Callable[[str], None]
Doubtful = Callable[[Measured], bool]


class JobFailed(Exception):
    """A job ended badly; the sentence says how."""


class JobSkipped(Exception):
    """A job cannot run here; the sentence says why."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Rounds and figures of a case, or why there are none."""

    case: Case
    rounds: tuple[Round, ...] = ()
    figures: tuple[Measured, ...] = ()
    failed: str = ""


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The cases of a bench, or why it could not even say them."""

    name: str
    title: str
    cases: tuple[CaseResult, ...] = ()
    failed: str = ""

    @property
    def figures(self) -> tuple[Measured, ...]:
        """All figures in order."""
        return tuple(figure for case in self.cases for figure in case.figures)

    @property
    def failures(self) -> tuple[str, ...]:
        """What went wrong, one sentence each."""
        own = (self.failed,) if self.failed else ()
        return own + tuple(f"{case.case.name}: {case.failed}" for case in self.cases if case.failed)


@dataclass(slots=True)
class _Watch:
    """The highest memory of a process with all below it, looked at from outside while it works."""

    pid: int
    highest: int = 0
    family: bool = False  # whether it ever had children
    ended: threading.Event = field(default_factory=threading.Event)

    def begin(self) -> None:
        """Forget what preparing needed."""
        self.highest = 0

    def look_until_ended(self) -> None:
        """Look now and then."""
        while not self.ended.wait(EVERY):
            below = _descendants(self.pid)
            self.family = self.family or bool(below)
            if below:
                self.highest = max(self.highest, sum(_resident(pid) for pid in (self.pid, *below)))


def run_bench(bench: Bench, scale: Scale, repeats: int | None, doubtful: Doubtful, say: Say) -> BenchResult:
    """Every case; a case that fails leaves the others alone."""
    found = []
    for case in bench.cases(scale):
        say(f"  {case.name}")
        found.append(run_case(bench.name, case, repeats, doubtful, say))
    return BenchResult(bench.name, bench.title, tuple(found))


def run_case(bench: str, case: Case, repeats: int | None, doubtful: Doubtful, say: Say) -> CaseResult:
    """Rounds over data made once. Figures that look worse than before get as many rounds again before they count."""
    missing: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="celosia-bench-") as folder:
        try:
            prepared = case.prepare is None or _prepared(case.prepare, Path(folder), case, missing)
            if not prepared:
                return CaseResult(case, (), _figures(bench, case, (), missing))
            rounds = [_round(case, Path(folder), missing, say)]
            wanted = repeats or case.repeats or rounds_for(sum(taken.seconds for taken in rounds[0].values()))
            rounds += [_round(case, Path(folder), missing, say) for _ in range(wanted - 1)]
            figures = _figures(bench, case, tuple(rounds), missing)
            if repeats is None and any(doubtful(figure) for figure in figures):
                say("    looks worse than before: measured again")
                rounds += [_round(case, Path(folder), missing, say) for _ in range(wanted)]
                figures = _figures(bench, case, tuple(rounds), missing)
        except JobFailed as why:
            return CaseResult(case, (), (), str(why))
    wrong = "; ".join(filter(None, (disagreement(same, rounds) for same in case.same)))
    return CaseResult(case, tuple(rounds), figures, wrong)


def run_job(job: Job, folder: Path) -> Taken:
    """One job, alone in its process; starting Python and preparing are not counted."""
    order = {
        "module": job.function.__module__, "function": job.function.__qualname__, "folder": str(folder),
        "arguments": dict(job.arguments), "clock": job.clock, "best_of": job.best_of,
    }  # fmt: skip
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        answer, late, watch = _obeyed(order, job.timeout, errors)
        if late:
            raise JobFailed(f"{job.name} did not end within {job.timeout:g} s")
        if answer is None:
            raise JobFailed(f"{job.name}: {_last_line(errors, folder)}")
    if "skipped" in answer:
        raise JobSkipped(answer["skipped"])
    peak = max(answer["peak"], watch.highest) if watch.family else answer["peak"]
    return Taken(answer["seconds"], peak, answer["facts"], answer["at_least"])


def _obeyed(order: Mapping[str, Any], timeout: float, errors: TextIO) -> tuple[dict[str, Any] | None, bool, _Watch]:
    """The worker's answer if it ended well, whether it was stopped, and its memory."""
    command = [sys.executable, "-m", "bench.worker", json.dumps(order)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=REPOSITORY)
    watch, late, answer = _Watch(process.pid), threading.Event(), None
    alarm = threading.Timer(timeout, _give_up, (process.pid, late))
    looking = threading.Thread(target=watch.look_until_ended, daemon=True)
    alarm.start()
    looking.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "begin\n":
                watch.begin()
            else:
                answer = json.loads(line)
        ended_well = process.wait() == 0
    finally:
        alarm.cancel()
        watch.ended.set()
        looking.join()
        if process.poll() is None:  # interrupted from the keyboard
            _stop(process.pid)
    return (answer if ended_well else None), late.is_set(), watch


def _prepared(job: Job, folder: Path, case: Case, missing: dict[str, str]) -> bool:
    try:
        run_job(job, folder)
    except JobSkipped as why:
        missing.update(dict.fromkeys((job.name for job in case.jobs), str(why)))
        return False
    return True


def _round(case: Case, folder: Path, missing: dict[str, str], say: Say) -> Round:
    found = {}
    for job in case.jobs:
        if job.name in missing:
            continue
        try:
            found[job.name] = taken = run_job(job, folder)
        except JobSkipped as why:
            missing[job.name] = str(why)
        else:
            say(f"    {job.name:24} {taken.seconds:9.3f} s {taken.peak / 2**20:9,.0f} MB")
    return found


def _figures(bench: str, case: Case, rounds: tuple[Round, ...], missing: Mapping[str, str]) -> tuple[Measured, ...]:
    return tuple(measured(bench, case, figure, rounds, missing) for figure in case.figures)


def _last_line(errors: TextIO, folder: Path) -> str:
    """The last thing the job said, without the folders of this machine."""
    errors.seek(0)
    lines = [line.strip() for line in errors if line.strip()]
    text = lines[-1] if lines else "ended without a word"
    for place in (str(folder), str(REPOSITORY), str(Path.home()), sys.prefix):
        text = text.replace(place, "…")
    return text[:300]


def _descendants(pid: int) -> list[int]:
    """All processes below."""
    with contextlib.suppress(psutil.Error):
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    return []


def _resident(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def _give_up(pid: int, late: threading.Event) -> None:
    late.set()
    _stop(pid)


def _stop(pid: int) -> None:
    """End a process that we started, with all below it."""
    for one in (*_descendants(pid), pid):
        with contextlib.suppress(psutil.Error):
            psutil.Process(one).kill()
