"""Changing a hierarchy by hand: moving members between groups, naming groups, adding and removing levels.

Knows rows of labels (the value, then its group at each level). Every change keeps each level a union of whole groups
of the level below: a group that gets a new member takes it along to the levels above.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from celosia.hierarchy._rows import Follower
from celosia.model.parameters import conflict
from celosia.model.values import SUPPRESSED

Row = tuple[str, ...]


def regrouped(rows: Sequence[Row], level: int, members: Collection[str], name: str) -> list[Row]:
    """The rows with some groups of the level below sent to the group `name` of `level`.

    Where `name` exists its own way up is followed; a new group goes the way of its first member.
    """
    _refuse_level(rows, level)
    if not name.strip():
        raise conflict("tree", "name", "name")
    moved = [row[level - 1] in members for row in rows]
    above = _way_up(rows, moved, level, name)
    return [(*row[:level], name, *above) if goes else row for row, goes in zip(rows, moved, strict=True)]


def _way_up(rows: Sequence[Row], moved: Sequence[bool], level: int, name: str) -> Row:
    staying = (row[level + 1 :] for row, goes in zip(rows, moved, strict=True) if not goes and row[level] == name)
    moving = (row[level + 1 :] for row, goes in zip(rows, moved, strict=True) if goes)
    return next(staying, None) or next(moving, ())


def renamed(rows: Sequence[Row], level: int, group: str, name: str) -> list[Row]:
    """The rows with a group called otherwise; a name that another group has joins the two."""
    members = {row[level - 1] for row in rows if row[level] == group} if 0 < level < _width(rows) else set()
    return regrouped(rows, level, members, name)


def placed(rows: Sequence[Row], values: Sequence[str], name: str) -> list[Row]:
    """The rows with values that they lacked, each of them in the group `name` of level 1."""
    _refuse_level(rows, 1)
    if not name.strip():
        raise conflict("tree", "name", "name")
    known = {row[0] for row in rows}
    way = Follower(rows, _width(rows) - 1).labels(name)
    tops = {row[-1] for row in rows}
    if len(tops) == 1:  # one group holds everything: it holds the new values too
        way = (*way[:-1], *tops)
    return [*rows, *((value, *way) for value in dict.fromkeys(values) if value not in known)]


def with_level(rows: Sequence[Row], after: int) -> list[Row]:
    """The rows with a level more, above `after`: for now with the same groups."""
    if not 0 <= after < max(_width(rows), 1):
        raise conflict("tree", "level", "level")
    return [(*row[: after + 1], row[after], *row[after + 1 :]) for row in rows]


def without_level(rows: Sequence[Row], level: int) -> list[Row]:
    """The rows without a level; the values themselves, level 0, stay."""
    _refuse_level(rows, level)
    return [(*row[:level], *row[level + 1 :]) for row in rows]


def under_star(rows: Sequence[Row]) -> list[Row]:
    """The rows with the top level `*` above them, unless it is there."""
    if _width(rows) > 1 and {row[-1] for row in rows} == {SUPPRESSED}:
        return list(rows)
    return [(*row, SUPPRESSED) for row in rows]


def _refuse_level(rows: Sequence[Row], level: int) -> None:
    if not 0 < level < _width(rows):
        raise conflict("tree", "level", "level")


def _width(rows: Sequence[Row]) -> int:
    return len(rows[0]) if rows else 0
