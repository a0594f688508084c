"""The only room that walks the whole path: it asks a Table for tuples and hands arrays to the algorithms.

Each verb is loaded when it is first used: measuring a file needs neither the search nor its compiled loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celosia.data.synthetic import write_discharges
    from celosia.pipeline._accounts import (
        Account,
        Standing,
        account_of,
        add_account,
        change_account,
        change_password,
        key_path,
        note_download,
        note_refusal,
        office_folder,
        office_note,
        password_fits,
        read_accounts,
        reset_password,
    )
    from celosia.pipeline._apply import Applied, Treated, apply_steps, describe_techniques, treat
    from celosia.pipeline._approve import approve, digest_for, figures_for, valid_approvals
    from celosia.pipeline._archive import archive_release, verify_upload
    from celosia.pipeline._author import act_as
    from celosia.pipeline._claims import read_claims, write_claims_form
    from celosia.pipeline._closing import closing_evaluation, closing_results
    from celosia.pipeline._delivery import Delivered, deliver, delivered_files
    from celosia.pipeline._demo import demo_project
    from celosia.pipeline._desk_attempt import attempt_file, attempt_view, open_attempts, save_attempt, send_claims
    from celosia.pipeline._desk_dossier import (
        document_file,
        dossier_view,
        journal_view,
        publish_release,
        read_document,
        release_view,
        signing_view,
    )
    from celosia.pipeline._desk_intruder import (
        intrude_project,
        intruder_file,
        intruder_view,
        judge_claims,
        received_claims,
    )
    from celosia.pipeline._desk_keys import (
        approve_with_key,
        join_card,
        join_person,
        key_card,
        make_key,
        people_view,
        sign_with_key,
    )
    from celosia.pipeline._dictionary import check_dictionary, export_dictionary, import_dictionary, state_purpose
    from celosia.pipeline._dictionary_view import count_columns, dictionary_view, tried_lines
    from celosia.pipeline._documents import write_documents
    from celosia.pipeline._edit_dictionary import (
        choose_unit,
        edit_dictionary,
        except_variable,
        withdraw_exception,
    )
    from celosia.pipeline._edit_hierarchy import (
        begin_hierarchy,
        begin_tree,
        export_tried,
        hierarchy_builders,
        project_hierarchies,
        reset_hierarchy,
        save_hierarchy,
        take_hierarchy,
        try_hierarchy,
        values_in_order,
    )
    from celosia.pipeline._edit_policy import criterion_forms, edit_policy, policy_view
    from celosia.pipeline._edit_steps import edit_steps, proposed_steps_view, steps_view
    from celosia.pipeline._evaluate import evaluate
    from celosia.pipeline._evaluate_files import save_evaluation
    from celosia.pipeline._explain import Explained, explain_plan
    from celosia.pipeline._frontier import adopt_point, explain_report, frontier_report
    from celosia.pipeline._hierarchy_draft import discard_tree, edit_tree, tree_page
    from celosia.pipeline._hierarchy_files import export_hierarchy, import_hierarchy, uncovered_values, view_hierarchy
    from celosia.pipeline._identity import default_identity, load_identity, new_identity, public_card, read_card
    from celosia.pipeline._in_house import check_in_house
    from celosia.pipeline._intruder import intrude
    from celosia.pipeline._intruder_claims import claims_summary
    from celosia.pipeline._intruder_pages import check_papers, save_intruder, save_worksheet
    from celosia.pipeline._kept import Kept, digest_of_file, keep_report, kept_report, private_corner
    from celosia.pipeline._keys import Destroyed, destroy_keys, import_codebook, keys_present
    from celosia.pipeline._measure import measure_table
    from celosia.pipeline._mel import annotated_dictionary, contrast_report, contrast_results, residual_figures
    from celosia.pipeline._methods import compare_methods
    from celosia.pipeline._norm_documents import export_annotated_dictionary
    from celosia.pipeline._open import Opened, opened, suggestion_report
    from celosia.pipeline._people import add_person, read_people
    from celosia.pipeline._plan import Planned, make_plan, read_plan
    from celosia.pipeline._prepare import Initiated, init
    from celosia.pipeline._preview import preview_project, preview_source, source_choices, source_tables
    from celosia.pipeline._profile import profile_report, profile_table, save_profile
    from celosia.pipeline._progress import kernels_ready, ready_kernels
    from celosia.pipeline._project import Project, open_project, read_toml
    from celosia.pipeline._projects import create_project, list_projects, list_sources, project_place, proposed_name
    from celosia.pipeline._publish import publish
    from celosia.pipeline._recheck import compare_sources, recheck
    from celosia.pipeline._release import Released, make_release, sign_release
    from celosia.pipeline._request import extract_requested, missing_items, parsed_property, read_request, write_request
    from celosia.pipeline._request_form import checked_property, edit_request, request_form
    from celosia.pipeline._request_template import request_questions
    from celosia.pipeline._result import check_result, evaluation_report, evaluation_view, result_view, side_by_side
    from celosia.pipeline._risk import scenario_risk, scenario_risk_table
    from celosia.pipeline._risk_desk import add_scenario, remove_scenario, risk_state, write_risk_document
    from celosia.pipeline._risk_people import people_risk, people_risk_of
    from celosia.pipeline._risk_reports import (
        risk_after,
        risk_geography,
        risk_overview,
        risk_people,
        risk_scenarios,
        risk_special,
        risk_table,
    )
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
    from celosia.pipeline._search import search_plan, search_view
    from celosia.pipeline._settle import settle_projects
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
    from celosia.pipeline._table_file import write_table
    from celosia.pipeline._tour import mark_tour, tour_project, tour_view
    from celosia.pipeline._treatments import proposed_treatments
    from celosia.pipeline._verbs import measure, profile, suggest
    from celosia.pipeline._verify import verify_release

# Which module holds which name; a new verb joins its line, the list below and the imports above.
# fmt: off
_ROOMS = {
    "celosia.data.synthetic": ("write_discharges",),
    "_accounts": (
        "Account", "Standing", "account_of", "add_account", "change_account", "change_password", "key_path",
        "note_download", "note_refusal", "office_folder", "office_note", "password_fits", "read_accounts",
        "reset_password",
    ),
    "_apply": ("Applied", "Treated", "apply_steps", "describe_techniques", "treat"),
    "_approve": ("approve", "digest_for", "figures_for", "valid_approvals"),
    "_archive": ("archive_release", "verify_upload"),
    "_author": ("act_as",),
    "_claims": ("read_claims", "write_claims_form"),
    "_closing": ("closing_evaluation", "closing_results"),
    "_delivery": ("Delivered", "deliver", "delivered_files"),
    "_demo": ("demo_project",),
    "_desk_attempt": ("attempt_file", "attempt_view", "open_attempts", "save_attempt", "send_claims"),
    "_desk_dossier": (
        "document_file", "dossier_view", "journal_view", "publish_release", "read_document", "release_view",
        "signing_view",
    ),
    "_desk_intruder": ("intrude_project", "intruder_file", "intruder_view", "judge_claims", "received_claims"),
    "_desk_keys": (
        "approve_with_key", "join_card", "join_person", "key_card", "make_key", "people_view", "sign_with_key",
    ),
    "_dictionary": ("check_dictionary", "export_dictionary", "import_dictionary", "state_purpose"),
    "_dictionary_view": ("count_columns", "dictionary_view", "tried_lines"),
    "_documents": ("write_documents",),
    "_edit_dictionary": ("choose_unit", "edit_dictionary", "except_variable", "withdraw_exception"),
    "_edit_hierarchy": (
        "begin_hierarchy", "begin_tree", "export_tried", "hierarchy_builders", "project_hierarchies",
        "reset_hierarchy", "save_hierarchy", "take_hierarchy", "try_hierarchy", "values_in_order",
    ),
    "_edit_policy": ("criterion_forms", "edit_policy", "policy_view"),
    "_edit_steps": ("edit_steps", "proposed_steps_view", "steps_view"),
    "_evaluate": ("evaluate",),
    "_evaluate_files": ("save_evaluation",),
    "_explain": ("Explained", "explain_plan"),
    "_frontier": ("adopt_point", "explain_report", "frontier_report"),
    "_hierarchy_draft": ("discard_tree", "edit_tree", "tree_page"),
    "_hierarchy_files": ("export_hierarchy", "import_hierarchy", "uncovered_values", "view_hierarchy"),
    "_identity": ("default_identity", "load_identity", "new_identity", "public_card", "read_card"),
    "_in_house": ("check_in_house",),
    "_intruder": ("intrude",),
    "_intruder_claims": ("claims_summary",),
    "_intruder_pages": ("check_papers", "save_intruder", "save_worksheet"),
    "_kept": ("Kept", "digest_of_file", "keep_report", "kept_report", "private_corner"),
    "_keys": ("Destroyed", "destroy_keys", "import_codebook", "keys_present"),
    "_measure": ("measure_table",),
    "_mel": ("annotated_dictionary", "contrast_report", "contrast_results", "residual_figures"),
    "_methods": ("compare_methods",),
    "_norm_documents": ("export_annotated_dictionary",),
    "_open": ("Opened", "opened", "suggestion_report"),
    "_people": ("add_person", "read_people"),
    "_plan": ("Planned", "make_plan", "read_plan"),
    "_prepare": ("Initiated", "init"),
    "_preview": ("preview_project", "preview_source", "source_choices", "source_tables"),
    "_profile": ("profile_report", "profile_table", "save_profile"),
    "_progress": ("kernels_ready", "ready_kernels"),
    "_project": ("Project", "open_project", "read_toml"),
    "_projects": ("create_project", "list_projects", "list_sources", "project_place", "proposed_name"),
    "_publish": ("publish",),
    "_recheck": ("compare_sources", "recheck"),
    "_release": ("Released", "make_release", "sign_release"),
    "_request": ("extract_requested", "missing_items", "parsed_property", "read_request", "write_request"),
    "_request_form": ("checked_property", "edit_request", "request_form"),
    "_request_template": ("request_questions",),
    "_result": ("check_result", "evaluation_report", "evaluation_view", "result_view", "side_by_side"),
    "_risk": ("scenario_risk", "scenario_risk_table"),
    "_risk_desk": ("add_scenario", "remove_scenario", "risk_state", "write_risk_document"),
    "_risk_people": ("people_risk", "people_risk_of"),
    "_risk_reports": (
        "risk_after", "risk_geography", "risk_overview", "risk_people", "risk_scenarios", "risk_special",
        "risk_table",
    ),
    "_risk_special": (
        "geography_rule", "geography_rule_of", "rare_value_list", "rare_values", "rare_values_of", "small_areas",
        "special_uniques", "special_uniques_of",
    ),
    "_run": ("Ran", "run_plan"),
    "_scenarios": ("ScenarioRequest",),
    "_search": ("search_plan", "search_view"),
    "_settle": ("settle_projects",),
    "_statistics": ("catalogue_page", "journal_append", "journal_entries", "judge_statistics", "statistics_rules"),
    "_status": ("status",),
    "_step_text": ("read_steps", "step_from"),
    "_table": ("TableRequest", "cross_table", "cross_table_of"),
    "_table_file": ("write_table",),
    "_tour": ("mark_tour", "tour_project", "tour_view"),
    "_treatments": ("proposed_treatments",),
    "_verbs": ("measure", "profile", "suggest"),
    "_verify": ("verify_release",),
}
# fmt: on
_HOMES = {
    name: module if module.startswith("celosia.") else f"celosia.pipeline.{module}"
    for module, names in _ROOMS.items()
    for name in names
}

# fmt: off
__all__ = [
    "Account", "Applied", "Delivered", "Destroyed", "Explained", "Initiated", "Kept", "Opened", "Planned", "Project",
    "Ran", "Released", "ScenarioRequest", "Standing", "TableRequest", "Treated", "account_of", "act_as", "add_account",
    "add_person", "add_scenario", "adopt_point", "annotated_dictionary", "apply_steps", "approve", "approve_with_key",
    "archive_release", "attempt_file", "attempt_view", "begin_hierarchy", "begin_tree", "catalogue_page",
    "change_account", "change_password", "check_dictionary", "check_in_house", "check_papers", "check_result",
    "checked_property", "choose_unit", "claims_summary", "closing_evaluation", "closing_results", "compare_methods",
    "compare_sources", "contrast_report", "contrast_results", "count_columns", "create_project", "criterion_forms",
    "cross_table", "cross_table_of", "default_identity", "deliver", "delivered_files", "demo_project",
    "describe_techniques", "destroy_keys", "dictionary_view", "digest_for", "digest_of_file", "discard_tree",
    "document_file", "dossier_view", "edit_dictionary", "edit_policy", "edit_request", "edit_steps", "edit_tree",
    "evaluate", "evaluation_report", "evaluation_view", "except_variable", "explain_plan", "explain_report",
    "export_annotated_dictionary", "export_dictionary", "export_hierarchy", "export_tried", "extract_requested",
    "figures_for", "frontier_report", "geography_rule", "geography_rule_of", "hierarchy_builders", "import_codebook",
    "import_dictionary", "import_hierarchy", "init", "intrude", "intrude_project", "intruder_file", "intruder_view",
    "join_card", "join_person", "journal_append", "journal_entries", "journal_view", "judge_claims",
    "judge_statistics", "keep_report", "kept_report", "kernels_ready", "key_card", "key_path", "keys_present",
    "list_projects", "list_sources", "load_identity", "make_key", "make_plan", "make_release", "mark_tour", "measure",
    "measure_table", "missing_items", "new_identity", "note_download", "note_refusal", "office_folder", "office_note",
    "open_attempts",
    "open_project", "opened", "parsed_property", "password_fits", "people_risk", "people_risk_of", "people_view",
    "policy_view", "preview_project", "preview_source", "private_corner", "profile", "profile_report", "profile_table",
    "project_hierarchies", "project_place", "proposed_name", "proposed_steps_view", "proposed_treatments",
    "public_card", "publish", "publish_release", "rare_value_list", "rare_values", "rare_values_of", "read_accounts",
    "read_card", "read_claims", "read_document", "read_people", "read_plan", "read_request", "read_steps", "read_toml",
    "ready_kernels", "received_claims", "recheck", "release_view", "remove_scenario", "request_form",
    "request_questions", "reset_hierarchy", "reset_password", "residual_figures", "result_view", "risk_after",
    "risk_geography", "risk_overview", "risk_people", "risk_scenarios", "risk_special", "risk_state", "risk_table",
    "run_plan", "save_attempt", "save_evaluation", "save_hierarchy", "save_intruder", "save_profile", "save_worksheet",
    "scenario_risk", "scenario_risk_table", "search_plan", "search_view", "send_claims", "settle_projects",
    "side_by_side", "sign_release", "sign_with_key", "signing_view", "small_areas", "source_choices", "source_tables",
    "special_uniques", "special_uniques_of", "state_purpose", "statistics_rules", "status", "step_from", "steps_view",
    "suggest", "suggestion_report", "take_hierarchy", "tour_project", "tour_view", "treat", "tree_page", "tried_lines",
    "try_hierarchy", "uncovered_values", "valid_approvals", "values_in_order", "verify_release", "verify_upload",
    "view_hierarchy", "withdraw_exception", "write_claims_form", "write_discharges", "write_documents",
    "write_request", "write_risk_document", "write_table",
]
# fmt: on


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
