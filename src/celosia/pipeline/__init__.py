"""The only room that walks the whole path: it asks a Table for tuples and hands arrays to the algorithms."""

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
