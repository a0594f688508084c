"""Whether two tables in memory hold the same rows in the same order, and which combination each row is.

Knows coded columns. Ignores what is compared. Two files say nothing of this: their rows are matched by a key. Two
frames that a treatment lies between show it: a column that stands cell by cell as it was, in an order that neither
sorting nor chance would give twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import lgamma, log

import numpy as np

from celosia.data.counting.coded_columns import CodedColumn
from celosia.data.memory_table import MemoryTable
from celosia.data.table import Table
from celosia.evaluation.linked import Links
from celosia.tuples.table import Tuples

_BY_CHANCE = log(1e12)  # of so many orders of its values at least, a column has the same one in both


def corresponding_rows(
    tables: tuple[Table, Table], names: Iterable[tuple[str, str]], samples: tuple[Tuples, Tuples]
) -> Links | None:
    """The combination of each row in both samples; None where nothing shows that the rows stand in the same order.

    `names` are the columns by their name in each table.
    """
    before, after = tables
    if not isinstance(before, MemoryTable) or not isinstance(after, MemoryTable):
        return None
    if before.count_rows() != after.count_rows():
        return None
    if not any(_shows_the_order(before.column(first), after.column(second)) for first, second in names):
        return None
    return Links(before.places_among(samples[0]), after.places_among(samples[1]))


def _shows_the_order(before: CodedColumn, after: CodedColumn) -> bool:
    """Whether a column is the same in every row, and in an order of its own: not sorted, not one of a few."""
    codes = before.codes
    if not before.row_texts().equals(after.row_texts()):
        return False
    counts = before.row_counts()
    is_key = int(counts.max(initial=0)) == 1
    runs = int((codes[1:] != codes[:-1]).sum()) + 1
    # How many orders the values have: the multinomial coefficient, as a logarithm.
    orders = lgamma(len(codes) + 1) - sum(lgamma(count + 1) for count in counts.tolist())
    return is_key or (runs > int(np.count_nonzero(counts)) and orders > _BY_CHANCE)
