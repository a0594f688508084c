"""The only room that walks the whole path: it asks a Table for tuples and hands arrays to the algorithms.

Each verb is loaded when it is first used: measuring a file needs neither the search nor its compiled loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celosia.data.synthetic import write_discharges
    from celosia.pipeline._apply import Applied, Treated, apply_steps, describe_techniques, treat
    from celosia.pipeline._approve import approve, digest_for, figures_for, valid_approvals
    from celosia.pipeline._claims import read_claims, write_claims_form
    from celosia.pipeline._closing import closing_evaluation, closing_results
    from celosia.pipeline._delivery import Delivered, deliver, delivered_files
    from celosia.pipeline._dictionary import check_dictionary, export_dictionary, import_dictionary, state_purpose
    from celosia.pipeline._documents import write_documents
    from celosia.pipeline._evaluate import evaluate
    from celosia.pipeline._evaluate_files import save_evaluation
    from celosia.pipeline._explain import Explained, explain_plan
    from celosia.pipeline._hierarchy_files import export_hierarchy, import_hierarchy, uncovered_values, view_hierarchy
    from celosia.pipeline._identity import default_identity, load_identity, new_identity, public_card, read_card
    from celosia.pipeline._in_house import check_in_house
    from celosia.pipeline._intruder import intrude
    from celosia.pipeline._intruder_claims import claims_summary
    from celosia.pipeline._intruder_pages import check_papers, save_intruder, save_worksheet
    from celosia.pipeline._keys import Destroyed, destroy_keys, import_codebook, keys_present
    from celosia.pipeline._measure import measure_table
    from celosia.pipeline._mel import annotated_dictionary, contrast_report, contrast_results, residual_figures
    from celosia.pipeline._norm_documents import export_annotated_dictionary
    from celosia.pipeline._open import Opened, opened, suggestion_report
    from celosia.pipeline._people import add_person, read_people
    from celosia.pipeline._plan import Planned, make_plan, read_plan
    from celosia.pipeline._prepare import Initiated, init
    from celosia.pipeline._profile import profile_table, save_profile
    from celosia.pipeline._progress import kernels_ready, ready_kernels
    from celosia.pipeline._project import Project, open_project, read_toml
    from celosia.pipeline._publish import publish
    from celosia.pipeline._recheck import compare_sources, recheck
    from celosia.pipeline._release import Released, make_release, sign_release
    from celosia.pipeline._request import extract_requested, missing_items, parsed_property, read_request, write_request
    from celosia.pipeline._request_template import request_questions
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
    from celosia.pipeline._statistics import (
        catalogue_page,
        journal_append,
        journal_entries,
        judge_statistics,
        statistics_rules,
    )
    from celosia.pipeline._status import status
    from celosia.pipeline._step_text import read_steps, step_from
    from celosia.pipeline._table import TableRequest, cross_table, cross_table_of
    from celosia.pipeline._treatments import proposed_treatments
    from celosia.pipeline._verbs import measure, profile, suggest
    from celosia.pipeline._verify import verify_release

_HOMES = {
    "TableRequest": "celosia.pipeline._table",
    "cross_table": "celosia.pipeline._table",
    "cross_table_of": "celosia.pipeline._table",
    "Delivered": "celosia.pipeline._delivery",
    "deliver": "celosia.pipeline._delivery",
    "delivered_files": "celosia.pipeline._delivery",
    "annotated_dictionary": "celosia.pipeline._mel",
    "contrast_report": "celosia.pipeline._mel",
    "contrast_results": "celosia.pipeline._mel",
    "residual_figures": "celosia.pipeline._mel",
    "export_annotated_dictionary": "celosia.pipeline._norm_documents",
    "digest_for": "celosia.pipeline._approve",
    "approve": "celosia.pipeline._approve",
    "figures_for": "celosia.pipeline._approve",
    "valid_approvals": "celosia.pipeline._approve",
    "add_person": "celosia.pipeline._people",
    "read_people": "celosia.pipeline._people",
    "default_identity": "celosia.pipeline._identity",
    "public_card": "celosia.pipeline._identity",
    "catalogue_page": "celosia.pipeline._statistics",
    "journal_append": "celosia.pipeline._statistics",
    "journal_entries": "celosia.pipeline._statistics",
    "judge_statistics": "celosia.pipeline._statistics",
    "statistics_rules": "celosia.pipeline._statistics",
    "status": "celosia.pipeline._status",
    "closing_evaluation": "celosia.pipeline._closing",
    "closing_results": "celosia.pipeline._closing",
    "read_claims": "celosia.pipeline._claims",
    "write_claims_form": "celosia.pipeline._claims",
    "request_questions": "celosia.pipeline._request_template",
    "extract_requested": "celosia.pipeline._request",
    "missing_items": "celosia.pipeline._request",
    "parsed_property": "celosia.pipeline._request",
    "read_request": "celosia.pipeline._request",
    "write_request": "celosia.pipeline._request",
    "load_identity": "celosia.pipeline._identity",
    "read_card": "celosia.pipeline._identity",
    "new_identity": "celosia.pipeline._identity",
    "make_release": "celosia.pipeline._release",
    "Released": "celosia.pipeline._release",
    "sign_release": "celosia.pipeline._release",
    "publish": "celosia.pipeline._publish",
    "check_in_house": "celosia.pipeline._in_house",
    "intrude": "celosia.pipeline._intruder",
    "claims_summary": "celosia.pipeline._intruder_claims",
    "check_papers": "celosia.pipeline._intruder_pages",
    "save_intruder": "celosia.pipeline._intruder_pages",
    "save_worksheet": "celosia.pipeline._intruder_pages",
    "verify_release": "celosia.pipeline._verify",
    "recheck": "celosia.pipeline._recheck",
    "compare_sources": "celosia.pipeline._recheck",
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
    "read_toml": "celosia.pipeline._project",
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
    "write_documents": "celosia.pipeline._documents",
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
    "Delivered",
    "Destroyed",
    "Explained",
    "Initiated",
    "Opened",
    "Planned",
    "Project",
    "Ran",
    "Released",
    "ScenarioRequest",
    "TableRequest",
    "Treated",
    "add_person",
    "annotated_dictionary",
    "apply_steps",
    "approve",
    "catalogue_page",
    "check_dictionary",
    "check_in_house",
    "check_papers",
    "claims_summary",
    "closing_evaluation",
    "closing_results",
    "compare_sources",
    "contrast_report",
    "contrast_results",
    "cross_table",
    "cross_table_of",
    "default_identity",
    "deliver",
    "delivered_files",
    "describe_techniques",
    "destroy_keys",
    "digest_for",
    "evaluate",
    "explain_plan",
    "export_annotated_dictionary",
    "export_dictionary",
    "export_hierarchy",
    "extract_requested",
    "figures_for",
    "geography_rule",
    "geography_rule_of",
    "import_codebook",
    "import_dictionary",
    "import_hierarchy",
    "init",
    "intrude",
    "journal_append",
    "journal_entries",
    "judge_statistics",
    "kernels_ready",
    "keys_present",
    "load_identity",
    "make_plan",
    "make_release",
    "measure",
    "measure_table",
    "missing_items",
    "new_identity",
    "open_project",
    "opened",
    "parsed_property",
    "people_risk",
    "people_risk_of",
    "profile",
    "profile_table",
    "proposed_treatments",
    "public_card",
    "publish",
    "rare_value_list",
    "rare_values",
    "rare_values_of",
    "read_card",
    "read_claims",
    "read_people",
    "read_plan",
    "read_request",
    "read_steps",
    "read_toml",
    "ready_kernels",
    "recheck",
    "request_questions",
    "residual_figures",
    "run_plan",
    "save_evaluation",
    "save_intruder",
    "save_profile",
    "save_worksheet",
    "scenario_risk",
    "scenario_risk_table",
    "sign_release",
    "small_areas",
    "special_uniques",
    "special_uniques_of",
    "state_purpose",
    "statistics_rules",
    "status",
    "step_from",
    "suggest",
    "suggestion_report",
    "treat",
    "uncovered_values",
    "valid_approvals",
    "verify_release",
    "view_hierarchy",
    "write_claims_form",
    "write_discharges",
    "write_documents",
    "write_request",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
