"""`measure`: every criterion's measure on a file or project, without changing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from celosia.errors import SensitiveIsQuasi
from celosia.hierarchy import CompiledHierarchy
from celosia.model.measures import MeasureReport
from celosia.pipeline._hierarchies import sensitive_hierarchies
from celosia.pipeline._open import Opened
from celosia.pipeline._policy import without_bounds
from celosia.pipeline._progress import Progress
from celosia.pipeline._project import read_toml
from celosia.risk import measure
from celosia.tuples import Tuples, tuples_with


def measure_table(
    opened: Opened,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    missing: str = "own",
    report: Progress = None,
) -> MeasureReport:
    """Measures of an opened table over the quasi-identifiers named."""
    table = opened.table
    chosen = table.schema.chosen(quasi, "--quasi")
    for name in sensitive:
        table.schema.position(name)
        if name in chosen:
            raise SensitiveIsQuasi(variable=name)
    key = person or opened.person
    if key is not None:
        table.schema.position(key)
    told = (lambda share: report("measure", share)) if report else None
    tuples, tables = tuples_with(table, chosen, sensitive, key, told, table.engine.in_process)
    return measure(tuples, tables, missing, sensitive_of_project(opened, tables))


def sensitive_of_project(opened: Opened, tables: Mapping[str, Tuples]) -> dict[str, CompiledHierarchy]:
    """The hierarchies that a project describes for its sensitive variables; a file alone has none."""
    if opened.folder is None:
        return {}
    specs = read_toml(opened.folder / "celosia.toml").get("hierarchies", {})
    own = {name: without_bounds(spec) for name, spec in specs.items()}
    variables = {variable.name: variable for variable in opened.variables}
    return sensitive_hierarchies(tables, variables, own, (), opened.folder)
