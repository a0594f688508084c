"""The cells of one or several linked tables, and how they add up: all that protection needs to know.

Knows cells by number, their true values and the relations between them. Ignores labels, measures and files. A relation
says that one cell is the sum of others; where a person may count in several of them it is not the sum, and only
`largest ≤ margin ≤ sum` holds. Tables that share cells share numbers, so linked tables, levels of a hierarchy and
versions for different audiences are all one grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.model.reports.tables import Reason

Cells = NDArray[np.int64]  # numbers of cells
Flags = NDArray[np.bool_]  # one per cell
Values = NDArray[np.int64]  # one per cell


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells 0…n-1 with the persons behind them, and relations 0…m-1 in compressed rows."""

    values: Values
    totals: Cells  # per relation: the cell of the whole
    starts: Cells  # per relation: where its parts begin in `parts`; one more at the end
    parts: Cells  # the cells that a relation adds up; cells of nobody are left out
    additive: Flags  # per relation: the whole is the sum of its parts
    cost: Values  # per cell: cost of hiding it; cells of higher cost stay published
    offered: Flags  # per cell: meant to be published; the others only carry relations and are never known

    @property
    def size(self) -> int:
        """How many cells."""
        return len(self.values)

    def relation(self, number: int) -> tuple[int, Cells]:
        """The whole and the parts of a relation."""
        return int(self.totals[number]), self.parts[self.starts[number] : self.starts[number + 1]]

    def relations(self) -> Iterator[tuple[int, Cells]]:
        """Every relation in turn."""
        return (self.relation(number) for number in range(len(self.totals)))


Reals = NDArray[np.float64]
Status = NDArray[np.int8]
Reasons = NDArray[np.object_]  # Reason or None, one per cell

PUBLISHED, PRIMARY, SECONDARY = 0, 1, 2
_SMALL = (Reason.THRESHOLD, Reason.ZERO)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower and upper bound per cell; only those of hidden cells mean anything."""

    low: Reals
    high: Reals

    def intersect(self, cells: Flags | Cells, low: Reals | float, high: Reals | float) -> Bounds:
        """These bounds where more is known of some cells."""
        lower, upper = self.low.copy(), self.high.copy()
        lower[cells] = np.maximum(lower[cells], low)
        upper[cells] = np.minimum(upper[cells], high)
        return Bounds(lower, upper)


def threshold_bounds(
    status: Status, k: int, earlier: Values | None = None, reasons: Reasons | None = None, *, zeros: bool = False
) -> Bounds:
    """Bounds of counts protected by a threshold of k.

    `earlier` holds the value published before for cells withheld by the over-time rule and -1 elsewhere. A cell that
    is primary for another reason than its size has at least k. Where zeros are hidden too they must look like other
    small cells, so all of them get [0, k-1]; `zeros` says that they would be, be there any or not.
    """
    primary = status == PRIMARY
    small = primary if reasons is None else primary & has_reason(reasons, *_SMALL)
    zeros_hidden = zeros or (reasons is not None and bool((primary & has_reason(reasons, Reason.ZERO)).any()))
    low = np.where(primary | (status == SECONDARY), float(k), 0.0)
    low[small] = 0.0 if zeros_hidden else 1.0
    high = np.where(small, k - 1.0, np.inf)
    if earlier is not None:
        withheld = primary & (earlier >= 0)
        low[withheld] = np.maximum(earlier[withheld] - (k - 1.0), k)
        high[withheld] = earlier[withheld] + (k - 1.0)
    return Bounds(low, high)


def drop_statuses(bounds: Bounds, status: Status) -> Bounds:
    """The same bounds for a reader who is not told which hidden cells are below the threshold."""
    small = (status == PRIMARY) & (bounds.low <= 1)
    least = bounds.low[small].min(initial=1.0)
    low = np.where(status == SECONDARY, np.minimum(bounds.low, least), bounds.low)
    return Bounds(low, np.where(small, np.inf, bounds.high))


def has_reason(reasons: Reasons, *kinds: Reason) -> Flags:
    """Cells hidden for one of these reasons."""
    return np.fromiter((reason in kinds for reason in reasons), np.bool_, len(reasons))
