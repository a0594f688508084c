"""Noise: each number moves by chance, in proportion to the spread of its column (ATENEA 4.2.4, «ruido»).

Knows columns of numbers and their strata. Ignores what they measure. In each stratum, with z standard normal, s the
standard deviation and `level` a share of it (0.1 is a tenth):

  uncorrelated    x + level·s·z, each column apart: the variance grows by 1 + level²
  correlated      x + level·L·z with L·Lᵀ the covariance matrix of the columns (Kim 1986): all covariances grow by
                  1 + level², so correlations stay in expectation; a column that is a sum of others stays that sum
  multiplicative  x·|1 + level·z|: the sign stays and zero stays

`restore` undoes the change of mean and variance by the affine map y′ = mean(x) + (y − mean(y))·s(x)/s(y), or for the
correlated kind y′ = mean(x) + L(x)·L(y)⁻¹·(y − mean(y)), which gives back the covariance matrix; the result is measured
and refused if it is not exact to 1e-9 of the spread. Bounds are reflecting: what passes a bound by d comes back by d.
Cells without a number stay as they are. A step that would change no cell of a column is refused.
Source: Brand (2002), Microdata protection through noise addition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia import messages
from celosia.data.numbers import NumberColumn, number_texts
from celosia.errors import NoSpread, NumbersTooLarge, OutsideBounds, PartlyMissing, TechniqueRefuses
from celosia.model.parameters import Param
from celosia.techniques import _moments as moments
from celosia.techniques._contract import (
    COLUMNS,
    DECIMAL,
    DECIMALS,
    STRATA,
    UNKNOWN,
    Given,
    Lines,
    Outcome,
    Settings,
    Technique,
    columns_of,
    numbers_in,
    placed,
    strata_of,
)
from celosia.techniques._draws import Draws
from celosia.techniques._settings import above_zero, named_once, some_column, wrong

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_LARGEST = 1e150  # squares and their sums stay finite
_LARGEST_LEVEL = 1000  # times the spread of a column: nothing of it would be left
_EXACT = 1e-9


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    _check(settings)
    columns = {name: _numbers(given, name, settings) for name in settings["columns"]}
    groups = tuple(moments.groups_of(*strata_of(given, settings["strata"])))
    chance = {name: draws.normal(given.lines) for name in columns}
    if settings["kind"] == "correlated":
        noisy = _correlated(columns, groups, chance, settings)
    else:
        noisy = {name: _single(name, column, groups, chance[name], settings) for name, column in columns.items()}
    made, notes = {}, {}
    for name, column in columns.items():
        published = _published(noisy[name][column.plain], settings)
        notes[name] = _account(column.values[column.plain], published)
        texts = number_texts(published, None, settings["decimal"])
        made[name] = placed(given.columns[name], column.plain, texts)
    return Outcome(made, preserved=_preserved(settings), notes={"noise": notes})


def _check(settings: Settings) -> None:
    some_column("noise", settings["columns"])
    named_once(settings["columns"], settings["strata"])
    above_zero("noise", "level", settings["level"])
    if settings["level"] > _LARGEST_LEVEL:
        raise wrong("noise", "level", "level_size")
    low, high = settings["minimum"], settings["maximum"]
    if low is not None and high is not None and low >= high:
        raise wrong("noise", "maximum", "maximum_above_minimum")
    if settings["whole"] and settings["decimals"]:
        raise wrong("noise", "decimals", "whole_or_decimals")
    inner = _inner_bounds(settings)
    if inner[0] > inner[1]:
        raise wrong("noise", "maximum", "bounds_hold_no_number")
    if settings["restore"] and (low is not None or high is not None):
        raise wrong("noise", "restore", "restore_with_bounds")
    if settings["restore"] and _digits(settings) is not None:
        raise wrong("noise", "restore", "restore_with_rounding")


def _digits(settings: Settings) -> int | None:
    """Decimals of the published numbers."""
    return 0 if settings["whole"] else settings["decimals"]


def _numbers(given: Given, name: str, settings: Settings) -> NumberColumn:
    column = numbers_in(given, name, settings, "noise")
    values = column.values[column.plain]
    large = int((np.abs(values) > _LARGEST / max(1.0, 12 * float(settings["level"]))).sum())  # no draw passes 9
    if large:
        raise NumbersTooLarge(technique="noise", variable=name, rows=large)
    low, high = _bounds(settings)
    outside = int(((values < low) | (values > high)).sum())
    if outside:
        raise OutsideBounds(technique="noise", variable=name, rows=outside)
    return column


def _single(name: str, column: NumberColumn, groups: Sequence[Rows], chance: Floats, settings: Settings) -> Floats:
    """A column with noise of its own."""
    level, restore = float(settings["level"]), settings["restore"]
    multiplied = settings["kind"] == "multiplicative"
    made = column.values.copy()
    flat, needed = 0, 3 if restore else 2
    for group in groups:
        lines = group[column.plain[group]]
        x, z = column.values[lines], chance[lines]
        spread = _spread(x) if restore or not multiplied else 1.0
        if len(x) and (spread == 0 or (restore and len(x) < needed)):
            flat += 1
        elif len(x):
            noisy = x * np.abs(1 + level * z) if multiplied else x + (level * spread) * z
            made[lines] = restored(x, noisy) if restore else noisy
    if flat:
        raise NoSpread(technique="noise", variable=name, groups=flat, needed=needed)
    return made


def _spread(values: Floats) -> float:
    """Standard deviation; zero for fewer than two numbers or one value alone."""
    if len(values) < 2 or values.min() == values.max():
        return 0.0
    return float(np.sqrt(moments.variance(values)))


def restored(x: Floats, noisy: Floats) -> Floats:
    """Numbers with the mean and variance of x, by an affine map of the noisy ones."""
    scale = np.sqrt(moments.variance(x) / moments.variance(noisy))
    made = moments.mean(x) + (noisy - moments.mean(noisy)) * scale
    _exact((x,), (made,))
    return np.asarray(made, np.float64)


def _correlated(
    columns: Mapping[str, NumberColumn], groups: Sequence[Rows], chance: Mapping[str, Floats], settings: Settings
) -> dict[str, Floats]:
    """Columns with noise that goes together as they do."""
    complete = np.logical_and.reduce([column.plain for column in columns.values()])
    if settings["restore"]:
        _refuse_partly_missing(columns, complete)
    made = {name: column.values.copy() for name, column in columns.items()}
    _refuse_flat(columns, groups, complete, 3 if settings["restore"] else 2)
    for group in groups:
        whole = group[complete[group]]
        if not len(whole):
            continue
        x = [column.values[whole] for column in columns.values()]
        root, _ = moments.lower_root(moments.covariances(_centred(x)))
        noise = moments.combined(root, [chance[name][group] for name in columns])
        for name, part in zip(columns, noise, strict=True):
            made[name][group] += float(settings["level"]) * part
        if settings["restore"]:
            back = restored_together(x, [made[name][whole] for name in columns])
            for name, column in zip(columns, back, strict=True):
                made[name][whole] = column
    return made


def _refuse_partly_missing(columns: Mapping[str, NumberColumn], complete: NDArray[np.bool_]) -> None:
    some = np.logical_or.reduce([column.plain for column in columns.values()])
    partly = int((some & ~complete).sum())
    if partly:
        raise PartlyMissing(technique="noise", rows=partly)


def _refuse_flat(
    columns: Mapping[str, NumberColumn], groups: Sequence[Rows], complete: NDArray[np.bool_], needed: int
) -> None:
    """Refuse a stratum with numbers whose complete rows say nothing about their spread."""
    for name, column in columns.items():
        flat = 0
        for group in groups:
            whole = column.values[group[complete[group]]]
            if column.plain[group].any() and (len(whole) < needed or whole.min() == whole.max()):
                flat += 1
        if flat:
            raise NoSpread(technique="noise", variable=name, groups=flat, needed=needed)


def restored_together(x: Sequence[Floats], noisy: Sequence[Floats]) -> list[Floats]:
    """Columns with the means and the covariance matrix of x, by an affine map of the noisy ones."""
    target, _ = moments.lower_root(moments.covariances(_centred(x)))
    centred = _centred(noisy)
    root, independent = moments.lower_root(moments.covariances(centred))
    spread = moments.combined(target, moments.whitened(root, independent, centred))
    made = [moments.mean(column) + part for column, part in zip(x, spread, strict=True)]
    _exact(x, made)
    return made


def _centred(columns: Sequence[Floats]) -> list[Floats]:
    return [column - moments.mean(column) for column in columns]


def _exact(x: Sequence[Floats], made: Sequence[Floats]) -> None:
    """Refuse a restoration that 64-bit numbers cannot hold: a small spread far from zero."""
    before, after = moments.covariances(_centred(x)), moments.covariances(_centred(made))
    spread = np.sqrt(np.diag(before))
    held = np.abs(after - before) <= _EXACT * np.outer(spread, spread)
    means = [abs(moments.mean(b) - moments.mean(a)) <= _EXACT * s for a, b, s in zip(x, made, spread, strict=True)]
    if not (held.all() and all(means)):
        raise TechniqueRefuses(technique="noise", reason=messages.text("techniques.reason.restore_inexact"))


def _bounds(settings: Settings) -> tuple[float, float]:
    low, high = settings["minimum"], settings["maximum"]
    return (-np.inf if low is None else float(low)), (np.inf if high is None else float(high))


def _inner_bounds(settings: Settings) -> tuple[float, float]:
    """The bounds in the numbers that may be published."""
    low, high = settings["minimum"], settings["maximum"]
    digits = _digits(settings)
    if digits is None:
        return _bounds(settings)
    unit = Decimal(1).scaleb(-digits)
    inner = {
        "minimum": None if low is None else low.quantize(unit, ROUND_CEILING),
        "maximum": None if high is None else high.quantize(unit, ROUND_FLOOR),
    }
    return _bounds(inner)


def _published(values: Floats, settings: Settings) -> Floats:
    """Numbers inside their bounds and with their decimals."""
    inside = reflected(values, *_bounds(settings))
    digits = _digits(settings)
    rounded = inside if digits is None else np.round(inside, digits)
    return np.clip(rounded, *_inner_bounds(settings)) + 0.0


def reflected(values: Floats, low: float, high: float) -> Floats:
    """Numbers thrown back at the bounds they pass, as often as needed."""
    if np.isfinite(low) and np.isfinite(high):
        turn = np.mod(values - low, 2 * (high - low))
        folded = low + np.minimum(turn, 2 * (high - low) - turn)
        return np.where((values < low) | (values > high), folded, values)
    if np.isfinite(low):
        return np.where(values < low, 2 * low - values, values)
    return np.where(values > high, 2 * high - values, values) if np.isfinite(high) else values


def _account(before: Floats, after: Floats) -> dict[str, Any]:
    """What the noise did to a column; noise that changes nothing is refused."""
    changed = int((before != after).sum())
    if len(before) and not changed:
        raise TechniqueRefuses(technique="noise", reason=messages.text("techniques.reason.noise_lost"))
    spread = _spread(before)
    shift = (moments.mean(after) - moments.mean(before)) / spread if spread else None
    return {
        "cells": len(before),
        "changed": changed,
        "mean_shift_in_sd": shift,
        "sd_ratio": _spread(after) / spread if spread else None,
    }


def _preserved(settings: Settings) -> tuple[str, ...]:
    kept = ["missing"]
    if settings["restore"]:
        kept += ["mean", "variance"]
    if settings["kind"] == "correlated":
        kept.append("covariance" if settings["restore"] else "correlation_expected")
    return tuple(kept)


TECHNIQUE = Technique(
    name="noise",
    lines=Lines.ROWS,
    params={
        "columns": COLUMNS,
        "kind": Param("text", default="uncorrelated", choices=("uncorrelated", "correlated", "multiplicative")),
        "level": Param("number", default=Decimal("0.1")),
        "restore": Param("flag", default=False),
        "minimum": Param("number"),
        "maximum": Param("number"),
        "whole": Param("flag", default=False),
        "decimals": DECIMALS,
        "strata": STRATA,
        "decimal": DECIMAL,
        "unknown": UNKNOWN,
    },
    uses=columns_of,
    apply=_apply,
    random=True,
    refuses=("one_row",),
    norms=("A20",),
)
