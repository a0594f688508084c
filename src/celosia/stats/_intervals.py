"""What readers of the published tables could compute of each hidden cell, for those who answer for STATS.

Knows STATS alone: the tables of one origin that readers of this k may see, put together as `check` does. Never a true
value: where only one is possible that is said without it. Bounded in time; what was not settled is told as such.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.model.stats_reports import CatalogueEntry
from celosia.model.stats_view import HiddenCell, StatsHidden
from celosia.stats._kept import keep, kept, reasons_of
from celosia.stats._project import Place, read_config
from celosia.stats._view import entries_in, entry_named, rows_of, unit_of

if TYPE_CHECKING:
    from celosia.stats._published import Holes, Sheet

Progress = Callable[[str, float], None] | None
SECONDS = 60.0  # for the audit; as many at most for the filling that goes before it


def find_intervals(
    folder: Place, table: str, *, seconds: float = SECONDS, now: datetime | None = None, report: Progress = None
) -> None:
    """Compute and keep the interval of every hidden cell of a table."""
    from celosia.stats._target import open_target

    home = Path(folder)
    config = read_config(home)
    with contextlib.closing(open_target(config.target.url, home, config.target.schema, read_only=True)) as target:
        entries = entries_in(target, config)
        entry = entry_named(entries, table)
        seen = [entry, *(one for one in entries if one is not entry and _seen_beside(one, entry))]
        rows = {one.table: target.read(one.table) for one in seen}
    from celosia.stats._published import sheet_of

    unit = unit_of(entry)
    sheets = [sheet for one in seen if unit and (sheet := sheet_of(one, rows[one.table], unit)) is not None]
    cells = _computed(sheets, seconds, report) if sheets and entry.method != "round" else []
    moment = datetime.now(UTC) if now is None else now
    keep(home, f"intervals-{entry.table}", {"table": entry.table, "run": entry.last_run, "cells": cells}, moment)


def _seen_beside(one: CatalogueEntry, entry: CatalogueEntry) -> bool:
    """Whether the readers of a table may see another of the same origin: theirs, or that of stricter audiences."""
    return one.origin == entry.origin and one.k >= entry.k and one.method != "round"


def _computed(sheets: Sequence[Sheet], seconds: float, report: Progress) -> list[dict[str, Any]]:
    """The hidden cells of the first sheet, with what all sheets together tell of each."""
    from celosia.stats._check import known_beforehand
    from celosia.stats._published import holes_of

    deadline = time.monotonic() + 2 * seconds
    holes = holes_of(sheets, seconds)
    mine = [at for at, value in enumerate(sheets[0].persons) if value is None]
    keys, places = [sheets[0].keys[at] for at in mine], [int(holes.numbers[0][at]) for at in mine]
    if not holes.fits or not mine:
        return [{"labels": list(key), "interval": "open"} for key in keys]
    left = max(0.0, min(seconds, deadline - time.monotonic()))
    found = _audited(holes, places, known_beforehand(holes, sheets), left, report)
    return [{"labels": list(key), **_told(*one)} for key, one in zip(keys, found, strict=True)]


def _audited(
    holes: Holes, places: Sequence[int], known: Any, seconds: float, report: Progress
) -> list[tuple[float, float, bool]]:
    import numpy as np

    from celosia.tables import audit

    asked = np.zeros(holes.grid.size, bool)
    asked[list(places)] = True

    def tell(done: int, total: int) -> None:
        if report:
            report("audit", done / max(1, total))

    found = audit(holes.grid, holes.hidden, known, cells=asked, budget_seconds=seconds, exact=True, report=tell)
    return [(float(found.low[at]), float(found.high[at]), bool(found.proven[at])) for at in places]


def _told(low: float, high: float, proven: bool) -> dict[str, Any]:
    """An interval as it is kept; a single possible value is not."""
    if not proven:
        return {"interval": "open"}
    if low == high:
        return {"interval": "exact"}
    return {"interval": "found", "low": int(low), "high": None if math.isinf(high) else int(high)}


def stats_intervals(
    folder: Place, table: str, offset: int = 0, rows: int = 50, *, only_hidden: bool = False
) -> StatsHidden:
    """Reason and interval of the hidden cells among the same rows that `stats_table` gives."""
    from celosia.stats._target import open_target

    home = Path(folder)
    config = read_config(home)
    with contextlib.closing(open_target(config.target.url, home, config.target.schema, read_only=True)) as target:
        entry = entry_named(entries_in(target, config), table)
        found = rows_of(target, entry, only_hidden)[offset : offset + rows]
    reasons = reasons_of(home, table, entry.last_run)
    held = kept(home, f"intervals-{table}")
    told = {} if held is None else {tuple(one["labels"]): one for one in held.document.get("cells", ())}
    fresh = held is not None and held.document.get("run") == entry.last_run and not held.stale
    cells = tuple(_cell(one.labels, reasons, told if fresh else {}) for one in found if one.hidden)
    return StatsHidden(cells, "" if held is None else held.when, held is not None and not fresh, bool(unit_of(entry)))


def _cell(labels: tuple[str | None, ...], reasons: dict[Any, str], told: dict[Any, Any]) -> HiddenCell:
    one = told.get(labels, {})
    return HiddenCell(labels, reasons.get(labels, ""), one.get("interval", ""), one.get("low"), one.get("high"))
