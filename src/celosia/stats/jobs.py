"""Run, check and attack as the page starts them: the same operations, whose reports are saved for the page."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from celosia.data.errors import EngineUnreachable
from celosia.model.reports.stats import StatsAttack, StatsCheck, StatsRun
from celosia.stats.project import PathArg, save_report
from celosia.storage import FileMissing

Progress = Callable[[str, float], None] | None


def run_now(folder: PathArg, *, full: bool = True, now: datetime | None = None, report: Progress = None) -> StatsRun:
    """Count, protect and write every table; then check what was written, for the page."""
    from celosia.stats.run import run_stats

    with _hide_address(Path(folder)):
        done = run_stats(folder, full=full, now=now, report=report)
    check_now(folder, now=now, report=report)
    return done


def check_now(folder: PathArg, *, now: datetime | None = None, report: Progress = None) -> StatsCheck:
    """Check STATS by itself and save the report."""
    from celosia.stats.check import check_stats

    with _hide_address(Path(folder)):
        result = check_stats(folder, report=report)
    save_report(Path(folder), "check", result.as_dict(), _moment(now))
    return result


def attack_now(folder: PathArg, *, now: datetime | None = None, report: Progress = None) -> StatsAttack:
    """Attack STATS as an outsider who kept every release, and save the report."""
    from celosia.stats.attack import attack_stats

    with _hide_address(Path(folder)):
        result = attack_stats(folder, report=report)
    save_report(Path(folder), "attack", result.as_dict(), _moment(now))
    return result


@contextlib.contextmanager
def _hide_address(home: Path) -> Iterator[None]:
    """The path of a database is its address: the page says that it is missing, not where it should be."""
    try:
        yield
    except FileMissing as fault:
        if Path(str(fault.values["path"])).resolve().is_relative_to(home.resolve()):
            raise
        raise EngineUnreachable(engine="DuckDB / SQLite") from None


def _moment(now: datetime | None) -> datetime:
    return datetime.now(UTC) if now is None else now
