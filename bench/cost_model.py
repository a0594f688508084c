"""What a run would cost at sizes nobody here has measured: `python -m bench.cost_model REPORT.json [persons|rows]`.

The seconds of each phase, of the walks within 4 GB in that unit or of the growth bench, are fitted as a sum of terms (a
constant, rows, tuples, nodes checked times tuples), none negative, by least squares of the relative error. The error is
told by leaving the largest size out and predicting it. It compounds: where that step was a factor f of rows and the
prediction missed by e, a size f times further may miss by (1+e)²-1, and so on. Beyond the largest size tuples go on by
the power of the last two sizes, and nodes checked stay as they are. Ignores memory and disk: a size that does not fit
takes longer.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

PREDICTED = (50_000_000, 100_000_000, 1_000_000_000)
TERMS = {
    "read": ("1", "rows"),
    "frequencies": ("1", "rows", "tuples"),
    "search": ("1", "rows", "sensitive", "nodes×tuples"),
    "apply": ("1", "rows", "tuples"),
    "check": ("1", "rows", "sensitive"),
}
Features = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Fit:
    """One phase: a coefficient for each term, and what leaving the largest size out missed by."""

    phase: str
    terms: tuple[str, ...]
    coefficients: NDArray[np.float64]
    missed: float | None  # relative, signed; None where there are too few sizes
    step: float  # factor of rows between the largest size and the one before

    def seconds(self, features: Features) -> float:
        """What the fit says for a size."""
        return float(sum(c * features[term] for c, term in zip(self.coefficients, self.terms, strict=True)))

    def error(self, rows: float, largest: float) -> float | None:
        """How much a prediction may miss, relative; it compounds with each further step."""
        if self.missed is None:
            return None
        steps = max(1.0, math.log(rows / largest) / math.log(self.step)) if rows > largest else 1.0
        return float((1 + abs(self.missed)) ** steps - 1)


def sizes_of(report: Mapping[str, Any], unit: str = "") -> list[tuple[Features, dict[str, float]]]:
    """For each size that was measured: the terms, and the seconds of each phase.

    With a unit, the sizes are those of the walk within 4 GB, else those of the growth bench.
    """
    benches = {bench["bench"]: bench for bench in report["benches"]}
    found = _walks(benches["outofcore"], unit) if unit else _growth(benches["growth"])
    return sorted(found, key=lambda size: size[0]["rows"])


def _walks(walks: Mapping[str, Any], unit: str) -> list[tuple[Features, dict[str, float]]]:
    facts = [job["facts"] for case in walks["cases"] for job in case["jobs"] if job["job"] == unit and job["facts"]]
    return [(features(one), {phase: one[phase] for phase in TERMS if phase in one}) for one in facts]


def _growth(growth: Mapping[str, Any]) -> list[tuple[Features, dict[str, float]]]:
    found = []
    for case in growth["cases"]:
        facts = next(job["facts"] for job in case["jobs"] if job["job"] == "search")
        if facts:
            seconds = {one["name"]: one["ours"] for one in growth["figures"] if one["case"] == case["case"]}
            found.append((features(facts), seconds))
    return found


def features(facts: Mapping[str, float]) -> Features:
    """The terms of a size."""
    tuples, checked = facts["quasi_tuples"], facts["nodes_checked"]
    return {
        "1": 1.0,
        "rows": facts["rows"],
        "tuples": tuples,
        "sensitive": facts["sensitive_tuples"],
        "nodes×tuples": checked * tuples,
    }


def fit(phase: str, sizes: Sequence[tuple[Features, dict[str, float]]]) -> Fit:
    """The terms of a phase, fitted; three sizes at least are needed to say how wrong it is."""
    terms = TERMS[phase]
    step = sizes[-1][0]["rows"] / sizes[-2][0]["rows"]
    missed = None
    if len(sizes) > 2:
        known, truth = Fit(phase, terms, _coefficients(phase, sizes[:-1]), None, step), sizes[-1][1][phase]
        missed = known.seconds(sizes[-1][0]) / truth - 1
    return Fit(phase, terms, _coefficients(phase, sizes), missed, step)


def beyond(rows: float, sizes: Sequence[tuple[Features, dict[str, float]]]) -> Features:
    """The terms at a size further out: tuples by the power of the last two sizes, never more than rows allow."""
    last, before = sizes[-1][0], sizes[-2][0]
    factor = rows / last["rows"]

    def grown(term: str) -> float:
        power = math.log(last[term] / before[term]) / math.log(last["rows"] / before["rows"])
        return float(last[term] * factor ** min(max(power, 0.0), 1.0))

    checked = last["nodes×tuples"] / last["tuples"]
    tuples = grown("tuples")
    return {"1": 1.0, "rows": rows, "tuples": tuples, "sensitive": grown("sensitive"), "nodes×tuples": checked * tuples}


def table(report: Mapping[str, Any], unit: str = "", predicted: Sequence[int] = PREDICTED) -> str:
    """The fits and their predictions as Markdown."""
    sizes = sizes_of(report, unit)
    if len(sizes) < 2:
        return "Two sizes at least are needed."
    largest = sizes[-1][0]["rows"]
    heads = ["phase", "seconds", "left out", *(f"{rows / 1e6:,.0f}M rows" for rows in predicted)]
    lines = [f"| {' | '.join(heads)} |", f"|---|---|---:|{'---:|' * len(predicted)}"]
    for phase in sizes[0][1]:
        found = fit(phase, sizes)
        cells = [_predicted(found, rows, largest, beyond(rows, sizes)) for rows in predicted]
        missed = "–" if found.missed is None else f"{found.missed:+.0%}"
        lines.append(f"| {' | '.join([phase, _formula(found), missed, *cells])} |")
    measured = ", ".join(f"{size['rows']:,.0f}" for size, _ in sizes)
    return "\n".join([*lines, "", f"Measured at {measured} rows; «left out» is how the largest of them was predicted."])


def _coefficients(phase: str, sizes: Sequence[tuple[Features, dict[str, float]]]) -> NDArray[np.float64]:
    """Non-negative, by relative error: a second matters more in a small size than in a large one."""
    seconds = np.array([taken[phase] for _, taken in sizes])
    terms = np.array([[size[term] for term in TERMS[phase]] for size, _ in sizes])
    unit = terms.max(axis=0)
    unit[unit == 0] = 1.0
    found, _ = nnls(terms / unit / seconds[:, None], np.ones(len(seconds)))
    return np.asarray(found / unit)


def _formula(found: Fit) -> str:
    parts = [f"{c:.2g}" if term == "1" else f"{c:.2g}·{term}"
             for c, term in zip(found.coefficients, found.terms, strict=True) if c > 0]  # fmt: skip
    return " + ".join(parts) or "0"


def _predicted(found: Fit, rows: float, largest: float, size: Features) -> str:
    error = found.error(rows, largest)
    return f"{_time(found.seconds(size))}{'' if error is None else f' ± {error:.0%}'}"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.1f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


if __name__ == "__main__":
    print(table(json.loads(Path(sys.argv[1]).read_text("utf-8")), *sys.argv[2:3]))
