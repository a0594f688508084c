"""Counted versions of the tables: labels by rule inside PERSONAL, distinct persons per cell, merges per audience.

Knows the source and the declarations. Ignores protection and STATS. After each merge persons are counted anew: 3 and 4
people may be 4 (Y17). What leaves PERSONAL are frequencies of generalised categories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import ibis

from celosia.model.paths import ProjectPaths
from celosia.model.variables import Role
from celosia.proposals.facts import ColumnFacts
from celosia.proposals.propose import suggest
from celosia.stats.catalogue import link_of
from celosia.stats.counting.count import Levels, counting
from celosia.stats.counting.dependent_columns import (
    Dependencies,
    WiderTable,
    columns_of,
    crossed_columns,
    find_dependencies,
    split_cells,
    widen_table,
)
from celosia.stats.counting.incremental import count_incrementally
from celosia.stats.counting.linked_breakdowns import (
    Cut,
    NestedLevels,
    TableBreakdowns,
    cut_key,
    list_empty_cells,
    nest_breakdowns,
)
from celosia.stats.counting.sums import amounts_of
from celosia.stats.declaration.declaration import (
    NOT_STATED,
    UNMAPPED,
    Dimension,
    Measure,
    Personal,
    StatsConfig,
    StatsTable,
)
from celosia.stats.protection.version import Version, keys_of, merged_name, shared_tree
from celosia.stats.rules.maps import labels_for, parents_of, refuse_unmapped, specs_of
from celosia.stats.rules.rules import RuleSpec, domain_of
from celosia.stats.sources.connections import PersonalSource
from celosia.storage import make_private_folder
from celosia.tables.cells import CellTable
from celosia.tables.merge import Merge, merge_small

Progress = Callable[[str, float], None] | None
OTHERS = "Otros"  # the category in the data, the same in every language
_IN_LIST = 1000  # labels of one question to the database


@dataclass(frozen=True, slots=True)
class _AudienceTable:
    """A table for the audiences of some k: they see the same categories."""

    table: StatsTable
    merges: Mapping[int, Merge | None]  # per k
    cuts: Mapping[str, tuple[Cut, ...]]
    fine: Mapping[str, Any]  # the labels of its rules


@dataclass(frozen=True, slots=True)
class _CountingRun:
    """What every count of one run needs."""

    source: PersonalSource
    config: StatsConfig
    folder: Path
    full: bool
    now: datetime

    def refuse_unmapped(self, look: _AudienceTable, cells: CellTable) -> None:
        """Refuse values that a rule of the table itself gives no category."""
        own = cells.dimensions[: len(look.table.dimensions)]
        if any(UNMAPPED in tree.labels for tree in own):
            relation = self.source.relation(self.config.personal[look.table.source])
            refuse_unmapped(self.config, look.table, look.fine, relation, self.source.fetch, self.folder)


def count_versions(
    source: PersonalSource,
    config: StatsConfig,
    tables: Sequence[StatsTable],
    folder: Path,
    full: bool,
    now: datetime,
    report: Progress = None,
) -> list[Version]:
    """Every table for every one of its audiences, counted."""
    run = _CountingRun(source, config, folder, full, now)
    versions: dict[tuple[str, str], Version] = {}
    for link in dict.fromkeys(map(link_of, tables)):
        group = [table for table in tables if link_of(table) == link]
        relation = source.relation(config.personal[group[0].source])
        audience_tables = [
            audience_table for table in group for audience_table in _audience_tables(run, table, relation)
        ]
        related = nest_breakdowns(
            [TableBreakdowns(audience_table.table, audience_table.cuts) for audience_table in audience_tables],
            relation,
            source.fetch,
        )
        dependencies = _dependencies(audience_tables, related, relation, source)
        for audience_table, dimensions in zip(audience_tables, related, strict=True):
            wider = widen_table(audience_table.table, dimensions, dependencies)
            cells, scale = _count_cells(run, audience_table, wider, _linking_margins(wider, group, dependencies))
            versions |= {
                (version.table.name, version.audience): version
                for version in _versions(run, audience_table, wider, cells, scale)
            }
            if report:
                report("count", len({name for name, _ in versions}) / len(tables))
    return [versions[table.name, audience] for table in tables for audience in table.audiences]


def _dependencies(
    looks: Sequence[_AudienceTable],
    related: Sequence[Mapping[str, NestedLevels]],
    relation: Any,
    source: PersonalSource,
) -> Dependencies:
    """The dependencies among the columns of linked tables, merged categories known by their members."""
    named = []
    for look, dimensions in zip(looks, related, strict=True):
        merge = next((merge for merge in look.merges.values() if merge is not None and merge.joined), None)
        own = dict(dimensions)
        if merge is not None and not own[str(look.table.others)].names:
            label = merged_name(merge.label, tuple(sorted(merge.joined)))
            own[str(look.table.others)] = replace(own[str(look.table.others)], names={merge.label: label})
        named.append(own)
    return find_dependencies([look.table for look in looks], named, relation, source.fetch)


def _versions(
    run: _CountingRun, look: _AudienceTable, wider: WiderTable, counted: CellTable, scale: Mapping[str, int]
) -> list[Version]:
    """The look as each of its audiences gets it."""
    table, dimensions = look.table, wider.nested
    cells, beside = split_cells(counted, wider.own)
    listed_cells = list_empty_cells(cells) if table.zeros == "hide" else cells
    following = wider.table.dimensions[wider.own :]
    if beside is not None:
        trees = [
            shared_tree(dimension, tree, dimensions[dimension.name].meaning, dimensions[dimension.name].names)
            for dimension, tree in zip(following, beside.dimensions[wider.own :], strict=True)
        ]
        beside = replace(beside, dimensions=(*beside.dimensions[: wider.own], *trees))
    meanings = {name: dimensions[name].meaning for name in table.dimension_names if dimensions[name].meaning}
    names = {name: dimensions[name].names for name in table.dimension_names if dimensions[name].names}
    versions = []
    for audience in table.audiences:
        k = run.config.k_of(audience)
        if k in look.merges:
            others, suppressed = _merged_categories(table, look.merges[k])
            versions.append(
                Version(
                    table,
                    audience,
                    k,
                    listed_cells,
                    others,
                    suppressed,
                    scale=scale,
                    meanings=meanings,
                    names=names,
                    dependencies=wider.dependencies,
                    beside=beside,
                )
            )
    return versions


def _merged_categories(
    table: StatsTable, merge: Merge | None
) -> tuple[dict[str, tuple[str, tuple[str, ...]]], dict[str, tuple[str, ...]]]:
    """Per dimension, the category of the others with its members; and those that are hidden altogether."""
    name = str(table.others)
    others = {name: (merge.label, tuple(sorted(merge.joined)))} if merge is not None and merge.joined else {}
    return others, {name: merge.suppressed} if merge is not None and merge.suppressed else {}


def _linking_margins(
    wider: WiderTable, group: Sequence[StatsTable], dependencies: Dependencies
) -> list[tuple[str, ...]]:
    """Unpublished margins that two linked tables have in common: counted, never offered.

    Dimensions are the same when they are cut from the same columns, however; unless a table crosses two such. A margin
    has what follows from its dimensions too.
    """
    crossed = crossed_columns(group)

    def key(dimension: Dimension) -> object:
        return dimension.name if columns_of(dimension) in crossed else columns_of(dimension)

    def patterns(of: StatsTable) -> set[frozenset[object]]:
        keys = {dimension.name: key(dimension) for dimension in of.dimensions}
        return {frozenset(keys[name] for name in margin) for margin in of.grouping_sets}

    def wide(of: StatsTable) -> set[frozenset[object]]:
        return {margin | set(dependencies.following(margin)) for margin in patterns(of)}  # type: ignore[arg-type]

    own, mine = patterns(wider.table), wide(wider.table)
    common = {margin & other for margin in mine for linked in group for other in wide(linked)} | mine
    ordered = [
        tuple(dimension.name for dimension in wider.table.dimensions if key(dimension) in margin)
        for margin in common - own
    ]
    return sorted(ordered, key=lambda margin: (-len(margin), margin))


def _audience_tables(run: _CountingRun, table: StatsTable, relation: Any) -> list[_AudienceTable]:
    """The table with its rules and maps, once for all k or once for each set of categories that merging leaves."""
    config, source = run.config, run.source
    specs = specs_of(config, table, relation, source.fetch, run.folder, run.now, source.dialect)
    fine = labels_for(table, specs, relation)
    cuts = {
        dimension.name: _cuts_of_dimension(config, dimension, specs[dimension.name], fine[dimension.name], run.folder)
        for dimension in table.dimensions
    }
    thresholds = sorted({config.k_of(audience) for audience in table.audiences})
    if table.action == "suppress" or table.others is None:
        return [_AudienceTable(table, dict.fromkeys(thresholds), cuts, fine)]
    merges_by_labels: dict[tuple[tuple[str, ...], str], dict[int, Merge | None]] = {}
    for k, merge in _merges(run, table, fine, thresholds).items():
        merges_by_labels.setdefault((tuple(sorted(merge.joined)), merge.label), {})[k] = merge
    return [
        _AudienceTable(table, merges, _join_merged_cuts(table, cuts, joined, label), fine)
        for (joined, label), merges in merges_by_labels.items()
    ]


def _merges(
    run: _CountingRun, table: StatsTable, fine: Mapping[str, Any], thresholds: Sequence[int]
) -> dict[int, Merge]:
    """Which of the smallest categories of one dimension become one for each k, persons counted anew each time."""
    name = str(table.others)
    personal = run.config.personal[table.source]
    alone = replace(table, dimensions=(table.dimension(name),), measures=(Measure("persons", "persons"),), margins=())
    with counting(run.source, personal, alone, {name: fine[name]}) as counted:
        plain = counted.cells()
        run.refuse_unmapped(_AudienceTable(table, {}, {}, fine), plain)
        counts = {str(key): int(persons) for (key,), persons in zip(keys_of(plain), plain.persons, strict=True) if key}
        return {k: merge_small(counts, k, lambda joined: counted.persons({name: joined}), OTHERS) for k in thresholds}


def _join_merged_cuts(
    table: StatsTable, cuts: Mapping[str, tuple[Cut, ...]], joined: tuple[str, ...], label: str
) -> dict[str, tuple[Cut, ...]]:
    """The cuts with the merged categories as one."""
    if not joined:
        return dict(cuts)
    name = str(table.others)
    (plain,) = cuts[name]
    merged = plain.labels.isin(joined).ifelse(ibis.literal(label), plain.labels)
    return {**cuts, name: (Cut("\x1f".join([plain.key, "others", *joined]), merged),)}


def _count_cells(
    run: _CountingRun, look: _AudienceTable, wider: WiderTable, links: Sequence[tuple[str, ...]]
) -> tuple[CellTable, Mapping[str, int]]:
    """The cells of a look and of what follows from its dimensions, and the scale of its sums."""
    source, table = run.source, wider.table
    personal = run.config.personal[table.source]
    labels = {name: _labels_of_levels(nested.levels) for name, nested in wider.nested.items()}
    if not run.full and _can_be_incremental(personal, table):
        store = make_private_folder(ProjectPaths(run.folder).counted) / f"{table.name}.parquet"
        cells, _ = count_incrementally(source, personal, table, labels, store, links)
        run.refuse_unmapped(look, cells)
        return cells, {amount.measure: amount.scale for amount in amounts_of(table, source.relation(personal))}
    with counting(source, personal, table, labels) as counted:
        cells = counted.cells(links)
        run.refuse_unmapped(look, cells)
        return cells, counted.scale


def _labels_of_levels(levels: Levels) -> Any:
    """Labels without levels are a single expression."""
    return levels if len(levels.labels) > 1 else levels.labels[0]


def _can_be_incremental(personal: Personal, table: StatsTable) -> bool:
    """Whether only the periods that changed need counting: it must be seen what changed, and nothing is merged."""
    periods = any(dimension.rule == "period" for dimension in table.dimensions)
    return personal.changed is not None and periods and table.action == "suppress"


def _cuts_of_dimension(
    config: StatsConfig, dimension: Dimension, spec: RuleSpec, fine: Any, folder: Path
) -> tuple[Cut, ...]:
    """The cuts of a dimension from its coarsest level to the finest; a single one where it has no levels."""
    names = dimension.settings.get("levels") or ()
    levels, below = [Cut(cut_key(dimension), fine)], fine
    parents_by_level = parents_of(config, dimension, domain_of(dimension, spec) or (), folder) if names else ()
    for number, pairs in enumerate(parents_by_level):
        parents = {child: parent for child, parent in pairs.items() if child != NOT_STATED}
        groups: dict[str, list[str]] = {}
        for child, parent in parents.items():
            groups.setdefault(parent, []).append(child)
        # A category may not bear the name of the one it lies under, so the missing ones get a name for each level.
        nowhere = f"{NOT_STATED} {names[number]}"
        branches = [(below.isin(children), parent) for parent, children in groups.items()]
        below = ibis.cases(*branches, else_=nowhere)
        levels.append(Cut(cut_key(dimension, f"level {number}"), below))
    return tuple(reversed(levels))


def identifying_labels(source: PersonalSource, personal: Personal, labels: Mapping[str, Sequence[str]]) -> list[str]:
    """The STATS columns that repeat a value of the person key or of a dropped identifier of PERSONAL."""
    relation = source.relation(personal)
    dropped = [name for name in personal.drop if suggest([ColumnFacts.of(name, ())])[0].role == Role.IDENTIFIER]
    columns = [name for name in (personal.person, *dropped) if name in relation.columns]
    return [name for name, words in labels.items() if _any_is_personal(source, relation, columns, words)]


def _any_is_personal(source: PersonalSource, relation: Any, columns: Sequence[str], words: Sequence[str]) -> bool:
    for start in range(0, len(words), _IN_LIST):
        part = list(words[start : start + _IN_LIST])
        hits = [relation[name].cast("string").isin(part).fill_null(False) for name in columns]
        some = hits[0]
        for hit in hits[1:]:
            some = some | hit
        hits_count = relation.aggregate(n=ibis.ifelse(some, 1, 0).sum().fill_null(0).cast("int64"))
        if int(source.fetch(hits_count).column(0)[0].as_py() or 0):
            return True
    return False
