"""Compressed tables out of plain rows, the obvious way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from celosia.model.reports.measures import MeasureReport
from celosia.risk.measures import measure
from celosia.tuples.table import Persons, Tuples

Row = tuple[str, ...]


def tuples_of(rows: Sequence[Row], names: Sequence[str], persons: Sequence[str] | None = None) -> Tuples:
    """The tuple table of some rows, with vocabularies in code-point order."""
    vocabularies = tuple(tuple(sorted({row[i] for row in rows})) for i in range(len(names)))
    coded = [tuple(v.index(cell) for v, cell in zip(vocabularies, row, strict=True)) for row in rows]
    count = Counter(coded)
    distinct = sorted(count)
    codes = np.array(distinct, np.int32).reshape(len(distinct), len(names))
    people = None if persons is None else _persons(coded, distinct, persons)
    return Tuples(tuple(names), vocabularies, codes, np.array([count[t] for t in distinct], np.int64), people)


def _persons(coded: Sequence[tuple[int, ...]], distinct: Sequence[tuple[int, ...]], keys: Sequence[str]) -> Persons:
    places: dict[str, set[int]] = {}
    for row, key in zip(coded, keys, strict=True):
        places.setdefault(key, set()).add(distinct.index(row))
    settled = np.zeros(len(distinct), np.int64)
    pairs = []
    for ordinal, key in enumerate(sorted(places)):
        if len(places[key]) == 1:
            settled[next(iter(places[key]))] += 1
        else:
            pairs += [(place, ordinal) for place in places[key]]
    incidence = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return Persons(len(places), settled, incidence[:, 0], incidence[:, 1])


def measured(
    quasi: Sequence[Row],
    values: Sequence[str] = (),
    persons: Sequence[str] | None = None,
    missing: str = "own",
) -> MeasureReport:
    """The report of rows of quasi-identifiers with one sensitive variable S, or none."""
    names = tuple(f"q{i}" for i in range(len(quasi[0]) if quasi else 1))
    sensitive = {}
    if values or not quasi:
        joined = [(*row, value) for row, value in zip(quasi, values, strict=True)]
        sensitive["S"] = tuples_of(joined, (*names, "S"))
    return measure(tuples_of(quasi, names, persons), sensitive, missing)
