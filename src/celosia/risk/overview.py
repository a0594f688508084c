"""Units by the size of their equivalence class, and units whose class shows a single sensitive value.

Knows one compressed table. Ignores files and criteria. Rows whose quasi-identifiers are all masked are in no class.
A person with rows in classes of several sizes is counted once in each band, never twice in one.
Sources: Samarati 2001, Sweeney 2002 (class sizes); Machanavajjhala et al. 2007 (homogeneous classes).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.model.reports.overview import Linkable, SingleValue, SizeBand
from celosia.risk.classes import fully_masked, masked_values, units_in
from celosia.tuples.table import Tuples, person_counts

Flags = NDArray[np.bool_]
EDGES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000)


def size_bands(quasi: Tuples) -> tuple[SizeBand, ...]:
    """Classes, units and rows by the size of the class, which counts persons where they are known."""
    visible = ~fully_masked(quasi.codes, quasi.vocabularies)
    sizes = person_counts(quasi)
    bands = []
    for low, following in zip(EDGES, (*EDGES[1:], None), strict=True):
        inside = visible & (sizes >= low)
        if following is not None:
            inside &= sizes < following
        high = None if following is None else following - 1
        bands.append(SizeBand(low, high, int(inside.sum()), units_in(quasi, inside), int(quasi.rows[inside].sum())))
    return tuple(bands)


def linkable(quasi: Tuples) -> Linkable | None:
    """How many rows the person key links; None where there is none."""
    if quasi.persons is None:
        return None
    return Linkable(quasi.persons.total, quasi.n_rows, len(np.unique(quasi.persons.ordinal)))


def single_value(table: Tuples, total: int) -> SingleValue:
    """Classes with one visible value of the last column, and their units; `total` is the number of all units."""
    visible = ~masked_values(table.vocabularies[-1])[table.codes[:, -1]]
    suppressed = fully_masked(table.codes[:, :-1], table.vocabularies[:-1])
    inside = np.flatnonzero(visible & ~suppressed)
    alone = np.zeros(len(table.rows), bool)
    alone[inside[_are_unique(table.codes[inside, :-1])]] = True
    units = units_in(table, alone)
    return SingleValue(int(alone.sum()), units, units / total if total else 0.0)


def _are_unique(codes: NDArray[np.int32]) -> Flags:
    """Which rows of a sorted table differ from both neighbours."""
    if not len(codes):
        return np.zeros(0, bool)
    changes = np.ones(len(codes) + 1, bool)
    changes[1:-1] = (codes[1:] != codes[:-1]).any(axis=1)
    return changes[:-1] & changes[1:]
