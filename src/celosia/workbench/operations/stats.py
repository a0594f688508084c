"""Operations of the pages of a STATS folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from celosia.workbench.operation import HIDDEN, LOOK, PREPARE, SIGN, operation

if TYPE_CHECKING:
    from celosia.model.reports.stats import StatsCatalogue
    from celosia.pipeline.project.progress import Progress
    from celosia.stats.declaration.views import StatsFolder, StatsHidden, StatsLineage, StatsRows, StatsRunLine
    from celosia.workbench.views.stats import StatsOverview


@operation(LOOK)
def list_stats(root: Path) -> tuple[StatsFolder, ...]:
    """Every STATS folder directly under a root; one that cannot be read is listed with the reason."""
    from celosia.stats import view

    return view.list_stats(root)


@operation(SIGN)
def stats_view(folder: Path) -> StatsOverview:
    """Every table by audience, what it shows and hides, the last run and the next, and what fails."""
    from celosia.workbench import stats

    return stats.stats_overview(folder)


@operation(SIGN)
def stats_table(folder: Path, table: str, offset: int, rows: int, *, only_hidden: bool = False) -> StatsRows:
    """Some rows of a table, as they are published."""
    from celosia.stats import view

    return view.stats_table(folder, table, offset, rows, only_hidden=only_hidden)


@operation(HIDDEN)
def stats_intervals(folder: Path, table: str, offset: int, rows: int, *, only_hidden: bool = False) -> StatsHidden:
    """Why each cell of some rows is hidden and, where it was computed, the interval of its value."""
    from celosia.stats import intervals

    return intervals.stats_intervals(folder, table, offset, rows, only_hidden=only_hidden)


@operation(SIGN)
def stats_catalogue(folder: Path) -> StatsCatalogue:
    """The catalogue that is published with the tables."""
    from celosia.stats import catalogue

    return catalogue.stats_catalogue(folder)


@operation(SIGN)
def stats_lineage(folder: Path) -> StatsLineage:
    """Which columns of the source each table is made from."""
    from celosia.stats import view

    return view.stats_lineage(folder)


@operation(SIGN)
def stats_history(folder: Path) -> tuple[StatsRunLine, ...]:
    """The runs of a STATS folder, newest first."""
    from celosia.stats import view

    return view.stats_history(folder)


@operation(PREPARE)
def run_now(folder: Path, *, full: bool = True, report: Progress = None) -> None:
    """Count, protect and write every table; then check what was written."""
    from celosia.stats import jobs

    jobs.run_now(folder, full=full, report=report)


@operation(SIGN)
def check_now(folder: Path, *, report: Progress = None) -> None:
    """Check the published tables by themselves and save the report."""
    from celosia.stats import jobs

    jobs.check_now(folder, report=report)


@operation(SIGN)
def attack_now(folder: Path, *, report: Progress = None) -> None:
    """Attack the tables as an outsider who kept every release, and save the report."""
    from celosia.stats import jobs

    jobs.attack_now(folder, report=report)


@operation(HIDDEN)
def find_intervals(folder: Path, table: str, *, report: Progress = None) -> None:
    """Compute and save the interval of every hidden cell of a table."""
    from celosia.stats import intervals

    intervals.find_intervals(folder, table, report=report)


@operation(PREPARE)
def tour_stats(root: Path, name: str, *, report: Progress = None) -> None:
    """Make the practice folder of the guided tour of statistical tables."""
    from celosia.demo import stats_tour

    stats_tour.tour_stats(root, name, report=report)
