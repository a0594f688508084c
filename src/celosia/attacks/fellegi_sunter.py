"""How likely it is that a released record is a given person of an outside list.

Knows pairs of tuples that agree everywhere, or everywhere but in one column. Ignores who is right. For each column a
pair agrees, nearly agrees or disagrees. With m the chance of that among true pairs and u among others, the record r has
the weight w(r) = Π m/u, and the person is r with probability (π/N) w(r) / (1 − π + Σ (π/N) w), N being the released
records and π the chance of being in the release at all: two records alike share the probability. u is the share of the
list that a label covers, so wide labels weigh little and masks nothing; m and π come from the data by expectation and
maximisation. Columns are taken as independent among pairs that do not belong together.
Sources: Fellegi and Sunter (1969); Winkler (1988, EM; 1989, weights by frequency); Larsen and Rubin (2001, mixture
models); that a person is at most one of the candidates is the prosecutor's reading of Duncan and Lambert (1989).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks.attack_input import PublishedColumn, Records, is_covered
from celosia.attacks.pairs import NOBODY, Join, TooManyPairs, join, pair_pieces

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_KEPT = 12_000_000
_LEARN_FROM, _LEARN_PAIRS = 100_000, 2_000_000  # tuples of the list, and pairs, that the chances are learnt from
_ROUNDS, _STILL = 40, 1e-4
_DOUBT = 0.5  # a pseudo-count of every outcome, so that nothing is impossible
AGREE, NEAR, DIFFER = range(3)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs of tuples, the column in which they differ (-1: none), and whether they are near in it."""

    released: NDArray[np.int32]
    external: NDArray[np.int32]
    odd: NDArray[np.int8]
    level: NDArray[np.int8]

    def select(self, selection: NDArray[np.bool_]) -> Candidates:
        """Some of the pairs."""
        return Candidates(*(getattr(self, field)[selection] for field in self.__slots__))


@dataclass(frozen=True, slots=True)
class Posterior:
    """For each tuple of the list, the likeliest released person and how likely; `of_row` is the tuple of a record."""

    person: Longs
    probability: Floats
    of_row: Longs
    figures: dict[str, int | float | str]


@dataclass(frozen=True, slots=True)
class _Chances:
    """π, and per column the chances of agreeing, being near and differing among true pairs."""

    present: float
    levels: Floats


def posterior(
    columns: Sequence[PublishedColumn],
    released: Records,
    external: Records,
    near: Sequence[sparse.csr_array | None],
    seed: int,
    most: int = MOST_KEPT,
) -> Posterior:
    """The likeliest released person of every tuple of the list."""
    from celosia.kernels.joining import keep_best

    tuple_join = join(columns, released, external)
    near_of = list(near) + [None] * (len(columns) - len(near))
    ordered_near = [near_of[column] for column in tuple_join.order]
    candidates, lenient = _candidates(tuple_join, columns, released, external, ordered_near, most)
    model = _model(tuple_join, ordered_near)
    chances = _estimate_chances(model, candidates, seed)
    mass = _person_probabilities(model, candidates, chances, tuple_join.released.who)
    best, person = np.zeros(tuple_join.shape[1]), np.full(tuple_join.shape[1], NOBODY, np.int64)
    keep_best(candidates.external, mass, tuple_join.released.who[candidates.released], best, person)
    figures: dict[str, int | float | str] = {
        "pairs": len(candidates.released),
        "share_present": round(chances.present, 6),
        "columns_that_may_err": lenient,
    }
    return Posterior(person, best, tuple_join.external.of_row, figures)


# --- candidates -----------------------------------------------------------------------------------------


def _candidates(
    tuple_join: Join,
    columns: Sequence[PublishedColumn],
    released: Records,
    external: Records,
    near: Sequence[sparse.csr_array | None],
    most: int,
) -> tuple[Candidates, int]:
    """The pairs that agree and those with one odd column; a column that would bring too many is not let err."""
    parts = [_candidate_pairs(tuple_join, tuple_join, -1, None, most)]
    remaining, lenient = most - len(parts[0].released), 0
    for column, source_column in enumerate(tuple_join.order if len(tuple_join.order) > 1 else ()):
        try:
            odd_join = join(columns, released, external, last=source_column)
            part = _candidate_pairs(tuple_join, odd_join, column, near[column], remaining)
        except TooManyPairs:
            continue
        parts.append(part)
        remaining, lenient = remaining - len(part.released), lenient + 1
    fields = zip(*((p.released, p.external, p.odd, p.level) for p in parts), strict=True)
    return Candidates(*(np.concatenate(field) for field in fields)), lenient


def _candidate_pairs(main: Join, tuple_join: Join, odd: int, near: sparse.csr_array | None, most: int) -> Candidates:
    """The pairs of one join, in the tuples of the main one."""
    left = _tuple_map(tuple_join.released.of_row, main.released.of_row)
    right = _tuple_map(tuple_join.external.of_row, main.external.of_row)
    released_parts, external_parts = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for released, external in pair_pieces(tuple_join, odd_last=odd >= 0, most=most):
        released_parts.append(left[released].astype(np.int32))
        external_parts.append(right[external].astype(np.int32))
    pair = np.concatenate(released_parts), np.concatenate(external_parts)
    level = np.full(len(pair[0]), AGREE if odd < 0 else DIFFER, np.int8)
    if odd >= 0 and near is not None:
        close = PublishedColumn("", near)
        labels, values = main.released.codes[pair[0], odd], main.external.codes[pair[1], odd]
        level[is_covered(close, labels, values)] = NEAR
    return Candidates(pair[0], pair[1], np.full(len(pair[0]), odd, np.int8), level)


def _tuple_map(here: Longs, there: Longs) -> Longs:
    """For each tuple of one join, the tuple of another with the same records."""
    tuple_of = np.zeros(int(here.max(initial=-1)) + 1, np.int64)
    tuple_of[here] = there
    return tuple_of


# --- weights --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Model:
    """What does not change while learning: how much each label covers, and the counts of the tuples."""

    codes: NDArray[np.int32]  # of the released tuples
    rows: Floats
    list_rows: Floats
    by_chance: tuple[Floats, ...]  # per column: levels × labels
    tells: NDArray[np.bool_]  # tuples × columns: the label does not cover everything


def _model(tuple_join: Join, near: Sequence[sparse.csr_array | None]) -> _Model:
    codes, list_rows = tuple_join.released.codes, tuple_join.external.rows.astype(np.float64)
    chances, tells = [], np.ones(codes.shape, bool)
    for position, column in enumerate(tuple_join.columns):
        values = tuple_join.external.codes[:, position]
        there = np.asarray(np.bincount(values, list_rows, column.covers.shape[1]), np.float64)
        chances.append(_chance_agreement_shares(column, near[position], there))
        tells[:, position] = ~column.open_labels[codes[:, position]]
    return _Model(codes, tuple_join.released.rows.astype(np.float64), list_rows, tuple(chances), tells)


def _chance_agreement_shares(column: PublishedColumn, near: sparse.csr_array | None, there: Floats) -> Floats:
    """Per label, the share of the list that agrees with it, is near it, and differs from it."""
    listed = max(float(there.sum()), 1.0)
    agree = column.covers @ there / listed
    close = agree if near is None else np.maximum(near @ there / listed, agree)
    return np.clip(np.stack([agree, close - agree, 1 - close]), 0.5 / listed, 1.0)


def _weights(model: _Model, levels: Floats) -> Floats:
    """Log weights, levels × tuples × columns; a label that covers everything weighs nothing."""
    weights = np.empty((3, *model.codes.shape))
    for column, chance in enumerate(model.by_chance):
        weights[:, :, column] = (np.log(levels[column])[:, None] - np.log(chance))[:, model.codes[:, column]]
    return np.where(model.tells, weights, 0.0)


def _pair_probabilities(model: _Model, candidates: Candidates, chances: _Chances) -> Floats:
    """For each pair, the probability that a given record of the released tuple is a given person of the other."""
    from celosia.kernels.joining import weigh_pairs

    total = np.zeros(len(model.list_rows))
    scale = chances.present / max(float(model.rows.sum()), 1.0)
    weights = _weights(model, chances.levels)
    share = weigh_pairs(
        candidates.released, candidates.external, candidates.odd, candidates.level, weights, scale, model.rows, total
    )
    return np.asarray(share / (1 - chances.present + total)[candidates.external], np.float64)


def _person_probabilities(model: _Model, candidates: Candidates, chances: _Chances, who: Longs) -> Floats:
    """The probability of the person behind the released tuple: all its records where they are one person's."""
    records = np.where(who[candidates.released] >= 0, model.rows[candidates.released], 1.0)
    return _pair_probabilities(model, candidates, chances) * records


# --- learning -------------------------------------------------------------------------------------------


def _estimate_chances(model: _Model, candidates: Candidates, seed: int) -> _Chances:
    """π and m by expectation and maximisation, from a sample of the list where it is long."""
    chances = _Chances(0.5, np.tile([0.95, 0.025, 0.025], (model.codes.shape[1], 1)))
    sample = np.ones(len(model.list_rows), bool)
    enough = min(_LEARN_FROM, len(sample) * _LEARN_PAIRS // max(len(candidates.released), 1) + 1)
    if len(sample) > enough:
        rng = np.random.Generator(np.random.Philox(seed))
        sample[:] = False
        sample[rng.choice(len(sample), enough, replace=False)] = True
        candidates = candidates.select(sample[candidates.external])
    people = float(model.list_rows[sample].sum())
    for _ in range(_ROUNDS):
        better = _em_step(model, candidates, chances, people)
        moved = max(abs(better.present - chances.present), float(np.abs(better.levels - chances.levels).max(initial=0)))
        chances = better
        if moved < _STILL:
            break
    return chances


def _em_step(model: _Model, candidates: Candidates, chances: _Chances, people: float) -> _Chances:
    from celosia.kernels.joining import add_expected_levels

    expected = (
        _pair_probabilities(model, candidates, chances)
        * model.rows[candidates.released]
        * model.list_rows[candidates.external]
    )
    present = (float(expected.sum()) + _DOUBT) / (people + 2 * _DOUBT)
    levels = np.full_like(chances.levels, _DOUBT)
    add_expected_levels(candidates.released, candidates.odd, candidates.level, expected, model.tells, levels)
    return _Chances(min(present, 1 - 1e-6), levels / levels.sum(axis=1, keepdims=True))
