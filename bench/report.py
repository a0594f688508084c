"""A run as one machine-readable document, `celosia/bench/1`, from which the page and the records are made.

Knows results and history. Ignores how they look. Numbers keep four digits: more would be noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bench.frame import SECONDS, Case, Figure, Fixed, Measured, curves, slope
from bench.history import History
from bench.running import BenchResult, CaseResult

FORMAT = "celosia/bench/1"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """When and where a run took place."""

    started: datetime
    commit: str
    machine: Mapping[str, Any]
    busy: Sequence[float]  # what others used of the processors, before the first bench and after each
    small: bool = False


def report_of(results: Sequence[BenchResult], around: Circumstances, history: History) -> dict[str, Any]:
    """The whole run."""
    figures = [figure for result in results for figure in result.figures]
    return {
        "format": FORMAT,
        "started": around.started.isoformat(timespec="seconds"),
        "commit": around.commit,
        "small": around.small,
        "busy": list(around.busy),
        "machine": dict(around.machine),
        "benches": [_bench(result, history) for result in results],
        "curves": [_curve(*curve) for curve in curves(figures)],
    }


def failed(report: Mapping[str, Any]) -> bool:
    """Whether the run must not pass: a bench that failed or a ratio that became worse. A missed goal is only shown."""
    return any(
        bench["failures"] or any(figure["worse"] for figure in bench["figures"]) for bench in report["benches"]
    )  # fmt: skip


def _bench(result: BenchResult, history: History) -> dict[str, Any]:
    figures = [_figure(one, case.case, history) for case in result.cases for one in case.figures]
    return {
        "bench": result.name,
        "title": result.title,
        "failures": list(result.failures),
        "figures": figures,
        "cases": [_case(case) for case in result.cases],
    }


def _case(result: CaseResult) -> dict[str, Any]:
    jobs = {job.name: job for job in result.case.jobs}
    return {
        "case": result.case.name,
        "rounds": len(result.rounds),
        "jobs": [
            {
                "job": name,
                "words": job.title,
                "clock": job.clock,
                "seconds": [_short(taken[name].seconds) for taken in result.rounds if name in taken],
                "peak": [taken[name].peak for taken in result.rounds if name in taken],
                "facts": dict(result.rounds[-1][name].facts) if result.rounds and name in result.rounds[-1] else {},
            }
            for name, job in jobs.items()
        ],
    }


def _figure(one: Measured, case: Case, history: History) -> dict[str, Any]:
    figure, past, change = one.figure, history.of(one), history.change(one)
    there = bool(one.ratios)
    return {
        "id": one.id,
        "case": one.case,
        "name": figure.name,
        "what": _titles(case, figure.what),
        "against": _against(case, figure),
        "of": figure.of,
        "goal": figure.goal,
        "reached": one.reached,
        "ratio": _short(one.median) if there else None,
        "least": _short(min(one.ratios)) if there else None,
        "most": _short(max(one.ratios)) if there else None,
        "ratios": [_short(ratio) for ratio in one.ratios],
        "ours": _short(one.ours),
        "theirs": _short(one.theirs),
        "peak": one.peak,
        "their_peak": one.their_peak,
        "bound": one.bound,
        "reason": one.reason,
        "past": list(past.ratios),
        "when": past.when,
        "change": None if change is None else _short(change),
        "worse": history.worse(one),
    }


def _curve(bench: str, series: str, points: Sequence[Measured]) -> dict[str, Any]:
    """A series over rows: amounts, ratios, what it was compared with, and the exponent of growth."""
    found: dict[str, Any] = {
        "bench": bench,
        "series": series,
        "of": points[0].figure.of,
        "rows": [one.figure.rows for one in points],
        "ours": [_short(one.ours) for one in points],
        "ratio": [_short(one.median) for one in points],
        "slope": round(slope([(one.figure.rows, one.ours) for one in points]), 3),
    }
    if points[0].figure.others and points[0].figure.of == SECONDS:
        found["theirs"] = [_short(one.theirs) for one in points]
        found["their_slope"] = round(slope([(one.figure.rows, one.theirs) for one in points]), 3)
        found["against"] = " + ".join(points[0].figure.others)
    return found


def _titles(case: Case, terms: Sequence[str]) -> str:
    titles = {job.name: job.title for job in case.jobs}
    return " + ".join(term.partition(":")[2] or titles.get(term, term) for term in terms)


def _against(case: Case, figure: Figure) -> str:
    return figure.against.words if isinstance(figure.against, Fixed) else _titles(case, figure.against)


def _short(value: float) -> float:
    return float(f"{value:.4g}")
