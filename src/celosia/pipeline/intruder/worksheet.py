"""The records that a motivated intruder is asked to recognise: those with the fewest equals in the published file.

Knows published values only. Records that show nothing (all masked or missing) are left out: nobody can be looked for
by them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.attacks.attack_input import View
from celosia.model.reports.worksheet import ExposedRecord, Worksheet
from celosia.pipeline.intruder.target import AttackTarget
from celosia.tuples.table import group_codes


def worksheet_of(target: AttackTarget, records: int) -> Worksheet:
    """The most exposed records, one of each class: fewest equals first, then the rarest values, then their place."""
    view, names = target.view, [name for name in target.quasi if name in target.view.names]
    if not names or not view.rows:
        return Worksheet(target.digest, ())
    positions = [view.column_index(name) for name in names]
    first, label = group_codes(view.codes[:, positions], [len(view.labels[position]) for position in positions])
    sizes = np.bincount(label, minlength=len(first))
    shows_something = np.any([view.readable[position][first] for position in positions], axis=0)
    order = np.lexsort((first, _commonness(view, positions, first), sizes))
    records_shown = []
    for number in order[shows_something[order]][:records]:
        row = int(first[number])
        values = tuple((view.names[each], view.labels[each][view.codes[row, each]]) for each in positions)
        records_shown.append(ExposedRecord(row + 1, values, int(sizes[number])))
    return Worksheet(target.digest, tuple(records_shown))


def _commonness(view: View, positions: list[int], rows: NDArray[np.integer]) -> NDArray[np.float64]:
    """How common the values of some rows are, each by itself; a masked value is common to all."""
    total = np.zeros(len(rows))
    for position in positions:
        rows_by_code = np.bincount(view.codes[:, position], minlength=len(view.labels[position]))
        share = np.log(np.maximum(rows_by_code, 1) / view.rows)[view.codes[rows, position]]
        total += np.where(view.readable[position][rows], share, 0.0)
    return total.round(9)
