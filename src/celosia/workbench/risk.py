"""The risk of a project: saved reports computed on the working copy, declared scenarios, the printed report.

Knows which computation gives each figure, what was asked, and what a report was made from. Ignores how figures are
counted. Reports hold names of variables, counts and shares; only `risk_table`, asked for by name, lists categories.
Levels and categories of a scenario that somebody wrote by hand stay as they are.
Sources: ATENEA G3_DE 4.2.3 (scenarios, informe de riesgos), 4.2.5 (again after treatment); MEL IV.2.b and note 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from celosia.model import dictionary
from celosia.model.plan import digest_of
from celosia.model.reports.geography import MINIMUM
from celosia.model.reports.overview import Exposed, RiskOverview
from celosia.model.reports.scenarios import (
    THRESHOLD,
    Scenario,
    ScenarioReport,
    largest_at_risk,
    scenario_report_from,
    threshold_of,
)
from celosia.model.reports.special_uniques import Scoring
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Kind, Role, Treatment, Variable
from celosia.pipeline.assessment.individual_risk import people_risk
from celosia.pipeline.assessment.on_files import sensitive_of_project
from celosia.pipeline.assessment.scenario_risk import ScenarioRequest, scenario_risk_table
from celosia.pipeline.assessment.special_uniques import geography_rule, special_uniques
from celosia.pipeline.candidate.closing_evaluation import closing_evaluation
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.declared_scenarios import declare_scenarios, note_risk
from celosia.pipeline.project.edits import edit_settings
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.pipeline.project.saved_reports import save_report, saved_report
from celosia.pipeline.release.documents import FORMATS, project_scenarios, render
from celosia.risk.measures import measure
from celosia.risk.overview import linkable, single_value, size_bands
from celosia.risk.scenarios import scenario_report
from celosia.storage import PRIVATE_FILE, atomic_write, make_private_folder
from celosia.tuples.finer import tuples_with_each
from celosia.workbench.views.risk import (
    AfterFigures,
    GeographyFigures,
    OverviewFigures,
    PeopleFigures,
    RiskCriterion,
    RiskView,
    ScenarioLine,
    ScenarioList,
    SpecialFigures,
)
from celosia.workbench.views.saved import Saved, saved_report_of

FORMAT = "celosia/risk-kept/1"
DOCUMENT = "atenea_risk"
SHOWN = 60  # scenarios, and lines of a table, that a page is given
_NAMED = 3  # ATENEA's criterion is written 0.3, and reaches the combinations of up to three units
T = TypeVar("T")


# --- what is known --------------------------------------------------------------------------------


def risk_state(source: ProjectArg) -> RiskView:
    """What is known of a project's risk without counting anything: roles, declared scenarios, saved reports."""
    project = open_project(source)
    variables = project.variables
    return RiskView(
        digest=project.settings_digest,
        household=project.config.household,
        variables=tuple(variable.name for variable in variables),
        quasi=dictionary.combined_quasi(variables),
        places=tuple(places(variables)),
        identifiers=tuple(sorted(_names_of(variables, Role.IDENTIFIER))),
        scenarios=tuple(_declared_scenario(declared) for declared in project.settings.get("scenarios", [])),
        candidate=project.paths.candidate.data.is_file(),
        request=project.paths.request.is_file(),
        overview=_saved_report(project, "risk_overview", OverviewFigures),
        ordered=_saved_report(project, "risk_scenarios", ScenarioList),
        table=_saved_report(project, "risk_table", ScenarioList),
        people=_saved_report(project, "risk_people", PeopleFigures),
        special=_saved_report(project, "risk_special", SpecialFigures),
        geography=_saved_report(project, "risk_geography", GeographyFigures),
        after=_saved_report(project, "risk_after", AfterFigures),
    )


def _names_of(variables: Sequence[Variable], role: Role) -> tuple[str, ...]:
    return tuple(variable.name for variable in variables if variable.role == role)


def places(variables: Sequence[Variable]) -> list[str]:
    """The variables of a dictionary that inform about a place and do not identify by themselves."""
    return [v.name for v in variables if v.kind == Kind.LOCATION and v.role != Role.IDENTIFIER]


def _declared_scenario(declared: Mapping[str, Any]) -> ScenarioLine:
    """A declared scenario without its categories: those may be values of the file."""
    threshold = threshold_of(declared["threshold"]) if "threshold" in declared else THRESHOLD
    criterion = RiskCriterion(str(threshold), largest_at_risk(threshold))
    return ScenarioLine(tuple(declared["variables"]), dict(declared.get("levels", {})), criterion)


def _saved_report(project: Project, name: str, kind: type[T]) -> Saved[T] | None:
    """A saved report, when it was made, and whether something it was made from changed since."""
    saved = saved_report(project, name)
    if saved is None or saved.document.get("format") != FORMAT:
        return None
    document = saved.document
    stale = document["basis"] != basis(project, name)
    return saved_report_of(kind, _shorten(document["found"]), saved.when, stale, document["asked"])


def _shorten(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The first scenarios, and the first lines of their tables; `listed` says how many there are."""
    if "scenarios" not in figures:
        return dict(figures)
    scenarios = [dict(scenario) for scenario in figures["scenarios"][:SHOWN]]
    for scenario in scenarios:
        if "table" in scenario:
            lines = scenario["table"]["lines"]
            scenario["table"] = {**scenario["table"], "lines": lines[:SHOWN], "listed": len(lines)}
    return {**figures, "scenarios": scenarios, "listed": len(figures["scenarios"])}


def basis(project: Project, name: str) -> str:
    """The digest of what a report of risk was made from; labels, purposes and policies change no figure."""
    document = project.settings
    parts: dict[str, Any] = {
        "source": project.config.source.digest,
        "unit": [project.config.person, project.config.household],
        "variables": [_description(variable) for variable in project.variables],
        "hierarchies": repr(document.get("hierarchies", {})),  # TOML has dates, JSON has none
    }
    if name in ("risk_scenarios", "risk_table"):
        parts["scenarios"] = repr(document.get("scenarios", []))
    if name == "risk_after":
        parts["candidate"] = digest_of_file(project.paths.candidate.verdict)
    return digest_of(parts)


def _description(variable: Variable) -> list[Any]:
    kind = None if variable.kind is None else str(variable.kind)
    role = None if variable.role is None else str(variable.role)
    combined = variable.treatment != Treatment.REMOVE
    return [variable.name, role, kind, list(variable.missing), list(variable.unknown), combined]


# --- reports --------------------------------------------------------------------------------------


def risk_overview(source: ProjectArg, *, report: Progress = None, now: datetime | None = None) -> dict[str, Any]:
    """Class sizes, k, l and the three kinds of risk over the roles of the dictionary; the report is saved."""
    project = open_project(source)
    with open_table(project, report) as data:
        quasi, sensitive = dictionary.combined_quasi(data.variables), _names_of(data.variables, Role.SENSITIVE)
        chosen = data.table.schema.checked_names(quasi, "--quasi")
        progress, together = stage_progress(report, "measure"), data.table.in_process
        tuples, tables = tuples_with_each(data.table, chosen, sensitive, data.person, progress, together)
        measures = measure(tuples, tables, hierarchies=sensitive_of_project(data, tables))
        whole = scenario_report(tuples, [Scenario(quasi)]).scenarios[0]
        bands, units = size_bands(tuples), measures.rows if measures.persons is None else measures.persons
        overview = RiskOverview(
            quasi=quasi,
            measures=measures,
            bands=bands,
            threshold=THRESHOLD,
            at_risk=Exposed(whole.at_risk, whole.share),
            singling_out=Exposed(bands[0].units, bands[0].units / units if units else 0.0),
            linkability=linkable(tuples),
            inference={name: single_value(table, units) for name, table in tables.items()},
        )
    return _save(project, "risk_overview", {}, overview.as_dict(), now)


def risk_scenarios(
    source: ProjectArg,
    scenarios: Sequence[str | Sequence[str] | Mapping[str, Any]] = (),
    all_combinations: int | None = None,
    at_most: float | None = None,
    variables: Sequence[str] = (),
    identifiers: bool = False,
    *,
    report: Progress = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """The ordered scenarios of a project: declared, named here, or all combinations; the report is saved.

    `at_most` is the criterion in whole numbers: the largest group whose members are at risk. `variables` are those
    to combine, in place of the quasi-identifiers.
    """
    threshold = None if at_most is None else threshold_for(at_most)
    asked = {
        "scenarios": [dict(scenario) if isinstance(scenario, Mapping) else scenario for scenario in scenarios],
        "all_combinations": all_combinations,
        "threshold": threshold,
        "variables": list(variables),
        "identifiers": identifiers,
    }
    project = open_project(source)
    request = ScenarioRequest(tuple(scenarios), all_combinations, threshold, tuple(variables), identifiers)
    with open_table(project, report) as data:
        counted = scenario_risk_table(data, request, report=report)
    note_risk(project, (risk.scenario for risk in counted.scenarios), now)
    return _save(project, "risk_scenarios", asked, counted.as_dict(), now)


def risk_table(
    source: ProjectArg,
    variables: Sequence[str],
    at_most: float | None = None,
    *,
    report: Progress = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """The frequency and RI of every combination of a scenario's categories, in ATENEA's layout; the report is saved.

    It names categories, so direct identifiers are refused, and it stays in the private folder. A declared scenario of
    the same variables lends its levels and the order of its categories.
    """
    threshold = None if at_most is None else threshold_for(at_most)
    project = open_project(source)
    declared = project.settings.get("scenarios", [])
    same = next((dict(scenario) for scenario in declared if set(scenario["variables"]) == set(variables)), {})
    scenario = same | {"variables": list(variables)} | ({} if threshold is None else {"threshold": threshold})
    with open_table(project, report) as data:
        counted = scenario_risk_table(data, ScenarioRequest((scenario,)), table=True, report=report)
    asked = {"variables": list(variables), "threshold": threshold}
    return _save(project, "risk_table", asked, counted.as_dict(), now)


def threshold_for(at_most: float) -> str:
    """The criterion that puts groups of up to so many units at risk: 0.3 for three, as ATENEA writes it, else 1/f."""
    if isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 1:
        raise ValueOutOfRange(parameter="at_most", given=at_most, allowed="≥ 1")
    return "0.3" if at_most == _NAMED else f"1/{at_most}"


def risk_people(
    source: ProjectArg,
    variables: Sequence[str] | None = None,
    weight: str | None = None,
    household: str | None = None,
    fraction: float | None = None,
    *,
    report: Progress = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Individual and global risk, and the three attackers; the report is saved. By default the project's household."""
    project = open_project(source)
    household = household or project.config.household
    asked = {"variables": _list_of(variables), "weight": weight, "household": household, "fraction": fraction}
    with open_table(project, report) as data:
        people = people_risk(data, variables, weight, household, fraction=fraction, report=report)
    return _save(project, "risk_people", asked, people.as_dict(), now)


def risk_special(
    source: ProjectArg,
    variables: Sequence[str] | None = None,
    max_size: int | None = None,
    scoring: str = Scoring.ORIGINAL,
    *,
    report: Progress = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Rows that few variables single out, as counts and scores by variable; the report is saved."""
    project = open_project(source)
    asked = {"variables": _list_of(variables), "max_size": max_size, "scoring": str(scoring)}
    with open_table(project, report) as data:
        special = special_uniques(data, variables, max_size, scoring, report=report)
    return _save(project, "risk_special", asked, special.as_dict(), now)


def risk_geography(
    source: ProjectArg,
    variables: Sequence[str] | None = None,
    minimum: int = MINIMUM,
    unit: str | None = None,
    members: str | None = None,
    *,
    report: Progress = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """The rule of more than `minimum` units on each place of the dictionary, or those named; the report is saved."""
    project = open_project(source)
    asked = {"variables": _list_of(variables), "minimum": minimum, "unit": unit, "members": members}
    progress, reports = stage_progress(report, "measure"), []
    with open_table(project, report) as data:
        names = places(data.variables) if variables is None else list(variables)
        chosen = data.table.schema.checked_names(names, "variables")
        for number, name in enumerate(chosen, start=1):
            reports.append(geography_rule(data, name, minimum, unit, members).as_dict())
            progress(number / len(chosen))
    return _save(project, "risk_geography", asked, {"variables": reports}, now)


def risk_after(source: ProjectArg, *, report: Progress = None, now: datetime | None = None) -> dict[str, Any]:
    """The first risk analysis beside the same on the present candidate (ATENEA 4.2.5); the report is saved."""
    project = open_project(source)
    closing = closing_evaluation(project, report=report).as_dict()
    return _save(project, "risk_after", {}, {"risk": closing["risk"], "candidate": closing["candidate"]}, now)


def _save(
    project: Project, name: str, asked: Mapping[str, Any], figures: Mapping[str, Any], now: datetime | None
) -> dict[str, Any]:
    document = {"format": FORMAT, "asked": dict(asked), "basis": basis(project, name), "found": dict(figures)}
    save_report(project, name, document, now=utc_now(now))
    return document


def _list_of(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)


# --- declared scenarios ---------------------------------------------------------------------------


def add_scenario(
    source: ProjectArg,
    variables: Sequence[str],
    at_most: float | None = None,
    *,
    expected: str | None = None,
    now: datetime | None = None,
) -> int:
    """Declare a scenario in celosia.toml with its criterion in whole numbers; give how many there are."""
    threshold = None if at_most is None else threshold_for(at_most)
    return declare_scenarios(source, [variables], threshold, expected=expected, now=now)


def remove_scenario(
    source: ProjectArg, number: int, *, expected: str | None = None, now: datetime | None = None
) -> int:
    """Take a declared scenario out of celosia.toml, by its number from 1; give how many are left."""
    project = open_project(source)
    with edit_settings(project, expected) as document:
        listed: Any = document.get("scenarios", [])
        if not 1 <= number <= len(listed):
            raise ValueOutOfRange(parameter="number", given=number, allowed=f"1–{len(listed)}")
        del listed[number - 1]
        count = len(listed)
        if not count:
            document.remove("scenarios")
    _journal.append_entry(project.paths.journal, "scenarios", utc_now(now), {"scenarios": count})
    return count


# --- the printed report ---------------------------------------------------------------------------


def write_risk_document(source: ProjectArg, form: str = "pdf", *, now: datetime | None = None) -> Path:
    """The risk report in ATENEA's layout, from the saved scenarios while they hold, else counted again; its path."""
    if form not in FORMATS:
        raise ValueOutOfRange(parameter="format", given=form, allowed=", ".join(FORMATS))
    from celosia.dossier.atenea import risk_document

    project = open_project(source)
    document = risk_document(_scenario_report(project), project.config.language)
    path = make_private_folder(project.paths.internal_dossier) / f"{DOCUMENT}.{form}"
    with atomic_write(path, PRIVATE_FILE) as draft:
        draft.write_bytes(render(document, form, utc_now(now)))
    return path


def _scenario_report(project: Project) -> ScenarioReport:
    saved = saved_report(project, "risk_scenarios")
    if saved is None or saved.document.get("format") != FORMAT:
        return project_scenarios(project)
    if saved.document["basis"] != basis(project, "risk_scenarios"):
        return project_scenarios(project)
    return scenario_report_from(saved.document["found"])
