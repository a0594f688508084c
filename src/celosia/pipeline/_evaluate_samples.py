"""Two opened files as samples over the same columns: text becomes codes, and numbers where both files hold them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.data.numbers import number_column
from celosia.errors import MeasurementDiffers, PropertyNeedsNumbers, UnusableWeight
from celosia.evaluation import Column, Sample
from celosia.model.values import CellKind, kind_of
from celosia.model.variables import Scale, Variable
from celosia.pipeline._open import Opened
from celosia.tuples import Tuples

_NUMBERS = (Scale.CONTINUOUS, Scale.DISCRETE)
_MOST = 0.9  # share of a column's rows that must hold a number before it is read as one


@dataclass(frozen=True, slots=True)
class Sides:
    """The columns both files have, by their name in the first, and their name in the second."""

    common: tuple[str, ...]
    renamed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Side:
    """One file and its columns, in the common order."""

    found: Opened
    columns: tuple[str, ...]
    file: str


@dataclass(frozen=True, slots=True)
class Samples:
    """Both files over the same columns; `recoded` are numbers that became words."""

    before: Sample
    after: Sample
    recoded: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Read:
    """A column's vocabulary read as numbers, and what its rows hold."""

    numbers: NDArray[np.float64]
    share: float | None  # of the plain rows that hold a number; None where no cell is plain
    digits: bool  # whether some plain value has a digit, as the label of a group of numbers does


def make_samples(
    first: Side, second: Side, described: Mapping[str, Variable], forced: Collection[str], weights: str | None,
    strict: bool,
) -> Samples:  # fmt: skip
    """Both samples; `strict` refuses a variable that is measured otherwise in the second file."""
    names = first.columns
    tuples = [side.found.table.tuples(side.columns) for side in (first, second)]
    before, after = (
        {name: _read(table, i, side, described.get(name)) for i, name in enumerate(names)}
        for table, side in zip(tuples, (first, second), strict=True)
    )
    numeric: set[str] = set()
    recoded: set[str] = set()
    for name in names:
        if strict:
            _refuse_other_measurement(name, before[name], after[name])
        if name in forced and not before[name].share:
            raise PropertyNeedsNumbers(variable=name)
        counted = name in forced or (name in described and described[name].scale in _NUMBERS)
        if counted and _mostly(before[name]):
            (numeric if _mostly(after[name]) else recoded).add(name)
    samples = [
        _sample(table, names, read, counted_as, weights, side)
        for table, read, counted_as, side in zip(
            tuples, (before, after), (numeric | recoded, numeric), (first, second), strict=True
        )
    ]
    return Samples(samples[0], samples[1], frozenset(recoded))


def _mostly(read: _Read) -> bool:
    return read.share is None or read.share >= _MOST


def _refuse_other_measurement(name: str, before: _Read, after: _Read) -> None:
    """Numbers that became words without a digit, or words without one that became numbers, are another variable.

    Labels of groups (30–39, 1310*) have digits: they are the same variable, told less exactly.
    """
    if before.share is None or after.share is None:
        return
    words_after = before.share >= _MOST and after.share == 0 and not after.digits
    words_before = after.share >= _MOST and before.share == 0 and not before.digits
    if words_after or words_before:
        raise MeasurementDiffers(variable=name)


def _read(table: Tuples, place: int, side: Side, variable: Variable | None) -> _Read:
    vocabulary = table.vocabularies[place]
    unknown = variable.unknown if variable is not None else ()
    decimal = side.found.source.choices.decimal
    column = number_column(pa.array(vocabulary, pa.string()), decimal, unknown)
    rows = np.bincount(table.codes[:, place], table.rows, len(vocabulary))
    plain = np.array([kind_of(text, unknown) is CellKind.PLAIN for text in vocabulary], bool)
    total = float(rows[plain].sum())
    share = float(rows[plain & column.plain].sum()) / total if total else None
    digits = any(character.isdigit() for text in vocabulary for character in text)
    return _Read(column.values, share, digits)


def _sample(
    table: Tuples, names: tuple[str, ...], read: Mapping[str, _Read], numeric: Collection[str], weights: str | None,
    side: Side,
) -> Sample:  # fmt: skip
    columns = {
        name: Column(name, table.vocabularies[i], table.codes[:, i], read[name].numbers if name in numeric else None)
        for i, name in enumerate(names)
    }
    rows = table.rows.astype(np.int64)
    if weights is None:
        return Sample(columns, rows, rows.astype(np.float64))
    each = read[weights].numbers[columns[weights].codes]
    usable = np.isfinite(each) & (np.nan_to_num(each) > 0)
    if not usable.all():
        raise UnusableWeight(variable=weights, file=side.file, rows=int(rows[~usable].sum()))
    return Sample(columns, rows, rows * each)
