"""The attack of an outsider who kept every release: which cells and which differences can be computed.

Knows STATS alone: its tables, its catalogue and the history of what was published. For the readers of each k
everything of one origin that they could see is one publication per run, tables declared apart (linked = false),
renamed or dropped since included. A finding names a cell, never its value.
Source: REQUIREMENTS Y22; `tables.over_time` computes the attack.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from celosia.model.reports.stats import AttackFinding, StatsAttack
from celosia.stats.catalogue import catalogue_in
from celosia.stats.errors import NeverRan
from celosia.stats.project import PathArg, read_config
from celosia.stats.protection.known_dependencies import KnownDependency, follow_categories, read_dependencies
from celosia.stats.protection.published import published_table
from celosia.stats.protection.published_history import Release, ReleasedCell, publications_of, releases_by_origin
from celosia.stats.store.target import open_stats
from celosia.tables.over_time import DisclosedGroup, Publication, find_disclosed_groups

Progress = Callable[[str, float], None] | None


@dataclass(frozen=True, slots=True)
class _Group:
    """The releases of one origin, for the readers of one k."""

    k: int
    runs: tuple[int, ...]
    releases: tuple[Release, ...]


def attack_stats(folder: PathArg, *, budget_seconds: float | None = None, report: Progress = None) -> StatsAttack:
    """Everything that follows from all releases together and that they were meant to hide."""
    home = Path(folder)
    config = read_config(home)
    with open_stats(config, home) as target:
        entries = catalogue_in(target, config).entries
        if not entries:
            raise NeverRan(path=str(home))
        runs = {int(run["run"]): str(run["started"]) for run in target.runs()}
        groups = _groups(releases_by_origin(target.history()))
        hiding = [entry for entry in entries if entry.method != "round"]
        sheets = [sheet for entry in hiding if (sheet := published_table(entry, target.read(entry.table))) is not None]
    findings: list[AttackFinding] = []
    dependencies = read_dependencies(home)
    for number, group in enumerate(groups):
        findings += _attack_group(group, runs, budget_seconds, dependencies)
        if report:
            report("audit", (number + 1) / len(groups))
    cells = [value for sheet in sheets for value in sheet.persons]
    compared, differing = _differences(groups)
    return StatsAttack(
        tuple(runs.values()),
        len(cells),
        sum(value is None for value in cells),
        compared,
        differing,
        tuple(_distinct_findings(findings)),
    )


def _distinct_findings(findings: Sequence[AttackFinding]) -> list[AttackFinding]:
    """Each finding once, in its order: readers of several k may learn the same."""
    met = {
        (finding.table, tuple(finding.cell.items()), finding.kind, finding.releases): finding for finding in findings
    }
    return list(met.values())


def _groups(releases: Mapping[str, Mapping[int, Release]]) -> list[_Group]:
    groups: list[_Group] = []
    for by_run in releases.values():
        thresholds = {line.frame.k for release in by_run.values() for line in release if line.unit == "persons"}
        groups += [_Group(k, tuple(by_run), tuple(by_run.values())) for k in sorted(thresholds)]
    return groups


def _attack_group(
    group: _Group, runs: Mapping[int, str], budget_seconds: float | None, dependencies: Sequence[KnownDependency]
) -> list[AttackFinding]:
    publications = publications_of(group.releases, group.k, follow=follow_categories(dependencies))
    learned = find_disclosed_groups(publications, group.k, budget_seconds=budget_seconds)
    cells = dict.fromkeys(cell for group_found in learned for cell in group_found.keys)
    lines = [line for release in reversed(group.releases) for line in release if line.frame.k >= group.k]
    names = {cell: line for cell in cells if (line := _line_of_cell(cell, lines)) is not None}
    dates = [runs.get(run, str(run)) for run in group.runs]
    return [_finding(group_found, names, publications, dates) for group_found in learned]


def _finding(
    learned: DisclosedGroup,
    names: Mapping[Hashable, ReleasedCell],
    publications: Sequence[Publication],
    runs: Sequence[str],
) -> AttackFinding:
    """A finding in names; a group of several cells is named by the categories of each."""
    cell: dict[str, dict[str, None]] = {}
    for key in learned.keys:
        for name, word in _cell_categories(key, names.get(key)):
            cell.setdefault(name, {})[word] = None
    table = next((names[key].table for key in learned.keys if key in names), "")
    compared = [learned.later] if learned.earlier is None else [learned.earlier, learned.later]
    return AttackFinding(
        table,
        {name: " + ".join(words) for name, words in cell.items()},
        _finding_kind(learned, publications),
        tuple(runs[at] for at in compared),
    )


def _line_of_cell(cell: Hashable, lines: Sequence[ReleasedCell]) -> ReleasedCell | None:
    """The line of the cell, or else of one inside it: a table may disclose a total that it does not show."""
    own = next((line for line in lines if line.identity == cell), None)
    inside = (line for line in lines if isinstance(cell, frozenset) and cell <= line.identity)
    return own or next(inside, None)


def _cell_categories(cell: Hashable, line: ReleasedCell | None) -> list[tuple[str, str]]:
    """Dimension and category of a cell."""
    if line is None or not isinstance(cell, frozenset):
        return []
    pairs = zip(line.frame.names, line.place, strict=True)
    return [(name, pair[1]) for name, path in pairs for pair in path or () if pair in cell]


def _finding_kind(learned: DisclosedGroup, publications: Sequence[Publication]) -> str:
    if learned.earlier is None:
        return "recovered" if learned.low == learned.high else "narrow"
    both = (publications[learned.earlier].values, publications[learned.later].values)
    plain = len(learned.keys) == 1 and all(values.get(learned.keys[0]) is not None for values in both)
    return "difference" if plain else "derived"


def _differences(groups: Sequence[_Group]) -> tuple[int, int]:
    """Cells published in a run and in one after it, and those of them that differ by fewer than k persons."""
    compared = differing = 0
    for group in groups:
        shown = [
            {
                line.identity: int(line.value)
                for line in release
                if line.unit == "persons" and line.frame.k == group.k and line.value is not None
            }
            for release in group.releases
        ]
        for before, after in pairwise(shown):
            both = [(before[cell], value) for cell, value in after.items() if cell in before]
            compared += len(both)
            differing += sum(0 < abs(new - old) < group.k for old, new in both)
    return compared, differing
