"""From a PERSONAL database to protected STATS tables: rules, counts, protection, catalogue, lineage, journal.

Two connections: PERSONAL read-only, STATS in one transaction per run. Only frequencies leave PERSONAL, and no count
that is not protected reaches STATS. Each verb is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celosia.stats._attack import attack_stats
    from celosia.stats._catalogue import stats_catalogue, write_catalogue
    from celosia.stats._check import check_stats
    from celosia.stats._init import init_stats
    from celosia.stats._intervals import find_intervals, stats_intervals
    from celosia.stats._jobs import attack_now, check_now, run_now
    from celosia.stats._list import list_stats
    from celosia.stats._run import run_stats
    from celosia.stats._tour import tour_stats
    from celosia.stats._view import stats_history, stats_lineage, stats_table, stats_view

_HOMES = {
    "attack_now": "celosia.stats._jobs",
    "attack_stats": "celosia.stats._attack",
    "check_now": "celosia.stats._jobs",
    "check_stats": "celosia.stats._check",
    "find_intervals": "celosia.stats._intervals",
    "init_stats": "celosia.stats._init",
    "list_stats": "celosia.stats._list",
    "run_now": "celosia.stats._jobs",
    "run_stats": "celosia.stats._run",
    "stats_catalogue": "celosia.stats._catalogue",
    "stats_history": "celosia.stats._view",
    "stats_intervals": "celosia.stats._intervals",
    "stats_lineage": "celosia.stats._view",
    "stats_table": "celosia.stats._view",
    "stats_view": "celosia.stats._view",
    "tour_stats": "celosia.stats._tour",
    "write_catalogue": "celosia.stats._catalogue",
}

__all__ = [
    "attack_now",
    "attack_stats",
    "check_now",
    "check_stats",
    "find_intervals",
    "init_stats",
    "list_stats",
    "run_now",
    "run_stats",
    "stats_catalogue",
    "stats_history",
    "stats_intervals",
    "stats_lineage",
    "stats_table",
    "stats_view",
    "tour_stats",
    "write_catalogue",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
