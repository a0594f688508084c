"""The cells of one or several linked tables, and how they add up: all that protection needs to know.

Knows cells by number, their true values and the relations between them. Ignores labels, measures and files.
A relation says that one cell is the sum of others; where a person may stand in several of them it is not the
sum, and only `largest ≤ margin ≤ sum` holds. Tables that share cells share numbers, so linked tables, levels of
a hierarchy and versions for different audiences are all one grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int64]  # numbers of cells
Flags = NDArray[np.bool_]  # one per cell
Values = NDArray[np.int64]  # one per cell


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells 0…n-1 with the persons behind them, and relations 0…m-1 in compressed rows."""

    values: Values
    totals: Cells  # per relation: the cell that stands for the whole
    starts: Cells  # per relation: where its parts begin in `parts`; one more at the end
    parts: Cells  # the cells that a relation adds up; cells of nobody are left out
    additive: Flags  # per relation: the whole is the sum of its parts
    cost: Values  # per cell: what hiding it costs; the dearer stays published
    offered: Flags  # per cell: somebody means to publish it; the others only carry relations and are never known

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
