"""How much is lost: the optimal search beside anjana's greedy one, and local recoding, on the Adult table.

All losses are ours by definition (arithmetic mean over the variables; a dropped or suppressed row loses everything),
also those of anjana's result, scored from its levels and the rows it dropped. Needs the table in ../shared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from bench.anjana_peer import anjana_result
from bench.peers import PeerUnavailable

from celosia import kernels
from celosia.evaluation import Objective, recoding_loss
from celosia.risk.criteria import KAnonymity
from celosia.solver import ClassCounter, SearchProblem, SearchResult, recode_locally, search
from celosia.solver._parts import look

REPOSITORY = Path(__file__).resolve().parents[1]
ADULT = REPOSITORY.parent / "shared" / "reference" / "arx" / "adult"
EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
NINE = (*EIGHT, "salary-class")
ASKED = ((2, 0), (2, 5), (2, 50), (5, 0), (5, 5), (5, 20), (10, 5), (20, 5))  # k, percent that may be suppressed
BUDGET = 600  # seconds anjana may take for one line
REFERENCE = "0.9320 with 4,557 classes"  # the established tool, k = 5 without suppressed rows


def adult_problem(names: Sequence[str], k: int, percent: int) -> SearchProblem:
    """k-anonymity of Adult with the arithmetic mean."""
    sys.path.insert(0, str(REPOSITORY / "tests"))
    from solver import arx_adult

    case = {"quasi": names, "sensitive": "", "models": [], "suppression_limit": "0", "metric": "loss"}
    problem = arx_adult.problem_of(ADULT, case)
    return replace(
        problem,
        criteria=(KAnonymity(k=k),),
        limit=Fraction(percent, 100),
        objective=Objective("loss", "arithmetic"),
    )


def scored(problem: SearchProblem, levels: Sequence[int]) -> tuple[float, int]:
    """Loss and dropped rows of a node under our definition."""
    view = look(problem, levels)
    hierarchies = [problem.hierarchies[name] for name in problem.names]
    wide = np.broadcast_to(np.array(levels), problem.quasi.codes.shape)
    loss = recoding_loss(problem.quasi, hierarchies, wide, view.suppressed, problem.objective)
    return loss, int(problem.quasi.rows[view.suppressed].sum())


def ours(problem: SearchProblem) -> tuple[SearchResult, float]:
    """The optimum and the least seconds of three searches."""
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        found = search(problem)
        taken.append(time.perf_counter() - start)
    assert isinstance(found, SearchResult)
    return found, min(taken)


def theirs(problem: SearchProblem, k: int, percent: int) -> str:
    """anjana's loss, suppressed share and seconds as cells of the table, or why there are none."""
    files = {name: ADULT / f"adult_hierarchy_{name}.csv" for name in problem.names}
    try:
        found = anjana_result(ADULT / "adult.csv", files, k, percent, timeout=BUDGET)
    except PeerUnavailable as missing:
        return f"not compared: {missing}"
    if found is None:
        return f"not within {BUDGET} s"
    return _their_cells(problem, k, found)


def _their_cells(problem: SearchProblem, k: int, found: dict[str, Any]) -> str:
    rows = problem.quasi.n_rows
    if not found["kept"]:
        return f"no result {found['seconds']:20.1f}"
    loss, dropped = scored(problem, found["levels"])
    if dropped != rows - found["kept"] or found["smallest"] < k:
        return f"its result is not what its levels say ({rows - found['kept']:,} dropped, {dropped:,} expected)"
    return f"{loss:8.4f} {dropped / rows:10.2%} {found['seconds']:9.1f}"


def report_local(report: Callable[[str], None]) -> None:
    """Local recoding at k = 5 without suppressed rows."""
    problem = adult_problem(NINE, 5, 0)
    hierarchies = [problem.hierarchies[name] for name in problem.names]
    weights = [1.0] * len(hierarchies)
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        counter = ClassCounter(problem.quasi, {})
        made = recode_locally(counter, hierarchies, problem.criteria, problem.lowest, problem.highest, weights)
        taken.append(time.perf_counter() - start)
    assert made is not None
    nobody = np.zeros(len(problem.quasi.rows), bool)
    loss = recoding_loss(problem.quasi, hierarchies, made.levels, nobody, problem.objective)
    whole, _ = ours(problem)
    report("Local recoding, 9 quasi-identifiers, k = 5, nothing suppressed")
    report(f"  granularity {1 - loss:.4f} with {made.classes:,} classes in {min(taken):.2f} s")
    report(f"  full-domain optimum of the same question: {1 - whole.loss:.4f} with {whole.classes:,} classes")
    report(f"  the established tool: {REFERENCE}")


def run(report: Callable[[str], None], asked: Sequence[tuple[int, int]] = ASKED) -> None:
    """Print the table of quality."""
    if not ADULT.is_dir():
        report(f"needs the Adult table in {ADULT}")
        return
    kernels.warm_up()
    report("Adult, 8 quasi-identifiers, arithmetic mean: loss, suppressed share, seconds")
    report(f"{'k':>3} {'limit':>6} | {'celosia':>8} {'':>10} {'':>9} | {'anjana':>8}")
    for k, percent in asked:
        problem = adult_problem(EIGHT, k, percent)
        found, seconds = ours(problem)
        mine = f"{found.loss:8.4f} {found.suppressed_share:10.2%} {seconds:9.3f}"
        report(f"{k:3d} {percent:4d} % | {mine} | {theirs(problem, k, percent)}")
    report_local(report)


if __name__ == "__main__":
    run(lambda line: print(line, flush=True))
