"""`risk`: the scenarios of a table, counted from one tuple table and put in order.

Knows what is asked and where the table is. Ignores how combinations are counted (room `risk`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from celosia.errors import LevelNeedsProject, TableNeedsScenario, TableOfIdentifiers
from celosia.hierarchy import CompiledHierarchy, level_range
from celosia.model.scenarios import Scenario, ScenarioReport, ScenarioRisk
from celosia.model.variables import Role
from celosia.pipeline._hierarchies import compiled_hierarchies
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._policy import without_bounds
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import read_toml
from celosia.pipeline._scenarios import ScenarioRequest, scenarios_for
from celosia.risk.scenarios import frequency_table, scenario_report
from celosia.tuples import Tuples, project


def scenario_risk(
    source: Any,
    scenarios: Sequence[str | Sequence[str] | Mapping[str, Any]] = (),
    *,
    all_combinations: int | None = None,
    threshold: Any = None,
    quasi: Sequence[str] = (),
    identifiers: bool = False,
    person: str | None = None,
    table: bool = False,
    **reading: Any,
) -> ScenarioReport:
    """How many units each scenario puts at risk, in a file, database, project or frame.

    A scenario is a list of variables (or a text, `A,B`), or a table with `variables` and, where it has them,
    `threshold`, `levels` and `categories`.
    """
    request = ScenarioRequest(scenarios, all_combinations, threshold, quasi, identifiers)
    described = not request.names_its_variables or identifiers
    with opened(source, described=described, naming=(*quasi, person), **reading) as found:
        return scenario_risk_table(found, request, person, table)


def scenario_risk_table(
    found: Opened, request: ScenarioRequest, person: str | None = None, table: bool = False, report: Progress = None
) -> ScenarioReport:
    """The ordered scenarios of an opened table; `table` adds the frequencies of those that a person stated."""
    scenarios = scenarios_for(found, request)
    if table:
        _refuse_tables(found, scenarios)
    key = person or found.person
    if key is not None:
        found.table.schema.position(key)
    named = {name for scenario in scenarios for name in scenario.variables}
    tuples = found.table.tuples([name for name in found.table.names if name in named], key)
    hierarchies = _hierarchies(found, tuples, scenarios)
    counted = scenario_report(tuples, scenarios, hierarchies, stage(report, "risk"))
    if not table:
        return counted
    shown = [_with_table(found, tuples, risk, hierarchies) for risk in counted.scenarios]
    return replace(counted, scenarios=tuple(shown))


def _with_table(
    found: Opened, tuples: Tuples, risk: ScenarioRisk, hierarchies: Mapping[str, CompiledHierarchy]
) -> ScenarioRisk:
    """A stated scenario with its frequencies; categories that it does not order stand as the dictionary lists them."""
    scenario = risk.scenario
    if scenario.origin == "generated":
        return risk
    fine = {name for name, level in scenario.columns if level == 0}
    listed = {v.name: tuple(code for code, _ in v.value_labels) for v in found.variables if v.name in fine}
    ordered = replace(scenario, categories={**listed, **scenario.categories})
    return replace(risk, table=frequency_table(tuples, ordered, hierarchies))


def _refuse_tables(found: Opened, scenarios: Sequence[Scenario]) -> None:
    """Tables list categories: only those asked for by name, and never the values of a direct identifier."""
    stated = [scenario for scenario in scenarios if scenario.origin != "generated"]
    if not stated:
        raise TableNeedsScenario()
    direct = {variable.name for variable in found.variables if variable.role == Role.IDENTIFIER}
    shown = [name for scenario in stated for name in scenario.variables if name in direct]
    if shown:
        raise TableOfIdentifiers(variables=", ".join(dict.fromkeys(shown)))


def _hierarchies(found: Opened, tuples: Tuples, scenarios: Sequence[Scenario]) -> dict[str, CompiledHierarchy]:
    """The hierarchies of the variables that a scenario wants coarser; each must have the level."""
    wanted = [(name, level) for scenario in scenarios for name, level in scenario.columns if level != 0]
    if not wanted:
        return {}
    if found.folder is None:
        raise LevelNeedsProject(variable=wanted[0][0])
    specs = read_toml(found.folder / "celosia.toml").get("hierarchies", {})
    own = {name: without_bounds(spec) for name, spec in specs.items()}
    variables = {variable.name: variable for variable in found.variables}
    narrow, _ = project(tuples, list(dict.fromkeys(name for name, _ in wanted)))
    made = compiled_hierarchies(narrow, variables, own, found.folder)
    for name, level in wanted:
        level_range(made[name], level, level)
    return made
