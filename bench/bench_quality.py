"""How much is lost: the optimal search beside anjana's greedy one, and local recoding, on the Adult table.

All losses are ours by definition (arithmetic mean over the variables; a dropped or suppressed row loses everything),
also those of anjana's result, scored from its levels and the rows it dropped. Needs the table in ../shared. Only losses
are divided: the seconds of the two are not those of the same task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from celosia.solver.local import LocalRecoding, recode_locally
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


def local(folder: Path, percent: int = 0, diverse: bool = False) -> Work:
    """Local recoding at k = 5; `diverse` asks for both salary classes in every class too."""
    problem = local_problem(percent, diverse)
    kernels.warm_up()

    def work() -> dict[str, Any]:
        made = recode_locally(problem)
        assert isinstance(made, LocalRecoding)
        suppressed = int(problem.quasi.rows[made.suppressed].sum())
        figures = {"loss": made.loss, "granularity": 1 - made.loss, "classes": made.classes}
        return figures | {"bound": made.bound, "suppressed": suppressed}

    return work


def local_problem(percent: int, diverse: bool) -> SearchProblem:
    """Adult at k = 5; with l = 2 over the salary where asked."""
    if not diverse:
        return adult_problem(NINE, 5, percent)
    if not ADULT.is_dir():
        raise Skip("needs the Adult table in ../shared")
    from tests.solver import arx_adult

    models = ["k:5", "distinct-l:salary-class:2"]
    case = {"quasi": EIGHT, "sensitive": "salary-class", "models": models, "suppression_limit": "0", "metric": "loss"}
    problem = arx_adult.problem_of(ADULT, case)
    return replace(problem, limit=Fraction(percent, 100), objective=Objective("loss", "arithmetic"))


def full_domain(folder: Path, percent: int, diverse: bool) -> Work:
    """The full-domain optimum of the same problem."""
    problem = local_problem(percent, diverse)
    kernels.warm_up()

    def work() -> dict[str, Any]:
        found = search(problem)
        assert isinstance(found, SearchResult)
        return {"loss": found.loss, "suppressed": found.suppressed_rows}

    return work


def peer(folder: Path, name: str, diverse: bool) -> Work:
    """Another way to recode locally, from its paper; it suppresses nobody."""
    from bench.local_peers import k_member, mondrian

    problem = local_problem(0, diverse)
    hierarchies = [problem.hierarchies[variable] for variable in problem.names]
    weights = [problem.objective.weight(variable) for variable in problem.names]
    nobody = np.zeros(len(problem.quasi.rows), bool)

    def work() -> dict[str, Any]:
        if name == "mondrian":
            counter = ClassCounter(problem.quasi, problem.sensitive, problem.sensitive_hierarchies)
            levels = mondrian(counter, hierarchies, problem.criteria)
            if levels is None:
                raise Skip("not even one class of all passes")
        else:
            levels = k_member(problem.quasi, hierarchies, weights, 5)
        return {"loss": recoding_loss(problem.quasi, hierarchies, levels, nobody, problem.objective)}

    return work


def _local_cases() -> Iterator[Case]:
    """Local recoding beside the optimum with one level, Mondrian and, where k stands alone, k-member clustering."""
    for diverse, percent in ((False, 0), (False, 5), (True, 0), (True, 5), (True, 100)):
        peers = ("mondrian",) if diverse else ("mondrian", "k-member")
        asked = {"percent": percent, "diverse": diverse}
        yield Case(
            f"Adult, local recoding, k = 5{', l = 2 of salary' * diverse}, at most {percent} % suppressed",
            jobs=(
                Job("optimum", full_domain, asked, "the optimum with one level"),
                *(Job(name, peer, {"name": name, "diverse": diverse}) for name in peers),
                Job("local", local, asked),
            ),
            figures=tuple(
                Figure(f"loss of local recoding, {other}", ("local",), (other,), 1.0, of="loss")
                for other in ("optimum", *peers)
            ),
            repeats=1,
        )


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
    yield from _local_cases()


BENCH = Bench("quality", "How much is lost", cases)
