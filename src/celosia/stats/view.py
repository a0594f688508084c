"""A STATS project as a page shows it: tables, rows, runs and lineage, read from STATS and from the journal.

Knows what STATS holds. Ignores PERSONAL, which is never opened here. An address is never shown: where the environment
lacks it, the name of the variable is. The list of projects opens no database.
"""

from __future__ import annotations

import calendar
import os
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.model.reports.stats import CatalogueEntry, ColumnLineage, entry_from
from celosia.pipeline.project.fallbacks import value_or_reason
from celosia.pipeline.project.files import visible_paths
from celosia.pipeline.release.stats_rules import journal_entries
from celosia.stats.declaration.declaration import STATE, STATS_FILE, SUPPRESSED, StatsConfig, StatsTable, stats_name
from celosia.stats.declaration.views import (
    LineageColumn,
    StatsFolder,
    StatsLine,
    StatsLineage,
    StatsRow,
    StatsRows,
    StatsRunLine,
    StatsView,
    TableLineage,
)
from celosia.stats.errors import NeverRan, StatsTableUnknown
from celosia.stats.project import FAILED, RUN, PathArg, journal_path, read_config, saved_report
from celosia.storage import FileMissing

if TYPE_CHECKING:
    from celosia.stats.store.target import StatsTarget

_DAYS = {"daily": 1, "weekly": 7}
_MONTHS = {"monthly": 1, "quarterly": 3, "yearly": 12}
_ENVIRONMENT = "env:"

# --- the project ---------------------------------------------------------------------------------


def stats_view(folder: PathArg, *, now: datetime | None = None) -> StatsView:
    """Every table by audience, what it shows and hides, the last run and the next, and what fails."""
    home = Path(folder)
    config = read_config(home)
    today = (datetime.now(UTC) if now is None else now).date()
    unset = unset_variables(config)
    in_stats, problem = ({}, "") if _variable(config.target.url) in unset else _tables_in_stats(home, config)
    last, failed = last_runs(runs_of(home))
    not_renewed = _tables_not_renewed(home)
    lines = [
        _line(config, table, audience, in_stats, not_renewed, last, today)
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
        check=saved_report(home, "check"),
        attack=saved_report(home, "attack"),
    )


def unset_variables(config: StatsConfig) -> tuple[str, ...]:
    """The environment variables that stats.toml names for its databases and that hold nothing."""
    named = [name for url in (config.source.url, config.target.url) if (name := _variable(url))]
    return tuple(dict.fromkeys(name for name in named if not os.environ.get(name, "").strip()))


def _variable(url: str) -> str:
    return url.strip().removeprefix(_ENVIRONMENT).strip() if url.strip().startswith(_ENVIRONMENT) else ""


TablesInStats = dict[str, tuple[CatalogueEntry, dict[str, int]]]


def _tables_in_stats(home: Path, config: StatsConfig) -> tuple[TablesInStats, str]:
    """The tables that are in STATS with how many rows of each state, or the message that says why it is not known."""
    from celosia.stats.store.target import open_stats

    def read_tables() -> TablesInStats:
        try:
            with open_stats(config, home) as target:
                names = target.tables()
                entries = [entry for entry in catalogue_entries(target, config) if entry.table in names]
                return {entry.table: (entry, target.states(entry.table)) for entry in entries}
        except FileMissing:  # before the first run there is no file; its path may be an address
            return {}

    return value_or_reason({}, read_tables)


def _tables_not_renewed(home: Path) -> frozenset[str]:
    """The tables that the last run did not renew, because of what earlier releases disclose together with them."""
    saved = saved_report(home, "run")
    tables = [] if saved is None else saved.document.get("tables", [])
    return frozenset(str(table["table"]) for table in tables if table["state"] != "written")


def _line(
    config: StatsConfig,
    table: StatsTable,
    audience: str,
    in_stats: TablesInStats,
    not_renewed: frozenset[str],
    last: StatsRunLine | None,
    today: date,
) -> StatsLine:
    name = stats_name(table.name, audience)
    if name not in in_stats:
        state = "left_out" if last is not None and name in not_renewed else "waiting"
        return StatsLine(name, table.title or table.name, audience, config.k_of(audience), table.frequency, state)
    entry, states = in_stats[name]
    due = next_run(entry.last_run, entry.frequency)
    return StatsLine(
        table=name,
        title=entry.title or entry.base,
        audience=audience,
        k=entry.k,
        frequency=entry.frequency,
        state="kept" if name in not_renewed else "written",
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


def stats_table(
    folder: PathArg, table: str, offset: int = 0, rows: int = 50, *, only_hidden: bool = False
) -> StatsRows:
    """Some published rows of a table; a hidden one has no values, for there are none in STATS."""
    from celosia.stats.store.target import open_stats

    home = Path(folder)
    config = read_config(home)
    try:
        with open_stats(config, home) as target:
            entry = entry_named(catalogue_entries(target, config), table)
            states = target.states(table)
            table_rows = sorted_rows(target, entry, only_hidden)
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
        measures=tuple((column.column, column.rule) for column in entry.columns if column.kind == "measure"),
        rows=tuple(table_rows[offset : offset + rows]),
        offset=offset,
        total=len(table_rows),
        shown=sum(count for state, count in states.items() if state != SUPPRESSED),
        hidden=states.get(SUPPRESSED, 0),
    )


def catalogue_entries(target: StatsTarget, config: StatsConfig) -> tuple[CatalogueEntry, ...]:
    """The catalogue of STATS, in the order of stats.toml."""
    order = [stats_name(table.name, audience) for table in config.tables for audience in table.audiences]
    entries = [entry_from(document) for document in target.catalogue().values()]
    return tuple(
        sorted(
            entries, key=lambda entry: (order.index(entry.table) if entry.table in order else len(order), entry.table)
        )
    )


def entry_named(entries: Sequence[CatalogueEntry], table: str) -> CatalogueEntry:
    """The entry of a table; a name that the catalogue does not hold is refused."""
    entry = next((entry for entry in entries if entry.table == table), None)
    if entry is None:
        raise StatsTableUnknown(table=table, known=", ".join(entry.table for entry in entries) or "–")
    return entry


def sorted_rows(target: StatsTarget, entry: CatalogueEntry, only_hidden: bool = False) -> list[StatsRow]:
    """The rows of a table, inner cells first and then the margins, each by its categories."""
    columns = target.read(entry.table).to_pydict()
    labels = list(zip(*(columns[name] for name in entry.dimensions()), strict=True)) or [()] * len(columns[STATE])
    values = zip(*(columns[name] for name in entry.measures()), strict=True)
    states = [state == SUPPRESSED for state in columns[STATE]]
    rows = [StatsRow(*row) for row in zip(labels, values, states, strict=True)]
    return sorted((row for row in rows if row.hidden or not only_hidden), key=_row_order)


def _row_order(row: StatsRow) -> tuple[int, tuple[bool, ...], tuple[str, ...]]:
    is_total = tuple(word is None for word in row.labels)
    return sum(is_total), is_total, tuple(word or "" for word in row.labels)


def interval_unit(entry: CatalogueEntry) -> str:
    """What of a table intervals are computed from: persons, else rows; empty where it shows neither."""
    rules = {column.rule for column in entry.columns}
    return next((unit for unit in ("persons", "rows") if unit in rules), "")


# --- runs and lineage ----------------------------------------------------------------------------


def stats_history(folder: PathArg) -> tuple[StatsRunLine, ...]:
    """The runs of the journal, the last one first; its chain must hold."""
    home = Path(folder)
    read_config(home)
    return tuple(reversed(runs_of(home)))


def stats_lineage(folder: PathArg) -> StatsLineage:
    """PERSONAL columns, rules and STATS columns: from the catalogue, or as declared before the first run."""
    home = Path(folder)
    config = read_config(home)
    in_stats, _ = (
        ({}, "") if _variable(config.target.url) in unset_variables(config) else _tables_in_stats(home, config)
    )
    if not in_stats:
        return StatsLineage(tuple(_lineage_from_declaration(config, table) for table in config.tables), True)
    bases: dict[str, list[CatalogueEntry]] = {}
    for entry, _ in in_stats.values():
        bases.setdefault(entry.base, []).append(entry)
    return StatsLineage(tuple(_lineage_from_catalogue(entries) for entries in bases.values()), False)


def _lineage_from_catalogue(entries: Sequence[CatalogueEntry]) -> TableLineage:
    first = entries[0]
    names = tuple(entry.table for entry in entries)
    return TableLineage(first.base, first.title, first.origin, first.sources, names, _columns(first.columns))


def _lineage_from_declaration(config: StatsConfig, table: StatsTable) -> TableLineage:
    from celosia.stats.catalogue import lineage_of, sources_of

    names = tuple(stats_name(table.name, audience) for audience in table.audiences)
    columns = _columns(lineage_of(config, table))
    return TableLineage(
        table.name, table.title, table.source, sources_of(config.personal[table.source]), names, columns
    )


def _columns(columns: Sequence[ColumnLineage]) -> tuple[LineageColumn, ...]:
    return tuple(
        LineageColumn(column.column, column.kind, column.columns, column.rule, dict(column.detail))
        for column in columns
    )


def list_stats(root: PathArg) -> tuple[StatsFolder, ...]:
    """Every STATS project directly under a folder; one that cannot be read is named with the sentence that says why."""
    return tuple(_folder(path) for path in visible_paths(Path(root)) if (path / STATS_FILE).is_file())


def _folder(home: Path) -> StatsFolder:
    project, problem = value_or_reason(None, lambda: (read_config(home), last_runs(runs_of(home))))
    if project is None:
        return StatsFolder(home.name, problem=problem)
    config, (last, failed) = project
    return StatsFolder(
        folder=home.name,
        title=config.title,
        tables=sum(len(table.audiences) for table in config.tables),
        last=last.when if last else "",
        failed=failed.when if failed else "",
    )


def runs_of(home: Path) -> tuple[StatsRunLine, ...]:
    """Every run in the journal, oldest first."""
    entries = [entry for entry in journal_entries(journal_path(home)) if entry["what"] in (RUN, FAILED)]
    return tuple(
        _run_line(entry["when"], entry["who"], entry["what"] == FAILED, dict(entry["facts"])) for entry in entries
    )


def _run_line(when: str, who: str, failed: bool, facts: dict[str, object]) -> StatsRunLine:
    def whole(name: str) -> int:
        value = facts.get(name, 0)
        return value if isinstance(value, int) else 0

    def counts(name: str) -> dict[str, int]:
        value = facts.get(name)
        return {str(key): int(value) for key, value in value.items()} if isinstance(value, dict) else {}

    return StatsRunLine(
        when=when,
        who=who,
        kind=str(facts.get("kind", "")),
        failed=failed,
        rows_read=counts("rows_read"),
        rows_written=whole("rows_written"),
        tables=whole("tables"),
        kept=whole("kept"),
        published=whole("cells_published"),
        hidden=whole("suppressed_primary") + whole("suppressed_secondary"),
        error=str(facts.get("error", "")),
        errors=counts("errors"),
    )


def last_runs(runs: tuple[StatsRunLine, ...]) -> tuple[StatsRunLine | None, StatsRunLine | None]:
    """The last run that ended well, and the last failure if nothing ended well since."""
    last = next((run for run in reversed(runs) if not run.failed), None)
    return last, runs[-1] if runs and runs[-1].failed else None
