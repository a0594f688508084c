"""A STATS project as a page shows it: tables, rows, runs and lineage, read from STATS and from the journal.

Knows what STATS holds. Ignores PERSONAL, which is never opened here. An address is never told: where the environment
lacks it, the name of the variable is.
"""

from __future__ import annotations

import calendar
import contextlib
import os
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.errors import CelosiaError, FileMissing, NeverRan, StatsTableUnknown
from celosia.model.stats import STATE, SUPPRESSED, StatsConfig, StatsTable, stats_name
from celosia.model.stats_reports import CatalogueEntry, ColumnLineage, entry_from
from celosia.model.stats_view import (
    LineageColumn,
    StatsLine,
    StatsLineage,
    StatsRow,
    StatsRows,
    StatsRunLine,
    StatsView,
    TableLineage,
)
from celosia.stats._kept import kept
from celosia.stats._list import last_runs, runs_of
from celosia.stats._project import Place, read_config

if TYPE_CHECKING:
    from celosia.stats._target import StatsTarget

_DAYS = {"daily": 1, "weekly": 7}
_MONTHS = {"monthly": 1, "quarterly": 3, "yearly": 12}
_ENVIRONMENT = "env:"

# --- the project ---------------------------------------------------------------------------------


def stats_view(folder: Place, *, now: datetime | None = None) -> StatsView:
    """Every table by audience, what it shows and hides, the last run and the next, and what fails."""
    home = Path(folder)
    config = read_config(home)
    today = (datetime.now(UTC) if now is None else now).date()
    unset = unset_variables(config)
    standing, problem = ({}, "") if _variable(config.target.url) in unset else _standing(home, config)
    last, failed = last_runs(runs_of(home))
    left = _left_out(home)
    lines = [
        _line(config, table, audience, standing, left, last, today)
        for table in config.tables
        for audience in table.audiences
    ]
    return StatsView(
        title=config.title,
        audiences=dict(config.audiences),
        lines=tuple(lines),
        unset=unset,
        problem=problem,
        last=last,
        failed=failed,
        check=kept(home, "check"),
        attack=kept(home, "attack"),
    )


def unset_variables(config: StatsConfig) -> tuple[str, ...]:
    """The environment variables that stats.toml names for its databases and that hold nothing."""
    named = [name for url in (config.source.url, config.target.url) if (name := _variable(url))]
    return tuple(dict.fromkeys(name for name in named if not os.environ.get(name, "").strip()))


def _variable(url: str) -> str:
    return url.strip().removeprefix(_ENVIRONMENT).strip() if url.strip().startswith(_ENVIRONMENT) else ""


Standing = dict[str, tuple[CatalogueEntry, dict[str, int]]]


def _standing(home: Path, config: StatsConfig) -> tuple[Standing, str]:
    """The tables that are in STATS with how many rows of each state, or the sentence that says why it is not known."""
    try:
        with contextlib.closing(_target(home, config)) as target:
            there = target.tables()
            entries = [entry for entry in entries_in(target, config) if entry.table in there]
            return {entry.table: (entry, target.states(entry.table)) for entry in entries}, ""
    except FileMissing:  # before the first run there is no file; its path may be an address
        return {}, ""
    except CelosiaError as fault:
        return {}, str(fault)


def _target(home: Path, config: StatsConfig) -> StatsTarget:
    from celosia.stats._target import open_target

    return open_target(config.target.url, home, config.target.schema, read_only=True)


def _left_out(home: Path) -> frozenset[str]:
    """The tables that the last run did not renew, because with earlier releases they would have told too much."""
    held = kept(home, "run")
    told = [] if held is None else held.document.get("tables", [])
    return frozenset(str(one["table"]) for one in told if one["state"] != "written")


def _line(
    config: StatsConfig, table: StatsTable, audience: str, standing: Standing, left: frozenset[str],
    last: StatsRunLine | None, today: date,
) -> StatsLine:  # fmt: skip
    name = stats_name(table.name, audience)
    if name not in standing:
        state = "left_out" if last is not None and name in left else "waiting"
        return StatsLine(name, table.title or table.name, audience, config.k_of(audience), table.frequency, state)
    entry, states = standing[name]
    due = next_run(entry.last_run, entry.frequency)
    return StatsLine(
        table=name,
        title=entry.title or entry.base,
        audience=audience,
        k=entry.k,
        frequency=entry.frequency,
        state="kept" if name in left else "written",
        shown=sum(count for state, count in states.items() if state != SUPPRESSED),
        hidden=states.get(SUPPRESSED, 0),
        last=entry.last_run,
        due=due.isoformat() if due else "",
        late=due is not None and due < today,
    )


def next_run(last: str, frequency: str) -> date | None:
    """The day on which a table is due again; None where it is made once."""
    day = datetime.fromisoformat(last).date()
    if frequency in _DAYS:
        return day + timedelta(days=_DAYS[frequency])
    if frequency not in _MONTHS:
        return None
    months = day.year * 12 + day.month - 1 + _MONTHS[frequency]
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


# --- one table -----------------------------------------------------------------------------------


def stats_table(folder: Place, table: str, offset: int = 0, rows: int = 50, *, only_hidden: bool = False) -> StatsRows:
    """Some published rows of a table; a hidden one has no values, for there are none in STATS."""
    home = Path(folder)
    config = read_config(home)
    try:
        with contextlib.closing(_target(home, config)) as target:
            entry = entry_named(entries_in(target, config), table)
            states = target.states(table)
            found = rows_of(target, entry, only_hidden)
    except FileMissing:
        raise NeverRan(path=home.name) from None
    return StatsRows(
        table=entry.table,
        title=entry.title or entry.base,
        audience=entry.audience,
        k=entry.k,
        action=entry.action,
        method=entry.method,
        base=entry.base_unit,
        frequency=entry.frequency,
        last=entry.last_run,
        dimensions=entry.dimensions(),
        measures=tuple((one.column, one.rule) for one in entry.columns if one.kind == "measure"),
        rows=tuple(found[offset : offset + rows]),
        offset=offset,
        total=len(found),
        shown=sum(count for state, count in states.items() if state != SUPPRESSED),
        hidden=states.get(SUPPRESSED, 0),
    )


def entries_in(target: StatsTarget, config: StatsConfig) -> tuple[CatalogueEntry, ...]:
    """The catalogue of STATS, in the order of stats.toml."""
    order = [stats_name(table.name, audience) for table in config.tables for audience in table.audiences]
    held = [entry_from(document) for document in target.catalogue().values()]
    return tuple(
        sorted(held, key=lambda one: (order.index(one.table) if one.table in order else len(order), one.table))
    )


def entry_named(entries: Sequence[CatalogueEntry], table: str) -> CatalogueEntry:
    """The entry of a table; a name that the catalogue does not hold is refused."""
    found = next((entry for entry in entries if entry.table == table), None)
    if found is None:
        raise StatsTableUnknown(table=table, known=", ".join(entry.table for entry in entries) or "–")
    return found


def rows_of(target: StatsTarget, entry: CatalogueEntry, only_hidden: bool = False) -> list[StatsRow]:
    """The rows of a table, inner cells first and then the margins, each by its categories."""
    columns = target.read(entry.table).to_pydict()
    labels = list(zip(*(columns[name] for name in entry.dimensions()), strict=True)) or [()] * len(columns[STATE])
    values = zip(*(columns[name] for name in entry.measures()), strict=True)
    states = [state == SUPPRESSED for state in columns[STATE]]
    rows = [StatsRow(*one) for one in zip(labels, values, states, strict=True)]
    return sorted((row for row in rows if row.hidden or not only_hidden), key=_place)


def _place(row: StatsRow) -> tuple[int, tuple[bool, ...], tuple[str, ...]]:
    kept_apart = tuple(word is None for word in row.labels)
    return sum(kept_apart), kept_apart, tuple(word or "" for word in row.labels)


def unit_of(entry: CatalogueEntry) -> str:
    """What of a table intervals are computed from: persons, else rows; empty where it shows neither."""
    rules = {one.rule for one in entry.columns}
    return next((unit for unit in ("persons", "rows") if unit in rules), "")


# --- runs and lineage ----------------------------------------------------------------------------


def stats_history(folder: Place) -> tuple[StatsRunLine, ...]:
    """The runs of the journal, the last one first; its chain must hold."""
    home = Path(folder)
    read_config(home)
    return tuple(reversed(runs_of(home)))


def stats_lineage(folder: Place) -> StatsLineage:
    """PERSONAL columns, rules and STATS columns: from the catalogue, or as declared before the first run."""
    home = Path(folder)
    config = read_config(home)
    standing, _ = ({}, "") if _variable(config.target.url) in unset_variables(config) else _standing(home, config)
    if not standing:
        return StatsLineage(tuple(_declared(config, table) for table in config.tables), True)
    bases: dict[str, list[CatalogueEntry]] = {}
    for entry, _ in standing.values():
        bases.setdefault(entry.base, []).append(entry)
    return StatsLineage(tuple(_catalogued(entries) for entries in bases.values()), False)


def _catalogued(entries: Sequence[CatalogueEntry]) -> TableLineage:
    first = entries[0]
    names = tuple(entry.table for entry in entries)
    return TableLineage(first.base, first.title, first.origin, first.sources, names, _columns(first.columns))


def _declared(config: StatsConfig, table: StatsTable) -> TableLineage:
    from celosia.stats._lineage import lineage_of, sources_of

    names = tuple(stats_name(table.name, audience) for audience in table.audiences)
    columns = _columns(lineage_of(config, table))
    return TableLineage(
        table.name, table.title, table.source, sources_of(config.personal[table.source]), names, columns
    )


def _columns(columns: Sequence[ColumnLineage]) -> tuple[LineageColumn, ...]:
    return tuple(LineageColumn(one.column, one.kind, one.columns, one.rule, dict(one.detail)) for one in columns)
