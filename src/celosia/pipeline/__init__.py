"""The only room that walks the whole path: it asks a Table for tuples and hands arrays to the algorithms."""

from celosia.data.synthetic import write_discharges
from celosia.pipeline._dictionary import check_dictionary, export_dictionary, import_dictionary
from celosia.pipeline._measure import measure_table
from celosia.pipeline._open import Opened, opened, suggestion_report
from celosia.pipeline._plan import Planned, make_plan, read_plan
from celosia.pipeline._prepare import Initiated, init
from celosia.pipeline._profile import profile, save_profile
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._run import Ran, run_plan

__all__ = [
    "Initiated",
    "Opened",
    "Planned",
    "Project",
    "Ran",
    "check_dictionary",
    "export_dictionary",
    "import_dictionary",
    "init",
    "make_plan",
    "measure_table",
    "open_project",
    "opened",
    "profile",
    "read_plan",
    "run_plan",
    "save_profile",
    "suggestion_report",
    "write_discharges",
]
