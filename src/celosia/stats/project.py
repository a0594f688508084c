"""The folder of a STATS project: its stats.toml, its private folder, its journal and the reports it keeps.

Knows files. Ignores databases. A report is saved with the digest of stats.toml and the last run of the journal, so
that one out of date is recognised. Why a run hid each cell is saved here alone, for those responsible for STATS: the
published status does not say it, because a reader who knew would know which hidden cells are small.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.model.paths import ProjectPaths
from celosia.model.reports.stats import StatsRun
from celosia.pipeline.project.files import digest_of_file, read_toml
from celosia.pipeline.release.stats_rules import journal_entries
from celosia.stats.declaration.declaration import STATS_FILE, StatsConfig, stats_from, stats_name
from celosia.stats.declaration.views import Labels, SavedStatsReport
from celosia.stats.errors import NotStats
from celosia.storage import atomic_write, make_private_folder

if TYPE_CHECKING:
    from celosia.stats.protection.version import ProtectedVersion

PathArg = str | Path
_KEY_BYTES = 32


def read_config(folder: Path) -> StatsConfig:
    """What the folder's stats.toml declares."""
    path = folder / STATS_FILE
    if not path.is_file():
        raise NotStats(path=str(folder))
    return stats_from(read_toml(path), str(path))


def journal_path(folder: Path) -> Path:
    """The journal of the project."""
    return ProjectPaths(folder).journal


def private_folder(folder: Path) -> Path:
    """The folder that is never published, made if absent."""
    return make_private_folder(ProjectPaths(folder).private)


def rounding_key(folder: Path) -> bytes:
    """The secret that fixes how each cell is rounded: made once, then kept, so that a repeated run rounds alike."""
    private_folder(folder)
    path = ProjectPaths(folder).rounding_key
    if not path.exists():
        with atomic_write(path) as draft:
            draft.write_bytes(secrets.token_bytes(_KEY_BYTES))
    return path.read_bytes()


KEPT_FORMAT = "celosia/kept-stats/1"
RUN, FAILED = "stats-run", "stats-run-failed"


def save_report(home: Path, name: str, document: Mapping[str, Any], now: datetime) -> None:
    """Save a report under a name."""
    saved = {
        "format": KEPT_FORMAT,
        "when": now.isoformat(timespec="seconds"),
        "ground": _report_inputs(home),
        "document": dict(document),
    }
    with atomic_write(_path(home, name)) as draft:
        draft.write_text(json.dumps(saved, ensure_ascii=False), "utf-8", newline="\n")


def saved_report(home: Path, name: str) -> SavedStatsReport | None:
    """The report saved under a name; None where there is none that can be read."""
    try:
        saved = json.loads((ProjectPaths(home).reports / f"{name}.json").read_text("utf-8"))
        if saved["format"] != KEPT_FORMAT:
            return None
        return SavedStatsReport(dict(saved["document"]), str(saved["when"]), saved["ground"] != _report_inputs(home))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save_run(home: Path, result: StatsRun, written: Sequence[ProtectedVersion], now: datetime) -> None:
    """Save what a run did to each table, and why it hid each cell of those it wrote."""
    before = saved_report(home, "hidden")
    reasons = {} if before is None else dict(before.document)
    reasons |= {
        _version_name(protected): {"run": result.when, "cells": list(_reasons(protected))} for protected in written
    }
    save_report(home, "hidden", reasons, now)
    save_report(home, "run", result.as_dict(), now)


def reasons_of(home: Path, table: str, run: str) -> dict[Labels, str]:
    """Why each cell of a table is hidden, if the saved report is of the run that wrote the table."""
    saved = saved_report(home, "hidden")
    hidden = {} if saved is None else saved.document.get(table, {})
    if hidden.get("run") != run:
        return {}
    return {tuple(labels): str(reason) for labels, reason in hidden["cells"]}


def _reasons(protected: ProtectedVersion) -> Iterable[tuple[list[str | None], str]]:
    from celosia.stats.protection.version import keys_of

    keys = keys_of(protected.version.cells)
    for at, hidden in enumerate(protected.hidden.tolist()):
        if hidden and protected.reasons[at] is not None:
            yield list(keys[at]), str(protected.reasons[at])


def _version_name(protected: ProtectedVersion) -> str:
    return stats_name(protected.version.table.name, protected.version.audience)


def _path(home: Path, name: str) -> Path:
    private_folder(home)
    return make_private_folder(ProjectPaths(home).reports) / f"{name}.json"


def _report_inputs(home: Path) -> dict[str, Any]:
    runs = [entry["when"] for entry in journal_entries(journal_path(home)) if entry["what"] == RUN]
    return {STATS_FILE: digest_of_file(home / STATS_FILE), "runs": len(runs), "last": runs[-1] if runs else ""}
