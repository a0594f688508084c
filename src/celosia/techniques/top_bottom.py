"""Top and bottom coding: the values at or beyond a bound give way to the bound, to a label or to the tail's mean.

Knows numbers. Ignores what they measure. A bound is declared (`top`, `bottom`) or is a quantile (`top_quantile`,
`bottom_quantile`): the smallest value v such that the rows with a number at most v are at least q of all rows with a
number (the inverse of the empirical distribution), decided in whole numbers. Equal values are always treated alike.
By value and as the bound, coding twice changes nothing more. The mean of the tail keeps the total, and is refused for
a tail of fewer than `tail` rows, which it would publish.
Source: ATENEA 4.2.4 (global recoding of extreme values); Hundepool et al., Statistical Disclosure Control, 3.2.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia import messages
from celosia.data.numbers import NumberColumn, number_texts
from celosia.errors import TechniqueRefuses
from celosia.model.parameters import Param, conflict
from celosia.techniques._contract import (
    COLUMNS,
    DECIMAL,
    DECIMALS,
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
    text_array,
)
from celosia.techniques._draws import Draws
from celosia.techniques._totals import total_of
from celosia.techniques._values import new_names

_NAME = "top_bottom"
_SIDES = ("bottom", "top")
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Tail:
    """The lines at or beyond a bound, those strictly beyond, and the bound as number and text."""

    side: str
    bound: float
    text: str
    reached: Mask
    beyond: Mask


@dataclass(frozen=True, slots=True)
class _Column:
    """A column as numbers, with its name and the rows behind each line."""

    given: Given
    name: str
    numbers: NumberColumn


def quantile(column: NumberColumn, rows: NDArray[np.int64], share: Fraction) -> float | None:
    """The smallest value that at least `share` of the rows with a number do not exceed; None without numbers."""
    values, place = np.unique(column.values[column.plain], return_inverse=True)
    if not len(values):
        return None
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, place.reshape(-1), rows[column.plain])
    upto = [int(count) * share.denominator for count in np.cumsum(counts)]
    wanted = int(counts.sum()) * share.numerator
    return float(values[next(i for i, count in enumerate(upto) if count >= wanted)])


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    _check(settings)
    names = new_names(_NAME, settings)
    made, notes = {}, {}
    for name in names:
        column = numbers_in(given, name, settings, _NAME)
        tails = [tail for side in _SIDES if (tail := _tail(column, given.rows, side, settings)) is not None]
        _refuse_crossed(tails, settings)
        cells = given.columns[name]
        for tail in tails:
            cells = _coded(cells, _Column(given, name, column), tail, settings)
        made[names[name]] = cells
        notes[names[name]] = {f"rows_{tail.side}": int(given.rows[tail.reached].sum()) for tail in tails}
    kept = ("total",) if settings["as"] == "mean" and settings["decimals"] is None else ()
    return Outcome(made, {new: old for old, new in names.items()}, preserved=kept, notes=notes)


def _check(settings: Settings) -> None:
    pairs = [(settings[side], settings[f"{side}_quantile"]) for side in _SIDES]
    if all(pair == (None, None) for pair in pairs) or any(None not in pair for pair in pairs):
        raise conflict(_NAME, "top, top_quantile, bottom, bottom_quantile", "bounds", "techniques")
    if any(share is not None and not 0 < share < 1 for _, share in pairs):
        raise conflict(_NAME, "top_quantile, bottom_quantile", "inner_share", "techniques")
    for side in _SIDES:
        if "{bound}" not in settings[f"{side}_label"]:
            raise conflict(_NAME, f"{side}_label", "bound_label", "techniques")


def _tail(column: NumberColumn, rows: NDArray[np.int64], side: str, settings: Settings) -> _Tail | None:
    declared, share = settings[side], settings[f"{side}_quantile"]
    bound = declared
    if share is not None:
        bound = quantile(column, rows, Fraction(share))
    if bound is None:
        return None
    number = float(bound)
    values = np.where(column.plain, column.values, number)
    text = _declared_text(bound, settings) if isinstance(bound, Decimal) else _texts(number, settings)
    reached = column.plain & (values >= number if side == "top" else values <= number)
    return _Tail(side, number, text, reached, reached & (values != number))


def _refuse_crossed(tails: list[_Tail], settings: Settings) -> None:
    if len(tails) < 2:
        return
    bottom, top = tails
    touching = bottom.bound == top.bound and settings["as"] != "bound"
    if bottom.bound > top.bound or touching:
        raise conflict(_NAME, "bottom, top", "crossed", "techniques")


def _coded(cells: pa.Array, of: _Column, tail: _Tail, settings: Settings) -> pa.Array:
    if settings["as"] == "bound":
        return _filled(cells, tail.beyond, tail.text)
    if settings["as"] == "label":
        return _filled(cells, tail.reached, settings[f"{tail.side}_label"].replace("{bound}", tail.text))
    count = int(of.given.rows[tail.reached].sum())
    if not count:
        return cells
    if count < settings["tail"]:
        raise TechniqueRefuses(technique=_NAME, reason=messages.text("techniques.reason.short_tail", rows=count))
    mean = total_of(_NAME, of.given, of.name, of.numbers, tail.reached) / count
    return _filled(cells, tail.reached, _texts(mean, settings, settings["decimals"]))


def _filled(cells: pa.Array, where: Mask, text: str) -> pa.Array:
    return placed(cells, where, text_array([text] * int(where.sum())))


def _texts(number: float, settings: Settings, decimals: int | None = None) -> str:
    return str(number_texts(np.array([number]), decimals, settings["decimal"])[0].as_py())


def _declared_text(bound: Decimal, settings: Settings) -> str:
    return f"{bound:f}".replace(".", settings["decimal"])


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        "top": Param("number"),
        "bottom": Param("number"),
        "top_quantile": Param("number"),
        "bottom_quantile": Param("number"),
        "as": Param("text", default="bound", choices=("bound", "label", "mean")),
        "top_label": Param("text", default="≥ {bound}"),
        "bottom_label": Param("text", default="≤ {bound}"),
        "tail": Param("whole", default=3, minimum=1),
        "decimals": DECIMALS,
        "decimal": DECIMAL,
        "into": INTO,
        "unknown": UNKNOWN,
    },
    uses=columns_of,
    apply=_apply,
    apart=True,
    norms=("A25", "Y09"),
)
