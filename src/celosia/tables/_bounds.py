"""What the public knows of a hidden cell before looking at the rest of the table.

Knows statuses, reasons and thresholds. Ignores relations and other cells. The worst case is taken: the reader sees
the mark and the reason of a hidden cell. Hidden as too small says [1, k-1]; hidden to shield another says at least k;
withheld because of an earlier publication says within k-1 of the value published then. Nobody publishes an
auxiliary cell and nothing is known of it: [0, ∞).
Source: Hundepool et al., Statistical Disclosure Control (2012), section 4.3: the intruder's a priori bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.model.tables import Reason
from celosia.tables._grid import Cells, Flags, Values

Reals = NDArray[np.float64]
Status = NDArray[np.int8]
Reasons = NDArray[np.object_]  # Reason or None, one per cell

PUBLISHED, PRIMARY, SECONDARY = 0, 1, 2
_SMALL = (Reason.THRESHOLD, Reason.ZERO)


@dataclass(frozen=True, slots=True)
class Bounds:
    """One pair per cell; they speak of hidden cells only."""

    low: Reals
    high: Reals

    def narrowed(self, cells: Flags | Cells, low: Reals | float, high: Reals | float) -> Bounds:
        """The same bounds with something more known of some cells."""
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
        _near_earlier(low, high, earlier, primary & (earlier >= 0), k)
    return Bounds(low, high)


def _near_earlier(low: Reals, high: Reals, earlier: Values, cells: Flags, k: int) -> None:
    low[cells] = np.maximum(earlier[cells] - (k - 1.0), k)
    high[cells] = earlier[cells] + (k - 1.0)


def has_reason(reasons: Reasons, *wanted: Reason) -> Flags:
    """Cells hidden for one of these reasons."""
    return np.fromiter((reason in wanted for reason in reasons), np.bool_, len(reasons))
