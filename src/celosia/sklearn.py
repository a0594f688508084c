"""Treatments as scikit-learn transformers: they learn on a table and treat others alike.

Knows arrays of numbers and the conventions of scikit-learn, an extra (`pip install 'celosia[sklearn]'`) that is loaded
only here. Ignores files, roles and policies: a transformer protects what it is given and measures nothing, so its
result is judged with `celosia.measure` before anybody sees it. What a fitted transformer keeps are figures of at least
k rows, never a row, except the draws of chance: a pickled `Noise` or `Pram` holds the key that undoes it.
"""

from __future__ import annotations

import hashlib
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from celosia import messages
from celosia.model.errors import MissingExtra

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra(feature=messages.text("reports.sklearn_feature"), extra="sklearn") from None

Floats = NDArray[np.float64]
_KEY_WORDS = 8


class _Treatment(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """What the transformers share: numbers in, as many columns out."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - the name that scikit-learn calls it by
        """Learn what the treatment needs of a table."""
        values = np.asarray(validate_data(self, X, dtype=np.float64), np.float64)
        self._learn(values)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803 - see fit
        """The table, treated."""
        check_is_fitted(self)
        return self._treat(np.asarray(validate_data(self, X, dtype=np.float64, reset=False), np.float64))

    def _learn(self, values: Floats) -> None:
        raise NotImplementedError

    def _treat(self, values: Floats) -> Floats:
        raise NotImplementedError


class Microaggregation(_Treatment):
    """Each row becomes the mean of the nearest group, and each group has at least k of the rows it was fitted on.

    MDAV groups the rows on standard scores; a group keeps the rows that are nearest to its centre, and one that would
    keep fewer than k is given up, until none is. So a row is treated alike wherever it comes, alone or among others.
    Source: Domingo-Ferrer, Mateo-Sanz 2002.
    """

    def __init__(self, k: int = 3):
        self.k = k

    def _learn(self, values: Floats) -> None:
        refuse_wrong("k", self.k, isinstance(self.k, int) and self.k >= 2, "≥ 2")
        k = min(self.k, len(values))
        self.center_ = values.mean(axis=0)
        self.scale_ = _value_range(values)
        scores = self._scores(values)
        self.centers_, self.means_ = _voronoi_groups(scores, values, _mdav_labels(scores, k), k)

    def _scores(self, values: Floats) -> Floats:
        return np.asarray((values - self.center_) / self.scale_, np.float64)

    def _treat(self, values: Floats) -> Floats:
        return np.asarray(self.means_[_nearest_center(self._scores(values), self.centers_)], np.float64)


class Noise(_Treatment):
    """Each number moves by chance, in proportion to the spread that its column had when it was fitted.

    The draws belong to the table: the same table has the same noise again, so that its mean over many calls tells
    nothing; another table has another. Without `random_state` the key is fresh with every fit.
    """

    def __init__(self, level: float = 0.1, random_state: Any = None):
        self.level = level
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def _learn(self, values: Floats) -> None:
        refuse_wrong("level", self.level, self.level > 0, "> 0")
        self.spread_ = values.std(axis=0)
        self.key_ = _fresh_key(self.random_state)

    def _treat(self, values: Floats) -> Floats:
        draws = _draws_of(self.key_, values)
        noise = np.stack([draws.normal(len(values)) for _ in range(values.shape[1])], axis=1)
        return np.asarray(values + self.level * self.spread_ * noise, np.float64)


class Pram(_Treatment):
    """Each category becomes another with a known probability (post-randomisation, invariant in two stages).

    Categories are numbers (encode texts before, as with `OrdinalEncoder`). A category that was not there when it was
    fitted becomes one that was. The matrix of a column is in `matrices_`: its frequencies are kept in expectation.
    Source: Gouweleeuw and others 1998.
    """

    def __init__(self, stay: float = 0.8, random_state: Any = None):
        self.stay = stay
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.categorical = True
        return tags

    def _learn(self, values: Floats) -> None:
        refuse_wrong("stay", self.stay, 0 < self.stay < 1, "> 0, < 1")
        counted = [np.unique(column, return_counts=True) for column in values.T]
        self.categories_ = [categories for categories, _ in counted]
        self.matrices_ = [invariant_matrix(counts / counts.sum(), self.stay) for _, counts in counted]
        self.key_ = _fresh_key(self.random_state)

    def _treat(self, values: Floats) -> Floats:
        draws = _draws_of(self.key_, values)
        columns = []
        for column, categories, matrix in zip(values.T, self.categories_, self.matrices_, strict=True):
            codes = np.minimum(np.searchsorted(categories, column), len(categories) - 1)
            bounds = np.cumsum(matrix, axis=1)[codes]
            chance = draws.uniform(len(column))[:, None] * bounds[:, -1:]
            columns.append(categories[np.minimum((chance >= bounds).sum(axis=1), len(categories) - 1)])
        return np.stack(columns, axis=1)


class TopBottomCoding(_Treatment):
    """Numbers beyond a bound become the bound; the bounds are quantiles of the table it was fitted on.

    A bound is a value that some row holds, and at least `tail` rows lie at or beyond it.
    """

    def __init__(self, bottom: float = 0.05, top: float = 0.95, tail: int = 3):
        self.bottom = bottom
        self.top = top
        self.tail = tail

    def _learn(self, values: Floats) -> None:
        refuse_wrong("bottom", self.bottom, 0 <= self.bottom <= self.top <= 1, "0 ≤ bottom ≤ top ≤ 1")
        refuse_wrong("tail", self.tail, isinstance(self.tail, int) and self.tail >= 1, "≥ 1")
        ordered = np.sort(values, axis=0)
        last = len(ordered) - 1
        tail = min(self.tail - 1, last // 2)
        low = max(int(np.floor(self.bottom * last)), tail)
        high = min(int(np.ceil(self.top * last)), last - tail)
        self.bottom_, self.top_ = ordered[low], ordered[max(high, low)]

    def _treat(self, values: Floats) -> Floats:
        return np.clip(values, self.bottom_, self.top_)


class Generalization(_Treatment):
    """Each number becomes the mean of its interval; the intervals are fitted so that k rows lie in each.

    Level 0 has the narrowest intervals of at least k rows, and every level above joins them two by two. Columns are
    treated apart: k holds for each, not for their combination, which `celosia.anonymize` searches.
    """

    def __init__(self, k: int = 5, level: int = 0):
        self.k = k
        self.level = level

    def _learn(self, values: Floats) -> None:
        refuse_wrong("k", self.k, isinstance(self.k, int) and self.k >= 1, "≥ 1")
        refuse_wrong("level", self.level, isinstance(self.level, int) and self.level >= 0, "≥ 0")
        fitted = [fitted_intervals(column, min(self.k, len(column)), self.level) for column in values.T]
        self.edges_ = [edges for edges, _ in fitted]
        self.means_ = [means for _, means in fitted]

    def _treat(self, values: Floats) -> Floats:
        columns = [
            means[np.searchsorted(edges, column, side="right")]
            for column, edges, means in zip(values.T, self.edges_, self.means_, strict=True)
        ]
        return np.stack(columns, axis=1)


def invariant_matrix(shares: Floats, stay: float) -> Floats:
    """The transition matrix that keeps these shares in expectation: P, then its inverse by Bayes."""
    many = len(shares)
    if many == 1:
        return np.ones((1, 1))
    first = np.full((many, many), (1 - stay) / (many - 1))
    np.fill_diagonal(first, stay)
    reached = shares @ first
    second = (shares[:, None] * first).T / reached[:, None]
    return np.asarray(first @ second, np.float64)


def fitted_intervals(column: Floats, k: int, level: int) -> tuple[Floats, Floats]:
    """The inner edges of intervals with at least k rows each, joined two by two `level` times, and their means."""
    present, counts = np.unique(column, return_counts=True)
    starts, rows = [0], 0
    for position, count in enumerate(counts):
        if rows >= k:
            starts.append(position)
            rows = 0
        rows += int(count)
    if rows < k and len(starts) > 1:
        starts.pop()
    starts = starts[:: 2**level]
    totals = np.add.reduceat(present * counts, starts)
    return present[starts[1:]], totals / np.add.reduceat(counts, starts)


def _voronoi_groups(scores: Floats, values: Floats, label: NDArray[np.int64], k: int) -> tuple[Floats, Floats]:
    """The centres that keep at least k rows nearest to them, and the mean of the rows of each."""
    centers = _group_means(scores, label)
    while True:
        label = _nearest_center(scores, centers)
        sizes = np.bincount(label, minlength=len(centers))
        if len(centers) == 1 or sizes.min() >= k:
            return centers, _group_means(values, label)
        # The smallest goes first: its rows may fill its neighbours.
        centers = np.delete(centers, int(sizes.argmin()), axis=0)


def _group_means(values: Floats, label: NDArray[np.int64]) -> Floats:
    sizes = np.bincount(label).astype(np.float64)
    return np.stack([np.bincount(label, column) / sizes for column in values.T], axis=1)


def _nearest_center(scores: Floats, centers: Floats) -> NDArray[np.int64]:
    from scipy.spatial import KDTree

    return np.asarray(KDTree(centers).query(scores)[1], np.int64)


def _mdav_labels(scores: Floats, k: int) -> NDArray[np.int64]:
    from celosia.kernels import mdav

    label = np.empty(len(scores), np.int64)
    mdav.mdav_segments(np.ascontiguousarray(scores), np.array([0, len(scores)], np.int64), 0, 1, k, label)
    return np.unique(label, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _value_range(values: Floats) -> Floats:
    spread = values.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _fresh_key(random_state: Any) -> bytes:
    """A key from the state of chance that scikit-learn knows; the system's own without one."""
    if random_state is None:
        import secrets

        return secrets.token_bytes(4 * _KEY_WORDS)
    words = check_random_state(random_state).randint(0, 2**32, size=_KEY_WORDS, dtype=np.uint32)
    return np.asarray(words, np.uint32).tobytes()


def _draws_of(key: bytes, values: Floats) -> Any:
    """The chance of one table: it depends on the key and on the table alone."""
    from celosia.techniques import Draws

    return Draws(key, hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest())


def refuse_wrong(name: str, given: Any, holds: bool, allowed: str) -> None:
    """Refuse a parameter outside what it may be, in the words of celosia."""
    from celosia.model.value_errors import ValueOutOfRange

    if not holds:
        raise ValueOutOfRange(parameter=name, given=given, allowed=allowed)


__all__ = ["Generalization", "Microaggregation", "Noise", "Pram", "TopBottomCoding"]
