"""Two open files as samples over the same columns: text becomes codes, and numbers where both files hold them.

Knows tables and the dictionary. Ignores what is compared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.data.numbers import number_column
from celosia.evaluation.sample import Sample, SampleColumn
from celosia.model.values import CellKind, kind_of
from celosia.model.variables import Scale, Variable
from celosia.pipeline.assessment.errors import MeasurementDiffers, PropertyNeedsNumbers, UnusableWeight
from celosia.pipeline.intake.open_table import OpenTable
from celosia.tuples.table import Tuples

_NUMBERS = (Scale.CONTINUOUS, Scale.DISCRETE)
# The share of a column's rows that must hold a number before it is read as one.
_MOST = 0.9


@dataclass(frozen=True, slots=True)
class CommonColumns:
    """The columns both files have, by their name in the first, and their name in the second."""

    common: tuple[str, ...]
    renamed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FileColumns:
    """One file and its columns, in the common order."""

    data: OpenTable
    columns: tuple[str, ...]
    file: str


@dataclass(frozen=True, slots=True)
class Samples:
    """Both files over the same columns; `recoded` are numbers that became words."""

    before: Sample
    after: Sample
    recoded: frozenset[str]
    tuples: tuple[Tuples, Tuples]


@dataclass(frozen=True, slots=True)
class _ColumnNumbers:
    """A column's vocabulary read as numbers, and what its rows hold."""

    numbers: NDArray[np.float64]
    share: float | None  # of the plain rows that hold a number; None where no cell is plain
    digits: bool  # whether some plain value has a digit, as the label of a group of numbers does


def make_samples(
    first: FileColumns,
    second: FileColumns,
    described: Mapping[str, Variable],
    forced: Collection[str],
    weights: str | None,
    strict: bool,
) -> Samples:
    """Both samples; `forced` must hold numbers, `strict` refuses a variable measured otherwise in the second file."""
    names = first.columns
    tables = first.data.table.tuples(first.columns), second.data.table.tuples(second.columns)
    before, after = (
        {name: _read_numbers(table, i, side, described.get(name)) for i, name in enumerate(names)}
        for table, side in zip(tables, (first, second), strict=True)
    )
    numeric: set[str] = set()
    recoded: set[str] = set()
    for name in names:
        if strict:
            _refuse_other_measurement(name, before[name], after[name])
        if name in forced and not before[name].share:
            raise PropertyNeedsNumbers(variable=name)
        is_numeric = name in forced or (name in described and described[name].scale in _NUMBERS)
        if is_numeric and _is_mostly_numbers(before[name]):
            (numeric if _is_mostly_numbers(after[name]) else recoded).add(name)
    samples = (
        _sample(first, tables[0], before, numeric | recoded, weights, names),
        _sample(second, tables[1], after, numeric, weights, names),
    )
    return Samples(*samples, frozenset(recoded), tables)


def _is_mostly_numbers(column: _ColumnNumbers) -> bool:
    return column.share is None or column.share >= _MOST


def _refuse_other_measurement(name: str, before: _ColumnNumbers, after: _ColumnNumbers) -> None:
    """Numbers that became words without a digit, or words without one that became numbers, are another variable.

    Labels of groups (30–39, 1310*) have digits: they are the same variable, less detailed.
    """
    if before.share is None or after.share is None:
        return
    words_after = before.share >= _MOST and after.share == 0 and not after.digits
    words_before = after.share >= _MOST and before.share == 0 and not before.digits
    if words_after or words_before:
        raise MeasurementDiffers(variable=name)


def _read_numbers(table: Tuples, position: int, side: FileColumns, variable: Variable | None) -> _ColumnNumbers:
    vocabulary = table.vocabularies[position]
    unknown = variable.unknown if variable is not None else ()
    decimal = side.data.source.choices.decimal
    column = number_column(pa.array(vocabulary, pa.string()), decimal, unknown)
    rows = np.bincount(table.codes[:, position], table.rows, len(vocabulary))
    plain = np.array([kind_of(text, unknown) is CellKind.PLAIN for text in vocabulary], bool)
    total = float(rows[plain].sum())
    share = float(rows[plain & column.plain].sum()) / total if total else None
    digits = any(character.isdigit() for text in vocabulary for character in text)
    return _ColumnNumbers(column.values, share, digits)


def _sample(
    side: FileColumns,
    table: Tuples,
    read: Mapping[str, _ColumnNumbers],
    numeric: Collection[str],
    weights: str | None,
    names: tuple[str, ...],
) -> Sample:
    columns = {}
    for position, name in enumerate(names):
        numbers = read[name].numbers if name in numeric else None
        columns[name] = SampleColumn(name, table.vocabularies[position], table.codes[:, position], numbers)
    rows = table.rows.astype(np.int64)
    if weights is None:
        return Sample(columns, rows, rows.astype(np.float64))
    row_weights = read[weights].numbers[columns[weights].codes]
    usable = np.isfinite(row_weights) & (np.nan_to_num(row_weights) > 0)
    if not usable.all():
        raise UnusableWeight(variable=weights, file=side.file, rows=int(rows[~usable].sum()))
    return Sample(columns, rows, rows * row_weights)
