"""The only room that walks the whole path: it asks a Table for tuples and hands arrays to the algorithms.

Each verb is loaded when it is first used: measuring a file needs neither the search nor its compiled loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celosia.data.synthetic import write_discharges
    from celosia.pipeline._dictionary import check_dictionary, export_dictionary, import_dictionary, state_purpose
    from celosia.pipeline._explain import Explained, explain_plan
    from celosia.pipeline._hierarchy_files import export_hierarchy, import_hierarchy, uncovered_values, view_hierarchy
    from celosia.pipeline._measure import measure_table
    from celosia.pipeline._open import Opened, opened, suggestion_report
    from celosia.pipeline._plan import Planned, make_plan, read_plan
    from celosia.pipeline._prepare import Initiated, init
    from celosia.pipeline._profile import profile_table, save_profile
    from celosia.pipeline._progress import kernels_ready, ready_kernels
    from celosia.pipeline._project import Project, open_project
    from celosia.pipeline._run import Ran, run_plan
    from celosia.pipeline._verbs import measure, profile, suggest

_HOMES = {
    "Explained": "celosia.pipeline._explain",
    "Initiated": "celosia.pipeline._prepare",
    "Opened": "celosia.pipeline._open",
    "Planned": "celosia.pipeline._plan",
    "Project": "celosia.pipeline._project",
    "Ran": "celosia.pipeline._run",
    "check_dictionary": "celosia.pipeline._dictionary",
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
    "profile": "celosia.pipeline._verbs",
    "profile_table": "celosia.pipeline._profile",
    "read_plan": "celosia.pipeline._plan",
    "ready_kernels": "celosia.pipeline._progress",
    "run_plan": "celosia.pipeline._run",
    "save_profile": "celosia.pipeline._profile",
    "state_purpose": "celosia.pipeline._dictionary",
    "suggest": "celosia.pipeline._verbs",
    "suggestion_report": "celosia.pipeline._open",
    "uncovered_values": "celosia.pipeline._hierarchy_files",
    "view_hierarchy": "celosia.pipeline._hierarchy_files",
    "write_discharges": "celosia.data.synthetic",
}

__all__ = [
    "Explained",
    "Initiated",
    "Opened",
    "Planned",
    "Project",
    "Ran",
    "check_dictionary",
    "explain_plan",
    "export_dictionary",
    "export_hierarchy",
    "import_dictionary",
    "import_hierarchy",
    "init",
    "kernels_ready",
    "make_plan",
    "measure",
    "measure_table",
    "open_project",
    "opened",
    "profile",
    "profile_table",
    "read_plan",
    "ready_kernels",
    "run_plan",
    "save_profile",
    "state_purpose",
    "suggest",
    "suggestion_report",
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
