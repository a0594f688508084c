"""Reports that a STATS project keeps in its private folder, so that a page opens without computing.

Knows files. A report is kept with the digest of stats.toml and with the last run of the journal: it can be told from
one that is out of date. Why a run hid each cell is kept here alone, for those who answer for STATS: the published
status does not tell it, because a reader who knew would know which hidden cells are small.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.files import private_folder, replacing
from celosia.model.stats import STATS_FILE, stats_name
from celosia.model.stats_reports import StatsRun
from celosia.model.stats_view import KeptReport, Labels
from celosia.pipeline import digest_of_file, journal_entries
from celosia.stats._project import journal_path, private

if TYPE_CHECKING:
    from celosia.stats._protection import Protected

KEPT_FORMAT = "celosia/kept-stats/1"
RUN, FAILED = "stats-run", "stats-run-failed"


def keep(home: Path, name: str, document: Mapping[str, Any], now: datetime) -> None:
    """Keep a report under a name."""
    held = {
        "format": KEPT_FORMAT,
        "when": now.isoformat(timespec="seconds"),
        "ground": _ground(home),
        "document": dict(document),
    }
    with replacing(_path(home, name)) as draft:
        draft.write_text(json.dumps(held, ensure_ascii=False), "utf-8")


def kept(home: Path, name: str) -> KeptReport | None:
    """The report kept under a name; None where there is none that can be read."""
    try:
        held = json.loads((home / "private" / "reports" / f"{name}.json").read_text("utf-8"))
        if held["format"] != KEPT_FORMAT:
            return None
        return KeptReport(dict(held["document"]), str(held["when"]), held["ground"] != _ground(home))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_run(home: Path, done: StatsRun, written: Sequence[Protected], now: datetime) -> None:
    """Keep what a run did to each table, and why it hid each cell of those it wrote."""
    before = kept(home, "hidden")
    reasons = {} if before is None else dict(before.document)
    reasons |= {_name(one): {"run": done.when, "cells": list(_reasons(one))} for one in written}
    keep(home, "hidden", reasons, now)
    keep(home, "run", done.as_dict(), now)


def reasons_of(home: Path, table: str, run: str) -> dict[Labels, str]:
    """Why each cell of a table is hidden, if what was kept is of the run that wrote the table."""
    held = kept(home, "hidden")
    told = {} if held is None else held.document.get(table, {})
    if told.get("run") != run:
        return {}
    return {tuple(labels): str(reason) for labels, reason in told["cells"]}


def _reasons(found: Protected) -> Iterable[tuple[list[str | None], str]]:
    from celosia.stats._protection import keys_of

    keys = keys_of(found.version.cells)
    for at, hidden in enumerate(found.hidden.tolist()):
        if hidden and found.reasons[at] is not None:
            yield list(keys[at]), str(found.reasons[at])


def _name(found: Protected) -> str:
    return stats_name(found.version.table.name, found.version.audience)


def _path(home: Path, name: str) -> Path:
    return private_folder(private(home) / "reports") / f"{name}.json"


def _ground(home: Path) -> dict[str, Any]:
    runs = [entry["when"] for entry in journal_entries(journal_path(home)) if entry["what"] == RUN]
    return {STATS_FILE: digest_of_file(home / STATS_FILE), "runs": len(runs), "last": runs[-1] if runs else ""}
