"""Tuple tables that follow from one another, asked for once: counting persons is what takes a source its time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from celosia.errors import TooManyTuples
from celosia.tuples._table import Tuples, project


class Counted(Protocol):
    """What can say which combinations of columns occur, in how many rows, for how many persons."""

    def tuples(self, names: Sequence[str], person: str | None = None) -> Tuples:
        """Distinct combinations of the columns."""


def tuples_with(
    counted: Counted,
    names: Sequence[str],
    each: Collection[str],
    person: str | None = None,
    told: Callable[[float], None] | None = None,
    together: bool = False,
) -> tuple[Tuples, dict[str, Tuples]]:
    """The tuples over some columns, and those with each of a few others; the first follow from any of the second.

    `told` hears the share of the work that is done. `together` allows asking for several of the others at once where
    that is less work: only where the rows are in this process anyway (decision 0009).
    """
    finer: dict[str, Tuples] = {}
    for name in each:
        if name in finer:
            continue
        finer[name] = counted.tuples((*names, name), person)
        if together and len(finer) == 1:
            finer |= _together(counted, finer[name], [other for other in each if other != name], person)
        if told:
            told(len(finer) / (len(each) + 1))
    if not finer:
        return counted.tuples(names, person), finer
    smallest = min(finer.values(), key=lambda tuples: len(tuples.rows))
    return project(smallest, smallest.names[:-1])[0], finer


def _together(counted: Counted, one: Tuples, others: Sequence[str], person: str | None) -> dict[str, Tuples]:
    """The tables with each of the others by way of one with all of them; none where asking for each costs less.

    Tuples are never more than rows: where nearly every row has its own, all the columns together hardly add any.
    """
    if len(one.rows) * len(others) <= one.n_rows:
        return {}
    names = one.names[:-1]
    try:
        finest = counted.tuples((*names, *others), person)
    except TooManyTuples:  # each alone may still fit
        return {}
    return {name: project(finest, (*names, name))[0] for name in others}
