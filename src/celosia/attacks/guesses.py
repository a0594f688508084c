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

from celosia.attacks.attack_input import (
    Codes,
    Flags,
    PublishedColumn,
    Records,
    equivalence_classes,
    inverted_index,
    persons_per_class,
)

NOBODY = -1  # no fold is left out; a label that says nothing
_CELLS = 4_000_000  # of the largest table of targets × labels held at once
_TIE = 1e-6  # among equals, the label that is more frequent in the release
_NEVER = -1e30

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The release as the intruder learns from it: distinct (labels, sensitive label, fold) and the people of each."""

    columns: tuple[PublishedColumn, ...]
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


def training_data(
    columns: tuple[PublishedColumn, ...], released: Records, values: Codes, folds: Codes, n_values: int
) -> TrainingData:
    """The release with equal records brought together, people counted once in each."""
    classes, label = equivalence_classes(np.column_stack([released.codes, values + 1, folds]))
    first = np.empty(classes, np.int64)
    first[label[::-1]] = np.arange(len(label))[::-1]
    if released.persons is None:
        people = np.bincount(label, minlength=classes)
    else:
        people = persons_per_class(label, released.persons, classes)
    return TrainingData(
        columns, released.codes[first], values[first], folds[first], people.astype(np.float64), n_values
    )


def guess(training: TrainingData, known: Codes, left_out: Codes) -> Guesses:
    """What the release says of targets of whom some values are known, each without the records of a fold."""
    over = [sparse.csr_array(column.covers.T) for column in training.columns]
    index = inverted_index(training.codes, over)
    majority, model = np.zeros(len(known), np.int64), np.zeros(len(known), np.int64)
    sure, people = np.zeros(len(known), np.bool_), np.zeros(len(known))
    for fold in np.unique(left_out):
        bayes = NaiveBayes.of(training, over, int(fold))
        for places in _place_batches(np.flatnonzero(left_out == fold), training.n_values):
            seen = _tally(training, index, known[places], left_out[places])
            majority[places] = np.argmax(seen + _TIE * bayes.share, axis=1)
            model[places] = np.argmax(seen + bayes.posterior(known[places]), axis=1)
            sure[places] = (seen > 0).sum(axis=1) == 1
            people[places] = seen.sum(axis=1)
    return Guesses(majority, model, sure, people)


def _place_batches(places: Codes, width: int) -> Iterator[Codes]:
    """The places in portions whose tables fit in memory."""
    step = max(_CELLS // max(width, 1), 1)
    for begin in range(0, len(places), step):
        yield places[begin : begin + step]


def _tally(training: TrainingData, index: object, known: Codes, left_out: Codes) -> Floats:
    """People with each sensitive label in the class of each target."""
    from celosia.kernels.queries import tally_values

    counted: Floats = tally_values(
        index, known, left_out, training.folds, training.values, training.people, training.n_values
    )
    return counted


@dataclass(frozen=True, slots=True)
class NaiveBayes:
    """Naive Bayes over the columns of a release without one fold."""

    people: Floats  # with each sensitive label
    tables: tuple[sparse.csr_array, ...]  # per column: people by original value that may be theirs × sensitive label
    over: tuple[sparse.csr_array, ...]

    @classmethod
    def of(cls, training: TrainingData, over: list[sparse.csr_array], fold: int) -> NaiveBayes:
        """The model learnt from all records but those of a fold."""
        in_training = (training.values >= 0) & (training.folds != fold)
        values, people = training.values[in_training], training.people[in_training]
        tables = tuple(
            sparse.csr_array(
                (people, (training.codes[in_training, c], values)), shape=(table.shape[1], training.n_values)
            )
            for c, table in enumerate(over)
        )
        counted = np.bincount(values, weights=people, minlength=training.n_values).astype(np.float64)
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
