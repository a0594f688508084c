"""Tuple tables that follow from one another, counted once: counting persons is what costs a source most time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from celosia.tuples.errors import TooManyTuples
from celosia.tuples.table import Tuples, project


class TupleSource(Protocol):
    """A source that counts which combinations of columns occur, in how many rows, for how many persons."""

    def tuples(self, names: Sequence[str], person: str | None = None) -> Tuples:
        """Distinct combinations of the columns."""


def tuples_with_each(
    source: TupleSource,
    names: Sequence[str],
    each: Collection[str],
    person: str | None = None,
    progress: Callable[[float], None] | None = None,
    together: bool = False,
) -> tuple[Tuples, dict[str, Tuples]]:
    """The tuples over some columns, and those with each of a few others; the first follow from any of the second.

    `progress` gets the share of the work done. `together` allows counting several of the others at once where that is
    less work: only where the rows are in this process anyway (decision 0009).
    """
    finer: dict[str, Tuples] = {}
    for name in each:
        if name in finer:
            continue
        finer[name] = source.tuples((*names, name), person)
        if together and len(finer) == 1:
            finer |= _tables_by_the_finest(source, finer[name], [other for other in each if other != name], person)
        if progress:
            progress(len(finer) / (len(each) + 1))
    if not finer:
        return source.tuples(names, person), finer
    smallest = min(finer.values(), key=lambda tuples: len(tuples.rows))
    return project(smallest, smallest.names[:-1])[0], finer


def _tables_by_the_finest(
    source: TupleSource, first: Tuples, others: Sequence[str], person: str | None
) -> dict[str, Tuples]:
    """The tables with each of the others, projected from one with all of them; none where counting each costs less.

    Tuples are never more than rows: where nearly every row has its own, all the columns together hardly add any.
    """
    if len(first.rows) * len(others) <= first.n_rows:
        return {}
    names = first.names[:-1]
    try:
        finest = source.tuples((*names, *others), person)
    except TooManyTuples:
        # Each alone may still fit.
        return {}
    return {name: project(finest, (*names, name))[0] for name in others}
