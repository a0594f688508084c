"""Cell suppression: as few cells as possible replaced by `*`, the less important variables first.

Two readings of a masked cell. *Own*: `*` is a value like any other, and every published class passes every
criterion; only this decides a verdict. *Wildcard*: a masked or missing cell may stand for any value, and every row
is compatible with at least k rows, as other tools count; the rows that stay below k when `*` is a value of its own
are reported with it. Rows with every variable masked are reported apart and pass the criteria too (REQUIREMENTS X6).
A masked cell may still be read from another variable or another member of a household: masks along dependencies
are another step. Good, not proved least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.model.errors import NothingChosen
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria import Criterion
from celosia.solver.cell_table import CellTable, Mask
from celosia.solver.errors import CriterionNotForWildcard
from celosia.solver.own_cells import failing_classes, mask_as_own_value
from celosia.solver.published import ClassCounter
from celosia.solver.wildcard_cells import mask_as_wildcard

Reading = Literal["own", "wildcard"]
READINGS: tuple[Reading, ...] = ("own", "wildcard")


@dataclass(frozen=True, slots=True)
class CellSuppression:
    """Which cells of which tuples become `*`, and what that costs. Cells and rows are counted in rows of the table."""

    reading: Reading
    masked: Mask  # (tuples, variables)
    codes: NDArray[np.int32]  # what is published for each tuple, into the vocabularies
    vocabularies: tuple[tuple[str, ...], ...]
    by_variable: tuple[int, ...]
    cells: int
    weighted: float  # cells, each counted by the importance of its variable
    rows_touched: int
    fully_masked_rows: int
    classes: int
    failing_rows: int  # rows whose class fails when `*` is a value of its own: 0 in the own reading


def suppress_cells(
    counter: ClassCounter, criteria: Sequence[Criterion], importance: Sequence[float], reading: Reading = "own"
) -> CellSuppression | None:
    """Cells to mask so that the criteria hold in this reading; None when not even masking everything suffices.

    `importance` has one number per quasi-identifier, to three decimals; the higher, the later it is masked.
    """
    if reading not in READINGS:
        raise ValueOutOfRange(parameter="reading", given=reading, allowed=", ".join(READINGS))
    if not counter.quasi.names:
        raise NothingChosen(option="quasi")
    table = CellTable(counter, importance)
    if reading == "own":
        masked = mask_as_own_value(table, criteria)
    else:
        masked = mask_as_wildcard(table, _required_rows(counter, criteria))
    return None if masked is None else _account(table, criteria, masked, reading)


def _required_rows(counter: ClassCounter, criteria: Sequence[Criterion]) -> int:
    """The k of k-anonymity in rows, the only criterion that the wildcard reading knows."""
    for criterion in criteria:
        if not counter.decides_by_rows([criterion]):
            raise CriterionNotForWildcard(criterion=criterion.name)
    return max([int(criterion.k) for criterion in criteria], default=1)


def _account(table: CellTable, criteria: Sequence[Criterion], masked: Mask, reading: Reading) -> CellSuppression:
    fresh = masked & ~table.starred
    label, fails = failing_classes(table, criteria, fresh)
    codes, rows = table.publish(fresh), table.quasi.rows
    weighted, cells = table.cost(fresh)
    return CellSuppression(
        reading,
        fresh,
        codes,
        table.levels.vocabularies,
        tuple(int(count) for count in table.by_variable(fresh)),
        cells,
        weighted / 1000,
        int(rows[fresh.any(axis=1)].sum()),
        int(rows[(fresh | table.starred).all(axis=1)].sum()),
        len(fails),
        int(rows[fails[label]].sum()),
    )
