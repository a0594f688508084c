"""The only room that walks the whole path: it asks a Table for tuples and hands arrays to the algorithms.

Each verb is loaded when it is first used: measuring a file needs neither the search nor its compiled loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celosia.data.synthetic import write_discharges
    from celosia.pipeline._apply import Applied, Treated, apply_steps, describe_techniques, treat
    from celosia.pipeline._dictionary import check_dictionary, export_dictionary, import_dictionary, state_purpose
    from celosia.pipeline._evaluate import evaluate
    from celosia.pipeline._evaluate_files import save_evaluation
    from celosia.pipeline._explain import Explained, explain_plan
    from celosia.pipeline._hierarchy_files import export_hierarchy, import_hierarchy, uncovered_values, view_hierarchy
    from celosia.pipeline._keys import Destroyed, destroy_keys, import_codebook, keys_present
    from celosia.pipeline._measure import measure_table
    from celosia.pipeline._open import Opened, opened, suggestion_report
    from celosia.pipeline._plan import Planned, make_plan, read_plan
    from celosia.pipeline._prepare import Initiated, init
    from celosia.pipeline._profile import profile_table, save_profile
    from celosia.pipeline._progress import kernels_ready, ready_kernels
    from celosia.pipeline._project import Project, open_project
    from celosia.pipeline._risk import scenario_risk, scenario_risk_table
    from celosia.pipeline._risk_people import people_risk, people_risk_of
    from celosia.pipeline._risk_special import (
        geography_rule,
        geography_rule_of,
        rare_value_list,
        rare_values,
        rare_values_of,
        small_areas,
        special_uniques,
        special_uniques_of,
    )
    from celosia.pipeline._run import Ran, run_plan
    from celosia.pipeline._scenarios import ScenarioRequest
    from celosia.pipeline._step_text import read_steps, step_from
    from celosia.pipeline._treatments import proposed_treatments
    from celosia.pipeline._verbs import measure, profile, suggest

_HOMES = {
    "Applied": "celosia.pipeline._apply",
    "Treated": "celosia.pipeline._apply",
    "apply_steps": "celosia.pipeline._apply",
    "describe_techniques": "celosia.pipeline._apply",
    "treat": "celosia.pipeline._apply",
    "read_steps": "celosia.pipeline._step_text",
    "step_from": "celosia.pipeline._step_text",
    "Explained": "celosia.pipeline._explain",
    "Initiated": "celosia.pipeline._prepare",
    "Opened": "celosia.pipeline._open",
    "Planned": "celosia.pipeline._plan",
    "Project": "celosia.pipeline._project",
    "ScenarioRequest": "celosia.pipeline._scenarios",
    "Ran": "celosia.pipeline._run",
    "check_dictionary": "celosia.pipeline._dictionary",
    "evaluate": "celosia.pipeline._evaluate",
    "explain_plan": "celosia.pipeline._explain",
    "export_dictionary": "celosia.pipeline._dictionary",
    "export_hierarchy": "celosia.pipeline._hierarchy_files",
    "import_dictionary": "celosia.pipeline._dictionary",
    "import_hierarchy": "celosia.pipeline._hierarchy_files",
    "init": "celosia.pipeline._prepare",
    "kernels_ready": "celosia.pipeline._progress",
    "make_plan": "celosia.pipeline._plan",
    "measure": "celosia.pipeline._verbs",
    "measure_table": "celosia.pipeline._measure",
    "open_project": "celosia.pipeline._project",
    "opened": "celosia.pipeline._open",
    "people_risk": "celosia.pipeline._risk_people",
    "people_risk_of": "celosia.pipeline._risk_people",
    "profile": "celosia.pipeline._verbs",
    "profile_table": "celosia.pipeline._profile",
    "read_plan": "celosia.pipeline._plan",
    "ready_kernels": "celosia.pipeline._progress",
    "run_plan": "celosia.pipeline._run",
    "save_evaluation": "celosia.pipeline._evaluate_files",
    "save_profile": "celosia.pipeline._profile",
    "scenario_risk": "celosia.pipeline._risk",
    "scenario_risk_table": "celosia.pipeline._risk",
    "state_purpose": "celosia.pipeline._dictionary",
    "suggest": "celosia.pipeline._verbs",
    "suggestion_report": "celosia.pipeline._open",
    "uncovered_values": "celosia.pipeline._hierarchy_files",
    "view_hierarchy": "celosia.pipeline._hierarchy_files",
    "write_discharges": "celosia.data.synthetic",
    "Destroyed": "celosia.pipeline._keys",
    "destroy_keys": "celosia.pipeline._keys",
    "import_codebook": "celosia.pipeline._keys",
    "keys_present": "celosia.pipeline._keys",
    "proposed_treatments": "celosia.pipeline._treatments",
    "geography_rule": "celosia.pipeline._risk_special",
    "geography_rule_of": "celosia.pipeline._risk_special",
    "rare_value_list": "celosia.pipeline._risk_special",
    "rare_values": "celosia.pipeline._risk_special",
    "rare_values_of": "celosia.pipeline._risk_special",
    "small_areas": "celosia.pipeline._risk_special",
    "special_uniques": "celosia.pipeline._risk_special",
    "special_uniques_of": "celosia.pipeline._risk_special",
}

__all__ = [
    "Applied",
    "Destroyed",
    "Explained",
    "Initiated",
    "Opened",
    "Planned",
    "Project",
    "Ran",
    "ScenarioRequest",
    "Treated",
    "apply_steps",
    "check_dictionary",
    "describe_techniques",
    "destroy_keys",
    "evaluate",
    "explain_plan",
    "export_dictionary",
    "export_hierarchy",
    "geography_rule",
    "geography_rule_of",
    "import_codebook",
    "import_dictionary",
    "import_hierarchy",
    "init",
    "kernels_ready",
    "keys_present",
    "make_plan",
    "measure",
    "measure_table",
    "open_project",
    "opened",
    "people_risk",
    "people_risk_of",
    "profile",
    "profile_table",
    "proposed_treatments",
    "rare_value_list",
    "rare_values",
    "rare_values_of",
    "read_plan",
    "read_steps",
    "ready_kernels",
    "run_plan",
    "save_evaluation",
    "save_profile",
    "scenario_risk",
    "scenario_risk_table",
    "small_areas",
    "special_uniques",
    "special_uniques_of",
    "state_purpose",
    "step_from",
    "suggest",
    "suggestion_report",
    "treat",
    "uncovered_values",
    "view_hierarchy",
    "write_discharges",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
