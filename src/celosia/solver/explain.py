"""Why a search answered what it did: what each variable and each criterion costs, and the nearest miss.

Every alternative is a search of its own: without a variable, with it at least a level coarser, at least a level
finer. The loss without a variable is that of the others; it is set beside what those others lose in the result, and
the difference is what they pay for the variable being there. When nothing fits, the levels within reach have all
been tried, so the ways out are a greater limit, a smaller k, a variable left out or one that may rise further.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from celosia.model.reports.explanation import CriterionCost, Explanation, NearestMiss, Outcome, VariableCost
from celosia.risk.criteria import KAnonymity
from celosia.solver.evaluate import Progress, looks_at_all_classes
from celosia.solver.node_report import NodeView, broken_rows, combined_loss, node_view, variable_parts
from celosia.solver.optimal import search
from celosia.solver.problem import NoSolution, SearchProblem, SearchResult
from celosia.tuples.table import project

Answer = SearchResult | NoSolution
Clock = Callable[[], float]
Alternative = tuple[str, str, SearchProblem]  # variable, which alternative, what to search


@dataclass(slots=True)
class SearchRunner:
    """Runs searches one after another, counts them and tells how far it is."""

    total: int
    time_limit: float | None = None
    clock: Clock | None = None
    progress: Progress | None = None
    cancelled: Callable[[], bool] | None = None
    done: int = 0
    searches: int = 0
    stopped: bool = False

    def ask(self, problem: SearchProblem) -> Answer | None:
        """The answer of one search; None once it was told to stop."""
        if self.stopped or (self.cancelled is not None and self.cancelled()):
            self.stopped = True
            return None
        answer = search(problem, time_limit=self.time_limit, clock=self.clock, cancelled=self.cancelled)
        self.searches += 1
        if self.cancelled is not None and not _is_proved(answer) and self.cancelled():
            self.stopped = True  # it was cut short: half an answer is none
            return None
        return answer

    def step(self, many: int = 1) -> None:
        """Tell that so many of the total are done."""
        self.done = min(self.done + many, self.total)
        if self.progress is not None:
            self.progress(self.done, self.total)


def explain(
    problem: SearchProblem,
    result: Answer,
    *,
    time_limit: float | None = None,
    clock: Clock | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Explanation:
    """What each variable and criterion costs in a result, or why there is none and what would help.

    The time limit holds for each search; `progress` gets alternatives done and their number.
    """
    questions = list(_alternatives(problem, result))
    asker = SearchRunner(len(questions), time_limit, clock, progress, cancelled)
    outcomes: dict[tuple[str, str], Outcome] = {}
    for name, kind, changed in questions:
        answer = asker.ask(changed)
        if answer is None:
            break
        outcomes[name, kind] = outcome_of(answer)
        asker.step()
    miss = _miss(problem, result, asker) if isinstance(result, NoSolution) else None
    view = node_view(problem, result.levels)
    criteria = [CriterionCost(c.as_dict(), rows, alone) for c, rows, alone in broken_rows(problem, view)]
    return Explanation(
        metric=problem.objective.name,
        rows=problem.quasi.n_rows,
        person_key=problem.quasi.persons is not None,
        limit=problem.limit,
        allowed_rows=problem.allowed_rows,
        result=outcome_of(result),
        variables=_sort_by_price(_costs(problem, result, view, outcomes), isinstance(result, SearchResult)),
        criteria=tuple(sorted(criteria, key=lambda cost: (-cost.rows, -cost.alone))),
        miss=miss,
        searches=asker.searches,
        complete=not asker.stopped,
    )


def without_variable(problem: SearchProblem, name: str) -> SearchProblem:
    """The problem when one quasi-identifier is not published; persons are counted again, not added up."""
    rest = tuple(other for other in problem.names if other != name)
    sensitive = {criterion.variable for criterion in problem.criteria if criterion.variable}
    return replace(
        problem,
        quasi=project(problem.quasi, rest)[0],
        sensitive={s: project(problem.sensitive[s], (*rest, s))[0] for s in problem.sensitive if s in sensitive},
        objective=replace(problem.objective, weights=_drop_key(problem.objective.weights, name)),
        minimum=_drop_key(problem.minimum, name),
        maximum=_drop_key(problem.maximum, name),
    )


def _drop_key(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def outcome_of(answer: Answer) -> Outcome:
    """A search's answer as the model states it."""
    levels = dict(zip(answer.names, answer.levels, strict=True))
    if isinstance(answer, NoSolution):
        return Outcome(False, levels, None, answer.suppressed_rows, answer.suppressed_share, answer.proved)
    return Outcome(True, levels, answer.loss, answer.suppressed_rows, answer.suppressed_share, answer.optimal)


def _is_proved(answer: Answer) -> bool:
    return answer.optimal if isinstance(answer, SearchResult) else answer.proved


def _alternatives(problem: SearchProblem, result: Answer) -> Iterator[Alternative]:
    """The alternatives that exist, variable by variable."""
    for v, name in enumerate(problem.names):
        if len(problem.names) > 1:
            yield name, "without", without_variable(problem, name)
        level, low, high = result.levels[v], problem.lowest[v], problem.highest[v]
        if isinstance(result, NoSolution):
            if high < problem.hierarchies[name].height:
                yield name, "beyond", replace(problem, maximum=_drop_key(problem.maximum, name))
            continue
        if level < high:
            yield name, "coarser", replace(problem, minimum={**problem.minimum, name: level + 1})
        if level > low:
            yield name, "finer", replace(problem, maximum={**problem.maximum, name: level - 1})


def _costs(
    problem: SearchProblem, result: Answer, view: NodeView, outcomes: Mapping[tuple[str, str], Outcome]
) -> list[VariableCost]:
    solved = isinstance(result, SearchResult)
    parts = variable_parts(problem, view) if solved else None
    whole = result.loss if isinstance(result, SearchResult) else None
    return [
        VariableCost(
            name=name,
            level=result.levels[v],
            height=problem.hierarchies[name].height,
            loss=None if parts is None else parts[v],
            others_loss=whole if parts is None else combined_loss(problem, parts, left_out=v),
            without=outcomes.get((name, "without")),
            coarser=outcomes.get((name, "coarser")),
            finer=outcomes.get((name, "finer")),
            beyond=outcomes.get((name, "beyond")),
        )
        for v, name in enumerate(problem.names)
    ]


def _sort_by_price(costs: list[VariableCost], solved: bool) -> tuple[VariableCost, ...]:
    """The dearest first: by what the others pay for it, or by the rows that leaving it out saves."""
    if solved:
        return tuple(sorted(costs, key=_price_first))
    return tuple(sorted(costs, key=_needed_rows))


def _price_first(cost: VariableCost) -> tuple[float, float]:
    price, own = cost.price, cost.loss
    return -math.inf if price is None else -round(price, 12), 0.0 if own is None else -round(own, 12)


def _needed_rows(cost: VariableCost) -> float:
    outcomes = [outcome for outcome in (cost.without, cost.beyond) if outcome is not None]
    return min((0 if outcome.feasible else outcome.suppressed_rows for outcome in outcomes), default=math.inf)


def _miss(problem: SearchProblem, result: NoSolution, asker: SearchRunner) -> NearestMiss:
    return NearestMiss(
        suppressed_rows=result.suppressed_rows,
        allowed_rows=result.allowed_rows,
        excess_rows=result.suppressed_rows - result.allowed_rows,
        smallest_limit=Fraction(result.suppressed_rows, max(problem.quasi.n_rows, 1)),
        largest_k=_largest_k(problem, asker),
        proved=result.proved,
    )


def _largest_k(problem: SearchProblem, asker: SearchRunner) -> int | None:
    """The greatest k below the one k_criteria that fits, by halving: fewer classes break a smaller k."""
    k_criteria = [criterion for criterion in problem.criteria if isinstance(criterion, KAnonymity)]
    if len(k_criteria) != 1 or any(looks_at_all_classes(criterion) for criterion in problem.criteria):
        return None
    low, high = 1, int(k_criteria[0].k) - 1  # k = 1 asks nothing, so it is no answer
    while low < high:
        middle = (low + high + 1) // 2
        answer = asker.ask(with_k(problem, middle))
        if answer is None:
            return None
        low, high = (middle, high) if isinstance(answer, SearchResult) else (low, middle - 1)
    return low if low > 1 else None


def with_k(problem: SearchProblem, k: int) -> SearchProblem:
    """The problem with another k; it is asked for where it was not."""
    known = [criterion for criterion in problem.criteria if isinstance(criterion, KAnonymity)]
    if not known:
        return replace(problem, criteria=(KAnonymity(k=k), *problem.criteria))
    changed = tuple(KAnonymity(k=k, unit=c.unit) if isinstance(c, KAnonymity) else c for c in problem.criteria)
    return replace(problem, criteria=changed)
