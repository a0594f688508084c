"""Rows of labels: making a hierarchy of them, checking that each level joins whole groups, and editing them by hand.

A row is a value, then its label at each level. Every edit keeps each level a union of whole groups of the level
below: a group that gets a new member takes it along to the levels above. Ignores files and builders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import Hierarchy
from celosia.model.parameters import conflict
from celosia.model.values import SUPPRESSED, is_masked

Row = tuple[str, ...]


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


class NewLeafLabels:
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


# --- edits by hand -----------------------------------------------------------------------------------


def regroup_rows(rows: Sequence[Row], level: int, members: Collection[str], name: str) -> list[Row]:
    """The rows with some groups of the level below sent to the group `name` of `level`.

    An existing group keeps its labels above; a new one takes those of its first member.
    """
    _refuse_level(rows, level)
    if not name.strip():
        raise conflict("tree", "name", "name")
    moved = [row[level - 1] in members for row in rows]
    above = _labels_above(rows, moved, level, name)
    return [(*row[:level], name, *above) if goes else row for row, goes in zip(rows, moved, strict=True)]


def _labels_above(rows: Sequence[Row], moved: Sequence[bool], level: int, name: str) -> Row:
    staying = (row[level + 1 :] for row, goes in zip(rows, moved, strict=True) if not goes and row[level] == name)
    moving = (row[level + 1 :] for row, goes in zip(rows, moved, strict=True) if goes)
    return next(staying, None) or next(moving, ())


def rename_group(rows: Sequence[Row], level: int, group: str, name: str) -> list[Row]:
    """The rows with a group renamed; a name that another group has joins the two."""
    members = {row[level - 1] for row in rows if row[level] == group} if 0 < level < _width(rows) else set()
    return regroup_rows(rows, level, members, name)


def add_values(rows: Sequence[Row], values: Sequence[str], name: str) -> list[Row]:
    """The rows with values that they lacked, each of them in the group `name` of level 1."""
    _refuse_level(rows, 1)
    if not name.strip():
        raise conflict("tree", "name", "name")
    known = {row[0] for row in rows}
    labels = NewLeafLabels(rows, _width(rows) - 1).labels(name)
    tops = {row[-1] for row in rows}
    if len(tops) == 1:
        # One group holds everything: it holds the new values too.
        labels = (*labels[:-1], *tops)
    return [*rows, *((value, *labels) for value in dict.fromkeys(values) if value not in known)]


def insert_level(rows: Sequence[Row], after: int) -> list[Row]:
    """The rows with a level more, above `after`: for now with the same groups."""
    if not 0 <= after < max(_width(rows), 1):
        raise conflict("tree", "level", "level")
    return [(*row[: after + 1], row[after], *row[after + 1 :]) for row in rows]


def remove_level(rows: Sequence[Row], level: int) -> list[Row]:
    """The rows without a level; the values themselves, level 0, stay."""
    _refuse_level(rows, level)
    return [(*row[:level], *row[level + 1 :]) for row in rows]


def add_star_level(rows: Sequence[Row]) -> list[Row]:
    """The rows with the top level `*` above them, unless it is there."""
    if _width(rows) > 1 and {row[-1] for row in rows} == {SUPPRESSED}:
        return list(rows)
    return [(*row, SUPPRESSED) for row in rows]


def _refuse_level(rows: Sequence[Row], level: int) -> None:
    if not 0 < level < _width(rows):
        raise conflict("tree", "level", "level")


def _width(rows: Sequence[Row]) -> int:
    return len(rows[0]) if rows else 0
