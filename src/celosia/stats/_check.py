"""STATS judged by itself, and the rules of YAPÓ on what was measured: no PERSONAL is needed.

Knows STATS, its catalogue and the journal. For the readers of each k everything they may see is one grid: their own
tables and those of stricter audiences. A hidden cell that follows exactly, or has too few possible values, counts only
where one of those values is below k: what is at least k was hidden to protect another. Of rows, sums and means any
hidden one that follows exactly counts. What STATS alone cannot tell is named, never passed over: how closely a hidden
sum can be estimated (the largest contributions stay in PERSONAL), and persons where a table shows none.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from celosia.errors import NeverRan
from celosia.model.stats import NOT_STATED, PUBLISHED, STATE, StatsConfig
from celosia.model.stats_reports import CatalogueEntry, CheckedTable, StatsCheck
from celosia.pipeline import journal_entries, judge_statistics, statistics_rules
from celosia.stats._catalogue import catalogue_in, differences
from celosia.stats._kept import RUN
from celosia.stats._project import Place, journal_path, read_config
from celosia.stats._published import Holes, Sheet, amount_columns, amounts_of, holes_of, pattern_of, sheet_of
from celosia.stats._scan import Finding, scan_table
from celosia.stats._target import StatsTarget, open_target
from celosia.tables import Bounds, Flags, audit, recoverable

Progress = Callable[[str, float], None] | None
# What an exact value looks like in a dimension of each kind; a generalised one never does.
_EXACT = {
    "age": re.compile(r"\d{1,3}|\d{4}-\d{2}-\d{2}.*"),
    "place": re.compile(r"[+-]?\d{1,3}\.\d{3,}.*"),
    "amount": re.compile(r"[+-]?\d+([.,]\d+)?"),
    "date": re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d.*|\d{2}/\d{2}/\d{4}.*"),
}
_KINDS = {
    "age": ("age",), "place": ("map", "zone", "grid", "category"), "amount": ("buckets",), "date": ("period", "span"),
}  # fmt: skip
_REVERSIBLE = ("hash", "key")
NO_PERSONS = "*"  # in place of a measure: the table does not say how many persons stand behind its cells


def check_stats(folder: Place, *, budget_seconds: float | None = None, report: Progress = None) -> StatsCheck:
    """Measure what the rules ask of STATS and judge them."""
    home = Path(folder)
    config = read_config(home)
    with contextlib.closing(open_target(config.target.url, home, config.target.schema, read_only=True)) as target:
        entries = catalogue_in(target, config).entries
        if not entries and not target.tables():
            raise NeverRan(path=str(home))
        uncatalogued, absent = differences(target.tables(), target.catalogue())
        there = [entry for entry in entries if entry.table not in absent]
        rows = {entry.table: target.read(entry.table) for entry in there}
        findings = _findings(target, there, uncatalogued, config)
        tables = check_tables(there, rows, budget_seconds, report)
        labels = {entry.table: {d: set(rows[entry.table].column(d).to_pylist()) for d in entry.dimensions()}
                  for entry in there}  # fmt: skip
        unlogged = len(target.runs()) - _logged(home)
    figures = {
        "stats_identifiers": sum(one.kind not in _REVERSIBLE for one in findings),
        "stats_hashes": sum(one.kind in _REVERSIBLE for one in findings),
        "stats_rules": _without_rule(there, rows) + len(uncatalogued),
        "stats_catalogue": len(uncatalogued) + len(absent),
        "stats_recoverable": sum(one.recoverable + one.disclosed + one.unproven for one in tables),
        "stats_log": max(0, unlogged),
        **{f"stats_generalised/{kind}": _exact(there, labels, kind) for kind in _KINDS},
        **_below_by_audience(rows, there),
    }
    found = tuple(one.as_dict() for one in findings)
    return StatsCheck(tuple(tables), figures, judge_statistics(figures), found, uncatalogued, absent)


def _findings(
    target: StatsTarget, entries: Sequence[CatalogueEntry], uncatalogued: Sequence[str], config: StatsConfig
) -> tuple[Finding, ...]:
    """The scan of every table, those that nobody declared included."""
    personal = {one.person for one in config.personal.values()}
    found: list[Finding] = []
    for name in [*(entry.table for entry in entries), *uncatalogued]:
        rows = target.read(name)
        texts = [field.name for field in rows.schema if str(field.type) in ("string", "large_string")]
        words = {column: rows.column(column).to_pylist() for column in texts}
        found += scan_table(name, {**words, **{c: () for c in rows.column_names if c not in texts}}, personal)
    return tuple(dict.fromkeys(found))


def check_tables(
    entries: Sequence[CatalogueEntry], rows: Mapping[str, pa.Table], budget_seconds: float | None = None,
    report: Progress = None,
) -> list[CheckedTable]:  # fmt: skip
    """What the readers of each table can compute of its hidden cells, from persons, from rows and from sums."""
    found = {entry.table: _plain(entry, rows[entry.table]) for entry in entries}
    hiding = [entry for entry in entries if entry.method != "round"]
    groups = sorted({(entry.origin, entry.k) for entry in hiding})
    for number, (origin, k) in enumerate(groups):
        seen = [entry for entry in hiding if entry.origin == origin and entry.k >= k]
        for unit in ("persons", "rows"):
            sheets = [sheet for one in seen if (sheet := sheet_of(one, rows[one.table], unit)) is not None]
            for table, counts in _learnt_by_table(sheets, k, budget_seconds).items():
                if found[table].k == k:
                    found[table] = _more(found[table], *counts)
        for table, known in _recoverable_amounts(seen, rows).items():
            if found[table].k == k:
                found[table] = _more(found[table], known, 0, 0)
        if report:
            report("check", (number + 1) / len(groups))
    return list(found.values())


def _plain(entry: CatalogueEntry, rows: pa.Table) -> CheckedTable:
    sheet = sheet_of(entry, rows)
    shown = sum(word == PUBLISHED for word in rows.column(STATE).to_pylist())
    below = 0 if sheet is None else sum(value is not None and 0 < value < entry.k for value in sheet.persons)
    unmeasured = tuple(dict.fromkeys(amount_columns(entry).values())) if entry.method != "round" else ()
    if sheet is None:
        unmeasured = (NO_PERSONS, *unmeasured)
    return CheckedTable(entry.table, entry.audience, entry.k, shown, rows.num_rows - shown, below, 0, 0, 0, unmeasured)


def _recoverable_amounts(entries: Sequence[CatalogueEntry], rows: Mapping[str, pa.Table]) -> dict[str, int]:
    """Per table, hidden sums and means that follow exactly, column by column; any of them may be a protected one."""
    found: dict[str, int] = {}
    for column in dict.fromkeys(column for entry in entries for column in amount_columns(entry)):
        sheets = [sheet for one in entries if (sheet := amounts_of(one, rows[one.table], column)) is not None]
        holes = pattern_of(sheets)
        known = recoverable(holes.grid, holes.hidden) & holes.hidden
        for sheet, place in zip(sheets, holes.numbers, strict=True):
            found[sheet.entry.table] = found.get(sheet.entry.table, 0) + int(known[place].sum())
    return found


def _more(one: CheckedTable, known: int, narrow: int, unproven: int) -> CheckedTable:
    return replace(
        one,
        recoverable=one.recoverable + known,
        disclosed=one.disclosed + narrow,
        unproven=one.unproven + unproven,
    )


def _learnt_by_table(sheets: Sequence[Sheet], k: int, budget_seconds: float | None) -> dict[str, tuple[int, int, int]]:
    if not sheets:
        return {}
    holes = holes_of(sheets)
    learnt = _learnt(holes, sheets, k, budget_seconds)
    found = {}
    for sheet, place in zip(sheets, holes.numbers, strict=True):
        mine = np.array([value is None for value in sheet.persons], bool)
        known, narrow, unproven = (int((flags[place] & mine).sum()) for flags in learnt)
        found[sheet.entry.table] = known, narrow, unproven
    return found


def _learnt(holes: Holes, sheets: Sequence[Sheet], k: int, budget_seconds: float | None) -> tuple[Flags, Flags, Flags]:
    """Hidden cells known exactly, nearly known, and not settled; rows may not follow exactly, however many."""
    nothing = np.zeros(holes.grid.size, bool)
    if not holes.hidden.any():
        return nothing, nothing, nothing
    if not holes.fits:
        return nothing, nothing, holes.hidden
    exact = recoverable(holes.grid, holes.hidden) & holes.hidden
    if sheets[0].unit == "rows":
        return exact, nothing, nothing
    exact &= holes.grid.values < k
    width = max(sheet.entry.width for sheet in sheets)
    known = known_beforehand(holes, sheets)
    found = audit(holes.grid, holes.hidden, known, width=width, budget_seconds=budget_seconds)
    small = found.disclosed & holes.hidden & ~exact & (found.low < k)
    return exact, small & found.proven, small & ~found.proven


def known_beforehand(holes: Holes, sheets: Sequence[Sheet]) -> Bounds:
    """What every reader knows of a hidden cell: somebody is there, unless empty cells are hidden too."""
    zeros = any(sheet.entry.zeros == "hide" for sheet in sheets)
    return Bounds(np.where(holes.hidden & (not zeros), 1.0, 0.0), np.full(holes.grid.size, np.inf))


def _below_by_audience(rows: Mapping[str, pa.Table], entries: Sequence[CatalogueEntry]) -> dict[str, int]:
    """Per audience of the rules, published cells below the k that the rule asks, whatever the catalogue says."""
    asked = {
        str(rule.asked["audience"]): int(rule.asked["k"]) for rule in statistics_rules() if "audience" in rule.asked
    }
    found = dict.fromkeys(asked, 0)
    for entry in entries:
        if entry.audience in asked:
            sheet = sheet_of(entry, rows[entry.table])
            shown = [] if sheet is None else [value for value in sheet.persons if value is not None]
            found[entry.audience] += sum(0 < value < asked[entry.audience] for value in shown)
    return {f"stats_k/{audience}": count for audience, count in found.items()}


def _without_rule(entries: Sequence[CatalogueEntry], rows: Mapping[str, pa.Table]) -> int:
    """Columns of STATS that the catalogue explains by no rule."""
    return sum(len(set(rows[entry.table].column_names) - {one.column for one in entry.columns}) for entry in entries)


def _exact(entries: Sequence[CatalogueEntry], labels: Mapping[str, Mapping[str, set[str | None]]], kind: str) -> int:
    """Dimensions of a kind that show an exact value."""
    found = 0
    for entry in entries:
        for column in entry.columns:
            if column.kind == "dimension" and column.rule in _KINDS[kind]:
                words = labels[entry.table][column.column] - {None, NOT_STATED, entry.others_label.get(column.column)}
                found += any(_EXACT[kind].fullmatch(str(word)) for word in words)
    return found


def _logged(home: Path) -> int:
    """Runs that the journal tells of, after checking that its chain holds."""
    return sum(entry["what"] == RUN for entry in journal_entries(journal_path(home)))
