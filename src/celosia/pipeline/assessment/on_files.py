"""`measure`, `suggest` and `profile` as Python functions: the same names and figures as the command line.

Knows how a source is opened and what a project describes. Ignores how the figures are computed. Nothing is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.reports.measures import MeasureReport
from celosia.model.reports.profile import ProfileReport
from celosia.model.variables import Variable
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.planning.hierarchies import sensitive_hierarchies
from celosia.pipeline.planning.policy import hierarchy_specs
from celosia.pipeline.project.arguments import check_arguments
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.risk.measures import measure as measure_tuples
from celosia.techniques.errors import SensitiveIsQuasi
from celosia.tuples.finer import tuples_with_each
from celosia.tuples.table import Tuples


def measure(
    source: Any,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    missing: str = "own",
    **reading: Any,
) -> MeasureReport:
    """Every criterion's measure over the quasi-identifiers of a file, database, project or frame."""
    with open_table(source, described=False, naming=(*quasi, *sensitive, person), **reading) as data:
        return measure_table(data, quasi, sensitive, person, missing)


def suggest(source: Any, **reading: Any) -> tuple[Variable, ...]:
    """What each column seems to be, with the evidence."""
    with open_table(source, **reading) as data:
        return data.variables


@check_arguments
def profile(source: Any, rare: int = 3, **reading: Any) -> ProfileReport:
    """What a table holds and how exposed it is."""
    # Loads the dossier, which `measure` does not need.
    from celosia.pipeline.intake.profile import profile_table

    with open_table(source, **reading) as data:
        return profile_table(data, rare=rare)


def measure_table(
    data: OpenTable,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    missing: str = "own",
    report: Progress = None,
) -> MeasureReport:
    """The measures of an open table over the quasi-identifiers named."""
    table = data.table
    chosen = table.schema.checked_names(quasi, "--quasi")
    for name in sensitive:
        table.schema.position(name)
        if name in chosen:
            raise SensitiveIsQuasi(variable=name)
    key, progress = data.person_key(person), stage_progress(report, "measure")
    tuples, tables = tuples_with_each(table, chosen, sensitive, key, progress, table.in_process)
    return measure_tuples(tuples, tables, missing, sensitive_of_project(data, tables))


def sensitive_of_project(data: OpenTable, tables: Mapping[str, Tuples]) -> dict[str, CompiledHierarchy]:
    """The hierarchies that a project describes for its sensitive variables; a file alone has none."""
    if data.project is None:
        return {}
    variables = {variable.name: variable for variable in data.variables}
    return sensitive_hierarchies(tables, variables, project_hierarchies(data), (), data.project.folder)


def project_hierarchies(data: OpenTable) -> dict[str, dict[str, Any]]:
    """The hierarchies that the project of a table describes, without the bounds of its search; a file has none."""
    return {} if data.project is None else hierarchy_specs(data.project.settings)
