"""An outsider who kept every release: which cells and which differences could be computed.

Knows STATS alone: its tables, its catalogue and the history of what was published. For the readers of each k the
tables of one origin that they may see are one publication per run, those declared apart (linked = false) included.
What was learnt of a cell is named, never told.
Source: REQUIREMENTS Y22; `tables.over_time` plays the attack.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from celosia.errors import NeverRan
from celosia.model.stats_reports import AttackFinding, CatalogueEntry, StatsAttack
from celosia.stats._catalogue import catalogue_in
from celosia.stats._project import Place, read_config
from celosia.stats._protection import Key
from celosia.stats._published import Holes, Sheet, holes_of, sheet_of
from celosia.stats._target import Published, StatsTarget, open_target
from celosia.tables.over_time import Learned, Publication, Relation, what_outsider_computes

Progress = Callable[[str, float], None] | None
Name = tuple[str, Key]  # a table, and the categories of a cell as the history knows them


@dataclass(frozen=True, slots=True)
class _Group:
    """The tables of one origin that the readers of one k may see."""

    k: int
    sheets: tuple[Sheet, ...]
    histories: tuple[tuple[Published, ...], ...]  # of persons, one per sheet


def attack_stats(folder: Place, *, budget_seconds: float | None = None, report: Progress = None) -> StatsAttack:
    """Everything that follows from all releases together and that they were meant to hide."""
    home = Path(folder)
    config = read_config(home)
    with contextlib.closing(open_target(config.target.url, home, config.target.schema, read_only=True)) as target:
        entries = catalogue_in(target, config).entries
        if not entries:
            raise NeverRan(path=str(home))
        runs = {int(run["run"]): str(run["started"]) for run in target.runs()}
        groups = list(_groups(target, [entry for entry in entries if entry.method != "round"]))
    found: list[AttackFinding] = []
    for number, group in enumerate(groups):
        found += _learnt(group, runs, budget_seconds)
        if report:
            report("audit", (number + 1) / len(groups))
    cells = [value for group in groups for sheet in group.sheets if sheet.entry.k == group.k for value in sheet.persons]
    compared, differing = _differences(groups)
    return StatsAttack(
        tuple(runs.values()), len(cells), sum(value is None for value in cells), compared, differing,
        tuple(_once(found)),
    )  # fmt: skip


def _once(found: Sequence[AttackFinding]) -> list[AttackFinding]:
    """Each finding once, in its order: readers of several k may learn the same."""
    met = {(one.table, tuple(one.cell.items()), one.kind, one.releases): one for one in found}
    return list(met.values())


def _groups(target: StatsTarget, entries: Sequence[CatalogueEntry]) -> list[_Group]:
    sheets = [sheet for entry in entries if (sheet := sheet_of(entry, target.read(entry.table))) is not None]
    made = []
    for origin, k in sorted({(sheet.entry.origin, sheet.entry.k) for sheet in sheets}):
        chosen = tuple(sheet for sheet in sheets if sheet.entry.origin == origin and sheet.entry.k >= k)
        made.append(_Group(k, chosen, tuple(_persons(target, sheet.entry) for sheet in chosen)))
    return made


def _persons(target: StatsTarget, entry: CatalogueEntry) -> tuple[Published, ...]:
    name = next(one.column for one in entry.columns if one.rule == "persons")
    return tuple(one for one in target.history(entry.table) if one.measure == name)


def _runs_of(group: _Group) -> list[int]:
    """The runs in which anything of a group changed, oldest first."""
    begins = {one.since for history in group.histories for one in history}
    ends = {one.until + 1 for history in group.histories for one in history if one.until is not None}
    return sorted(begins | ends)


def _shown(group: _Group, run: int) -> dict[Name, int]:
    """What a run published."""
    return {
        (sheet.entry.table, one.labels): int(one.value)
        for sheet, history in zip(group.sheets, group.histories, strict=True)
        for one in history
        if one.since <= run and (one.until is None or run <= one.until)
    }


def _learnt(group: _Group, runs: Mapping[int, str], budget_seconds: float | None) -> list[AttackFinding]:
    holes = holes_of(group.sheets)
    numbers: dict[Name, int] = {}
    for sheet, place in zip(group.sheets, holes.numbers, strict=True):
        numbers |= {(sheet.entry.table, key): int(at) for key, at in zip(_history_keys(sheet), place, strict=True)}
    order = _runs_of(group)
    publications = [_publication(group, holes, numbers, _shown(group, run)) for run in order]
    learned = what_outsider_computes(publications, group.k, budget_seconds=budget_seconds)
    names: dict[object, Name] = {number: name for name, number in reversed(numbers.items())}
    return [_finding(one, names, group, publications, [runs.get(run, str(run)) for run in order]) for one in learned]


def _publication(group: _Group, holes: Holes, numbers: Mapping[Name, int], shown: Mapping[Name, int]) -> Publication:
    """One run as the public has it; what it showed under names that are no longer used stands for itself."""
    values: dict[Hashable, int | None] = dict.fromkeys(numbers.values())
    for name, value in shown.items():
        values[numbers.get(name, name)] = value
    relations = [
        Relation(whole, tuple(parts.tolist()), bool(holes.grid.additive[number]))
        for number, (whole, parts) in enumerate(holes.grid.relations())
    ]
    hides_zeros = any(sheet.entry.zeros == "hide" for sheet in group.sheets)
    return Publication(values, relations, least=0 if hides_zeros else 1)


def _history_keys(sheet: Sheet) -> list[Key]:
    names = sheet.entry.dimensions()
    return [
        tuple(None if word is None else sheet.word(name, word) for name, word in zip(names, key, strict=True))
        for key in sheet.keys
    ]


def _finding(
    learned: Learned, names: Mapping[object, Name], group: _Group, publications: Sequence[Publication],
    runs: Sequence[str],
) -> AttackFinding:  # fmt: skip
    """A finding in names; a group of several cells is named by the categories of each."""
    found = [names.get(key, key) for key in learned.keys]
    cells = [name for name in found if isinstance(name, tuple)]
    table = cells[0][0] if cells else ""
    entry = next((sheet.entry for sheet in group.sheets if sheet.entry.table == table), None)
    dimensions = () if entry is None else entry.dimensions()
    cell = {
        name: " + ".join(dict.fromkeys(str(key[at]) for _, key in cells if key[at] is not None))
        for at, name in enumerate(dimensions)
    }
    compared = [learned.later] if learned.earlier is None else [learned.earlier, learned.later]
    return AttackFinding(
        table, {name: word for name, word in cell.items() if word}, _kind(learned, publications),
        tuple(runs[at] for at in compared),
    )  # fmt: skip


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
        own = {sheet.entry.table for sheet in group.sheets if sheet.entry.k == group.k}
        shown = [{n: v for n, v in _shown(group, run).items() if n[0] in own} for run in _runs_of(group)]
        for before, after in pairwise(shown):
            both = [(before[name], value) for name, value in after.items() if name in before]
            compared += len(both)
            differing += sum(0 < abs(new - old) < group.k for old, new in both)
    return compared, differing
