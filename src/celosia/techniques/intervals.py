"""Numbers to half-open intervals [low, high): amounts, salaries, ages.

Knows numbers written as text, compared exactly as decimals. Ignores units. Limits and labels are those of the
hierarchies' intervals: `30 a 39` for whole numbers, `100-500` and `1000+` for amounts, `<18` below an open end.
A number that no interval holds is refused with its count.
Source: YAPÓ 2.2 and 2.4; MINSAL, Anexo II.1.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from celosia.data.numbers import NumberColumn
from celosia.model.parameters import Number
from celosia.techniques._bands import PARAMS, band_labels, borders, covering
from celosia.techniques._columns import numbers_in, replace_cells
from celosia.techniques._contract import Settings, StepInput
from celosia.techniques._families import recoding
from celosia.techniques._parameters import DECIMAL
from celosia.techniques._values import RecodedColumn, each_value, refuse_unreadable
from celosia.techniques.errors import OutsideIntervals

_NAME = "intervals"
_SHARED = ("width", "end", "cuts", "open_low", "open_high", "label", "whole")


def _band_column(given: StepInput, name: str, settings: Settings) -> pa.Array:
    numbers = numbers_in(given, name, settings, _NAME)
    low, high = _extremes(numbers.values[numbers.plain])
    spec: dict[str, Any] = {key: settings[key] for key in (*_SHARED, "start", "decimal")}
    spec = covering(spec, low, high)
    # Wrong limits are refused before any number is compared with them.
    band_labels((), spec)
    if settings["whole"]:
        fractions = numbers.plain & (numbers.values != np.floor(numbers.values))
        refuse_unreadable(_NAME, given, name, fractions, "whole")
    column = _label_numbers(given.columns[name], numbers, spec)
    if column.failed.any():
        raise OutsideIntervals(technique=_NAME, variable=name, rows=int(given.rows[column.failed].sum()))
    return column.cells


def _label_numbers(cells: pa.Array, numbers: NumberColumn, spec: Mapping[str, Any]) -> RecodedColumn:
    """The label of every number, decided once for all that lie between the same two limits.

    Rounding to binary keeps the order, so only a number that reads like a limit must be compared as a decimal.
    """
    limits = np.array([float(limit) for limit in borders(spec)])
    between = numbers.plain & ~np.isin(numbers.values, limits)
    band = np.searchsorted(limits, numbers.values[between])
    _, first, index = np.unique(band, return_index=True, return_inverse=True)
    bands = _bands_of(cells.filter(pa.array(between)).take(pa.array(first)), spec)
    labels = replace_cells(cells, between, bands.cells.take(pa.array(index.reshape(-1))))
    failed = np.zeros(len(cells), bool)
    failed[between] = bands.failed[index.reshape(-1)]
    on_limit = numbers.plain & ~between
    exact = _bands_of(cells.filter(pa.array(on_limit)), spec)
    failed[on_limit] = exact.failed
    return RecodedColumn(replace_cells(labels, on_limit, exact.cells), failed)


def _bands_of(cells: pa.Array, spec: Mapping[str, Any]) -> RecodedColumn:
    return each_value(cells, (), lambda values: band_labels([_plain_number(v, spec["decimal"]) for v in values], spec))


def _plain_number(text: str, mark: str) -> str:
    """A number without blanks, exponent or useless zeros, as intervals read it."""
    number = Decimal(text.strip().replace(mark, "."))
    return str(int(number)) if number == number.to_integral_value() else f"{number:f}".replace(".", mark)


def _extremes(values: Any) -> tuple[Decimal, Decimal]:
    """Whole numbers around all values, so that rounding to binary cannot leave one outside."""
    if not len(values):
        return Decimal(0), Decimal(0)
    return Decimal(float(np.floor(values.min()))), Decimal(float(np.ceil(values.max())))


TECHNIQUE = recoding(
    _NAME,
    {**{key: PARAMS[key] for key in _SHARED}, "start": Number(), "decimal": DECIMAL},
    _band_column,
    norms=("M16", "Y08", "Y09"),
)
