"""Column-level lineage: which PERSONAL columns feed each STATS column, and by which rule.

Knows the declarations of stats.toml. Ignores databases: a query names its tables through sqlglot, which runs nothing.
Source: YAPÓ 1 (audit: which PERSONAL tables feed each STATS table).
"""

from __future__ import annotations

from typing import Any

import sqlglot
from sqlglot import expressions

from celosia.model.stats import STATE, Dimension, Measure, Personal, StatsConfig, StatsTable
from celosia.model.stats_reports import ColumnLineage, StatsCatalogue

_PLUMBING = ("stored", "decimal", "thousands")  # how a value is read, not what becomes of it


def lineage_of(config: StatsConfig, table: StatsTable) -> tuple[ColumnLineage, ...]:
    """Every column of a STATS table with where it comes from."""
    personal = config.personal[table.source]
    dimensions = [_dimension(config, personal, one) for one in table.dimensions]
    measures = [_measure(personal, one) for one in table.measures]
    status = ColumnLineage(STATE, "status", personal.name, (personal.person,), "status")
    return (*dimensions, *measures, status)


def sources_of(personal: Personal) -> tuple[str, ...]:
    """The PERSONAL tables behind a block: its table, or those its query reads."""
    if personal.query is None:
        return (personal.table or personal.name,)
    statement = sqlglot.parse_one(personal.query)
    own = {one.alias_or_name for one in statement.find_all(expressions.CTE)}
    named = [one.sql() for one in statement.find_all(expressions.Table) if one.name not in own]
    return tuple(dict.fromkeys(name.split(" AS ")[0] for name in named))


def lineage_edges(catalogue: StatsCatalogue) -> tuple[tuple[str, str, str], ...]:
    """The lineage as a graph: (PERSONAL column, STATS column, rule)."""
    return tuple(
        (f"{one.source}.{column}", f"{entry.table}.{one.column}", one.rule)
        for entry in catalogue.entries
        for one in entry.columns
        for column in one.columns
    )


def _dimension(config: StatsConfig, personal: Personal, dimension: Dimension) -> ColumnLineage:
    settings = {key: _told(value) for key, value in dimension.settings.items() if key not in _PLUMBING}
    settings = {key: value for key, value in settings.items() if value not in (None, "", [], {})}
    if dimension.rule == "period" and config.zone:
        settings["zone"] = config.zone
    return ColumnLineage(dimension.name, "dimension", personal.name, dimension.columns, dimension.rule, settings)


def _measure(personal: Personal, measure: Measure) -> ColumnLineage:
    used = (personal.person,) if measure.kind in ("persons", "percent") else ()
    columns = (*used, *([measure.column] if measure.column else []))
    detail: dict[str, Any] = {"dominance": measure.dominance, "p": measure.p, "of": measure.of}
    told = {key: _told(value) for key, value in detail.items() if value is not None}
    return ColumnLineage(measure.name, "measure", personal.name, columns, measure.kind, told)


def _told(value: Any) -> Any:
    """A setting as JSON keeps it."""
    if isinstance(value, tuple | list):
        return [_told(one) for one in value]
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return {str(key): _told(one) for key, one in dict(value).items()} if hasattr(value, "keys") else str(value)
