"""The STATS projects of a folder: what each is called and when it ran. Opens no database."""

from __future__ import annotations

from pathlib import Path

from celosia.data.files import reading_from
from celosia.errors import CelosiaError
from celosia.model.stats import STATS_FILE
from celosia.model.stats_view import StatsFolder, StatsRunLine
from celosia.pipeline import journal_entries
from celosia.stats._kept import FAILED, RUN
from celosia.stats._project import Place, journal_path, read_config


def list_stats(root: Place) -> tuple[StatsFolder, ...]:
    """Every STATS project directly under a folder; one that cannot be read is named with the sentence that says why."""
    place = Path(root)
    with reading_from(place):
        found = sorted(place.iterdir(), key=lambda path: path.name)
    own = [path for path in found if not path.name.startswith(".") and path.resolve().parent == place.resolve()]
    return tuple(_folder(path) for path in own if (path / STATS_FILE).is_file())


def _folder(home: Path) -> StatsFolder:
    try:
        config = read_config(home)
        last, failed = last_runs(runs_of(home))
    except CelosiaError as fault:
        return StatsFolder(home.name, problem=str(fault))
    return StatsFolder(
        folder=home.name,
        title=config.title,
        tables=sum(len(table.audiences) for table in config.tables),
        last=last.when if last else "",
        failed=failed.when if failed else "",
    )


def runs_of(home: Path) -> tuple[StatsRunLine, ...]:
    """Every run that the journal tells of, oldest first."""
    told = [entry for entry in journal_entries(journal_path(home)) if entry["what"] in (RUN, FAILED)]
    return tuple(_run(entry["when"], entry["who"], entry["what"] == FAILED, dict(entry["facts"])) for entry in told)


def _run(when: str, who: str, failed: bool, facts: dict[str, object]) -> StatsRunLine:
    def whole(name: str) -> int:
        found = facts.get(name, 0)
        return found if isinstance(found, int) else 0

    def counts(name: str) -> dict[str, int]:
        found = facts.get(name)
        return {str(key): int(value) for key, value in found.items()} if isinstance(found, dict) else {}

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
