"""Run, check and attack as a page starts them: the same verbs, whose reports are kept for the page to open at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from celosia.errors import EngineUnreachable, FileMissing
from celosia.model.stats_reports import StatsAttack, StatsCheck, StatsRun
from celosia.stats._kept import keep
from celosia.stats._project import Place

Progress = Callable[[str, float], None] | None


def run_now(folder: Place, *, full: bool = True, now: datetime | None = None, report: Progress = None) -> StatsRun:
    """Count, protect and write every table; then judge what was written, so that the page says whether it holds."""
    from celosia.stats._run import run_stats

    with _address_untold(Path(folder)):
        done = run_stats(folder, full=full, now=now, report=report)
    check_now(folder, now=now, report=report)
    return done


def check_now(folder: Place, *, now: datetime | None = None, report: Progress = None) -> StatsCheck:
    """Judge STATS by itself and keep what was found."""
    from celosia.stats._check import check_stats

    with _address_untold(Path(folder)):
        found = check_stats(folder, report=report)
    keep(Path(folder), "check", found.as_dict(), _moment(now))
    return found


def attack_now(folder: Place, *, now: datetime | None = None, report: Progress = None) -> StatsAttack:
    """Play an outsider who kept every release, and keep what was learnt."""
    from celosia.stats._attack import attack_stats

    with _address_untold(Path(folder)):
        found = attack_stats(folder, report=report)
    keep(Path(folder), "attack", found.as_dict(), _moment(now))
    return found


@contextlib.contextmanager
def _address_untold(home: Path) -> Iterator[None]:
    """The path of a database is its address: a page that many read says that it is not there, not where."""
    try:
        yield
    except FileMissing as fault:
        if Path(str(fault.values["path"])).resolve().is_relative_to(home.resolve()):
            raise
        raise EngineUnreachable(engine="DuckDB / SQLite") from None


def _moment(now: datetime | None) -> datetime:
    return datetime.now(UTC) if now is None else now
