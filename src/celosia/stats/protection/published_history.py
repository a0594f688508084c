"""The history of STATS: every release as its readers had it, and what was published before of the cells of a version.

Knows lines of the history, the identities in them and counted versions. Ignores databases and which tables are declared
today: cells are found by what they are, over all tables and audiences, and each release is taken with its own rows,
hidden ones included. The readers of one k may not see groups of fewer persons in the difference of two releases; a
value published for others, of a lower k, is compared with theirs. Values of rounded tables are never compared. Lines
without an identity belong to no origin and are compared table by table.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from celosia.stats.declaration.declaration import stats_name
from celosia.stats.protection.identity import (
    CellPosition,
    Frame,
    Identity,
    Owners,
    Pair,
    cell_positions,
    identity,
    read_identity,
    unit_of,
)
from celosia.stats.protection.version import EarlierPublication, Key, Version, history_keys
from celosia.stats.store.target import PublishedValue
from celosia.tables.over_time import Publication, Relation


class PublishedHistory:
    """Everything that STATS ever published."""

    def __init__(self, history: Sequence[PublishedValue]):
        self._releases = releases_by_origin(history)
        self._standing = [
            line for entry in history if entry.until is None and (line := released_cell(entry)) is not None
        ]
        self._old = [entry for entry in history if entry.value is not None and released_cell(entry) is None]

    def releases(self, origin: str) -> list[Release]:
        """What each earlier run published of an origin, oldest first."""
        return list(self._releases.get(origin, {}).values())

    def current_cells(self, origin: str) -> list[ReleasedCell]:
        """The cells of an origin that are in STATS now."""
        return [line for line in self._standing if line.frame.origin == origin]

    def earlier_publications(self, version: Version, owners: Owners) -> tuple[EarlierPublication, ...]:
        """What was published before of the cells of a version."""
        if version.table.method == "round":
            return ()
        keys = dict[Identity, list[Key]]()
        for place, key in zip(cell_positions(version, owners), history_keys(version), strict=True):
            keys.setdefault(identity(place), []).append(key)
        measures = {unit_of(measure): measure.name for measure in version.table.measures}
        values_by_run = dict[tuple[object, int], dict[tuple[str, Key], float]]()
        for run, release in self._releases.get(version.origin, {}).items():
            for line in release:
                if line.value is not None and line.unit in measures:
                    values = values_by_run.setdefault((run, _comparison_k(line, version)), {})
                    values |= {(measures[line.unit], key): line.value for key in keys.get(line.identity, ())}
        return (
            *self._earlier_by_name(version),
            *(EarlierPublication(values, k) for (_, k), values in values_by_run.items() if values),
        )

    def _earlier_by_name(self, version: Version) -> list[EarlierPublication]:
        """Lines without the identity of their cell, found by the name of the table."""
        name = stats_name(version.table.name, version.audience)
        mine = [entry for entry in self._old if entry.table == name and entry.value is not None]
        runs = sorted({entry.since for entry in mine})
        values_by_run = [
            {(entry.measure, entry.labels): entry.value for entry in mine if entry.is_in_run(run)} for run in runs
        ]
        return [
            EarlierPublication({cell: v for cell, v in entry.items() if v is not None}, version.k)
            for entry in values_by_run
        ]


def _comparison_k(line: ReleasedCell, version: Version) -> int:
    own = line.frame.audience == version.audience
    return version.k if own else min(line.frame.k, version.k)


read_cached = lru_cache(maxsize=1 << 16)(read_identity)  # the same text is in the lines of many runs


@dataclass(frozen=True, slots=True)
class ReleasedCell:
    """One cell of one table as it was published; None is hidden."""

    table: str
    frame: Frame
    unit: str
    place: CellPosition
    value: int | float | None

    @property
    def identity(self) -> Identity:
        """What the cell is."""
        return identity(self.place)


Release = tuple[ReleasedCell, ...]  # everything that one run published of one origin
Following = Mapping[Pair, Sequence[Pair]]  # category -> those that follow from it
_Kind = tuple[Identity, str]  # a whole, and the cut that it is the sum over


def released_cell(entry: PublishedValue) -> ReleasedCell | None:
    """A line of the history; None where it does not say what the cell is."""
    identity_read = read_cached(entry.identity)
    return None if identity_read is None else ReleasedCell(entry.table, *identity_read, entry.value)


def releases_by_origin(history: Sequence[PublishedValue]) -> dict[str, dict[int, Release]]:
    """Per origin, the runs that changed anything, oldest first, with all that was in STATS then."""
    by_origin: dict[str, list[tuple[PublishedValue, ReleasedCell]]] = {}
    for entry in history:
        line = released_cell(entry)
        if line is not None:
            by_origin.setdefault(line.frame.origin, []).append((entry, line))
    releases = {}
    for origin, lines in sorted(by_origin.items()):
        begins = {entry.since for entry, _ in lines} | {
            entry.until + 1 for entry, _ in lines if entry.until is not None
        }
        by_run = {run: tuple(line for entry, line in lines if entry.is_in_run(run)) for run in sorted(begins)}
        releases[origin] = {run: release for run, release in by_run.items() if release}
    return releases


def publications_of(
    releases: Sequence[Release], k: int, unit: str = "persons", follow: Following | None = None
) -> list[Publication]:
    """The releases as the readers of one k have them; a category that is not listed is empty.

    `follow` says which categories follow from which: whoever is in a district is in its region.
    """
    seen = [[cell for cell in release if cell.unit == unit and cell.frame.k >= k] for release in releases]
    sums = [_sums(lines, follow or {}) for lines in seen]
    parts: dict[_Kind, dict[Identity, None]] = {}
    for kinds in sums:
        for kind, (mine, _) in kinds.items():
            parts.setdefault(kind, {}).update(mine)
    order = {kind: tuple(sorted(cells, key=sorted)) for kind, cells in parts.items()}
    return [_publication(lines, kinds, order) for lines, kinds in zip(seen, sums, strict=True)]


def _sums(lines: Iterable[ReleasedCell], follow: Following) -> dict[_Kind, tuple[dict[Identity, None], bool]]:
    """Wholes with their parts and whether they add up, in every table and above its own cells."""
    tables: dict[str, list[ReleasedCell]] = {}
    for line in lines:
        tables.setdefault(line.table, []).append(line)
    sums: dict[_Kind, tuple[dict[Identity, None], bool]] = {}
    for own in tables.values():
        for (whole, at, level), mine in _parts_by_whole([line.place for line in own]).items():
            frame = own[0].frame
            kind = (identity(whole), f"{frame.cuts[at]}\x1e{level}")
            cells, adds = sums.get(kind, ({}, True))
            sums[kind] = cells | dict.fromkeys(map(identity, mine)), adds and frame.adds[at]
        for kind, (parts, adds) in _following_sums(own, follow).items():
            cells, before = sums.get(kind, ({}, True))
            sums[kind] = cells | dict.fromkeys(parts), adds and before
    return sums


def _following_sums(own: Sequence[ReleasedCell], follow: Following) -> dict[_Kind, tuple[list[Identity], bool]]:
    """The cells that follow from those of one table, as their sums: a region is the sum of its districts."""
    sums: dict[_Kind, tuple[list[Identity], bool]] = {}
    frame, places = own[0].frame, [line.place for line in own]
    for (whole, at, level), mine in _parts_by_whole(places).items():
        for place in mine if level == 1 else ():
            coordinate = place[at]
            for target in follow.get(coordinate[0], ()) if coordinate else ():
                kind = identity(whole) | {target}, f"{frame.cuts[at]}\x1e{target[0]}"
                cells, _ = sums.setdefault(kind, ([], frame.adds[at]))
                cells.append(identity(place))
    return sums


def _parts_by_whole(places: Sequence[CellPosition]) -> dict[tuple[CellPosition, int, int], list[CellPosition]]:
    """The parts of every whole along each dimension, and level by level."""
    parts: dict[tuple[CellPosition, int, int], list[CellPosition]] = {}
    met, todo = dict.fromkeys(places), list(places)
    while todo:
        place = todo.pop()
        for at, coordinate in enumerate(place):
            if coordinate is not None:
                whole = (*place[:at], coordinate[1:] or None, *place[at + 1 :])
                parts.setdefault((whole, at, len(coordinate)), []).append(place)
                if whole not in met:
                    met[whole] = None
                    todo.append(whole)
    return parts


def _publication(
    lines: Sequence[ReleasedCell],
    kinds: Mapping[_Kind, tuple[dict[Identity, None], bool]],
    order: Mapping[_Kind, tuple[Identity, ...]],
) -> Publication:
    values: dict[Hashable, int | None] = {}
    for kind, (mine, _) in kinds.items():
        values |= {cell: 0 for cell in order[kind] if cell not in mine}
    listed = {cell for mine, _ in kinds.values() for cell in mine} | {kind[0] for kind in kinds}
    values = {cell: value for cell, value in values.items() if cell not in listed}
    for line in lines:
        value = None if line.value is None else int(line.value)
        values[line.identity] = values.get(line.identity) if value is None else value
    relations = [Relation(kind[0], order[kind], adds) for kind, (_, adds) in kinds.items()]
    return Publication(values, relations, least=min((line.frame.least for line in lines), default=1))
