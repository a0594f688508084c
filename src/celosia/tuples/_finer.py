"""Tuple tables that follow from one another, asked for once: counting persons is what takes a source its time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

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
) -> tuple[Tuples, dict[str, Tuples]]:
    """The tuples over some columns, and those with each of a few others; the first follow from any of the second.

    `told` hears the share of the work that is done.
    """
    finer: dict[str, Tuples] = {}
    for number, name in enumerate(each, start=1):
        finer[name] = counted.tuples((*names, name), person)
        if told:
            told(number / (len(each) + 1))
    if not finer:
        return counted.tuples(names, person), finer
    smallest = min(finer.values(), key=lambda tuples: len(tuples.rows))
    return project(smallest, smallest.names[:-1])[0], finer
