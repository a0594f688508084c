"""Post-randomisation: each category becomes another, or stays, with known probabilities (Gouweleeuw et al. 1998).

Knows categories and their counts in each stratum. Ignores their order and meaning. Without a given matrix, the
invariant one is built in two steps. First stage P over the m categories present: `stay` on the diagonal and the rest
spread evenly, (1 − stay)/(m − 1). Second stage Q, its inverse by Bayes: Q[l, k] = p[k]·P[k, l]/Σ p[j]·P[j, l], with p
the frequencies. R = P·Q keeps them in expectation, p·R = p. The diagonal of R is not that of P: a rare category stays
less often than `stay`; the smallest value is reported. A cell is drawn through both stages, so no matrix of the size of
the categories is ever held. Missing, masked and declared unknown cells stay unless listed in `include`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.model.parameters import Many, Number, Text, TomlTable
from celosia.techniques._checks import check_columns, wrong_setting
from celosia.techniques._columns import columns_of, encode_values, replace_cells, strata_of, text_array, unknown_in
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._moments import exact_sum
from celosia.techniques._parameters import COLUMNS, STRATA, UNKNOWN
from celosia.techniques.errors import MatrixIncomplete

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
STAY = Decimal("0.8")
_SUM = Decimal("1e-9")


@dataclass(frozen=True, slots=True)
class PramDraw:
    """New codes of the cells that take part, and what was to be expected of them."""

    codes: Rows
    expected: float  # share of the cells to change
    diagonal: float  # smallest probability to stay
    drift: float  # largest expected change of a frequency, as a share


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    check_columns("pram", settings)
    matrix = None if settings["matrix"] is None else _matrix(settings)
    stay = _stay_probability(settings)
    strata, _ = strata_of(given, settings["strata"])
    columns, notes = {}, {}
    for name in settings["columns"]:
        cells = given.columns[name]
        taking_part = _taking_part(cells, unknown_in(settings, name), settings["include"])
        chance = draws.uniform(given.lines)[taking_part], draws.uniform(given.lines)[taking_part]
        codes, size = encode_values(cells.filter(pa.array(taking_part)))
        words = _category_texts(cells.filter(pa.array(taking_part)))
        if matrix is None:
            change = through_two_stages(codes, strata[taking_part], size, stay, chance)
        else:
            words, codes = _matrix_codes(words, codes, matrix, name)
            names = sorted(matrix)
            table = np.array([[float(matrix[row].get(to, 0)) for to in names] for row in names])
            change = through_matrix(codes, table, chance[0])
        columns[name] = replace_cells(cells, taking_part, words.take(pa.array(change.codes)))
        notes[name] = _change_figures(codes, change)
    preserved = ("categories", "frequencies_expected") if matrix is None else ()
    return StepOutcome(columns, preserved=preserved, notes={"pram": notes})


def _change_figures(codes: Rows, change: PramDraw) -> dict[str, Any]:
    changed = int((codes != change.codes).sum())
    return {
        "cells": len(codes),
        "changed": changed,
        "share_changed": changed / len(codes) if len(codes) else 0.0,
        "share_expected": change.expected,
        "smallest_diagonal": change.diagonal,
        "largest_expected_drift": change.drift,
    }


def _stay_probability(settings: Settings) -> float:
    if settings["stay"] is not None and settings["matrix"] is not None:
        raise wrong_setting("pram", "stay", "stay_or_matrix")
    stay = STAY if settings["stay"] is None else settings["stay"]
    if not 0 < stay < 1:
        raise wrong_setting("pram", "stay", "inner_share")
    return float(stay)


def _taking_part(cells: pa.Array, unknown: Sequence[str], include: Sequence[str]) -> NDArray[np.bool_]:
    special = pc.match_substring_regex(cells, r"^\**$")
    for words, stays in ((unknown, True), (include, False)):
        listed = pc.is_in(cells, value_set=pa.array(sorted(words), cells.type))
        special = pc.or_(special, listed) if stays else pc.and_not(special, listed)
    return ~special.to_numpy(zero_copy_only=False).astype(bool)


def _category_texts(cells: pa.Array) -> pa.Array:
    """The categories in code-point order, as `encode_values` numbers them."""
    words = pc.unique(cells)
    return words.take(pc.sort_indices(words))


def through_two_stages(codes: Rows, strata: Rows, size: int, stay: float, chance: tuple[Floats, Floats]) -> PramDraw:
    """Draw each cell through P and then through Q, in its stratum."""
    present, kind, counts = np.unique(strata * size + codes, return_inverse=True, return_counts=True)
    kind, counts = kind.reshape(-1), counts.astype(np.int64)
    stratum = np.unique(present // max(size, 1), return_inverse=True)[1].reshape(-1)
    many = np.bincount(stratum)[stratum]  # categories of the stratum of each kind
    total = _sums(counts, stratum)[stratum]
    start = (np.cumsum(np.bincount(stratum)) - np.bincount(stratum))[stratum]
    spread = np.where(many > 1, (1 - stay) / np.maximum(many - 1, 1), 0.0)
    stays = np.where(many > 1, stay, 1.0)
    middle = _first_stage(kind, chance[0], stays, start, many)
    reached = counts * stays + (total - counts) * spread  # Σ p[j]·P[j, l], times the rows of the stratum
    final = _second_stage(
        middle, chance[1], counts * stays / reached, counts, total, np.cumsum(counts)[start] - counts[start]
    )
    diagonal = _diagonal(counts, stays, spread, reached, stratum)
    expected = exact_sum(counts * (1 - diagonal)) / max(len(codes), 1)
    return PramDraw((present % max(size, 1))[final], expected, float(diagonal.min(initial=1.0)), 0.0)


def _sums(values: NDArray[Any], label: Rows) -> NDArray[Any]:
    """Sum per label, in the order given."""
    sums = np.zeros(int(label.max(initial=-1)) + 1, values.dtype)
    np.add.at(sums, label, values)
    return sums


def _first_stage(kind: Rows, chance: Floats, stays: Floats, start: Rows, many: Rows) -> Rows:
    """First stage: stay, or one of the other categories of the stratum with equal chance."""
    leaves = chance >= stays[kind]
    left = kind[leaves]
    part = (chance[leaves] - stays[left]) / (1 - stays[left])
    step = np.minimum((part * (many[left] - 1)).astype(np.int64), many[left] - 2)
    own = left - start[left]
    middle = kind.copy()
    middle[leaves] = start[left] + step + (step >= own)
    return middle


def _second_stage(middle: Rows, chance: Floats, stays: Floats, counts: Rows, total: Rows, ahead: Rows) -> Rows:
    """Second stage: stay, or one of the others by their counts, as if a row of theirs had been drawn."""
    leaves = chance >= stays[middle]
    left = middle[leaves]
    ends = np.cumsum(counts)
    rest = total[left] - counts[left]
    part = (chance[leaves] - stays[left]) / (1 - stays[left])
    row = np.minimum((part * rest).astype(np.int64), rest - 1)
    own = ends[left] - counts[left] - ahead[left]  # rows of the stratum before its own; `ahead`: before the stratum
    row = ahead[left] + row + np.where(row >= own, counts[left], 0)
    final = middle.copy()
    final[leaves] = np.searchsorted(ends, row, side="right")
    return final


def _diagonal(counts: Rows, stays: Floats, spread: Floats, reached: Floats, stratum: Rows) -> Floats:
    """R[k, k] = p[k]·Σ P[k, l]²/(p·P)[l]."""
    inverse = 1 / reached
    others = _sums(inverse, stratum)[stratum] - inverse
    return np.asarray(np.minimum(counts * (stays**2 * inverse + spread**2 * others), 1.0))


def _matrix(settings: Settings) -> dict[str, dict[str, Decimal]]:
    """The given matrix, checked: square, probabilities, rows that sum to one."""
    given = settings["matrix"]
    if not isinstance(given, Mapping) or not all(isinstance(row, Mapping) for row in given.values()):
        raise wrong_setting("pram", "matrix", "matrix_shape")
    matrix = {str(name): {str(to): _probability(value) for to, value in row.items()} for name, row in given.items()}
    if any(to not in matrix for row in matrix.values() for to in row):
        raise wrong_setting("pram", "matrix", "matrix_shape")
    if any(abs(sum(row.values(), Decimal(0)) - 1) > _SUM for row in matrix.values()):
        raise wrong_setting("pram", "matrix", "matrix_rows")
    return matrix


def _probability(value: Any) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if isinstance(value, bool) or not number.is_finite() or not 0 <= number <= 1:
        raise wrong_setting("pram", "matrix", "matrix_rows")
    return number


def _matrix_codes(words: pa.Array, codes: Rows, matrix: Mapping[str, Any], name: str) -> tuple[pa.Array, Rows]:
    """The categories of the matrix, and the cells as codes into them."""
    known = text_array(sorted(matrix))
    index = pc.index_in(words, value_set=known)
    uncovered = index.is_null().to_numpy(zero_copy_only=False)
    if uncovered.any():
        rows = int(uncovered[codes].sum())
        raise MatrixIncomplete(technique="pram", variable=name, categories=int(uncovered.sum()), rows=rows)
    return known, index.to_numpy(zero_copy_only=False).astype(np.int64)[codes]


def through_matrix(codes: Rows, table: Floats, chance: Floats) -> PramDraw:
    """Draw each cell from its row of a matrix."""
    final = codes.copy()
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=len(table))
    ends = np.cumsum(counts)
    for code in np.flatnonzero(counts).tolist():
        lines = order[ends[code] - counts[code] : ends[code]]
        possible = np.flatnonzero(table[code])
        bounds = np.cumsum(table[code][possible])
        index = np.searchsorted(bounds, chance[lines] * bounds[-1], side="right")
        final[lines] = possible[np.minimum(index, len(possible) - 1)]
    share = counts / max(len(codes), 1)
    after = (share[:, None] * table).sum(axis=0)
    diagonal = np.diag(table)
    expected = exact_sum(share * (1 - diagonal))
    present = diagonal[counts > 0]
    return PramDraw(final, expected, float(present.min(initial=1.0)), float(np.abs(after - share).max(initial=0.0)))


TECHNIQUE = Technique(
    name="pram",
    lines=Lines.ROWS,
    params={
        "columns": COLUMNS,
        "stay": Number(),
        "matrix": TomlTable(),
        "strata": STRATA,
        "unknown": UNKNOWN,
        "include": Many(Text(), default=()),
    },
    uses=columns_of,
    apply=_apply,
    random=True,
    categories=True,
)
