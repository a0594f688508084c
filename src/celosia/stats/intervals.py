"""What readers of the published tables could compute of each hidden cell, for those responsible for STATS.

Knows STATS alone: the tables of one origin that readers of this k may see, as one grid like in `check`. Never a true
value: where only one is possible that is said without it. Bounded in time; what was not settled is marked so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.model.reports.stats import CatalogueEntry
from celosia.stats.declaration.views import HiddenCell, StatsHidden
from celosia.stats.project import PathArg, read_config, reasons_of, save_report, saved_report
from celosia.stats.view import catalogue_entries, entry_named, interval_unit, sorted_rows

if TYPE_CHECKING:
    from celosia.stats.protection.published import PublishedGrid, PublishedTable

Progress = Callable[[str, float], None] | None
SECONDS = 60.0  # for the audit; as many at most for the filling that goes before it


def find_intervals(
    folder: PathArg, table: str, *, seconds: float = SECONDS, now: datetime | None = None, report: Progress = None
) -> None:
    """Compute and save the interval of every hidden cell of a table."""
    from celosia.stats.store.target import open_stats

    home = Path(folder)
    config = read_config(home)
    with open_stats(config, home) as target:
        entries = catalogue_entries(target, config)
        entry = entry_named(entries, table)
        seen = [entry, *(other for other in entries if other is not entry and _visible_with(other, entry))]
        rows = {other.table: target.read(other.table) for other in seen}
    from celosia.stats.protection.known_dependencies import join_dependencies, read_dependencies
    from celosia.stats.protection.published import published_table

    unit = interval_unit(entry)
    sheets = [
        sheet for other in seen if unit and (sheet := published_table(other, rows[other.table], unit)) is not None
    ]
    sheets = join_dependencies(sheets, read_dependencies(home))
    cells = _compute_intervals(sheets, seconds, report) if sheets and entry.method != "round" else []
    moment = datetime.now(UTC) if now is None else now
    save_report(home, f"intervals-{entry.table}", {"table": entry.table, "run": entry.last_run, "cells": cells}, moment)


def _visible_with(other: CatalogueEntry, entry: CatalogueEntry) -> bool:
    """Whether the readers of a table may see another of the same origin: theirs, or that of stricter audiences."""
    return other.origin == entry.origin and other.k >= entry.k and other.method != "round"


def _compute_intervals(sheets: Sequence[PublishedTable], seconds: float, report: Progress) -> list[dict[str, Any]]:
    """The hidden cells of the first table, with what all tables together disclose of each."""
    from celosia.stats.protection.judgement import prior_bounds
    from celosia.stats.protection.published import build_published_grid

    deadline = time.monotonic() + 2 * seconds
    published = build_published_grid(sheets, seconds)
    hidden = [at for at, value in enumerate(sheets[0].persons) if value is None]
    keys, cells = [sheets[0].keys[at] for at in hidden], [int(published.numbers[0][at]) for at in hidden]
    if not published.fits or not hidden:
        return [{"labels": list(key), "interval": "open"} for key in keys]
    remaining = max(0.0, min(seconds, deadline - time.monotonic()))
    zeros = any(sheet.entry.zeros == "hide" for sheet in sheets)
    known = prior_bounds(published.grid.size, published.hidden, zeros)
    intervals = _audit_cells(published, cells, known, remaining, report)
    return [
        {"labels": list(key), **_interval_document(*interval)} for key, interval in zip(keys, intervals, strict=True)
    ]


def _audit_cells(
    published: PublishedGrid, cells: Sequence[int], known: Any, seconds: float, report: Progress
) -> list[tuple[float, float, bool]]:
    import numpy as np

    from celosia.tables.audit import audit

    audited = np.zeros(published.grid.size, bool)
    audited[list(cells)] = True

    def report_progress(done: int, total: int) -> None:
        if report:
            report("audit", done / max(1, total))

    result = audit(
        published.grid,
        published.hidden,
        known,
        cells=audited,
        budget_seconds=seconds,
        exact=True,
        report=report_progress,
    )
    return [(float(result.low[at]), float(result.high[at]), bool(result.proven[at])) for at in cells]


def _interval_document(low: float, high: float, proven: bool) -> dict[str, Any]:
    """An interval as it is saved; a single possible value is not."""
    if not proven:
        return {"interval": "open"}
    if low == high:
        return {"interval": "exact"}
    return {"interval": "found", "low": int(low), "high": None if math.isinf(high) else int(high)}


def stats_intervals(
    folder: PathArg, table: str, offset: int = 0, rows: int = 50, *, only_hidden: bool = False
) -> StatsHidden:
    """Reason and interval of the hidden cells among the same rows that `stats_table` gives."""
    from celosia.stats.store.target import open_stats

    home = Path(folder)
    config = read_config(home)
    with open_stats(config, home) as target:
        entry = entry_named(catalogue_entries(target, config), table)
        table_rows = sorted_rows(target, entry, only_hidden)[offset : offset + rows]
    reasons = reasons_of(home, table, entry.last_run)
    saved = saved_report(home, f"intervals-{table}")
    intervals = {} if saved is None else {tuple(row["labels"]): row for row in saved.document.get("cells", ())}
    fresh = saved is not None and saved.document.get("run") == entry.last_run and not saved.stale
    cells = tuple(_hidden_cell(row.labels, reasons, intervals if fresh else {}) for row in table_rows if row.hidden)
    return StatsHidden(
        cells, "" if saved is None else saved.when, saved is not None and not fresh, bool(interval_unit(entry))
    )


def _hidden_cell(labels: tuple[str | None, ...], reasons: dict[Any, str], intervals: dict[Any, Any]) -> HiddenCell:
    interval = intervals.get(labels, {})
    return HiddenCell(
        labels, reasons.get(labels, ""), interval.get("interval", ""), interval.get("low"), interval.get("high")
    )
