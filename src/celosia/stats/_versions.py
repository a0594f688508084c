"""Counted versions of the tables: labels by rule inside PERSONAL, distinct persons per cell, merges per audience.

Knows the source and the declarations. Ignores protection and STATS. After each merge persons are counted anew: 3 and 4
people may be 4 (Y17). What leaves PERSONAL are frequencies of generalised categories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import ibis

from celosia.data.files import private_folder
from celosia.data.suggest import ColumnFacts, suggest
from celosia.model.stats import NOT_STATED, UNMAPPED, Dimension, Personal, StatsConfig, StatsTable
from celosia.model.variables import Role
from celosia.stats._catalogue import link_of
from celosia.stats._connections import PersonalSource
from celosia.stats._count import Counting, counting
from celosia.stats._incremental import count_incrementally
from celosia.stats._maps import labels_for, parents_of, refuse_unmapped, specs_of
from celosia.stats._protection import Version, keys_of
from celosia.stats._rules import RuleSpec, domain_of
from celosia.stats._sums import amounts_of
from celosia.tables import CellTable, Merge, merge_small, with_empty

Progress = Callable[[str, float], None] | None
OTHERS = "Otros"  # the category in the data, the same in every language
_IN_LIST = 1000  # labels of one question to the database


@dataclass(frozen=True, slots=True)
class _Made:
    """The cells of a table for one k."""

    cells: CellTable
    merge: Merge | None
    scale: Mapping[str, int]


def count_versions(
    source: PersonalSource, config: StatsConfig, tables: Sequence[StatsTable], folder: Path, full: bool, now: datetime,
    report: Progress = None,
) -> list[Version]:  # fmt: skip
    """Every table for every one of its audiences, counted."""
    found: list[Version] = []
    for number, table in enumerate(tables):
        links = _links(table, tables)
        made = _counted(source, config, table, folder, full, now, links)
        found += [_version(table, audience, config.k_of(audience), made) for audience in table.audiences]
        if report:
            report("count", (number + 1) / len(tables))
    return found


def _version(table: StatsTable, audience: str, k: int, made: Mapping[int, _Made]) -> Version:
    one = made[k]
    others, gone = {}, {}
    if one.merge is not None and table.others is not None:
        if one.merge.joined:
            others[table.others] = (one.merge.label, tuple(sorted(one.merge.joined)))
        if one.merge.suppressed:
            gone[table.others] = one.merge.suppressed
    cells = with_empty(one.cells) if table.zeros == "hide" else one.cells
    return Version(table, audience, k, cells, others, gone, scale=one.scale)


def _links(table: StatsTable, tables: Sequence[StatsTable]) -> list[tuple[str, ...]]:
    """Margins that nobody publishes and that two linked tables have in common: counted, never offered."""
    linked = [other for other in tables if link_of(other) == link_of(table)]
    sets = {frozenset(kept) for other in linked for kept in other.grouping_sets}
    own = {frozenset(kept) for kept in table.grouping_sets}
    common = {one & other for one in own for other in sets} - own
    if table.others is not None:
        common |= {frozenset((table.others,))} - own
    ordered = [tuple(name for name in table.dimension_names if name in kept) for kept in common]
    return sorted(ordered, key=lambda kept: (-len(kept), kept))


def _counted(
    source: PersonalSource, config: StatsConfig, table: StatsTable, folder: Path, full: bool, now: datetime,
    links: Sequence[tuple[str, ...]],
) -> dict[int, _Made]:  # fmt: skip
    """The cells of a table for each k of its audiences; they differ only where categories are merged."""
    personal = config.personal[table.source]
    relation = source.relation(personal)
    specs = specs_of(config, table, relation, source.fetch, folder, now, source.dialect)
    fine = labels_for(table, specs, relation)
    labels = {one.name: _with_levels(config, one, specs[one.name], fine[one.name], folder) for one in table.dimensions}
    wanted = sorted({config.k_of(audience) for audience in table.audiences})

    def refuse(cells: CellTable) -> None:
        if any(UNMAPPED in tree.labels for tree in cells.dimensions):
            refuse_unmapped(config, table, fine, relation, source.fetch, folder)

    if not full and _can_be_incremental(personal, table):
        store = private_folder(folder / "private" / "counted") / f"{table.name}.parquet"
        cells, _ = count_incrementally(source, personal, table, labels, store, links)
        refuse(cells)
        scale = {amount.measure: amount.scale for amount in amounts_of(table, relation)}
        return {k: _Made(cells, None, scale) for k in wanted}
    with counting(source, personal, table, labels) as counted:
        plain = counted.cells(links)
        refuse(plain)
        if table.action == "suppress" or table.others is None:
            return {k: _Made(plain, None, counted.scale) for k in wanted}
        return {k: _merged(counted, table, plain, links, k) for k in wanted}


def _can_be_incremental(personal: Personal, table: StatsTable) -> bool:
    """Whether only the periods that changed need counting: it must be seen what changed, and nothing is merged."""
    periods = any(dimension.rule == "period" for dimension in table.dimensions)
    return personal.changed is not None and periods and table.action == "suppress"


def _with_levels(config: StatsConfig, dimension: Dimension, spec: RuleSpec, fine: Any, folder: Path) -> Any:
    """The labels of a dimension from its coarsest level to the finest; a single expression where it has none."""
    if not dimension.settings.get("levels"):
        return fine
    levels, below = [fine], fine
    for number, pairs in enumerate(parents_of(config, dimension, domain_of(dimension, spec) or (), folder)):
        parents = {child: parent for child, parent in pairs.items() if child != NOT_STATED}
        groups: dict[str, list[str]] = {}
        for child, parent in parents.items():
            groups.setdefault(parent, []).append(child)
        # A category may not bear the name of the one it lies under, so the missing ones get a name for each level.
        nowhere = f"{NOT_STATED} {dimension.settings['levels'][number]}"
        branches = [(below.isin(children), parent) for parent, children in groups.items()]
        below = ibis.cases(*branches, else_=nowhere)
        levels.append(below)
    return tuple(reversed(levels))


def _merged(counted: Counting, table: StatsTable, plain: CellTable, links: Sequence[tuple[str, ...]], k: int) -> _Made:
    """The cells after the smallest categories of one dimension became one."""
    name = str(table.others)
    at = table.dimension_names.index(name)
    counts = {
        str(key[at]): int(plain.persons[place])
        for place, key in enumerate(keys_of(plain))
        if key[at] is not None and all(word is None for i, word in enumerate(key) if i != at)
    }
    merge = merge_small(counts, k, lambda joined: counted.persons({name: joined}), OTHERS)
    if not merge.joined:
        return _Made(plain, merge, counted.scale)
    return _Made(counted.cells(links, {name: (merge.joined, merge.label)}), merge, counted.scale)


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
        asked = relation.aggregate(n=ibis.ifelse(some, 1, 0).sum().fill_null(0).cast("int64"))
        if int(source.fetch(asked).column(0)[0].as_py() or 0):
            return True
    return False
