"""Every release of STATS as its readers had it, put together from the history: cells by what they are, and sums.

Knows lines of the history and the identities in them. Ignores databases and which tables are declared today: each
release is judged with its own rows, hidden ones included, whatever its tables were called. Lines of before cells were
told by what they are belong to no origin and are left to the comparison table by table.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from celosia.stats._identity import Frame, Identity, Place, identity, read_identity
from celosia.stats._target import Published
from celosia.tables.over_time import Publication, Relation

read = lru_cache(maxsize=1 << 16)(read_identity)  # the same text stands in the lines of many runs


@dataclass(frozen=True, slots=True)
class Line:
    """One cell of one table as it was told; None is hidden."""

    table: str
    frame: Frame
    unit: str
    place: Place
    value: int | float | None

    @property
    def identity(self) -> Identity:
        """What the cell is."""
        return identity(self.place)


Release = tuple[Line, ...]  # everything that one run told of one origin
_Kind = tuple[Identity, str]  # a whole, and the cut that it is the sum over


def line_of(one: Published) -> Line | None:
    """A line of the history; None where it does not say what the cell is."""
    found = read(one.identity)
    return None if found is None else Line(one.table, *found, one.value)


def releases_by_origin(history: Sequence[Published]) -> dict[str, dict[int, Release]]:
    """Per origin, the runs that changed anything, oldest first, with all that stood in STATS then."""
    by_origin: dict[str, list[tuple[Published, Line]]] = {}
    for one in history:
        line = line_of(one)
        if line is not None:
            by_origin.setdefault(line.frame.origin, []).append((one, line))
    found = {}
    for origin, lines in sorted(by_origin.items()):
        begins = {one.since for one, _ in lines} | {one.until + 1 for one, _ in lines if one.until is not None}
        told = {run: tuple(line for one, line in lines if one.shown_in(run)) for run in sorted(begins)}
        found[origin] = {run: release for run, release in told.items() if release}
    return found


def publications_of(releases: Sequence[Release], k: int, unit: str = "persons") -> list[Publication]:
    """The releases as the readers of one k have them; a category that is not listed is of nobody."""
    seen = [[one for one in release if one.unit == unit and one.frame.k >= k] for release in releases]
    sums = [_sums(lines) for lines in seen]
    parts: dict[_Kind, dict[Identity, None]] = {}
    for kinds in sums:
        for kind, (mine, _) in kinds.items():
            parts.setdefault(kind, {}).update(mine)
    order = {kind: tuple(sorted(cells, key=sorted)) for kind, cells in parts.items()}
    return [_publication(lines, kinds, order) for lines, kinds in zip(seen, sums, strict=True)]


def _sums(lines: Iterable[Line]) -> dict[_Kind, tuple[dict[Identity, None], bool]]:
    """Wholes with their parts and whether they add up, in every table and above its own cells."""
    tables: dict[str, list[Line]] = {}
    for line in lines:
        tables.setdefault(line.table, []).append(line)
    found: dict[_Kind, tuple[dict[Identity, None], bool]] = {}
    for own in tables.values():
        for (whole, at, level), mine in _wholes([line.place for line in own]).items():
            frame = own[0].frame
            kind = (identity(whole), f"{frame.cuts[at]}\x1e{level}")
            cells, adds = found.get(kind, ({}, True))
            found[kind] = cells | dict.fromkeys(map(identity, mine)), adds and frame.adds[at]
    return found


def _wholes(places: Sequence[Place]) -> dict[tuple[Place, int, int], list[Place]]:
    """The parts of every whole along each dimension, and level by level."""
    found: dict[tuple[Place, int, int], list[Place]] = {}
    met, todo = dict.fromkeys(places), list(places)
    while todo:
        place = todo.pop()
        for at, coordinate in enumerate(place):
            if coordinate is not None:
                whole = (*place[:at], coordinate[1:] or None, *place[at + 1 :])
                found.setdefault((whole, at, len(coordinate)), []).append(place)
                if whole not in met:
                    met[whole] = None
                    todo.append(whole)
    return found


def _publication(
    lines: Sequence[Line], kinds: Mapping[_Kind, tuple[dict[Identity, None], bool]],
    order: Mapping[_Kind, tuple[Identity, ...]],
) -> Publication:  # fmt: skip
    values: dict[Hashable, int | None] = {}
    for kind, (mine, _) in kinds.items():
        values |= {cell: 0 for cell in order[kind] if cell not in mine}
    listed = {cell for mine, _ in kinds.values() for cell in mine} | {kind[0] for kind in kinds}
    values = {cell: value for cell, value in values.items() if cell not in listed}
    for line in lines:
        told = None if line.value is None else int(line.value)
        values[line.identity] = values.get(line.identity) if told is None else told
    relations = [Relation(kind[0], order[kind], adds) for kind, (_, adds) in kinds.items()]
    return Publication(values, relations, least=min((line.frame.least for line in lines), default=1))
