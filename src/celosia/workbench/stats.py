"""A STATS folder as its first page shows it, with the saved check and attack as typed reports."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from celosia.model.reports.stats import StatsAttack, StatsCheck
from celosia.stats.declaration.views import SavedStatsReport
from celosia.stats.view import stats_view
from celosia.workbench.views.saved import Saved, saved_report_of
from celosia.workbench.views.stats import StatsOverview

T = TypeVar("T")


def stats_overview(folder: Path) -> StatsOverview:
    """Every table by audience, the last run and the next, and what was last checked and attacked."""
    view = stats_view(folder)
    return StatsOverview(view, _typed_report(StatsCheck, view.check), _typed_report(StatsAttack, view.attack))


def _typed_report(kind: type[T], saved: SavedStatsReport | None) -> Saved[T] | None:
    return None if saved is None else saved_report_of(kind, saved.document, saved.when, saved.stale)
