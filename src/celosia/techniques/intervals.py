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
from celosia.errors import OutsideIntervals
from celosia.model.parameters import Param
from celosia.techniques._bands import PARAMS, band_labels, borders, covering
from celosia.techniques._contract import (
    COLUMNS,
    DECIMAL,
    INTO,
    UNKNOWN,
    Given,
    Lines,
    Outcome,
    Settings,
    Technique,
    columns_of,
    numbers_in,
    placed,
)
from celosia.techniques._draws import Draws
from celosia.techniques._values import Published, each_value, new_names, recoded, refuse_unreadable

_NAME = "intervals"
_SHARED = ("width", "end", "cuts", "open_low", "open_high", "label", "whole")


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    names = new_names(_NAME, settings)
    return recoded(names, {name: _banded(given, name, settings) for name in names})


def _banded(given: Given, name: str, settings: Settings) -> pa.Array:
    numbers = numbers_in(given, name, settings, _NAME)
    low, high = _extremes(numbers.values[numbers.plain])
    spec: dict[str, Any] = {key: settings[key] for key in (*_SHARED, "start", "decimal")}
    spec = covering(spec, low, high)
    band_labels((), spec)  # wrong limits are told before any number is judged by them
    if settings["whole"]:
        fractions = numbers.plain & (numbers.values != np.floor(numbers.values))
        refuse_unreadable(_NAME, given, name, fractions, "whole")
    made = _labelled(given.columns[name], numbers, spec)
    if made.failed.any():
        raise OutsideIntervals(technique=_NAME, variable=name, rows=int(given.rows[made.failed].sum()))
    return made.cells


def _labelled(cells: pa.Array, numbers: NumberColumn, spec: Mapping[str, Any]) -> Published:
    """The label of every number, decided once for all that lie between the same two limits.

    Rounding to binary keeps the order, so only a number that reads like a limit must be compared as a decimal.
    """
    limits = np.array([float(limit) for limit in borders(spec)])
    between = numbers.plain & ~np.isin(numbers.values, limits)
    _, first, place = np.unique(
        np.searchsorted(limits, numbers.values[between]), return_index=True, return_inverse=True
    )
    shown = _bands_of(cells.filter(pa.array(between)).take(pa.array(first)), spec)
    made = placed(cells, between, shown.cells.take(pa.array(place.reshape(-1))))
    failed = np.zeros(len(cells), bool)
    failed[between] = shown.failed[place.reshape(-1)]
    on_limit = numbers.plain & ~between
    exact = _bands_of(cells.filter(pa.array(on_limit)), spec)
    failed[on_limit] = exact.failed
    return Published(placed(made, on_limit, exact.cells), failed)


def _bands_of(cells: pa.Array, spec: Mapping[str, Any]) -> Published:
    return each_value(cells, (), lambda values: band_labels([_plain(v, spec["decimal"]) for v in values], spec))


def _plain(text: str, mark: str) -> str:
    """A number without blanks, exponent or useless zeros, as intervals read it."""
    number = Decimal(text.strip().replace(mark, "."))
    return str(int(number)) if number == number.to_integral_value() else f"{number:f}".replace(".", mark)


def _extremes(values: Any) -> tuple[Decimal, Decimal]:
    """Whole numbers around all values, so that rounding to binary cannot leave one outside."""
    if not len(values):
        return Decimal(0), Decimal(0)
    return Decimal(float(np.floor(values.min()))), Decimal(float(np.ceil(values.max())))


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        **{key: PARAMS[key] for key in _SHARED},
        "start": Param("number"),
        "decimal": DECIMAL,
        "into": INTO,
        "unknown": UNKNOWN,
    },
    uses=columns_of,
    apply=_apply,
    apart=True,
    norms=("M16", "Y08", "Y09"),
)
