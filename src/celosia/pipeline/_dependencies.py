"""Whether one column gives another away.

Knows pairs of values and how many rows have each. Ignores roles and what is done about it.
Source: REQUIREMENTS X7 (masks follow dependencies between published columns).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.model.values import MISSING, is_masked
from celosia.tuples import Tuples

Codes = NDArray[np.integer]
Counts = NDArray[np.int64]
_NEARLY = 0.95  # share of rows told right that makes a dependency
_FAR = 0.9  # of the way from a blind guess to certainty
_REPEATED = 0.1  # share of rows whose value repeats, below which nothing can be said


def linked(pair: Tuples) -> bool:
    """Whether one of two columns gives the other away: nearly always, and far more often than a guess would.

    Real files are never clean, so a few rows that disagree do not undo a dependency; and a dependency that holds
    only because almost everybody shares one value is none.
    """
    visible = np.ones(len(pair.rows), bool)
    for column, vocabulary in enumerate(pair.vocabularies):
        hidden = np.array([value == MISSING or is_masked(value) for value in vocabulary], bool)
        visible &= ~hidden[pair.codes[:, column]]
    codes, rows = pair.codes[visible], pair.rows[visible]
    return gives_away(codes[:, 0], codes[:, 1], rows) or gives_away(codes[:, 1], codes[:, 0], rows)


def gives_away(one: Codes, other: Codes, rows: Counts) -> bool:
    """Whether knowing `one` tells `other`; values of `one` that occur once say nothing either way."""
    behind = np.bincount(one, weights=rows)
    repeated = behind[one] > 1
    total = float(rows[repeated].sum())
    if total < _REPEATED * float(rows.sum()) or total == 0:
        return False
    likeliest = np.zeros(len(behind))
    np.maximum.at(likeliest, one[repeated], rows[repeated])
    told = float(likeliest.sum()) / total
    guessed = float(np.bincount(other, weights=rows).max()) / float(rows.sum())  # by whoever knows nothing of a row
    return guessed < 1 and told >= _NEARLY and told - guessed >= _FAR * (1 - guessed)
