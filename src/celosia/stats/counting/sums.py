"""Amounts that are added inside the database, as whole numbers so that every engine gives the same sum.

Knows the types of columns and how many digits they keep. Ignores persons and cells. Texts are read as numbers with
a point; what is not one is counted, never added. Floating sums would depend on the order of the rows (DESIGN §4,
rule 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ibis

from celosia.stats.declaration.declaration import Measure, StatsTable
from celosia.tables.cells import ALL, CellTable

FLOAT_SCALE = 10_000
_MOST_DECIMALS = 6
_LEAST_CONTRIBUTORS = 2  # the p % rule looks at the two largest
_NUMBER_SIGNS = ("", ".", "-", "-.")  # what remains of a number without its digits


@dataclass(frozen=True)
class Amount:
    """A column to add for a measure: its whole-number expression, and the names of what is made of it."""

    number: int
    measure: str
    column: str
    scale: int
    largest: int  # how many of the largest contributions of one person the rules ask for
    expression: Any
    unreadable: Any  # 1 where the value is not a number

    @property
    def value(self) -> str:
        """The column of the single value."""
        return f"x{self.number}"

    @property
    def unreadable_count(self) -> str:
        """The column that counts values that are not numbers."""
        return f"b{self.number}"

    @property
    def total(self) -> str:
        """The column of the sum."""
        return f"s{self.number}"

    @property
    def row_count(self) -> str:
        """The column that counts rows with a value."""
        return f"v{self.number}"

    @property
    def person_count(self) -> str:
        """The column that counts persons with a value."""
        return f"h{self.number}"

    @property
    def columns(self) -> tuple[str, str, str]:
        """What is added from person to cell."""
        return self.total, self.row_count, self.unreadable_count

    @property
    def figures(self) -> tuple[str, str, str]:
        """How its figures are called: the sum, and the rows and persons that have a value."""
        return self.measure, f"{self.measure}:rows", f"{self.measure}:persons"

    def per_person(self, table: Any) -> dict[str, Any]:
        """The aggregates of one person in one combination."""
        return {
            self.total: table[self.value].sum().fill_null(0).cast("int64"),
            self.row_count: table[self.value].count(),
            self.unreadable_count: table[self.unreadable_count].sum().fill_null(0).cast("int64"),
        }


def amounts_of(table: StatsTable, relation: Any) -> tuple[Amount, ...]:
    """What the sums and means of a table add."""
    added = [measure for measure in table.measures if measure.kind in ("sum", "mean") and measure.column]
    return tuple(_amount(number, measure, relation) for number, measure in enumerate(added))


def _amount(number: int, measure: Measure, relation: Any) -> Amount:
    column = relation[measure.column]
    readable, whole, scale = _whole_units(column)
    largest = max(measure.dominance[0] if measure.dominance else 0, _LEAST_CONTRIBUTORS)
    bad = (column.notnull() & ~readable).ifelse(1, 0).cast("int64")
    added = readable.ifelse(whole, ibis.null("int64"))
    return Amount(number, measure.name, str(measure.column), scale, largest, added, bad)


def _whole_units(column: Any) -> tuple[Any, Any, int]:
    """Whether a value is a number, the value in whole units, and how many units make one."""
    kind = column.type()
    if kind.is_integer():
        return column.notnull(), column.cast("int64"), 1
    if kind.is_decimal():
        decimals = min(kind.scale or 0, _MOST_DECIMALS)
        return column.notnull(), (column * 10**decimals).round().cast("int64"), 10**decimals
    readable = _reads_as_number(column) if kind.is_string() else column.notnull()
    number = readable.ifelse(column, ibis.null(kind)).cast("float64")
    return readable, (number * FLOAT_SCALE + 0.5).floor().cast("int64"), FLOAT_SCALE


def _reads_as_number(text: Any) -> Any:
    """Digits, one point and a sign in front: checked by what remains without the digits, in any engine."""
    rest = text
    for digit in "0123456789":
        rest = rest.replace(digit, "")
    signed = (~rest.startswith("-")) | text.startswith("-")
    return (rest.isin(_NUMBER_SIGNS) & signed & (text.length() > rest.length())).fill_null(False)


def additive_dimensions(cells: CellTable) -> tuple[str, ...]:
    """The dimensions in which every person has one category only, as far as the counted margins show it."""
    cell_of = {tuple(line): at for at, line in enumerate(cells.codes.tolist())}
    return tuple(tree.name for at, tree in enumerate(cells.dimensions) if _adds_up(cells, at, cell_of))


def _adds_up(cells: CellTable, at: int, cell_of: Mapping[tuple[int, ...], int]) -> bool:
    """Whether every whole along a dimension is the sum of its categories, on every level of its tree."""
    parents = [*cells.dimensions[at].parent, ALL]
    sums: dict[int, int] = {}
    for line, persons in zip(cells.codes.tolist(), cells.persons.tolist(), strict=True):
        if line[at] != ALL:
            whole = cell_of.get((*line[:at], parents[line[at]], *line[at + 1 :]))
            if whole is not None:
                sums[whole] = sums.get(whole, 0) + persons
    return all(int(cells.persons[whole]) == total for whole, total in sums.items())
