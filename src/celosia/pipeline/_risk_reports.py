"""The risk of a project as work in the background: each verb computes on the working copy and keeps its report.

Knows which verb gives each figure, what was asked, and what the report was made from. Ignores how figures are counted.
Reports hold names of variables, counts and shares; only `risk_table`, asked for by name, lists categories.
Sources: ATENEA G3_DE 4.2.3 (scenarios), 4.2.5 (again after treatment); MEL IV.2.b and note 4 (geography).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.errors import ValueOutOfRange
from celosia.model.geography import MINIMUM
from celosia.model.overview import Exposed, RiskOverview
from celosia.model.plan import digest_of
from celosia.model.scenarios import THRESHOLD, Scenario
from celosia.model.special_uniques import Scoring
from celosia.model.variables import Kind, Role, Variable
from celosia.pipeline._call import Place, moment
from celosia.pipeline._closing import closing_evaluation
from celosia.pipeline._kept import digest_of_file, keep_report
from celosia.pipeline._measure import sensitive_of_project
from celosia.pipeline._open import opened
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import open_project, read_toml
from celosia.pipeline._risk import scenario_risk_table
from celosia.pipeline._risk_people import people_risk_of
from celosia.pipeline._risk_special import geography_rule_of, special_uniques_of
from celosia.pipeline._scenarios import ScenarioRequest
from celosia.risk import measure
from celosia.risk.overview import linkable, single_value, size_bands
from celosia.risk.scenarios import scenario_report
from celosia.tuples import tuples_with

FORMAT = "celosia/risk-kept/1"
REPORTS = (
    "risk_overview", "risk_scenarios", "risk_table", "risk_people", "risk_special", "risk_geography", "risk_after",
)  # fmt: skip
_MEASURED = (Role.QUASI, Role.SENSITIVE)
_NAMED = 3  # ATENEA's criterion is written 0.3, and reaches the combinations of up to three units


def risk_overview(folder: Place, *, report: Progress = None, now: datetime | None = None) -> dict[str, Any]:
    """Class sizes, k, l and the three kinds of risk over the roles of the dictionary; the report is kept."""
    with opened(folder, report) as found:
        quasi, sensitive = (tuple(v.name for v in found.variables if v.role == role) for role in _MEASURED)
        chosen = found.table.schema.chosen(quasi, "--quasi")
        told, together = stage(report, "measure"), found.table.engine.in_process
        tuples, tables = tuples_with(found.table, chosen, sensitive, found.person, told, together)
        measured = measure(tuples, tables, hierarchies=sensitive_of_project(found, tables))
        whole = scenario_report(tuples, [Scenario(quasi)]).scenarios[0]
        bands, units = size_bands(tuples), measured.rows if measured.persons is None else measured.persons
        overview = RiskOverview(
            quasi=quasi,
            measures=measured,
            bands=bands,
            threshold=THRESHOLD,
            at_risk=Exposed(whole.at_risk, whole.share),
            singling_out=Exposed(bands[0].units, bands[0].units / units if units else 0.0),
            linkability=linkable(tuples),
            inference={name: single_value(table, units) for name, table in tables.items()},
        )
    return _kept(folder, "risk_overview", {}, overview.as_dict(), now)


def risk_scenarios(
    folder: Place,
    scenarios: Sequence[str | Sequence[str] | Mapping[str, Any]] = (),
    all_combinations: int | None = None,
    at_most: int | None = None,
    variables: Sequence[str] = (),
    identifiers: bool = False,
    *,
    report: Progress = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """The ordered scenarios of a project: declared, named here, or all combinations; the report is kept.

    `at_most` is the criterion in whole numbers: the largest group whose members are at risk. `variables` are those
    to combine, in place of the quasi-identifiers.
    """
    threshold = None if at_most is None else threshold_for(at_most)
    asked = {
        "scenarios": [dict(one) if isinstance(one, Mapping) else one for one in scenarios],
        "all_combinations": all_combinations,
        "threshold": threshold,
        "variables": list(variables),
        "identifiers": identifiers,
    }
    request = ScenarioRequest(tuple(scenarios), all_combinations, threshold, tuple(variables), identifiers)
    with opened(folder, report) as found:
        counted = scenario_risk_table(found, request, report=report)
    return _kept(folder, "risk_scenarios", asked, counted.as_dict(), now)


def risk_table(
    folder: Place,
    variables: Sequence[str],
    at_most: int | None = None,
    *,
    report: Progress = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """The frequency and RI of every combination of a scenario's categories, in ATENEA's layout; the report is kept.

    It names categories, so direct identifiers are refused, and it stays in the private folder. A declared scenario of
    the same variables lends its levels and the order of its categories.
    """
    threshold = None if at_most is None else threshold_for(at_most)
    declared = read_toml(Path(folder) / "celosia.toml").get("scenarios", [])
    same = next((dict(one) for one in declared if set(one["variables"]) == set(variables)), {})
    stated = same | {"variables": list(variables)} | ({} if threshold is None else {"threshold": threshold})
    with opened(folder, report) as found:
        counted = scenario_risk_table(found, ScenarioRequest((stated,)), table=True, report=report)
    asked = {"variables": list(variables), "threshold": threshold}
    return _kept(folder, "risk_table", asked, counted.as_dict(), now)


def threshold_for(at_most: int) -> str:
    """The criterion that puts groups of up to so many units at risk: 0.3 for three, as ATENEA writes it, else 1/f."""
    if isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 1:
        raise ValueOutOfRange(parameter="at_most", given=at_most, allowed="≥ 1")
    return "0.3" if at_most == _NAMED else f"1/{at_most}"


def risk_people(
    folder: Place,
    variables: Sequence[str] | None = None,
    weight: str | None = None,
    household: str | None = None,
    fraction: float | None = None,
    *,
    report: Progress = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Individual and global risk, and the three attackers; the report is kept. The project says its household."""
    house = household or open_project(folder).config.household
    asked = {"variables": _listed(variables), "weight": weight, "household": house, "fraction": fraction}
    with opened(folder, report) as found:
        made = people_risk_of(found, variables, weight, house, fraction=fraction, report=report)
    return _kept(folder, "risk_people", asked, made.as_dict(), now)


def risk_special(
    folder: Place,
    variables: Sequence[str] | None = None,
    max_size: int | None = None,
    scoring: str = Scoring.ORIGINAL,
    *,
    report: Progress = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Rows that few variables single out, as counts and scores by variable; the report is kept."""
    asked = {"variables": _listed(variables), "max_size": max_size, "scoring": str(scoring)}
    with opened(folder, report) as found:
        made = special_uniques_of(found, variables, max_size, scoring, report=report)
    return _kept(folder, "risk_special", asked, made.as_dict(), now)


def risk_geography(
    folder: Place,
    variables: Sequence[str] | None = None,
    minimum: int = MINIMUM,
    unit: str | None = None,
    members: str | None = None,
    *,
    report: Progress = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """The rule of more than `minimum` units on each place of the dictionary, or those named; the report is kept."""
    asked = {"variables": _listed(variables), "minimum": minimum, "unit": unit, "members": members}
    told, made = stage(report, "measure"), []
    with opened(folder, report) as found:
        names = places(found.variables) if variables is None else list(variables)
        chosen = found.table.schema.chosen(names, "variables")
        for number, name in enumerate(chosen, start=1):
            made.append(geography_rule_of(found, name, minimum, unit, members).as_dict())
            if told:
                told(number / len(chosen))
    return _kept(folder, "risk_geography", asked, {"variables": made}, now)


def risk_after(folder: Place, *, report: Progress = None, now: datetime | None = None) -> dict[str, Any]:
    """The first risk analysis beside the same on the present candidate (ATENEA 4.2.5); the report is kept."""
    closing = closing_evaluation(folder, report=report)
    found = closing.as_dict()
    return _kept(folder, "risk_after", {}, {"risk": found["risk"], "candidate": found["candidate"]}, now)


def places(variables: Sequence[Variable]) -> list[str]:
    """The variables of a dictionary that inform about a place and do not identify by themselves."""
    return [v.name for v in variables if v.kind == Kind.LOCATION and v.role != Role.IDENTIFIER]


def basis(folder: Place, name: str) -> str:
    """The digest of what a report of risk rests on; labels, purposes and policies change no figure."""
    project = open_project(folder)
    document = read_toml(Path(folder) / "celosia.toml")
    ground: dict[str, Any] = {
        "source": project.config.source.digest,
        "unit": [project.config.person, project.config.household],
        "variables": [_described(variable) for variable in project.variables()],
        "hierarchies": repr(document.get("hierarchies", {})),  # TOML knows dates, JSON does not
    }
    if name in ("risk_scenarios", "risk_table"):
        ground["scenarios"] = repr(document.get("scenarios", []))
    if name == "risk_after":
        ground["candidate"] = digest_of_file(Path(folder) / "private" / "candidate" / "verdict.json")
    return digest_of(ground)


def _described(variable: Variable) -> list[Any]:
    kind = None if variable.kind is None else str(variable.kind)
    role = None if variable.role is None else str(variable.role)
    return [variable.name, role, kind, list(variable.missing), list(variable.unknown)]


def _kept(
    folder: Place, name: str, asked: Mapping[str, Any], found: Mapping[str, Any], now: datetime | None
) -> dict[str, Any]:
    document = {"format": FORMAT, "asked": dict(asked), "basis": basis(folder, name), "found": dict(found)}
    keep_report(folder, name, document, now=moment(now))
    return document


def _listed(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)
