"""celosia: publish data about people without betraying anyone.

The same verbs as the command line, as functions on a file, a database address, a project folder or a frame
(pandas, Polars, Arrow). Everything is imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import celosia.treatments as treatments
    from celosia.pipeline import evaluate, init, make_plan, measure, profile, run_plan, suggest

_HOMES = {
    "evaluate": "celosia.pipeline",
    "init": "celosia.pipeline",
    "make_plan": "celosia.pipeline",
    "measure": "celosia.pipeline",
    "profile": "celosia.pipeline",
    "run_plan": "celosia.pipeline",
    "suggest": "celosia.pipeline",
}

__all__ = ["evaluate", "init", "make_plan", "measure", "profile", "run_plan", "suggest", "treatments"]


def __getattr__(name: str) -> Any:
    import importlib

    if name == "treatments":
        return importlib.import_module("celosia.treatments")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
