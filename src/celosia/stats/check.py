"""The check of STATS by itself, and the rules of YAPÓ on what was measured: no PERSONAL is needed.

Knows STATS, its catalogue and the journal. For the readers of each k everything they may see is one grid: their own
tables and those of stricter audiences. A hidden cell that follows exactly, or has too few possible values, counts only
where one of those values is below k: what is at least k was hidden to protect another. Of rows, sums and means any
hidden one that follows exactly counts. What STATS alone cannot measure is named, never omitted: how closely a hidden
sum can be estimated (the largest contributions stay in PERSONAL), and persons where a table shows none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from celosia.model.reports.stats import CatalogueEntry, CheckedTable, StatsCheck
from celosia.pipeline.release.stats_rules import journal_entries, judge_statistics, statistics_rules
from celosia.stats.catalogue import catalogue_in, differences
from celosia.stats.declaration.declaration import NOT_STATED, PUBLISHED, STATE, StatsConfig
from celosia.stats.errors import NeverRan
from celosia.stats.project import RUN, PathArg, journal_path, read_config
from celosia.stats.protection.known_dependencies import KnownDependency, join_dependencies, read_dependencies
from celosia.stats.protection.published import (
    PublishedGrid,
    PublishedTable,
    amount_columns,
    build_published_grid,
    published_amounts,
    published_table,
    suppression_pattern,
)
from celosia.stats.store.scan import ScanFinding, scan_table
from celosia.stats.store.target import StatsTarget, open_stats
from celosia.tables.audit import audit
from celosia.tables.exact_disclosure import recoverable
from celosia.tables.grid import Bounds, Flags

Progress = Callable[[str, float], None] | None
# What an exact value looks like in a dimension of each kind; a generalised one never does.
_EXACT = {
    "age": re.compile(r"\d{1,3}|\d{4}-\d{2}-\d{2}.*"),
    "place": re.compile(r"[+-]?\d{1,3}\.\d{3,}.*"),
    "amount": re.compile(r"[+-]?\d+([.,]\d+)?"),
    "date": re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d.*|\d{2}/\d{2}/\d{4}.*"),
}
_KINDS = {
    "age": ("age",),
    "place": ("map", "zone", "grid", "category"),
    "amount": ("buckets",),
    "date": ("period", "span"),
}
_REVERSIBLE = ("hash", "key")
NO_PERSONS = "*"  # in place of a measure: the table does not show how many persons its cells have


def check_stats(folder: PathArg, *, budget_seconds: float | None = None, report: Progress = None) -> StatsCheck:
    """Measure what the rules ask of STATS and judge them."""
    home = Path(folder)
    config = read_config(home)
    with open_stats(config, home) as target:
        entries = catalogue_in(target, config).entries
        if not entries and not target.tables():
            raise NeverRan(path=str(home))
        uncatalogued, absent = differences(target.tables(), target.catalogue())
        present = [entry for entry in entries if entry.table not in absent]
        rows = {entry.table: target.read(entry.table) for entry in present}
        findings = _findings(target, present, uncatalogued, config)
        tables = check_tables(present, rows, budget_seconds, report, read_dependencies(home))
        labels = {
            entry.table: {d: set(rows[entry.table].column(d).to_pylist()) for d in entry.dimensions()}
            for entry in present
        }
        unlogged = len(target.runs()) - _count_logged_runs(home)
    figures = {
        "stats_identifiers": sum(finding.kind not in _REVERSIBLE for finding in findings),
        "stats_hashes": sum(finding.kind in _REVERSIBLE for finding in findings),
        "stats_rules": _count_columns_without_rule(present, rows) + len(uncatalogued),
        "stats_catalogue": len(uncatalogued) + len(absent),
        "stats_recoverable": sum(finding.recoverable + finding.disclosed + finding.unproven for finding in tables),
        "stats_log": max(0, unlogged),
        **{f"stats_generalised/{kind}": _count_exact_values(present, labels, kind) for kind in _KINDS},
        **_below_by_audience(rows, present),
    }
    documents = tuple(finding.as_dict() for finding in findings)
    return StatsCheck(tuple(tables), figures, judge_statistics(figures), documents, uncatalogued, absent)


def _findings(
    target: StatsTarget, entries: Sequence[CatalogueEntry], uncatalogued: Sequence[str], config: StatsConfig
) -> tuple[ScanFinding, ...]:
    """The scan of every table, undeclared ones included."""
    personal = {personal_block.person for personal_block in config.personal.values()}
    findings: list[ScanFinding] = []
    for name in [*(entry.table for entry in entries), *uncatalogued]:
        rows = target.read(name)
        texts = [field.name for field in rows.schema if str(field.type) in ("string", "large_string")]
        words = {column: rows.column(column).to_pylist() for column in texts}
        findings += scan_table(name, {**words, **{c: () for c in rows.column_names if c not in texts}}, personal)
    return tuple(dict.fromkeys(findings))


def check_tables(
    entries: Sequence[CatalogueEntry],
    rows: Mapping[str, pa.Table],
    budget_seconds: float | None = None,
    report: Progress = None,
    dependencies: Sequence[KnownDependency] = (),
) -> list[CheckedTable]:
    """What the readers of each table can compute of its hidden cells, from persons, from rows and from sums."""
    checked = {entry.table: _published_counts(entry, rows[entry.table]) for entry in entries}
    hiding = [entry for entry in entries if entry.method != "round"]
    groups = sorted({(entry.origin, entry.k) for entry in hiding})
    for number, (origin, k) in enumerate(groups):
        seen = [entry for entry in hiding if entry.origin == origin and entry.k >= k]
        for unit in ("persons", "rows"):
            sheets = [sheet for entry in seen if (sheet := published_table(entry, rows[entry.table], unit)) is not None]
            sheets = join_dependencies(sheets, dependencies)
            for table, counts in _disclosed_by_table(sheets, k, budget_seconds).items():
                if checked[table].k == k:
                    checked[table] = _add_counts(checked[table], *counts)
        for table, known in _recoverable_amounts(seen, rows, dependencies).items():
            if checked[table].k == k:
                checked[table] = _add_counts(checked[table], known, 0, 0)
        if report:
            report("check", (number + 1) / len(groups))
    return list(checked.values())


def _published_counts(entry: CatalogueEntry, rows: pa.Table) -> CheckedTable:
    sheet = published_table(entry, rows)
    shown = sum(word == PUBLISHED for word in rows.column(STATE).to_pylist())
    below = 0 if sheet is None else sum(value is not None and 0 < value < entry.k for value in sheet.persons)
    unmeasured = tuple(dict.fromkeys(amount_columns(entry).values())) if entry.method != "round" else ()
    if sheet is None:
        unmeasured = (NO_PERSONS, *unmeasured)
    return CheckedTable(entry.table, entry.audience, entry.k, shown, rows.num_rows - shown, below, 0, 0, 0, unmeasured)


def _recoverable_amounts(
    entries: Sequence[CatalogueEntry], rows: Mapping[str, pa.Table], dependencies: Sequence[KnownDependency]
) -> dict[str, int]:
    """Per table, hidden sums and means that follow exactly, column by column; any of them may be a protected one."""
    counts: dict[str, int] = {}
    for column in dict.fromkeys(column for entry in entries for column in amount_columns(entry)):
        sheets = [
            sheet for entry in entries if (sheet := published_amounts(entry, rows[entry.table], column)) is not None
        ]
        sheets = join_dependencies(sheets, dependencies)
        published = suppression_pattern(sheets)
        known = recoverable(published.grid, published.hidden) & published.hidden
        for sheet, place in zip(sheets, published.numbers, strict=True):
            counts[sheet.entry.table] = counts.get(sheet.entry.table, 0) + int(known[place].sum())
    return counts


def _add_counts(table: CheckedTable, known: int, narrow: int, unproven: int) -> CheckedTable:
    return replace(
        table,
        recoverable=table.recoverable + known,
        disclosed=table.disclosed + narrow,
        unproven=table.unproven + unproven,
    )


def _disclosed_by_table(
    sheets: Sequence[PublishedTable], k: int, budget_seconds: float | None
) -> dict[str, tuple[int, int, int]]:
    if not sheets:
        return {}
    published = build_published_grid(sheets)
    learnt = _disclosed_cells(published, sheets, k, budget_seconds)
    counts = {}
    for sheet, place in zip(sheets, published.numbers, strict=True):
        mine = np.array([value is None for value in sheet.persons], bool)
        known, narrow, unproven = (int((flags[place] & mine).sum()) for flags in learnt)
        counts[sheet.entry.table] = known, narrow, unproven
    return counts


def _disclosed_cells(
    published: PublishedGrid, sheets: Sequence[PublishedTable], k: int, budget_seconds: float | None
) -> tuple[Flags, Flags, Flags]:
    """Hidden cells known exactly, nearly known, and not settled; rows may not follow exactly, however many."""
    nothing = np.zeros(published.grid.size, bool)
    if not published.hidden.any():
        return nothing, nothing, nothing
    if not published.fits:
        return nothing, nothing, published.hidden
    exact = recoverable(published.grid, published.hidden) & published.hidden
    if sheets[0].unit == "rows":
        return exact, nothing, nothing
    exact &= published.grid.values < k
    width = max(sheet.entry.width for sheet in sheets)
    known = prior_bounds(published, sheets)
    result = audit(published.grid, published.hidden, known, width=width, budget_seconds=budget_seconds)
    small = result.disclosed & published.hidden & ~exact & (result.low < k)
    return exact, small & result.proven, small & ~result.proven


def prior_bounds(published: PublishedGrid, sheets: Sequence[PublishedTable]) -> Bounds:
    """What every reader knows of a hidden cell: it has persons, unless empty cells are hidden too."""
    zeros = any(sheet.entry.zeros == "hide" for sheet in sheets)
    return Bounds(np.where(published.hidden & (not zeros), 1.0, 0.0), np.full(published.grid.size, np.inf))


def _below_by_audience(rows: Mapping[str, pa.Table], entries: Sequence[CatalogueEntry]) -> dict[str, int]:
    """Per audience of the rules, published cells below the k that the rule asks, whatever the catalogue says."""
    required = {
        str(rule.asked["audience"]): int(rule.asked["k"]) for rule in statistics_rules() if "audience" in rule.asked
    }
    below = dict.fromkeys(required, 0)
    for entry in entries:
        if entry.audience in required:
            sheet = published_table(entry, rows[entry.table])
            shown = [] if sheet is None else [value for value in sheet.persons if value is not None]
            below[entry.audience] += sum(0 < value < required[entry.audience] for value in shown)
    return {f"stats_k/{audience}": count for audience, count in below.items()}


def _count_columns_without_rule(entries: Sequence[CatalogueEntry], rows: Mapping[str, pa.Table]) -> int:
    """Columns of STATS that the catalogue explains by no rule."""
    return sum(
        len(set(rows[entry.table].column_names) - {column.column for column in entry.columns}) for entry in entries
    )


def _count_exact_values(
    entries: Sequence[CatalogueEntry], labels: Mapping[str, Mapping[str, set[str | None]]], kind: str
) -> int:
    """Dimensions of a kind that show an exact value."""
    count = 0
    for entry in entries:
        for column in entry.columns:
            if column.kind == "dimension" and column.rule in _KINDS[kind]:
                words = labels[entry.table][column.column] - {None, NOT_STATED, entry.others_label.get(column.column)}
                count += any(_EXACT[kind].fullmatch(str(word)) for word in words)
    return count


def _count_logged_runs(home: Path) -> int:
    """Number of runs in the journal, after checking its chain."""
    return sum(entry["what"] == RUN for entry in journal_entries(journal_path(home)))
