"""The records that a motivated intruder is asked to recognise: those with the fewest equals in the published file.

Knows published values only. Records that show nothing (all masked or missing) are left out: nobody can be looked for
by them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.attacks import View
from celosia.model.worksheet import ExposedRecord, Worksheet
from celosia.pipeline._intruder_target import Attacked
from celosia.tuples import group_codes


def worksheet_of(attacked: Attacked, records: int) -> Worksheet:
    """The most exposed records, one of each class: fewest equals first, then the rarest values, then their place."""
    view, names = attacked.view, [name for name in attacked.quasi if name in attacked.view.names]
    if not names or not view.rows:
        return Worksheet(attacked.digest, ())
    places = [view.place(name) for name in names]
    codes = view.codes[:, places]
    first, label = group_codes(codes, [len(view.labels[place]) for place in places])
    sizes = np.bincount(label, minlength=len(first))
    shown = np.stack([view.telling[place][first] for place in places]).sum(axis=0)
    order = np.lexsort((first, _commonness(view, places, first), sizes))
    kept = [int(one) for one in order if shown[one]][:records]
    return Worksheet(attacked.digest, tuple(_record(view, names, int(first[one]), int(sizes[one])) for one in kept))


def _commonness(view: View, places: list[int], rows: NDArray[np.integer]) -> NDArray[np.float64]:
    """How common the values of some rows are, each by itself; what shows nothing is common to all."""
    total = np.zeros(len(rows))
    for place in places:
        often = np.bincount(view.codes[:, place], minlength=len(view.labels[place]))
        share = np.log(np.maximum(often, 1) / view.rows)[view.codes[rows, place]]
        total += np.where(view.telling[place][rows], share, 0.0)
    return total.round(9)


def _record(view: View, names: list[str], row: int, alike: int) -> ExposedRecord:
    values = tuple((name, view.labels[view.place(name)][view.codes[row, view.place(name)]]) for name in names)
    return ExposedRecord(row + 1, values, alike)
