"""Guessing a sensitive label through a release: by the class of a target, and by a model of the whole release.

Knows labels, what they cover, how many people are behind each. Ignores truth and success, which `inference` judges.
- The class of a target are the released records whose labels all cover what is known of the target.
- The model draws the values of the class towards naive Bayes over the columns, which weighs as one person: it learns
  what people have in common and remembers who is alone. Rates are smoothed by one person with the rate of everybody.
A guess may leave one fold of persons out, as if their records had never been released.
Source: Good 1965 and Gelman et al. 2013, chapter 5 (counts drawn to a prior); Hand, Yu 2001 (naive Bayes).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks._scene import Codes, Column, Flags, Records, class_of, index_of, people_in

NOBODY = -1  # no fold is left out; a label that says nothing
_CELLS = 4_000_000  # of the largest table of targets × labels held at once
_TIE = 1e-6  # among equals, the label that is more frequent in the release
_NEVER = -1e30

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Learnt:
    """The release as the intruder learns from it: distinct (labels, sensitive label, fold) and the people of each."""

    columns: tuple[Column, ...]
    codes: Codes
    values: Codes  # sensitive label; NOBODY where it says nothing
    folds: Codes
    people: Floats
    n_values: int


@dataclass(frozen=True, slots=True)
class Guesses:
    """The guess for each target by its class and by the model, whether its class is of one mind, and its people."""

    majority: Codes
    model: Codes
    sure: Flags
    people: Floats


def learn(columns: tuple[Column, ...], released: Records, values: Codes, folds: Codes, n_values: int) -> Learnt:
    """The release with equal records brought together, people counted once in each."""
    classes, label = class_of(np.column_stack([released.codes, values + 1, folds]))
    first = np.empty(classes, np.int64)
    first[label[::-1]] = np.arange(len(label))[::-1]
    if released.persons is None:
        people = np.bincount(label, minlength=classes)
    else:
        people = people_in(label, released.persons, classes)
    return Learnt(columns, released.codes[first], values[first], folds[first], people.astype(np.float64), n_values)


def guess(learnt: Learnt, known: Codes, left_out: Codes) -> Guesses:
    """What the release says of targets of whom some values are known, each without the records of a fold."""
    over = [sparse.csr_array(column.covers.T) for column in learnt.columns]
    index = index_of(learnt.codes, over)
    majority, model = np.zeros(len(known), np.int64), np.zeros(len(known), np.int64)
    sure, people = np.zeros(len(known), np.bool_), np.zeros(len(known))
    for fold in np.unique(left_out):
        bayes = _Bayes.of(learnt, over, int(fold))
        for places in _portions(np.flatnonzero(left_out == fold), learnt.n_values):
            seen = _tally(learnt, index, known[places], left_out[places])
            majority[places] = np.argmax(seen + _TIE * bayes.share, axis=1)
            model[places] = np.argmax(seen + bayes.posterior(known[places]), axis=1)
            sure[places] = (seen > 0).sum(axis=1) == 1
            people[places] = seen.sum(axis=1)
    return Guesses(majority, model, sure, people)


def _portions(places: Codes, width: int) -> Iterator[Codes]:
    """The places in portions whose tables fit in memory."""
    step = max(_CELLS // max(width, 1), 1)
    for begin in range(0, len(places), step):
        yield places[begin : begin + step]


def _tally(learnt: Learnt, index: object, known: Codes, left_out: Codes) -> Floats:
    """People with each sensitive label in the class of each target."""
    from celosia.kernels.queries import tally

    counted: Floats = tally(index, known, left_out, learnt.folds, learnt.values, learnt.people, learnt.n_values)
    return counted


@dataclass(frozen=True, slots=True)
class _Bayes:
    """Naive Bayes over the columns of a release without one fold."""

    people: Floats  # with each sensitive label
    tables: tuple[sparse.csr_array, ...]  # per column: people by original value that may be theirs × sensitive label
    over: tuple[sparse.csr_array, ...]

    @classmethod
    def of(cls, learnt: Learnt, over: list[sparse.csr_array], fold: int) -> _Bayes:
        """The model learnt from all records but those of a fold."""
        kept = (learnt.values >= 0) & (learnt.folds != fold)
        values, people = learnt.values[kept], learnt.people[kept]
        tables = tuple(
            sparse.csr_array((people, (learnt.codes[kept, c], values)), shape=(table.shape[1], learnt.n_values))
            for c, table in enumerate(over)
        )
        counted = np.bincount(values, weights=people, minlength=learnt.n_values).astype(np.float64)
        return cls(counted, tables, tuple(over))

    @property
    def share(self) -> Floats:
        """Share of people with each sensitive label."""
        return self.people / max(self.people.sum(), 1.0)

    def posterior(self, known: Codes) -> Floats:
        """Chance of each sensitive label for each target."""
        score = np.tile(np.where(self.people > 0, np.log(np.maximum(self.people, 1.0)), _NEVER), (len(known), 1))
        for c, (over, table) in enumerate(zip(self.over, self.tables, strict=True)):
            seen = (over[known[:, c]].astype(np.float64) @ table).toarray()
            share = seen.sum(axis=1, keepdims=True) / max(self.people.sum(), 1.0)
            score += np.log((seen + np.maximum(share, 1e-12)) / (self.people + 1.0))
        chance = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(chance / chance.sum(axis=1, keepdims=True), np.float64)
