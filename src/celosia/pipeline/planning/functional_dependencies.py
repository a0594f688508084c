"""Functional dependencies: whether one column discloses another.

Knows pairs of values and how many rows have each. Ignores roles and what is masked because of it.
Source: REQUIREMENTS X7 (masks follow dependencies between published columns).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.model.values import MISSING, is_masked
from celosia.tuples.table import Tuples

Codes = NDArray[np.integer]
Counts = NDArray[np.int64]
_NEARLY = 0.95  # share of rows predicted right that makes a dependency
_FAR = 0.9  # share of the way from a blind guess to certainty
_REPEATED = 0.1  # share of rows whose value repeats, below which nothing can be said


def are_dependent(pair: Tuples) -> bool:
    """Whether one of two columns discloses the other: nearly always, and far more often than a guess would.

    Real files are never clean, so a few rows that disagree do not undo a dependency; and a dependency that holds
    only because almost everybody shares one value is none.
    """
    visible = np.ones(len(pair.rows), bool)
    for column, vocabulary in enumerate(pair.vocabularies):
        hidden = np.array([value == MISSING or is_masked(value) for value in vocabulary], bool)
        visible &= ~hidden[pair.codes[:, column]]
    codes, rows = pair.codes[visible], pair.rows[visible]
    return determines(codes[:, 0], codes[:, 1], rows) or determines(codes[:, 1], codes[:, 0], rows)


def determines(first: Codes, other: Codes, rows: Counts) -> bool:
    """Whether `first` predicts `other`; values of `first` that occur once say nothing either way."""
    behind = np.bincount(first, weights=rows)
    repeated = behind[first] > 1
    total = float(rows[repeated].sum())
    if total < _REPEATED * float(rows.sum()) or total == 0:
        return False
    likeliest = np.zeros(len(behind))
    np.maximum.at(likeliest, first[repeated], rows[repeated])
    predicted = float(likeliest.sum()) / total
    guessed = float(np.bincount(other, weights=rows).max()) / float(rows.sum())  # without knowing `first`
    return guessed < 1 and predicted >= _NEARLY and predicted - guessed >= _FAR * (1 - guessed)
