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
    from celosia.stats._run import run_stats

_HOMES = {
    "attack_stats": "celosia.stats._attack",
    "check_stats": "celosia.stats._check",
    "init_stats": "celosia.stats._init",
    "run_stats": "celosia.stats._run",
    "stats_catalogue": "celosia.stats._catalogue",
    "write_catalogue": "celosia.stats._catalogue",
}

__all__ = [
    "attack_stats",
    "check_stats",
    "init_stats",
    "run_stats",
    "stats_catalogue",
    "write_catalogue",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
