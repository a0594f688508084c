"""The catalogue of STATS: an entry for every table, a table for every entry, as data and as a page.

Knows declarations and what a run did. Ignores PERSONAL. Source: YAPÓ 4 (per table: sources, rule, frequency, k).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import expressions

from celosia.model.reports.stats import CatalogueEntry, ColumnLineage, StatsCatalogue, entry_from
from celosia.pipeline.release.stats_rules import catalogue_page
from celosia.stats.counting.sums import additive_dimensions
from celosia.stats.declaration.declaration import (
    STATE,
    Dimension,
    Measure,
    Personal,
    StatsConfig,
    StatsTable,
    stats_name,
)
from celosia.stats.errors import CatalogueDisagrees, NeverRan
from celosia.stats.project import PathArg, read_config
from celosia.stats.protection.protection import shows_amounts
from celosia.stats.protection.version import Version
from celosia.stats.store.target import StatsTarget, open_stats
from celosia.storage import atomic_write, translate_write_errors
from celosia.tables.cells import ALL, CellTable

PUBLIC_FILE = 0o644
_NOTHING = "–"


def build_entry(config: StatsConfig, version: Version, now: datetime) -> CatalogueEntry:
    """The entry of one STATS table."""
    table = version.table
    return CatalogueEntry(
        table=stats_name(table.name, version.audience),
        base=table.name,
        title=table.title,
        audience=version.audience,
        k=version.k,
        sources=sources_of(config.personal[table.source]),
        frequency=table.frequency,
        action=table.action,
        method=table.method,
        width=table.width,
        zeros="hide" if (version.cells.persons[version.cells.offered] == 0).any() else table.zeros,
        margins=table.margins,
        columns=lineage_of(config, table),
        link=link_of(table),
        parents=_parents(version.cells),
        meanings=version.meanings,
        names=version.names,
        others={name: members for name, (_, members) in version.others.items()},
        others_label={name: label for name, (label, _) in version.others.items()},
        additive=shows_amounts(table),
        adds_up=additive_dimensions(version.cells),
        base_unit=table.base or 0 if table.method == "round" else 0,
        last_run=now.isoformat(timespec="seconds"),
    )


def link_of(table: StatsTable) -> str:
    """What tables that are protected together have in common; a table of its own has its name."""
    alone = not table.linked or table.method == "round"
    return f"{table.source}/{table.name}" if alone else table.source


def _parents(cells: CellTable) -> dict[str, dict[str, str]]:
    """Label and the one it lies under, for dimensions with levels."""
    parents = {}
    for tree in cells.dimensions:
        under = {tree.labels[i]: tree.labels[up] for i, up in enumerate(tree.parent) if up != ALL}
        if under:
            parents[tree.name] = under
    return parents


def catalogue_in(target: StatsTarget, config: StatsConfig) -> StatsCatalogue:
    """The catalogue that STATS holds, in the order of stats.toml."""
    entries = {name: entry_from(document) for name, document in target.catalogue().items()}
    order = [stats_name(table.name, audience) for table in config.tables for audience in table.audiences]
    names = sorted(entries, key=lambda name: (order.index(name) if name in order else len(order), name))
    return StatsCatalogue(config.title, tuple(entries[name] for name in names), dict(config.audiences))


def differences(tables: Sequence[str], entries: Mapping[str, object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tables without an entry, and entries without a table."""
    return tuple(sorted(set(tables) - set(entries))), tuple(sorted(set(entries) - set(tables)))


def stats_catalogue(folder: PathArg) -> StatsCatalogue:
    """The catalogue of a project's STATS; it must agree with the tables that are there."""
    home = Path(folder)
    config = read_config(home)
    with open_stats(config, home) as target:
        uncatalogued, absent = differences(target.tables(), target.catalogue())
        if uncatalogued or absent:
            raise CatalogueDisagrees(
                uncatalogued=", ".join(uncatalogued) or _NOTHING, absent=", ".join(absent) or _NOTHING
            )
        catalogue = catalogue_in(target, config)
    if not catalogue.entries:
        raise NeverRan(path=str(home))
    return catalogue


def write_catalogue(folder: PathArg, into: PathArg | None = None) -> tuple[StatsCatalogue, Path]:
    """Write `catalogue.json` and `catalogue.html`, and give the catalogue and where it was written."""
    catalogue = stats_catalogue(folder)
    home = Path(folder if into is None else into)
    with translate_write_errors(home):
        home.mkdir(parents=True, exist_ok=True)
    with atomic_write(home / "catalogue.json", PUBLIC_FILE) as draft:
        draft.write_text(json.dumps(catalogue.as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8", newline="\n")
    with atomic_write(home / "catalogue.html", PUBLIC_FILE) as draft:
        draft.write_text(catalogue_page(catalogue), "utf-8", newline="\n")
    return catalogue, home


_PLUMBING = ("stored", "decimal", "thousands")  # how a value is read, not what becomes of it


def lineage_of(config: StatsConfig, table: StatsTable) -> tuple[ColumnLineage, ...]:
    """Every column of a STATS table with where it comes from."""
    personal = config.personal[table.source]
    dimensions = [_dimension(config, personal, column) for column in table.dimensions]
    measures = [_measure(personal, column) for column in table.measures]
    status = ColumnLineage(STATE, "status", personal.name, (personal.person,), "status")
    return (*dimensions, *measures, status)


def sources_of(personal: Personal) -> tuple[str, ...]:
    """The PERSONAL tables behind a block: its table, or those its query reads."""
    if personal.query is None:
        return (personal.table or personal.name,)
    statement = sqlglot.parse_one(personal.query)
    own = {node.alias_or_name for node in statement.find_all(expressions.CTE)}
    named = [node.sql() for node in statement.find_all(expressions.Table) if node.name not in own]
    return tuple(dict.fromkeys(name.split(" AS ")[0] for name in named))


def _dimension(config: StatsConfig, personal: Personal, dimension: Dimension) -> ColumnLineage:
    settings = {key: _as_json(value) for key, value in dimension.settings.items() if key not in _PLUMBING}
    settings = {key: value for key, value in settings.items() if value not in (None, "", [], {})}
    if dimension.rule == "period" and config.zone:
        settings["zone"] = config.zone
    return ColumnLineage(dimension.name, "dimension", personal.name, dimension.columns, dimension.rule, settings)


def _measure(personal: Personal, measure: Measure) -> ColumnLineage:
    used = (personal.person,) if measure.kind in ("persons", "percent") else ()
    columns = (*used, *([measure.column] if measure.column else []))
    detail: dict[str, Any] = {"dominance": measure.dominance, "p": measure.p, "of": measure.of}
    settings = {key: _as_json(value) for key, value in detail.items() if value is not None}
    return ColumnLineage(measure.name, "measure", personal.name, columns, measure.kind, settings)


def _as_json(value: Any) -> Any:
    """A setting as JSON keeps it."""
    if isinstance(value, tuple | list):
        return [_as_json(item) for item in value]
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return {str(key): _as_json(item) for key, item in dict(value).items()} if hasattr(value, "keys") else str(value)
