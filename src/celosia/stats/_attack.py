"""An outsider who kept every release: which cells and which differences could be computed.

Knows STATS alone: its tables, its catalogue and the history of what was told. For the readers of each k everything of
one origin that they could see is one publication per run, tables declared apart (linked = false), renamed or dropped
since included. What was learnt of a cell is named, never told.
Source: REQUIREMENTS Y22; `tables.over_time` plays the attack.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from celosia.errors import NeverRan
from celosia.model.stats_reports import AttackFinding, StatsAttack
from celosia.stats._catalogue import catalogue_in
from celosia.stats._project import Place, read_config
from celosia.stats._published import sheet_of
from celosia.stats._releases import Line, Release, publications_of, releases_by_origin
from celosia.stats._target import open_target
from celosia.tables.over_time import Learned, Publication, what_outsider_computes

Progress = Callable[[str, float], None] | None


@dataclass(frozen=True, slots=True)
class _Group:
    """The releases of one origin, for the readers of one k."""

    k: int
    runs: tuple[int, ...]
    releases: tuple[Release, ...]


def attack_stats(folder: Place, *, budget_seconds: float | None = None, report: Progress = None) -> StatsAttack:
    """Everything that follows from all releases together and that they were meant to hide."""
    home = Path(folder)
    config = read_config(home)
    with contextlib.closing(open_target(config.target.url, home, config.target.schema, read_only=True)) as target:
        entries = catalogue_in(target, config).entries
        if not entries:
            raise NeverRan(path=str(home))
        runs = {int(run["run"]): str(run["started"]) for run in target.runs()}
        groups = _groups(releases_by_origin(target.history()))
        hiding = [entry for entry in entries if entry.method != "round"]
        sheets = [sheet for entry in hiding if (sheet := sheet_of(entry, target.read(entry.table))) is not None]
    found: list[AttackFinding] = []
    for number, group in enumerate(groups):
        found += _learnt(group, runs, budget_seconds)
        if report:
            report("audit", (number + 1) / len(groups))
    cells = [value for sheet in sheets for value in sheet.persons]
    compared, differing = _differences(groups)
    return StatsAttack(
        tuple(runs.values()), len(cells), sum(value is None for value in cells), compared, differing,
        tuple(_once(found)),
    )  # fmt: skip


def _once(found: Sequence[AttackFinding]) -> list[AttackFinding]:
    """Each finding once, in its order: readers of several k may learn the same."""
    met = {(one.table, tuple(one.cell.items()), one.kind, one.releases): one for one in found}
    return list(met.values())


def _groups(releases: Mapping[str, Mapping[int, Release]]) -> list[_Group]:
    found: list[_Group] = []
    for told in releases.values():
        asked = {line.frame.k for release in told.values() for line in release if line.unit == "persons"}
        found += [_Group(k, tuple(told), tuple(told.values())) for k in sorted(asked)]
    return found


def _learnt(group: _Group, runs: Mapping[int, str], budget_seconds: float | None) -> list[AttackFinding]:
    publications = publications_of(group.releases, group.k)
    learned = what_outsider_computes(publications, group.k, budget_seconds=budget_seconds)
    cells = dict.fromkeys(cell for one in learned for cell in one.keys)
    lines = [line for release in reversed(group.releases) for line in release if line.frame.k >= group.k]
    names = {cell: line for cell in cells if (line := _home(cell, lines)) is not None}
    dates = [runs.get(run, str(run)) for run in group.runs]
    return [_finding(one, names, publications, dates) for one in learned]


def _finding(
    learned: Learned, names: Mapping[Hashable, Line], publications: Sequence[Publication], runs: Sequence[str]
) -> AttackFinding:
    """A finding in names; a group of several cells is named by the categories of each."""
    cell: dict[str, dict[str, None]] = {}
    for key in learned.keys:
        for name, word in _words(key, names.get(key)):
            cell.setdefault(name, {})[word] = None
    table = next((names[key].table for key in learned.keys if key in names), "")
    compared = [learned.later] if learned.earlier is None else [learned.earlier, learned.later]
    return AttackFinding(
        table, {name: " + ".join(words) for name, words in cell.items()}, _kind(learned, publications),
        tuple(runs[at] for at in compared),
    )  # fmt: skip


def _home(cell: Hashable, lines: Sequence[Line]) -> Line | None:
    """The line that tells the cell, or else one that lies in it: a table may tell a total that it does not show."""
    own = next((line for line in lines if line.identity == cell), None)
    inside = (line for line in lines if isinstance(cell, frozenset) and cell <= line.identity)
    return own or next(inside, None)


def _words(cell: Hashable, line: Line | None) -> list[tuple[str, str]]:
    """Dimension and category of a cell."""
    if line is None or not isinstance(cell, frozenset):
        return []
    pairs = zip(line.frame.names, line.place, strict=True)
    return [(name, pair[1]) for name, path in pairs for pair in path or () if pair in cell]


def _kind(learned: Learned, publications: Sequence[Publication]) -> str:
    if learned.earlier is None:
        return "recovered" if learned.low == learned.high else "narrow"
    both = (publications[learned.earlier].values, publications[learned.later].values)
    plain = len(learned.keys) == 1 and all(one.get(learned.keys[0]) is not None for one in both)
    return "difference" if plain else "derived"


def _differences(groups: Sequence[_Group]) -> tuple[int, int]:
    """Cells published in a run and in one after it, and those of them that differ by fewer than k persons."""
    compared = differing = 0
    for group in groups:
        shown = [
            {one.identity: int(one.value) for one in release
             if one.unit == "persons" and one.frame.k == group.k and one.value is not None}
            for release in group.releases
        ]  # fmt: skip
        for before, after in pairwise(shown):
            both = [(before[cell], value) for cell, value in after.items() if cell in before]
            compared += len(both)
            differing += sum(0 < abs(new - old) < group.k for old, new in both)
    return compared, differing
