"""What a bench declares, and the arithmetic of its figures.

A bench is a list of cases; a case has its data, its jobs and its figures. A figure is a ratio within one run: what a
job of ours took, divided by what another job took on the same data (a plain copy, a naive version, a peer) or by a
fixed amount. Less is better, always. Knows declarations, medians and slopes. Ignores processes, files and pages.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

SECONDS, PEAK = "seconds", "peak"
ROUNDS = ((60.0, 3), (300.0, 2), (math.inf, 1))  # seconds of the first round, rounds in all


class Skip(Exception):
    """Something the bench needs is not here; its figures are reported as not measured, and nothing failed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a piece of work says of itself: facts, and its own seconds where our clock would not be fair."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    at_least: bool = False  # it was stopped: the seconds are a lower bound


Facts = Mapping[str, Any]
# What is timed. It may give facts, or a way to make them once the clock has stopped.
Work = Callable[[], Outcome | Facts | Callable[[], Facts] | None]


@dataclass(frozen=True, slots=True)
class Job:
    """Work in a process of its own: `function(folder, **arguments)` prepares, what it returns is timed."""

    name: str
    function: Callable[..., Work]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""  # for readers, when the name does not say it
    clock: Literal["wall", "processor"] = "wall"
    best_of: int = 1  # runs inside the process, of which the shortest counts
    timeout: float = 7200.0

    @property
    def title(self) -> str:
        """How the page calls it."""
        return self.words or self.name


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed amount to compare with: seconds, bytes or a fact's unit."""

    amount: float
    words: str


@dataclass(frozen=True, slots=True)
class Figure:
    """Amounts of `what` added up, divided by those of `against`; the goal is the largest ratio that reaches it.

    Both name jobs, or facts of jobs as `job:fact`; `of` is the unit, or a numeric fact of every job named.
    """

    name: str
    what: tuple[str, ...]
    against: tuple[str, ...] | Fixed
    goal: float | None = None
    of: str = SECONDS
    series: str = ""  # figures of one series and several `rows` make a growth curve
    rows: int = 0

    @property
    def others(self) -> tuple[str, ...]:
        """What it is compared with, where that was measured too."""
        return () if isinstance(self.against, Fixed) else self.against

    @property
    def compared(self) -> bool:
        """Whether it may be held against earlier runs: seconds against fixed seconds depend on the machine."""
        return self.of != SECONDS or not isinstance(self.against, Fixed)


@dataclass(frozen=True, slots=True)
class Same:
    """A fact that these jobs must agree on."""

    fact: str
    jobs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One setting: jobs in order, round after round, over data made once."""

    name: str
    jobs: tuple[Job, ...]
    figures: tuple[Figure, ...]
    prepare: Job | None = None
    same: tuple[Same, ...] = ()
    repeats: int | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """How large: as declared, small for trying, or the rows that were asked for."""

    small: bool = False
    asked: tuple[int, ...] = ()

    def rows(self, full: Sequence[int], small: Sequence[int]) -> tuple[int, ...]:
        """The numbers of rows of a bench."""
        return self.asked or tuple(small if self.small else full)


@dataclass(frozen=True, slots=True)
class Bench:
    """A name, what it is about, and its cases for a scale."""

    name: str
    title: str
    cases: Callable[[Scale], Iterable[Case]]


@dataclass(frozen=True, slots=True)
class Taken:
    """What one job took in one round."""

    seconds: float
    peak: int  # bytes
    facts: Mapping[str, Any] = field(default_factory=dict)
    at_least: bool = False

    def amount(self, of: str) -> float:
        """Seconds, bytes or a numeric fact."""
        return {SECONDS: self.seconds, PEAK: float(self.peak)}[of] if of in (SECONDS, PEAK) else float(self.facts[of])


Round = Mapping[str, Taken]


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure of a run: a ratio per round, and the amounts it was made of."""

    bench: str
    case: str
    figure: Figure
    ratios: tuple[float, ...] = ()
    ours: float = 0.0  # median amount
    theirs: float = 0.0
    peak: int = 0  # bytes, the highest of our jobs
    their_peak: int = 0
    bound: bool = False  # the other side was stopped: the true ratio is smaller
    reason: str = ""  # why it was not measured

    @property
    def id(self) -> str:
        """The name it keeps from run to run."""
        return f"{self.bench}/{self.case}/{self.figure.name}"

    @property
    def median(self) -> float:
        """The middle ratio."""
        return statistics.median(self.ratios)

    @property
    def reached(self) -> bool | None:
        """Whether the goal was reached, None without goal or measurement."""
        if not self.ratios or self.figure.goal is None:
            return None
        return self.median <= self.figure.goal


def rounds_for(first: float) -> int:
    """How often to repeat when the first round took so many seconds."""
    return next(rounds for limit, rounds in ROUNDS if first <= limit)


def measured(bench: str, case: Case, figure: Figure, rounds: Sequence[Round], missing: Mapping[str, str]) -> Measured:
    """One figure out of the rounds; `missing` says why a job was skipped."""
    for job in map(job_of, (*figure.what, *figure.others)):
        if job in missing:
            return Measured(bench, case.name, figure, reason=missing[job])
    ours = [_added(taken, figure.what, figure.of) for taken in rounds]
    theirs = [_base(taken, figure) for taken in rounds]
    return Measured(
        bench, case.name, figure,
        tuple(one / other for one, other in zip(ours, theirs, strict=True)),
        statistics.median(ours), statistics.median(theirs),
        _highest(rounds, figure.what), _highest(rounds, figure.others),
        any(taken[job_of(term)].at_least for taken in rounds for term in figure.others),
    )  # fmt: skip


def disagreement(same: Same, rounds: Sequence[Round]) -> str:
    """What to say when the jobs do not agree on a fact, or nothing."""
    there = [taken[job].facts.get(same.fact) for taken in rounds for job in same.jobs if job in taken]
    return "" if all(one == there[0] for one in there) else f"{', '.join(same.jobs)} differ in «{same.fact}»"


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The exponent of growth: least squares of log(amount) over log(rows)."""
    logs = [(math.log(rows), math.log(amount)) for rows, amount in points]
    return statistics.linear_regression(*zip(*logs, strict=True)).slope


def curves(figures: Iterable[Measured]) -> Iterator[tuple[str, str, list[Measured]]]:
    """Bench, series and figures by rows, of every series with at least two sizes."""
    found: dict[tuple[str, str], list[Measured]] = {}
    for one in figures:
        if one.figure.series and one.ratios:
            found.setdefault((one.bench, one.figure.series), []).append(one)
    for (bench, series), points in found.items():
        if len({one.figure.rows for one in points}) > 1:
            yield bench, series, sorted(points, key=lambda one: one.figure.rows)


def job_of(term: str) -> str:
    """The job of a term."""
    return term.partition(":")[0]


def _amount(taken: Round, term: str, of: str) -> float:
    job, _, fact = term.partition(":")
    return taken[job].amount(fact or of)


def _added(taken: Round, terms: Sequence[str], of: str) -> float:
    amounts = [_amount(taken, term, of) for term in terms]
    return max(amounts) if of == PEAK else sum(amounts)


def _base(taken: Round, figure: Figure) -> float:
    if isinstance(figure.against, Fixed):
        return figure.against.amount
    return _added(taken, figure.against, figure.of)


def _highest(rounds: Sequence[Round], terms: Sequence[str]) -> int:
    return max((taken[job_of(term)].peak for taken in rounds for term in terms), default=0)
