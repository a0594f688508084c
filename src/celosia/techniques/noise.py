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
from celosia.model.parameters import Flag, Number, Text
from celosia.techniques import _moments as moments
from celosia.techniques._checks import check_columns, refuse_not_positive, wrong_setting
from celosia.techniques._columns import numbers_in, replace_cells, strata_of
from celosia.techniques._contract import Settings, StepInput, StepOutcome
from celosia.techniques._draws import Draws
from celosia.techniques._families import perturbation
from celosia.techniques.errors import NoSpread, NumbersTooLarge, OutsideBounds, PartlyMissing, TechniqueRefuses

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_LARGEST = 1e150  # squares and their sums stay finite
_LARGEST_LEVEL = 1000  # times the spread of a column: nothing of it would be left
_EXACT = 1e-9


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    _check(settings)
    columns = {name: _numbers(given, name, settings) for name in settings["columns"]}
    groups = tuple(moments.groups_of(*strata_of(given, settings["strata"])))
    chance = {name: draws.normal(given.lines) for name in columns}
    if settings["kind"] == "correlated":
        noisy = _add_correlated_noise(columns, groups, chance, settings)
    else:
        noisy = {name: _add_noise(name, column, groups, chance[name], settings) for name, column in columns.items()}
    cells, notes = {}, {}
    for name, column in columns.items():
        published = _bound_and_round(noisy[name][column.plain], settings)
        notes[name] = _noise_figures(column.values[column.plain], published)
        texts = number_texts(published, None, settings["decimal"])
        cells[name] = replace_cells(given.columns[name], column.plain, texts)
    return StepOutcome(cells, preserved=_preserved_properties(settings), notes={"noise": notes})


def _check(settings: Settings) -> None:
    check_columns("noise", settings)
    refuse_not_positive("noise", "level", settings["level"])
    if settings["level"] > _LARGEST_LEVEL:
        raise wrong_setting("noise", "level", "level_size")
    low, high = settings["minimum"], settings["maximum"]
    if low is not None and high is not None and low >= high:
        raise wrong_setting("noise", "maximum", "maximum_above_minimum")
    if settings["whole"] and settings["decimals"]:
        raise wrong_setting("noise", "decimals", "whole_or_decimals")
    inner = _inner_bounds(settings)
    if inner[0] > inner[1]:
        raise wrong_setting("noise", "maximum", "bounds_hold_no_number")
    if settings["restore"] and (low is not None or high is not None):
        raise wrong_setting("noise", "restore", "restore_with_bounds")
    if settings["restore"] and _digits(settings) is not None:
        raise wrong_setting("noise", "restore", "restore_with_rounding")


def _digits(settings: Settings) -> int | None:
    """Decimals of the published numbers."""
    return 0 if settings["whole"] else settings["decimals"]


def _numbers(given: StepInput, name: str, settings: Settings) -> NumberColumn:
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


def _add_noise(name: str, column: NumberColumn, groups: Sequence[Rows], chance: Floats, settings: Settings) -> Floats:
    """A column with noise of its own."""
    level, restore = float(settings["level"]), settings["restore"]
    multiplied = settings["kind"] == "multiplicative"
    values = column.values.copy()
    flat, needed = 0, 3 if restore else 2
    for group in groups:
        lines = group[column.plain[group]]
        x, z = column.values[lines], chance[lines]
        spread = _standard_deviation(x) if restore or not multiplied else 1.0
        if len(x) and (spread == 0 or (restore and len(x) < needed)):
            flat += 1
        elif len(x):
            noisy = x * np.abs(1 + level * z) if multiplied else x + (level * spread) * z
            values[lines] = restore_moments(x, noisy) if restore else noisy
    if flat:
        raise NoSpread(technique="noise", variable=name, groups=flat, needed=needed)
    return values


def _standard_deviation(values: Floats) -> float:
    """Standard deviation; zero for fewer than two numbers or one value alone."""
    if len(values) < 2 or values.min() == values.max():
        return 0.0
    return float(np.sqrt(moments.variance(values)))


def restore_moments(x: Floats, noisy: Floats) -> Floats:
    """Numbers with the mean and variance of x, by an affine map of the noisy ones."""
    scale = np.sqrt(moments.variance(x) / moments.variance(noisy))
    restored = np.asarray(moments.mean(x) + (noisy - moments.mean(noisy)) * scale, np.float64)
    _refuse_inexact((x,), (restored,))
    return restored


def _add_correlated_noise(
    columns: Mapping[str, NumberColumn], groups: Sequence[Rows], chance: Mapping[str, Floats], settings: Settings
) -> dict[str, Floats]:
    """Columns with noise of the same correlations as theirs."""
    complete = np.logical_and.reduce([column.plain for column in columns.values()])
    if settings["restore"]:
        _refuse_partly_missing(columns, complete)
    noisy = {name: column.values.copy() for name, column in columns.items()}
    _refuse_flat_stratum(columns, groups, complete, 3 if settings["restore"] else 2)
    for group in groups:
        whole = group[complete[group]]
        if not len(whole):
            continue
        x = [column.values[whole] for column in columns.values()]
        root, _ = moments.lower_root(moments.covariances(_centre(x)))
        noise = moments.combine(root, [chance[name][group] for name in columns])
        for name, part in zip(columns, noise, strict=True):
            noisy[name][group] += float(settings["level"]) * part
        if settings["restore"]:
            back = restore_covariances(x, [noisy[name][whole] for name in columns])
            for name, column in zip(columns, back, strict=True):
                noisy[name][whole] = column
    return noisy


def _refuse_partly_missing(columns: Mapping[str, NumberColumn], complete: NDArray[np.bool_]) -> None:
    some = np.logical_or.reduce([column.plain for column in columns.values()])
    partly = int((some & ~complete).sum())
    if partly:
        raise PartlyMissing(technique="noise", rows=partly)


def _refuse_flat_stratum(
    columns: Mapping[str, NumberColumn], groups: Sequence[Rows], complete: NDArray[np.bool_], needed: int
) -> None:
    """Refuse a stratum with numbers whose complete rows do not determine their spread."""
    for name, column in columns.items():
        flat = 0
        for group in groups:
            whole = column.values[group[complete[group]]]
            if column.plain[group].any() and (len(whole) < needed or whole.min() == whole.max()):
                flat += 1
        if flat:
            raise NoSpread(technique="noise", variable=name, groups=flat, needed=needed)


def restore_covariances(x: Sequence[Floats], noisy: Sequence[Floats]) -> list[Floats]:
    """Columns with the means and the covariance matrix of x, by an affine map of the noisy ones."""
    target, _ = moments.lower_root(moments.covariances(_centre(x)))
    centred = _centre(noisy)
    root, independent = moments.lower_root(moments.covariances(centred))
    spread = moments.combine(target, moments.whiten(root, independent, centred))
    restored = [moments.mean(column) + part for column, part in zip(x, spread, strict=True)]
    _refuse_inexact(x, restored)
    return restored


def _centre(columns: Sequence[Floats]) -> list[Floats]:
    return [column - moments.mean(column) for column in columns]


def _refuse_inexact(x: Sequence[Floats], restored: Sequence[Floats]) -> None:
    """Refuse a restoration that 64-bit numbers cannot hold: a small spread far from zero."""
    before, after = moments.covariances(_centre(x)), moments.covariances(_centre(restored))
    spread = np.sqrt(np.diag(before))
    close = np.abs(after - before) <= _EXACT * np.outer(spread, spread)
    means = [abs(moments.mean(b) - moments.mean(a)) <= _EXACT * s for a, b, s in zip(x, restored, spread, strict=True)]
    if not (close.all() and all(means)):
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


def _bound_and_round(values: Floats, settings: Settings) -> Floats:
    """Numbers inside their bounds and with their decimals."""
    inside = reflect(values, *_bounds(settings))
    digits = _digits(settings)
    rounded = inside if digits is None else np.round(inside, digits)
    return np.clip(rounded, *_inner_bounds(settings)) + 0.0


def reflect(values: Floats, low: float, high: float) -> Floats:
    """Numbers reflect at the bounds they pass, as often as needed."""
    if np.isfinite(low) and np.isfinite(high):
        turn = np.mod(values - low, 2 * (high - low))
        folded = low + np.minimum(turn, 2 * (high - low) - turn)
        return np.where((values < low) | (values > high), folded, values)
    if np.isfinite(low):
        return np.where(values < low, 2 * low - values, values)
    return np.where(values > high, 2 * high - values, values) if np.isfinite(high) else values


def _noise_figures(before: Floats, after: Floats) -> dict[str, Any]:
    """What the noise did to a column; noise that changes nothing is refused."""
    changed = int((before != after).sum())
    if len(before) and not changed:
        raise TechniqueRefuses(technique="noise", reason=messages.text("techniques.reason.noise_lost"))
    spread = _standard_deviation(before)
    shift = (moments.mean(after) - moments.mean(before)) / spread if spread else None
    return {
        "cells": len(before),
        "changed": changed,
        "mean_shift_in_sd": shift,
        "sd_ratio": _standard_deviation(after) / spread if spread else None,
    }


def _preserved_properties(settings: Settings) -> tuple[str, ...]:
    kinds = ["missing"]
    if settings["restore"]:
        kinds += ["mean", "variance"]
    if settings["kind"] == "correlated":
        kinds.append("covariance" if settings["restore"] else "correlation_expected")
    return tuple(kinds)


TECHNIQUE = perturbation(
    "noise",
    {
        "kind": Text(default="uncorrelated", choices=("uncorrelated", "correlated", "multiplicative")),
        "level": Number(default=Decimal("0.1")),
        "restore": Flag(default=False),
        "minimum": Number(),
        "maximum": Number(),
        "whole": Flag(default=False),
    },
    _apply,
    shared="decimals strata decimal unknown",
    refuses=("one_row",),
    norms=("A20",),
)
