"""Putting a hierarchy together from rows of labels, and checking that each level joins whole groups.

Knows labels as text. Ignores files and builders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy._model import Hierarchy
from celosia.model.values import is_masked


def from_rows(variable: str, rows: Sequence[Sequence[str]], height: int = 0) -> Hierarchy:
    """A hierarchy from one row per leaf: the leaf, then its label at each level.

    Labels stand in the order of their first leaf. Leaves are taken as distinct and rows as equally long;
    `height` is that of a hierarchy without leaves.
    """
    levels = [_encode(column) for column in (zip(*rows, strict=True) if rows else [()] * (height + 1))]
    return Hierarchy(variable, tuple(labels for labels, _ in levels), tuple(codes for _, codes in levels))


def _encode(column: Iterable[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    positions: dict[str, int] = {}
    codes = [positions.setdefault(label, len(positions)) for label in column]
    return tuple(positions), np.asarray(codes, np.int32)


def to_rows(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    """One row per leaf: the leaf, then its label at each level."""
    columns = [[labels[code] for code in codes] for labels, codes in zip(hierarchy.labels, hierarchy.maps, strict=True)]
    return list(zip(*columns, strict=True))


def split_groups(hierarchy: Hierarchy) -> tuple[int, ...]:
    """For each level from 1 up, how many groups of the level below fall apart in it; 0 everywhere is sound."""
    return tuple(_splits(below, above) for below, above in zip(hierarchy.maps, hierarchy.maps[1:], strict=False))


def _splits(below: NDArray[np.int32], above: NDArray[np.int32]) -> int:
    groups = int(above.max(initial=-1)) + 1
    pairs = np.unique(below.astype(np.int64) * max(groups, 1) + above)
    parents = np.bincount(pairs // max(groups, 1))
    return int(np.count_nonzero(parents > 1))


def has_star_top(hierarchy: Hierarchy) -> bool:
    """Whether the highest level sends everything to asterisks."""
    top = hierarchy.labels[-1]
    return hierarchy.height > 0 and len(top) == 1 and is_masked(top[0])


class Follower:
    """Labels for a value that the rows do not hold, such that no group is split by adding it.

    The value keeps a label of its own until that label is the name of a group already there; from that level
    on it goes where the group goes.
    """

    def __init__(self, rows: Sequence[Sequence[str]], height: int) -> None:
        # Backwards, so that the first row with a label is the one kept.
        self._row_of = [{row[level]: row for row in reversed(rows)} for level in range(1, height + 1)]

    def labels(self, own: str) -> tuple[str, ...]:
        """The labels at levels 1, 2, … of a value whose own label is `own`."""
        for level, row_of in enumerate(self._row_of):
            if own in row_of:
                return (own,) * level + tuple(row_of[own][level + 1 :])
        return (own,) * len(self._row_of)
