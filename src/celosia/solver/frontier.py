"""The frontier: loss and suppressed rows for every k and every suppression limit.

Most points need no search. The best node of a limit is the best of every smaller limit that it keeps within; when
nothing keeps within a limit, nothing keeps within a smaller one. And the best node of a k is the best of every
greater k that all its kept classes reach: classes that pass the greater k pass the smaller one, so no other node can
have become better (as long as each class is judged by itself).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from celosia.model.errors import NothingChosen
from celosia.model.reports.explanation import Frontier, FrontierPoint
from celosia.model.value_errors import ValueOutOfRange
from celosia.solver.evaluate import Progress, looks_at_all_classes
from celosia.solver.explain import Answer, Clock, SearchRunner, outcome_of, with_k
from celosia.solver.node_report import node_view, smallest_published_class
from celosia.solver.problem import SearchProblem, SearchResult

KS = range(2, 21)
LIMITS = tuple(Fraction(hundredths, 100) for hundredths in (0, 1, 5, 10, 20, 50, 100))
Limit = Fraction | int | str


@dataclass(frozen=True, slots=True)
class _KnownAnswer:
    """An answer, and up to which k it stays the answer of its limit."""

    answer: Answer
    reach: float

    def answers(self, k: int, allowed_rows: int) -> bool:
        fits = self.answer.suppressed_rows <= allowed_rows
        return k <= self.reach and fits == isinstance(self.answer, SearchResult)


def frontier(
    problem: SearchProblem,
    ks: Iterable[int] = KS,
    limits: Iterable[Limit] = LIMITS,
    *,
    time_limit: float | None = None,
    clock: Clock | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Frontier:
    """The best for each k and limit; everything else is as in the problem.

    The time limit holds for each search; `progress` gets points done and their number.
    """
    many_ks, many_limits = _checked_ks(ks), _checked_limits(limits)
    asker = SearchRunner(len(many_ks) * len(many_limits), time_limit, clock, progress, cancelled)
    points: list[FrontierPoint] = []
    below: dict[Fraction, _KnownAnswer] = {}  # of the k before, by limit
    for k in many_ks:
        below = _row(with_k(problem, k), k, many_limits, below, asker)
        points += [
            FrontierPoint(k, limit, replace(problem, limit=limit).allowed_rows, outcome_of(below[limit].answer))
            for limit in many_limits
            if limit in below
        ]
        if asker.stopped:
            break
    return Frontier(
        metric=problem.objective.name,
        rows=problem.quasi.n_rows,
        names=problem.names,
        ks=many_ks,
        limits=many_limits,
        points=tuple(points),
        searches=asker.searches,
        complete=not asker.stopped,
    )


def _row(
    problem: SearchProblem,
    k: int,
    limits: tuple[Fraction, ...],
    below: dict[Fraction, _KnownAnswer],
    asker: SearchRunner,
) -> dict[Fraction, _KnownAnswer]:
    """The answers of one k, from the greatest limit down: each may serve the smaller ones."""
    answers: dict[Fraction, _KnownAnswer] = {}
    greater: _KnownAnswer | None = None
    for limit in reversed(limits):
        changed = replace(problem, limit=limit)
        known = _known_answer(k, changed.allowed_rows, greater, below.get(limit))
        if known is None:
            answer = asker.ask(changed)
            if answer is None:
                break
            known = _KnownAnswer(answer, _reach(changed, answer, k))
        answers[limit] = greater = known
        asker.step()
    return answers


def _known_answer(
    k: int, allowed_rows: int, greater: _KnownAnswer | None, smaller_k: _KnownAnswer | None
) -> _KnownAnswer | None:
    """An answer that needs no search: that of a greater limit, of a limit where nothing fitted, or of a smaller k."""
    if greater is not None:
        nothing_fits = not isinstance(greater.answer, SearchResult)
        if nothing_fits or greater.answer.suppressed_rows <= allowed_rows:
            return greater
    return smaller_k if smaller_k is not None and smaller_k.answers(k, allowed_rows) else None


def _reach(problem: SearchProblem, answer: Answer, k: int) -> float:
    if any(looks_at_all_classes(criterion) for criterion in problem.criteria):
        return k
    return smallest_published_class(problem, node_view(problem, answer.levels))


def _checked_ks(ks: Iterable[int]) -> tuple[int, ...]:
    chosen = tuple(sorted(set(ks)))
    if not chosen:
        raise NothingChosen(option="k")
    return chosen


def _checked_limits(limits: Iterable[Limit]) -> tuple[Fraction, ...]:
    chosen = tuple(sorted({Fraction(limit) for limit in limits}))
    if not chosen:
        raise NothingChosen(option="limit")
    for limit in (chosen[0], chosen[-1]):
        if not 0 <= limit <= 1:
            raise ValueOutOfRange(parameter="limit", given=str(limit), allowed="0–1")
    return chosen
