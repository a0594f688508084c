"""Amounts that are added inside the database, as whole numbers so that every engine gives the same sum.

Knows the types of columns and how many digits they keep. Ignores persons and cells. Texts are read as numbers with
a point; what is not one is counted, never added. Floating sums would depend on the order of the rows (DESIGN §4,
rule 7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ibis

from celosia.model.stats import Measure, StatsTable

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
    def bad(self) -> str:
        """The column that counts values that are not numbers."""
        return f"b{self.number}"

    @property
    def total(self) -> str:
        """The column of the sum."""
        return f"s{self.number}"

    @property
    def filled(self) -> str:
        """The column that counts rows with a value."""
        return f"v{self.number}"

    @property
    def holders(self) -> str:
        """The column that counts persons with a value."""
        return f"h{self.number}"

    @property
    def columns(self) -> tuple[str, str, str]:
        """What is added from person to cell."""
        return self.total, self.filled, self.bad

    @property
    def figures(self) -> tuple[str, str, str]:
        """How its figures are called: the sum, and the rows and persons that have a value."""
        return self.measure, f"{self.measure}:rows", f"{self.measure}:persons"

    def per_person(self, table: Any) -> dict[str, Any]:
        """The aggregates of one person in one combination."""
        return {
            self.total: table[self.value].sum().fill_null(0).cast("int64"),
            self.filled: table[self.value].count(),
            self.bad: table[self.bad].sum().fill_null(0).cast("int64"),
        }


def amounts_of(table: StatsTable, relation: Any) -> tuple[Amount, ...]:
    """What the sums and means of a table add."""
    added = [measure for measure in table.measures if measure.kind in ("sum", "mean") and measure.column]
    return tuple(_amount(number, measure, relation) for number, measure in enumerate(added))


def _amount(number: int, measure: Measure, relation: Any) -> Amount:
    column = relation[measure.column]
    readable, whole, scale = _whole(column)
    largest = max(measure.dominance[0] if measure.dominance else 0, _LEAST_CONTRIBUTORS)
    bad = (column.notnull() & ~readable).ifelse(1, 0).cast("int64")
    added = readable.ifelse(whole, ibis.null("int64"))
    return Amount(number, measure.name, str(measure.column), scale, largest, added, bad)


def _whole(column: Any) -> tuple[Any, Any, int]:
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
    """Digits, one point and a sign in front: told by what remains without the digits, which every engine can do."""
    rest = text
    for digit in "0123456789":
        rest = rest.replace(digit, "")
    signed = (~rest.startswith("-")) | text.startswith("-")
    return (rest.isin(_NUMBER_SIGNS) & signed & (text.length() > rest.length())).fill_null(False)
