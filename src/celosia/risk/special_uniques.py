"""Special uniques: rows that few variables are enough to single out, with their scores.

Knows a compressed table. Ignores files, names of norms and people: it counts rows.
A minimal sample unique (MSU) of a row is a set of variables on which no other row has the same values, while every
smaller set within it is shared. A missing or masked cell takes part in no set, neither for its row nor as the match
of another row; unknown codes are values like others. For the DIS score, unique rows and pairs are those of the classes
over all variables, where missing is a category of its own.
Sources: Elliot, Manning, Mayes, Gurd and Bane 2005 (SUDA); Manning, Haglin and Keane 2008 (SUDA2); Skinner and
Elliot 2002 (DIS); Templ, Kowarik and Meindl 2015 (both scores, as sdcMicro gives them).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.model.reports.special_uniques import DIS_EDGES, RepeatedPersons, Scoring, SizeCount, SpecialUniquesReport
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import MISSING, is_masked
from celosia.risk.errors import TooManyCombinations
from celosia.tuples.table import Tuples, person_counts

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Reals = NDArray[np.float64]
Progress = Callable[[float], None] | None

DIS_FRACTION = 0.01
MOST_SETS = 2**20  # all sets of twenty variables
_MOST_VARIABLES = 62  # a set is the bits of one signed word
_BLOCK = 2**27  # sets × tuples looked at in one pass, so that memory does not grow with the table
_LEAST_BLOCK = 64


@dataclass(frozen=True, slots=True, repr=False)
class SpecialUniques:
    """The scores of each tuple; a tuple of several rows has none. Private: a high score points at a row."""

    max_size: int
    scoring: Scoring
    fraction: float
    by_size: NDArray[np.int32]  # (tuples, sizes): minimal uniques of 1, 2, … variables
    score: Reals
    dis: Reals
    contribution: Reals  # (tuples, variables): share of the score from the sets that hold the variable
    skipped_cells: int


def special_uniques(
    tuples: Tuples,
    max_size: int | None = None,
    scoring: str = Scoring.ORIGINAL,
    fraction: float = DIS_FRACTION,
    progress: Progress = None,
) -> SpecialUniques:
    """Every minimal sample unique of up to `max_size` variables (all by default), and what follows from them."""
    variables = len(tuples.names)
    most = refuse_too_many_sets(variables, max_size)
    rule = _scoring(scoring)
    if not 0 < fraction <= 1:
        raise ValueOutOfRange(parameter="fraction", given=fraction, allowed="0 < f ≤ 1")
    weights = set_weights(variables, rule)
    codes = visible_codes(tuples)
    by_size, part = _tally(tuples, codes, most, weights, progress)
    score = by_size @ weights[:most]
    share = np.divide(part, score[:, None], out=np.zeros_like(part), where=score[:, None] > 0)
    dis = dis_scores(score, tuples.rows, variables, fraction)
    skipped = int(((codes < 0).sum(axis=0) * tuples.rows).sum())
    return SpecialUniques(most, rule, fraction, by_size, score, dis, share, skipped)


def refuse_too_many_sets(variables: int, max_size: int | None) -> int:
    """The largest size to look at; refused where the sets would be too many to try (20 variables, all sizes)."""
    if max_size is not None and max_size < 1:
        raise ValueOutOfRange(parameter="max_size", given=max_size, allowed="≥ 1")
    most = variables if max_size is None else min(max_size, variables)
    if variables > _MOST_VARIABLES or set_count(variables, most) > MOST_SETS:
        raise TooManyCombinations(variables=variables, size=most, limit=MOST_SETS)
    return most


def set_weights(variables: int, scoring: Scoring) -> Reals:
    """What a minimal unique adds to the score, by its size from one to all variables."""
    sizes = range(1, variables + 1)
    if scoring is Scoring.ORIGINAL:
        return np.array([float(math.factorial(variables - size)) for size in sizes])
    return np.array([(2 ** (variables - size) - 1) / math.comb(variables, size) for size in sizes])


def dis_scores(score: Reals, rows: Counts, variables: int, fraction: float = DIS_FRACTION) -> Reals:
    """The score turned into a chance that a unique match is right, given the sampling fraction."""
    unique, paired = int((rows == 1).sum()), 2 * int((rows == 2).sum())
    # Few scores differ, so the powers are taken once for each.
    values, position, count = np.unique(score, return_inverse=True, return_counts=True)
    scored = values > 0
    if not scored.any():
        return np.zeros(len(score))
    correct = unique * fraction / (unique * fraction + paired * (1 - fraction))
    powers = values[scored] ** (1 + (8 - variables) / 20)
    adjustment = math.fsum((count[scored] / powers).tolist())
    dis = np.zeros(len(values))
    dis[scored] = 1 / (1 + (unique / correct - unique) / (powers * adjustment))
    return dis[position.reshape(-1)]


def visible_codes(tuples: Tuples) -> Codes:
    """The codes variable by variable, −1 where the cell is missing or masked."""
    codes = np.array(tuples.codes.T, np.int32, order="C")  # a copy: the table stays as it is
    for variable, vocabulary in enumerate(tuples.vocabularies):
        hidden = np.array([value == MISSING or is_masked(value) for value in vocabulary], bool)
        if hidden.any():
            codes[variable, hidden[codes[variable]]] = -1
    return codes


def summary(tuples: Tuples, scores: SpecialUniques) -> SpecialUniquesReport:
    """The figures that may be published of the scores of a table."""
    total = math.fsum(scores.score.tolist())
    part = scores.contribution * scores.score[:, None]
    shares = [math.fsum(part[:, v].tolist()) / total if total else None for v in range(len(tuples.names))]
    return SpecialUniquesReport(
        rows=tuples.n_rows,
        variables=tuples.names,
        max_size=scores.max_size,
        scoring=scores.scoring,
        fraction=scores.fraction,
        unique_rows=int((tuples.rows == 1).sum()),
        pair_rows=2 * int((tuples.rows == 2).sum()),
        special_rows=int(scores.by_size.any(axis=1).sum()),
        sizes=_size_counts(scores.by_size),
        score_total=total,
        score_maximum=float(scores.score.max(initial=0)),
        dis_total=math.fsum(scores.dis.tolist()),
        dis_maximum=float(scores.dis.max(initial=0)),
        dis_bins=_dis_histogram(scores.dis, tuples.rows),
        contributions=dict(zip(tuples.names, shares, strict=True)),
        skipped_cells=scores.skipped_cells,
        repeated=_repeated_persons(tuples),
    )


def set_count(variables: int, most: int) -> int:
    """How many sets of one to `most` variables there are."""
    return sum(math.comb(variables, size) for size in range(1, most + 1))


def _scoring(scoring: str) -> Scoring:
    try:
        return Scoring(scoring)
    except ValueError:
        raise ValueOutOfRange(parameter="scoring", given=scoring, allowed=", ".join(Scoring)) from None


def _tally(
    tuples: Tuples, codes: Codes, most: int, weights: Reals, progress: Progress
) -> tuple[NDArray[np.int32], Reals]:
    """Minimal uniques of each tuple by size, and their weights by variable."""
    from celosia.kernels import suda

    order = search_order(codes)
    by_size = np.zeros((codes.shape[1], most), np.int32)
    part = np.zeros((codes.shape[1], len(order)))
    searched = np.ascontiguousarray(codes[order])
    candidates = np.flatnonzero(tuples.rows == 1)
    block = max(_BLOCK // max(set_count(len(order), most), 1), _LEAST_BLOCK)
    for start in range(0, len(candidates), block):
        alone = np.zeros(codes.shape[1], bool)
        alone[candidates[start : start + block]] = True
        sets, ends = unique_sets_by_tuple(searched, alone, most)
        suda.tally_minimal_sets(sets, ends, suda.minimal_sets(sets, ends), weights, by_size, part)
        if progress:
            progress(min(start + block, len(candidates)) / len(candidates))
    ordered = np.empty_like(part)
    ordered[:, order] = part
    return by_size, ordered


def unique_sets_by_tuple(codes: Codes, alone: NDArray[np.bool_], most: int) -> tuple[Counts, Counts]:
    """The sets that first make each tuple unique, tuple by tuple, and where those of each tuple end."""
    from celosia.kernels import suda

    sizes = codes.max(axis=1, initial=0).astype(np.int64) + 1
    owners, sets = suda.unique_sets(np.ascontiguousarray(codes), sizes, alone, most)
    by_tuple: tuple[Counts, Counts] = suda.sets_by_tuple(owners, sets, codes.shape[1])
    return by_tuple


def search_order(codes: Codes) -> NDArray[np.int64]:
    """The variables from few values to many: the longest branches then start where groups are smallest."""
    values = [np.count_nonzero(np.bincount(column[column >= 0])) for column in codes]
    return np.argsort(values, kind="stable").astype(np.int64)


def _size_counts(by_size: NDArray[np.int32]) -> tuple[SizeCount, ...]:
    occurs = by_size > 0
    smallest = np.bincount(occurs.argmax(axis=1)[occurs.any(axis=1)], minlength=by_size.shape[1])
    return tuple(
        SizeCount(size + 1, int(by_size[:, size].sum()), int(occurs[:, size].sum()), int(smallest[size]))
        for size in range(by_size.shape[1])
    )


def _dis_histogram(dis: Reals, rows: Counts) -> tuple[int, ...]:
    """Rows with no score at all, then by interval of DIS."""
    bins = np.zeros(len(DIS_EDGES) + 1, np.int64)
    np.add.at(bins, np.searchsorted(DIS_EDGES, dis, side="left"), rows)
    return tuple(bins.tolist())


def _repeated_persons(tuples: Tuples) -> RepeatedPersons | None:
    if tuples.persons is None:
        return None
    single = int(tuples.rows[person_counts(tuples) == 1].sum())
    return RepeatedPersons(tuples.persons.total, single)
