"""Top and bottom coding: the values at or beyond a bound become the bound, a label or the mean of the tail.

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
from celosia.model.parameters import Number, Text, Whole
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import columns_of, numbers_in, replace_cells, text_array, total_of
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._parameters import COLUMNS, DECIMAL, DECIMALS, INTO, UNKNOWN
from celosia.techniques._values import new_names
from celosia.techniques.errors import TechniqueRefuses

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

    given: StepInput
    name: str
    numbers: NumberColumn


def quantile(column: NumberColumn, rows: NDArray[np.int64], share: Fraction) -> float | None:
    """The smallest value that at least `share` of the rows with a number do not exceed; None without numbers."""
    values, index = np.unique(column.values[column.plain], return_inverse=True)
    if not len(values):
        return None
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, index.reshape(-1), rows[column.plain])
    upto = [int(count) * share.denominator for count in np.cumsum(counts)]
    needed = int(counts.sum()) * share.numerator
    return float(values[next(i for i, count in enumerate(upto) if count >= needed)])


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    _check_settings(settings)
    names = new_names(_NAME, settings)
    columns, notes = {}, {}
    for name in names:
        column = numbers_in(given, name, settings, _NAME)
        tails = [tail for side in _SIDES if (tail := _tail(column, given.rows, side, settings)) is not None]
        _refuse_crossed(tails, settings)
        cells = given.columns[name]
        for tail in tails:
            cells = _code_tail(cells, _Column(given, name, column), tail, settings)
        columns[names[name]] = cells
        notes[names[name]] = {f"rows_{tail.side}": int(given.rows[tail.reached].sum()) for tail in tails}
    preserved = ("total",) if settings["as"] == "mean" and settings["decimals"] is None else ()
    return StepOutcome(columns, {new: old for old, new in names.items()}, preserved=preserved, notes=notes)


def _check_settings(settings: Settings) -> None:
    pairs = [(settings[side], settings[f"{side}_quantile"]) for side in _SIDES]
    if all(pair == (None, None) for pair in pairs) or any(None not in pair for pair in pairs):
        raise wrong_setting(_NAME, "top, top_quantile, bottom, bottom_quantile", "bounds")
    if any(share is not None and not 0 < share < 1 for _, share in pairs):
        raise wrong_setting(_NAME, "top_quantile, bottom_quantile", "inner_share")
    for side in _SIDES:
        if "{bound}" not in settings[f"{side}_label"]:
            raise wrong_setting(_NAME, f"{side}_label", "bound_label")


def _tail(column: NumberColumn, rows: NDArray[np.int64], side: str, settings: Settings) -> _Tail | None:
    share = settings[f"{side}_quantile"]
    bound = settings[side] if share is None else quantile(column, rows, Fraction(share))
    if bound is None:
        return None
    number = float(bound)
    values = np.where(column.plain, column.values, number)
    declared_text = f"{bound:f}".replace(".", settings["decimal"]) if isinstance(bound, Decimal) else None
    text = declared_text or _number_text(number, settings)
    reached = column.plain & (values >= number if side == "top" else values <= number)
    return _Tail(side, number, text, reached, reached & (values != number))


def _refuse_crossed(tails: list[_Tail], settings: Settings) -> None:
    if len(tails) < 2:
        return
    bottom, top = tails
    touching = bottom.bound == top.bound and settings["as"] != "bound"
    if bottom.bound > top.bound or touching:
        raise wrong_setting(_NAME, "bottom, top", "crossed")


def _code_tail(cells: pa.Array, of: _Column, tail: _Tail, settings: Settings) -> pa.Array:
    if settings["as"] == "bound":
        return _fill(cells, tail.beyond, tail.text)
    if settings["as"] == "label":
        return _fill(cells, tail.reached, settings[f"{tail.side}_label"].replace("{bound}", tail.text))
    count = int(of.given.rows[tail.reached].sum())
    if not count:
        return cells
    if count < settings["tail"]:
        raise TechniqueRefuses(technique=_NAME, reason=messages.text("techniques.reason.short_tail", rows=count))
    mean = total_of(_NAME, of.given, of.name, of.numbers, tail.reached) / count
    return _fill(cells, tail.reached, _number_text(mean, settings, settings["decimals"]))


def _fill(cells: pa.Array, where: Mask, text: str) -> pa.Array:
    return replace_cells(cells, where, text_array([text] * int(where.sum())))


def _number_text(number: float, settings: Settings, decimals: int | None = None) -> str:
    return str(number_texts(np.array([number]), decimals, settings["decimal"])[0].as_py())


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        "top": Number(),
        "bottom": Number(),
        "top_quantile": Number(),
        "bottom_quantile": Number(),
        "as": Text(default="bound", choices=("bound", "label", "mean")),
        "top_label": Text(default="≥ {bound}"),
        "bottom_label": Text(default="≤ {bound}"),
        "tail": Whole(default=3, minimum=1),
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
