"""`risk`: which scenarios apply to a table, how many units each puts at risk, and their order.

A scenario is declared in celosia.toml, named in the request, or generated from the roles; every name is checked against
the table before anything is counted. Knows names, roles and criteria, and where the table is. Ignores how combinations
are counted (package `risk`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from celosia import messages
from celosia.hierarchy.compile import level_range
from celosia.hierarchy.model import CompiledHierarchy
from celosia.model import dictionary
from celosia.model.reports.scenarios import THRESHOLD, Scenario, ScenarioReport, ScenarioRisk, threshold_of
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role
from celosia.pipeline.assessment.errors import (
    CombinationTooWide,
    LevelNeedsProject,
    NoScenario,
    SettingOutsideScenario,
    TableNeedsScenario,
    TableOfIdentifiers,
    TooManyScenarios,
)
from celosia.pipeline.assessment.frame_kinds import remember_frame_kind
from celosia.pipeline.assessment.on_files import project_hierarchies
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.planning.hierarchies import compiled_hierarchies
from celosia.pipeline.project.arguments import Names, check_arguments
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.pipeline.project.settings_schema import SCENARIO
from celosia.risk.scenarios import all_combinations as combinations_up_to
from celosia.risk.scenarios import frequency_table, scenario_report
from celosia.tuples.table import Tuples, project

MOST_SCENARIOS = 50_000


@dataclass(frozen=True, slots=True)
class ScenarioRequest:
    """What a command or call asks for; nothing asked means the declared scenarios, or a first look at the roles."""

    scenarios: Sequence[str | Sequence[str] | Mapping[str, Any]] = ()
    all_combinations: int | None = None
    threshold: Any = None
    quasi: Sequence[str] = ()
    identifiers: bool = False

    @property
    def names_its_variables(self) -> bool:
        """Whether the roles of the variables need not be known."""
        return bool(self.quasi) or (bool(self.scenarios) and self.all_combinations is None)


@check_arguments
@remember_frame_kind
def scenario_risk(
    source: Any,
    scenarios: Sequence[str | Sequence[str] | Mapping[str, Any]] = (),
    *,
    all_combinations: int | None = None,
    threshold: Any = None,
    quasi: Names = (),
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
    with open_table(source, described=described, naming=(*quasi, person), **reading) as data:
        return scenario_risk_table(data, request, person, table)


def scenario_risk_table(
    data: OpenTable, request: ScenarioRequest, person: str | None = None, table: bool = False, report: Progress = None
) -> ScenarioReport:
    """The ordered scenarios of an open table; `table` adds the frequencies of the declared and named ones."""
    scenarios = scenarios_for(data, request)
    if table:
        _refuse_tables(data, scenarios)
    named = {name for scenario in scenarios for name in scenario.variables}
    tuples = data.table.tuples([name for name in data.table.names if name in named], data.person_key(person))
    hierarchies = hierarchies_for(data, tuples, scenarios)
    risks = scenario_report(tuples, scenarios, hierarchies, stage_progress(report, "risk"))
    if any(scenario.origin == "generated" for scenario in scenarios) and not request.quasi:
        risks = replace(risks, left_out=dictionary.uncombined_quasi(data.variables))
    if not table:
        return risks
    with_tables = [_add_frequencies(data, tuples, risk, hierarchies) for risk in risks.scenarios]
    return replace(risks, scenarios=tuple(with_tables))


def _add_frequencies(
    data: OpenTable, tuples: Tuples, risk: ScenarioRisk, hierarchies: Mapping[str, CompiledHierarchy]
) -> ScenarioRisk:
    """A declared or named scenario with its frequencies, its categories ordered as it says or as in the dictionary."""
    scenario = risk.scenario
    if scenario.origin == "generated":
        return risk
    fine = {name for name, level in scenario.columns if level == 0}
    dictionary_order = {v.name: tuple(code for code, _ in v.value_labels) for v in data.variables if v.name in fine}
    ordered = replace(scenario, categories={**dictionary_order, **scenario.categories})
    return replace(risk, table=frequency_table(tuples, ordered, hierarchies))


def _refuse_tables(data: OpenTable, scenarios: Sequence[Scenario]) -> None:
    """Tables list categories: only those asked for by name, and never the values of a direct identifier."""
    explicit = [scenario for scenario in scenarios if scenario.origin != "generated"]
    if not explicit:
        raise TableNeedsScenario()
    direct = {variable.name for variable in data.variables if variable.role == Role.IDENTIFIER}
    identifiers = [name for scenario in explicit for name in scenario.variables if name in direct]
    if identifiers:
        raise TableOfIdentifiers(variables=", ".join(dict.fromkeys(identifiers)))


def hierarchies_for(data: OpenTable, tuples: Tuples, scenarios: Sequence[Scenario]) -> dict[str, CompiledHierarchy]:
    """The hierarchies of the variables that a scenario wants coarser; each must have the level."""
    levels = [(name, level) for scenario in scenarios for name, level in scenario.columns if level != 0]
    if not levels:
        return {}
    if data.project is None:
        raise LevelNeedsProject(variable=levels[0][0])
    variables = {variable.name: variable for variable in data.variables}
    narrow, _ = project(tuples, list(dict.fromkeys(name for name, _ in levels)))
    compiled = compiled_hierarchies(narrow, variables, project_hierarchies(data), data.project.folder)
    for name, level in levels:
        level_range(compiled[name], level, level)
    return compiled


def scenarios_for(data: OpenTable, request: ScenarioRequest) -> tuple[Scenario, ...]:
    """The scenarios of a request over an opened table, each once."""
    common = THRESHOLD if request.threshold is None else threshold_of(request.threshold)
    explicit = [read_scenario(spec, common, "named") for spec in request.scenarios] or _declared_scenarios(data, common)
    for scenario in explicit:
        _refuse_wrong_names(data, scenario)
    generated = _generated_scenarios(data, request, common, bool(explicit))
    unique: dict[tuple[frozenset[tuple[str, int]], Fraction], Scenario] = {}
    for scenario in (*explicit, *generated):
        unique.setdefault((frozenset(scenario.columns), scenario.threshold), scenario)
    return tuple(unique.values())


def analysed_scenarios(data: OpenTable) -> tuple[Scenario, ...]:
    """The scenarios of the risk report of a project: the declared ones, or its quasi-identifiers; none without any."""
    try:
        return scenarios_for(data, ScenarioRequest())
    except NoScenario:
        return ()


def read_scenario(spec: str | Sequence[str] | Mapping[str, Any], common: Fraction, origin: str) -> Scenario:
    settings: dict[str, Any] = dict(spec) if isinstance(spec, Mapping) else {"variables": spec}
    if isinstance(settings.get("variables"), str):
        settings["variables"] = [name.strip() for name in settings["variables"].split(",")]
    _refuse_wrong_keys(settings)
    return Scenario(
        variables=tuple(settings.get("variables", ())),
        threshold=threshold_of(settings["threshold"]) if "threshold" in settings else common,
        levels=dict(settings.get("levels", {})),
        categories={name: tuple(values) for name, values in settings.get("categories", {}).items()},
        origin=origin,
    )


def _refuse_wrong_keys(settings: Mapping[str, Any]) -> None:
    for key, value in settings.items():
        if key not in SCENARIO:
            raise ValueOutOfRange(parameter="scenario", given=key, allowed=", ".join(SCENARIO))
        if not SCENARIO[key].accepts(value):
            raise ValueOutOfRange(parameter=key, given=value, allowed=SCENARIO[key].expected_text)


def _declared_scenarios(data: OpenTable, common: Fraction) -> list[Scenario]:
    if data.project is None:
        return []
    return [read_scenario(spec, common, "declared") for spec in data.project.settings.get("scenarios", [])]


def _refuse_wrong_names(data: OpenTable, scenario: Scenario) -> None:
    data.table.schema.checked_names(scenario.variables, "--scenario")
    for name in (*scenario.levels, *scenario.categories):
        if name not in scenario.variables:
            raise SettingOutsideScenario(variable=name, scenario=", ".join(scenario.variables))


def _generated_scenarios(
    data: OpenTable, request: ScenarioRequest, common: Fraction, has_explicit: bool
) -> Iterator[Scenario]:
    """All combinations up to the size asked for; with nothing said at all, everything together and every pair."""
    if request.all_combinations is None and has_explicit:
        return iter(())
    names = _candidates(data, request)
    if not names:
        raise NoScenario()
    if request.all_combinations is not None:
        combinations = list(_combinations(names, request.all_combinations))
    else:
        combinations = [names, *(_combinations(names, 2) if len(names) > 1 else ())]
    return (Scenario(variables, common, origin="generated") for variables in combinations)


def _candidates(data: OpenTable, request: ScenarioRequest) -> tuple[str, ...]:
    """The variables to combine, in the order of the table: those named, or the quasi-identifiers of the dictionary."""
    direct = {v.name for v in data.variables if v.role == Role.IDENTIFIER and request.identifiers}
    if not request.quasi:
        combined = {*dictionary.combined_quasi(data.variables), *direct}
        return tuple(v.name for v in data.variables if v.name in combined)
    chosen = data.table.schema.checked_names(request.quasi, "--quasi")
    return tuple(dict.fromkeys([*chosen, *(v.name for v in data.variables if v.name in direct)]))


def _combinations(names: Sequence[str], widest: int) -> Iterator[tuple[str, ...]]:
    if isinstance(widest, bool) or not isinstance(widest, int) or widest < 2:
        allowed = messages.text("risk.accepted_size")
        raise ValueOutOfRange(parameter="--all-combinations", given=widest, allowed=allowed)
    if widest > len(names):
        raise CombinationTooWide(asked=widest, variables=len(names))
    many = sum(math.comb(len(names), size) for size in range(2, widest + 1))
    if many > MOST_SCENARIOS:
        raise TooManyScenarios(scenarios=many, limit=MOST_SCENARIOS)
    return combinations_up_to(names, widest)
