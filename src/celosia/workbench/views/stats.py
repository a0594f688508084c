"""A STATS folder as its first page shows it: the tables, and the saved check and attack as typed reports."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.model.reports.stats import StatsAttack, StatsCheck
from celosia.stats.declaration.views import StatsView
from celosia.workbench.views.saved import Saved


@dataclass(frozen=True, slots=True)
class StatsOverview:
    """The tables of a STATS folder, and what was last checked and attacked."""

    view: StatsView
    check: Saved[StatsCheck] | None
    attack: Saved[StatsAttack] | None
