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

from celosia.attacks._pairs import NOBODY, Join, TooManyPairs, covered, join, pieces
from celosia.attacks._scene import Column, Records

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

    def only(self, kept: NDArray[np.bool_]) -> Candidates:
        """Some of the pairs."""
        return Candidates(self.released[kept], self.external[kept], self.odd[kept], self.level[kept])


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
    columns: Sequence[Column],
    released: Records,
    external: Records,
    near: Sequence[sparse.csr_array | None],
    seed: int,
    most: int = MOST_KEPT,
) -> Posterior:
    """The likeliest released person of every tuple of the list."""
    from celosia.kernels.joining import keep_best

    made = join(columns, released, external)
    near_of = list(near) + [None] * (len(columns) - len(near))
    ordered = [near_of[place] for place in made.order]
    found, lenient = _candidates(made, columns, released, external, ordered, most)
    model = _model(made, ordered)
    chances = _learnt(model, found, seed)
    mass = _masses(model, found, chances, made.released.who)
    best, person = np.zeros(made.shape[1]), np.full(made.shape[1], NOBODY, np.int64)
    keep_best(found.external, mass, made.released.who[found.released], best, person)
    figures: dict[str, int | float | str] = {
        "pairs": len(found.released),
        "share_present": round(chances.present, 6),
        "columns_that_may_err": lenient,
    }
    return Posterior(person, best, made.external.of_row, figures)


# --- candidates -----------------------------------------------------------------------------------------


def _candidates(
    made: Join,
    columns: Sequence[Column],
    released: Records,
    external: Records,
    near: Sequence[sparse.csr_array | None],
    most: int,
) -> tuple[Candidates, int]:
    """The pairs that agree and those with one odd column; a column that would bring too many is not let err."""
    parts = [_kept(made, made, -1, None, most)]
    room, lenient = most - len(parts[0].released), 0
    for column, place in enumerate(made.order if len(made.order) > 1 else ()):
        try:
            part = _kept(made, join(columns, released, external, last=place), column, near[column], room)
        except TooManyPairs:
            continue
        parts.append(part)
        room, lenient = room - len(part.released), lenient + 1
    fields = zip(*((p.released, p.external, p.odd, p.level) for p in parts), strict=True)
    return Candidates(*(np.concatenate(field) for field in fields)), lenient


def _kept(main: Join, made: Join, odd: int, near: sparse.csr_array | None, most: int) -> Candidates:
    """The pairs of one join, told by the tuples of the main one."""
    left = _renumbered(made.released.of_row, main.released.of_row)
    right = _renumbered(made.external.of_row, main.external.of_row)
    ones, others = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for one, other in pieces(made, odd_last=odd >= 0, most=most):
        ones.append(left[one].astype(np.int32))
        others.append(right[other].astype(np.int32))
    pair = np.concatenate(ones), np.concatenate(others)
    level = np.full(len(pair[0]), AGREE if odd < 0 else DIFFER, np.int8)
    if odd >= 0 and near is not None:
        close = Column("", near)
        labels, values = main.released.codes[pair[0], odd], main.external.codes[pair[1], odd]
        level[covered(close, labels, values)] = NEAR
    return Candidates(pair[0], pair[1], np.full(len(pair[0]), odd, np.int8), level)


def _renumbered(here: Longs, there: Longs) -> Longs:
    """For each tuple of one join, the tuple of another with the same records."""
    place = np.zeros(int(here.max(initial=-1)) + 1, np.int64)
    place[here] = there
    return place


# --- weights --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Model:
    """What does not change while learning: how much each label covers, and the counts of the tuples."""

    codes: NDArray[np.int32]  # of the released tuples
    rows: Floats
    list_rows: Floats
    by_chance: tuple[Floats, ...]  # per column: levels × labels
    tells: NDArray[np.bool_]  # tuples × columns: the label does not cover everything


def _model(made: Join, near: Sequence[sparse.csr_array | None]) -> _Model:
    codes, list_rows = made.released.codes, made.external.rows.astype(np.float64)
    chances, tells = [], np.ones(codes.shape, bool)
    for place, column in enumerate(made.columns):
        values = made.external.codes[:, place]
        there = np.asarray(np.bincount(values, list_rows, column.covers.shape[1]), np.float64)
        chances.append(_by_chance(column, near[place], there))
        tells[:, place] = ~column.open_labels[codes[:, place]]
    return _Model(codes, made.released.rows.astype(np.float64), list_rows, tuple(chances), tells)


def _by_chance(column: Column, near: sparse.csr_array | None, there: Floats) -> Floats:
    """Per label, the share of the list that agrees with it, is near it, and differs from it."""
    listed = max(float(there.sum()), 1.0)
    agree = column.covers @ there / listed
    close = agree if near is None else np.maximum(near @ there / listed, agree)
    return np.clip(np.stack([agree, close - agree, 1 - close]), 0.5 / listed, 1.0)


def _weights(model: _Model, levels: Floats) -> Floats:
    """Log weights, levels × tuples × columns; a label that covers everything weighs nothing."""
    found = np.empty((3, *model.codes.shape))
    for place, chance in enumerate(model.by_chance):
        found[:, :, place] = (np.log(levels[place])[:, None] - np.log(chance))[:, model.codes[:, place]]
    return np.where(model.tells, found, 0.0)


def _each(model: _Model, found: Candidates, chances: _Chances) -> Floats:
    """For each pair, the probability that a given record of the released tuple is a given person of the other."""
    from celosia.kernels.joining import weigh

    total = np.zeros(len(model.list_rows))
    scale = chances.present / max(float(model.rows.sum()), 1.0)
    weights = _weights(model, chances.levels)
    share = weigh(found.released, found.external, found.odd, found.level, weights, scale, model.rows, total)
    return np.asarray(share / (1 - chances.present + total)[found.external], np.float64)


def _masses(model: _Model, found: Candidates, chances: _Chances, who: Longs) -> Floats:
    """The probability of the person behind the released tuple: all its records where they are one person's."""
    records = np.where(who[found.released] >= 0, model.rows[found.released], 1.0)
    return _each(model, found, chances) * records


# --- learning -------------------------------------------------------------------------------------------


def _learnt(model: _Model, found: Candidates, seed: int) -> _Chances:
    """π and m by expectation and maximisation, from a sample of the list where it is long."""
    chances = _Chances(0.5, np.tile([0.95, 0.025, 0.025], (model.codes.shape[1], 1)))
    sample = np.ones(len(model.list_rows), bool)
    enough = min(_LEARN_FROM, len(sample) * _LEARN_PAIRS // max(len(found.released), 1) + 1)
    if len(sample) > enough:
        rng = np.random.Generator(np.random.Philox(seed))
        sample[:] = False
        sample[rng.choice(len(sample), enough, replace=False)] = True
        found = found.only(sample[found.external])
    people = float(model.list_rows[sample].sum())
    for _ in range(_ROUNDS):
        better = _improved(model, found, chances, people)
        moved = max(abs(better.present - chances.present), float(np.abs(better.levels - chances.levels).max(initial=0)))
        chances = better
        if moved < _STILL:
            break
    return chances


def _improved(model: _Model, found: Candidates, chances: _Chances, people: float) -> _Chances:
    from celosia.kernels.joining import expect

    expected = _each(model, found, chances) * model.rows[found.released] * model.list_rows[found.external]
    present = (float(expected.sum()) + _DOUBT) / (people + 2 * _DOUBT)
    levels = np.full_like(chances.levels, _DOUBT)
    expect(found.released, found.odd, found.level, expected, model.tells, levels)
    return _Chances(min(present, 1 - 1e-6), levels / levels.sum(axis=1, keepdims=True))
