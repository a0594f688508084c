"""How much is lost: the optimal search beside anjana's greedy one, and local recoding, on the Adult table.

All losses are ours by definition (arithmetic mean over the variables; a dropped or suppressed row loses everything),
also those of anjana's result, scored from its levels and the rows it dropped. Needs the table in ../shared. Only losses
are divided: the seconds of the two are not those of the same task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bench.anjana_peer import anjana_result
from bench.frame import Bench, Case, Figure, Fixed, Job, Outcome, Scale, Skip, Work
from bench.peers import PeerUnavailable
from celosia import kernels
from celosia.evaluation.objective import Objective, recoding_loss
from celosia.risk.criteria import KAnonymity
from celosia.solver.local import recode_locally
from celosia.solver.node_report import node_view
from celosia.solver.optimal import search
from celosia.solver.problem import SearchProblem, SearchResult
from celosia.solver.published import ClassCounter

REPOSITORY = Path(__file__).resolve().parents[1]
ADULT = REPOSITORY.parent / "shared" / "reference" / "arx" / "adult"
EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
NINE = (*EIGHT, "salary-class")
ASKED = ((2, 0), (2, 5), (2, 50), (5, 0), (5, 5), (5, 20), (10, 5), (20, 5))  # k, percent that may be suppressed
BUDGET = 600  # seconds anjana may take for one line
REFERENCE = Fixed(1 - 0.9320, "the established tool, known before")  # k = 5 without suppressed rows; 4,557 classes


def adult_problem(names: Sequence[str], k: int, percent: int) -> SearchProblem:
    """k-anonymity of Adult with the arithmetic mean."""
    if not ADULT.is_dir():
        raise Skip("needs the Adult table in ../shared")
    from tests.solver import arx_adult

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
    view = node_view(problem, levels)
    hierarchies = [problem.hierarchies[name] for name in problem.names]
    wide = np.broadcast_to(np.array(levels), problem.quasi.codes.shape)
    loss = recoding_loss(problem.quasi, hierarchies, wide, view.suppressed, problem.objective)
    return loss, int(problem.quasi.rows[view.suppressed].sum())


def optimal(folder: Path, names: Sequence[str], k: int, percent: int) -> Work:
    """The optimal search."""
    problem = adult_problem(names, k, percent)
    kernels.warm_up()

    def work() -> dict[str, Any]:
        found = search(problem)
        assert isinstance(found, SearchResult)
        return {"loss": found.loss, "suppressed": found.suppressed_share, "classes": found.classes}

    return work


def anjana(folder: Path, k: int, percent: int) -> Work:
    """anjana's greedy search on the same table, by its own clock."""
    problem = adult_problem(EIGHT, k, percent)
    files = {name: ADULT / f"adult_hierarchy_{name}.csv" for name in problem.names}

    def work() -> Outcome:
        try:
            found = anjana_result(ADULT / "adult.csv", files, k, percent, timeout=BUDGET)
        except PeerUnavailable as missing:
            raise Skip(str(missing)) from None
        if found is None:
            raise Skip(f"anjana did not end within {BUDGET} s")
        return Outcome(_their_facts(problem, k, found), found["seconds"])

    return work


def _their_facts(problem: SearchProblem, k: int, found: dict[str, Any]) -> dict[str, Any]:
    rows = problem.quasi.n_rows
    if not found["kept"]:
        raise Skip("anjana found no result")
    loss, dropped = scored(problem, found["levels"])
    if dropped != rows - found["kept"] or found["smallest"] < k:
        raise Skip("anjana's result is not what its levels say")
    return {"loss": loss, "suppressed": dropped / rows}


def local(folder: Path) -> Work:
    """Local recoding at k = 5 without suppressed rows."""
    problem = adult_problem(NINE, 5, 0)
    kernels.warm_up()
    hierarchies = [problem.hierarchies[name] for name in problem.names]
    weights = [1.0] * len(hierarchies)
    nobody = np.zeros(len(problem.quasi.rows), bool)

    def work() -> Callable[[], dict[str, Any]]:
        counter = ClassCounter(problem.quasi, {})
        made = recode_locally(counter, hierarchies, problem.criteria, problem.lowest, problem.highest, weights)
        assert made is not None

        def facts() -> dict[str, Any]:
            loss = recoding_loss(problem.quasi, hierarchies, made.levels, nobody, problem.objective)
            return {"loss": loss, "granularity": 1 - loss, "classes": made.classes}

        return facts

    return work


def cases(scale: Scale) -> Iterator[Case]:
    """A question each, then local recoding."""
    for k, percent in ASKED[4:5] if scale.small else ASKED:
        asked = {"k": k, "percent": percent}
        yield Case(
            f"Adult, 8 quasi-identifiers, k = {k}, at most {percent} % suppressed",
            jobs=(
                Job("anjana", anjana, asked, "anjana's greedy search"),
                Job("celosia", optimal, asked | {"names": EIGHT}, best_of=3),
            ),
            figures=(Figure("loss", ("celosia",), ("anjana",), 1.0, of="loss"),),
            repeats=1,  # a loss does not vary
        )
    yield Case(
        "Adult, 9 quasi-identifiers, k = 5, nothing suppressed",
        jobs=(
            Job("optimum", optimal, {"names": NINE, "k": 5, "percent": 0}, "the optimum with one level", best_of=3),
            Job("local", local, best_of=3),
        ),
        figures=(
            Figure("loss of local recoding", ("local",), ("optimum",), of="loss"),
            Figure("loss of local recoding, known peer", ("local",), REFERENCE, 1.0, of="loss"),
            Figure("seconds of local recoding", ("local",), ("optimum",)),
        ),
    )


BENCH = Bench("quality", "How much is lost", cases)
