"""celosia: publish data about people without betraying anyone.

The same verbs as the command line, as functions on a file, a database address, a project folder or a frame
(pandas, Polars, Arrow). Everything is imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import celosia.treatments as treatments
    from celosia.pipeline import (
        apply_steps,
        cross_table,
        evaluate,
        geography_rule,
        init,
        intrude,
        make_plan,
        measure,
        people_risk,
        profile,
        rare_values,
        run_plan,
        scenario_risk,
        special_uniques,
        suggest,
    )

_HOMES = {
    "apply_steps": "celosia.pipeline",
    "cross_table": "celosia.pipeline",
    "evaluate": "celosia.pipeline",
    "geography_rule": "celosia.pipeline",
    "init": "celosia.pipeline",
    "intrude": "celosia.pipeline",
    "make_plan": "celosia.pipeline",
    "measure": "celosia.pipeline",
    "people_risk": "celosia.pipeline",
    "profile": "celosia.pipeline",
    "rare_values": "celosia.pipeline",
    "run_plan": "celosia.pipeline",
    "scenario_risk": "celosia.pipeline",
    "special_uniques": "celosia.pipeline",
    "suggest": "celosia.pipeline",
}

__all__ = [
    "apply_steps",
    "cross_table",
    "evaluate",
    "geography_rule",
    "init",
    "intrude",
    "make_plan",
    "measure",
    "people_risk",
    "profile",
    "rare_values",
    "run_plan",
    "scenario_risk",
    "special_uniques",
    "suggest",
    "treatments",
]


def __getattr__(name: str) -> Any:
    import importlib

    if name == "treatments":
        return importlib.import_module("celosia.treatments")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
