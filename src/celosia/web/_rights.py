"""What each role may see and do in a shared page: one table, asked at every page and before every verb.

Whoever executes prepares everything and approves nothing of it; whoever verifies or heads sees figures, papers and the
candidate, never a row of the source; the outsider sees the candidate alone. What stands in no list is refused. The
owner is the person at the machine of a page that is not shared. Sources: MINSAL Roles 1, Verificación 4; MEL IV.2.
"""

from __future__ import annotations

from collections.abc import Iterable

from celosia.web._sessions import OWNER

SIGNERS = ("verifier", "head", "lead", "delegate")
_READ_PAGES = frozenset(("overview", "dictionary", "request", "risk", "result", "intruder", "dossier", "people",
                         "stats", "verify"))  # fmt: skip
_WORK_PAGES = _READ_PAGES | {"data", "hierarchies", "search", "new"}
PAGES = {
    "executor": _WORK_PAGES | {"projects"},
    **{role: _READ_PAGES | {"projects"} for role in SIGNERS},
    "outsider": frozenset(("projects", "attempt")),
}
# Pages whose controls work for a role; on the others they are shown at rest.
EDITS = {
    "executor": _WORK_PAGES | {"projects"},
    **{
        role: frozenset(("projects", "overview", "result", "intruder", "dossier", "people", "stats", "verify"))
        for role in SIGNERS
    },
    "outsider": frozenset(("projects", "attempt")),
}

_LOOK = frozenset((
    "check_dictionary", "checked_property", "dictionary_view", "evaluation_view", "kept_report", "list_projects",
    "missing_items", "read_people", "read_request", "request_form", "request_questions", "result_view", "risk_state",
    "stats.list_stats", "status", "tour_view", "tried_lines",
))  # fmt: skip
_SIGN = frozenset((
    "archive_release", "check_result", "document_file", "dossier_view", "evaluation_report", "intruder_file",
    "intruder_view",
    "journal_view", "key_card", "make_key", "people_view", "read_document", "release_view", "sign_with_key",
    "verify_upload",
    "stats.attack_now", "stats.check_now", "stats.stats_catalogue", "stats.stats_history", "stats.stats_lineage",
    "stats.stats_table", "stats.stats_view",
))  # fmt: skip
# Why a cell is hidden and how far its value could lie is for those who make the tables and those who verify them.
_HIDDEN = frozenset(("stats.find_intervals", "stats.stats_intervals"))
# What was prepared is approved by others; who answers for it publishes it, and says who takes part.
_APPROVE = frozenset(("approve_with_key", "signing_view"))
_PUBLISH = frozenset(("publish_release",))
_INVITE = frozenset(("join_card", "join_person"))
_ATTEMPT = frozenset((
    "attempt_file", "attempt_view", "open_attempts", "save_attempt", "send_claims",
))  # fmt: skip
# Whether a claim was right is answered in the house, never by whoever made it.
_JUDGE = frozenset(("judge_claims", "received_claims", "save_worksheet"))
# Only the executor prepares: everything that reads the source, edits the project, searches, runs or attacks.
_PREPARE = frozenset((
    "add_scenario", "adopt_point", "begin_hierarchy", "begin_tree", "choose_unit", "compare_methods", "count_columns",
    "create_project", "deliver", "demo_project", "discard_tree", "edit_dictionary", "edit_policy", "edit_request",
    "edit_steps", "edit_tree", "except_variable", "explain_report", "export_dictionary", "export_hierarchy",
    "export_tried", "extract_requested", "frontier_report", "hierarchy_builders", "import_dictionary",
    "intrude_project", "make_release", "policy_view",
    "preview_project", "preview_source",
    "profile_report", "project_hierarchies", "remove_scenario", "reset_hierarchy", "risk_after", "risk_geography",
    "risk_overview", "risk_people", "risk_scenarios", "risk_special", "risk_table", "run_plan", "save_hierarchy",
    "search_plan", "search_view", "side_by_side", "stats.run_now", "steps_view",
    "list_sources", "open_project", "proposed_name", "proposed_steps_view", "source_choices",
    "source_tables", "take_hierarchy", "tour_project", "tree_page", "stats.tour_stats",
    "try_hierarchy", "values_in_order", "withdraw_exception", "write_documents",
    "write_risk_document",
))  # fmt: skip
VERBS = {
    "executor": _LOOK | _SIGN | _PREPARE | _JUDGE | _HIDDEN,
    "verifier": _LOOK | _SIGN | _APPROVE | _JUDGE | _HIDDEN,
    "delegate": _LOOK | _SIGN | _APPROVE | _PUBLISH,
    **dict.fromkeys(("head", "lead"), _LOOK | _SIGN | _APPROVE | _PUBLISH | _INVITE),
    "outsider": _ATTEMPT,
}


def may_see(roles: Iterable[str], page: str) -> bool:
    """Whether any of these roles opens a page."""
    return any(role in OWNER or page in PAGES.get(role, frozenset()) for role in roles)


def may_do(roles: Iterable[str], verb: str) -> bool:
    """Whether any of these roles calls a verb."""
    return any(role in OWNER or verb in VERBS.get(role, frozenset()) for role in roles)


def may_edit(roles: Iterable[str], page: str) -> bool:
    """Whether the controls of a page work for any of these roles."""
    return any(role in OWNER or page in EDITS.get(role, frozenset()) for role in roles)


def may_upload(roles: Iterable[str]) -> bool:
    """Whether any of these roles hands the house a file; from outside none is taken."""
    return any(role in OWNER or (role in VERBS and role != "outsider") for role in roles)


def may_sign(roles: Iterable[str], role: str) -> bool:
    """Whether somebody with these roles signs in a role: an account only in its own, whatever a project says."""
    return any(one in OWNER or one == role for one in roles)
