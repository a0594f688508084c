"""The check of STATS by itself, and the rules of YAPÓ on what was measured: no PERSONAL is needed.

Knows STATS, its catalogue and the journal. For the readers of each k everything they may see is one grid: their own
tables and those of stricter audiences. What counts as learnt of a hidden cell is in `protection.judgement`, which the
run asks too before it writes; a cell that fails is named. What STATS alone cannot measure is named, never omitted: how
closely a hidden sum can be estimated (the largest contributions stay in PERSONAL), and persons where a table shows
none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from celosia.model.reports.stats import CatalogueEntry, CheckedTable, FailingCell, StatsCheck
from celosia.pipeline.release.stats_rules import journal_entries, judge_statistics, statistics_rules
from celosia.stats.catalogue import catalogue_in, differences
from celosia.stats.declaration.declaration import NOT_STATED, PUBLISHED, STATE, StatsConfig
from celosia.stats.errors import NeverRan
from celosia.stats.project import RUN, PathArg, journal_path, read_config
from celosia.stats.protection.judgement import Judgement, judge_amounts, judge_persons
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
        for sheets, judged in _judged_sheets(seen, rows, k, budget_seconds, dependencies):
            for table, cells in _cells_by_table(sheets, judged).items():
                if checked[table].k == k:
                    checked[table] = _add_cells(checked[table], cells)
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


def _judged_sheets(
    entries: Sequence[CatalogueEntry],
    rows: Mapping[str, pa.Table],
    k: int,
    budget_seconds: float | None,
    dependencies: Sequence[KnownDependency],
) -> Iterator[tuple[list[PublishedTable], tuple[PublishedGrid, Judgement]]]:
    """What is learnt of persons, of rows and of every column that is added up, with the tables that show it."""
    for unit in ("persons", "rows"):
        sheets = [sheet for entry in entries if (sheet := published_table(entry, rows[entry.table], unit)) is not None]
        if sheets:
            sheets = join_dependencies(sheets, dependencies)
            published = build_published_grid(sheets)
            yield sheets, (published, _judge_counts(published, sheets, k, budget_seconds))
    for column in dict.fromkeys(column for entry in entries for column in amount_columns(entry)):
        sheets = [
            sheet for entry in entries if (sheet := published_amounts(entry, rows[entry.table], column)) is not None
        ]
        sheets = join_dependencies([replace(sheet, unit=column) for sheet in sheets], dependencies)
        published = suppression_pattern(sheets)
        yield sheets, (published, judge_amounts(published.grid, published.hidden))


def _cells_by_table(
    sheets: Sequence[PublishedTable], judged: tuple[PublishedGrid, Judgement]
) -> dict[str, list[FailingCell]]:
    """The cells of each table of which too much is learnt."""
    published, judgement = judged
    kinds = (("recovered", judgement.exact), ("narrow", judgement.narrow), ("unproven", judgement.unproven))
    cells: dict[str, list[FailingCell]] = {}
    for sheet, place in zip(sheets, published.numbers, strict=True):
        mine = np.array([value is None for value in sheet.persons], bool)
        cells[sheet.entry.table] = [
            FailingCell(_categories(sheet, int(at)), kind, sheet.unit)
            for kind, flags in kinds
            for at in np.flatnonzero(flags[place] & mine)
        ]
    return cells


def _categories(sheet: PublishedTable, at: int) -> dict[str, str]:
    """Dimension and category of a cell; a margin has fewer."""
    pairs = zip(sheet.entry.dimensions(), sheet.keys[at], strict=True)
    return {name: word for name, word in pairs if word is not None}


def _add_cells(table: CheckedTable, cells: Sequence[FailingCell]) -> CheckedTable:
    counts = Counter(cell.kind for cell in cells)
    return replace(
        table,
        recoverable=table.recoverable + counts["recovered"],
        disclosed=table.disclosed + counts["narrow"],
        unproven=table.unproven + counts["unproven"],
        cells=(*table.cells, *cells),
    )


def _judge_counts(
    published: PublishedGrid, sheets: Sequence[PublishedTable], k: int, budget_seconds: float | None
) -> Judgement:
    """What is learnt of hidden persons or rows; without a filling nothing can be proved."""
    nothing = np.zeros(published.grid.size, bool)
    if not published.hidden.any():
        return Judgement(nothing, nothing, nothing)
    if not published.fits:
        return Judgement(nothing, nothing, published.hidden)
    if sheets[0].unit == "rows":
        return judge_amounts(published.grid, published.hidden)
    width = max(sheet.entry.width for sheet in sheets)
    zeros = any(sheet.entry.zeros == "hide" for sheet in sheets)
    return judge_persons(published.grid, published.hidden, zeros, k, width, budget_seconds)


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
