"""What a project and its candidate offer for judging the rules; each part may be absent, and then cannot be measured.

Knows where things are kept, a written file and, inside the institution, the person of each row. Ignores rules. At a
release on another machine only the file's own parts exist. Columns are judged by their values alone, under neutral
names, since the dictionary answers for their names. Figures are counts and names of columns, never a cell.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from celosia import messages
from celosia.data.candidate import CountableFile, ReadBack, read_back
from celosia.model.paths import CandidatePaths
from celosia.model.people import Approval, Person
from celosia.model.plan import Plan
from celosia.model.reports.scenarios import THRESHOLD, Scenario
from celosia.model.requests import Request
from celosia.model.variables import MelLabel, Role, Scale, Variable
from celosia.model.verdict import VERDICT_FORMAT, CheckReport, State, Verdict
from celosia.pipeline.assessment.errors import NoCandidate
from celosia.pipeline.assessment.scenario_risk import read_scenario
from celosia.pipeline.candidate.approvals import valid_approvals, who_ran
from celosia.pipeline.candidate.claims import Claims, read_claims
from celosia.pipeline.candidate.errors import CandidateChanged
from celosia.pipeline.candidate.intruder_evidence import AttackRecord, recorded_attacks
from celosia.pipeline.intake.proposed_dictionary import column_facts
from celosia.pipeline.planning.households import fully_masked
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.pseudonym_keys import keys_present
from celosia.pipeline.project.roster import signed_people
from celosia.proposals.propose import suggest
from celosia.risk import geography
from celosia.storage import temporary_folder_beside
from celosia.tuples.table import person_counts

_NONE: Mapping[str, Any] = MappingProxyType({})
_COUNTS = (
    "rows",
    "classes",
    "suppressed_rows",
    "otherwise_masked_rows",
    "single_classes",
)  # of a verdict, always known
_APPROVED = ("dictionary", "plan", "residual", "intruder", "findings", "candidate")


@dataclass(frozen=True, slots=True)
class ScenarioFigure:
    """One risk scenario on the published file: the smallest combination, and the units below what is asked."""

    variables: tuple[str, ...]
    threshold: Fraction
    sizes: tuple[tuple[int, int], ...]  # size of a combination -> how many units lie in such, up to what can matter
    smallest: int | None

    def at_risk(self, threshold: Fraction) -> int:
        """Units whose 1/f reaches the threshold, decided in whole numbers."""
        return sum(units for size, units in self.sizes if size * threshold.numerator <= threshold.denominator)


@dataclass(frozen=True, slots=True)
class FileFigures:
    """The figures of one published file; `unit` says what was counted."""

    rows: int
    unit: str
    identifiers: tuple[str, ...] = ()
    free_text: tuple[str, ...] = ()
    scenarios: tuple[ScenarioFigure, ...] = ()
    areas: Mapping[str, int | None] = field(default_factory=lambda: _NONE)  # smallest category of each geography
    masked: Mapping[str, int] = field(default_factory=lambda: _NONE)  # rows that show no value of a sensitive attribute


def published_figures(
    data: Path,
    plan: Plan,
    published: Sequence[Variable],
    scenarios: Sequence[Scenario],
    order: Path | None,
    scratch: Path,
    rows: int,
) -> FileFigures:
    """Read a published file of about `rows` rows and measure what the rules ask; `order` is the list of persons."""
    with contextlib.ExitStack() as stack:
        try:
            again = stack.enter_context(read_back(data, scratch, order, None, rows))
        except (ValueError, LookupError):  # an order of another length; a damaged one is pyarrow's own ValueError
            raise CandidateChanged(path=str(order), reason=messages.text("release.reason.order")) from None
        return _measure_file(again, plan, published, scenarios)


def _measure_file(
    again: ReadBack, plan: Plan, published: Sequence[Variable], scenarios: Sequence[Scenario]
) -> FileFigures:
    table, names, person = again.table, again.names, again.person
    links = plan.policy.get("links", ())
    identifiers, texts = _suspects(table, [name for name in names if name not in links])
    geographic = [v for v in published if v.mel_label == MelLabel.GEOGRAPHIC and v.name in names]
    return FileFigures(
        rows=again.rows,
        unit="persons" if person else "rows",
        identifiers=identifiers,
        free_text=texts,
        scenarios=tuple(_scenario_figure(table, s, person) for s in _measured_scenarios(scenarios, plan, names)),
        areas={variable.name: _smallest_area(table, variable, person) for variable in geographic},
        masked={name: _masked_rows(table, name) for name in plan.policy["sensitive"] if name in names},
    )


def _suspects(table: CountableFile, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns whose values are identifiers, and columns of free text; numbers of households are ours, and not named."""
    facts = column_facts(table, names)
    neutral = [replace(column, name=f"x{position}") for position, column in enumerate(facts)]
    suggestions = list(zip((column.name for column in facts), suggest(neutral), strict=True))
    texts = tuple(name for name, variable in suggestions if variable.scale == Scale.FREE_TEXT)
    return tuple(n for n, variable in suggestions if variable.role == Role.IDENTIFIER and n not in texts), texts


def _measured_scenarios(scenarios: Sequence[Scenario], plan: Plan, names: Sequence[str]) -> list[Scenario]:
    """What of each scenario is published, at the detail that is published.

    Without declared scenarios, all quasi-identifiers at once: no part of them can show a smaller combination.
    """

    def published_part(variables: Sequence[str], threshold: Fraction) -> list[Scenario]:
        present = tuple(name for name in variables if name in names)
        return [Scenario(present, threshold)] if present else []

    declared = [part for scenario in scenarios for part in published_part(scenario.variables, scenario.threshold)]
    return declared or published_part(plan.policy["quasi"], THRESHOLD)


def _scenario_figure(table: CountableFile, scenario: Scenario, person: str | None) -> ScenarioFigure:
    tuples = table.tuples(scenario.variables, person)
    shown = person_counts(tuples)[~fully_masked(tuples)]
    sizes, how_many = np.unique(shown, return_counts=True)
    units = [(int(size), int(size) * int(many)) for size, many in zip(sizes, how_many, strict=True)]
    smallest = int(shown.min()) if len(shown) else None
    return ScenarioFigure(scenario.variables, scenario.threshold, tuple(units), smallest)


def _masked_rows(table: CountableFile, name: str) -> int:
    tuples = table.tuples((name,))
    return int(tuples.rows[fully_masked(tuples)].sum())


def _smallest_area(table: CountableFile, variable: Variable, person: str | None) -> int | None:
    areas = geography.areas_by_level(table.tuples((variable.name,), person))[0]
    return geography.judge_level(0, areas, 0, variable.unknown).smallest


# --- the project ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RuleContext:
    """Everything a measure may look at; None is what is not there."""

    variables: tuple[Variable, ...] | None = None  # the dictionary
    published: tuple[Variable, ...] | None = None  # its published part, under the published names
    plan: Plan | None = None
    check: CheckReport | None = None
    figures: FileFigures | None = None
    request: Request | None = None
    no_sensitive_attribute: str = ""  # why nothing that is published is sensitive, as the head states it
    source_rows: int | None = None
    keys: tuple[str, ...] | None = None  # steps with a key or codebook still kept
    approvals: Mapping[str, Sequence[Approval]] | None = None  # what -> the valid ones
    people: tuple[Person, ...] | None = None
    ran: tuple[str, ...] = ()  # names that the journal has for executing
    claims: Claims | None = None
    attacks: AttackRecord | None = None  # by computation, on this candidate
    closing: Mapping[str, bool] | None = None  # property checked -> preserved
    contrast: Mapping[str, bool] | None = None  # variable -> equal in both bases
    signatures: Sequence[Approval] | None = None  # valid ones over the manifest
    publication: Mapping[str, Any] | None = None  # consultation, publication_date, update_period
    delivery: tuple[str, ...] | None = None  # data files delivered
    statistics: Mapping[str, int] | None = None  # measure -> how many break it, from the statistics


def original_names(plan: Plan) -> dict[str, str]:
    """Published name -> the name its variable has in the source."""
    sources = {}
    for name in plan.published:
        old = name
        for change in reversed(plan.changes):
            old = change.get("renamed", {}).get(old, old)
        sources[name] = old
    return sources


def published_variables(variables: Sequence[Variable], plan: Plan) -> tuple[Variable, ...]:
    """The dictionary's lines of the published columns; free text that a step turned into something else is none."""
    known = {variable.name: variable for variable in variables}
    changed = {name for change in plan.changes for name in change.get("cells_touched", ())}
    lines = []
    for name, old in original_names(plan).items():
        line = replace(known.get(old, Variable(old)), name=name)
        was_text = line.scale == Scale.FREE_TEXT and name in changed
        lines.append(replace(line, scale=Scale.CATEGORICAL) if was_text else line)
    return tuple(lines)


def declared_scenarios(project: Project, plan: Plan) -> tuple[Scenario, ...]:
    """The scenarios of celosia.toml under the published names."""
    published_name = {old: new for new, old in original_names(plan).items()}
    scenarios = [read_scenario(data, THRESHOLD, "declared") for data in project.settings.get("scenarios", ())]
    return tuple(Scenario(tuple(published_name.get(n, n) for n in s.variables), s.threshold) for s in scenarios)


def context_of(project: Project, plan: Plan, check: CheckReport, candidate: CandidatePaths) -> RuleContext:
    """What a project offers; `candidate` is the folder of the candidate and, in the institution, of its persons."""
    variables = project.variables
    published = published_variables(variables, plan)
    order = candidate.order if candidate.order.exists() else None
    scenarios = declared_scenarios(project, plan)
    with temporary_folder_beside(project.paths.working_copy) as scratch:
        figures = published_figures(candidate.data, plan, published, scenarios, order, scratch, check.rows)
    return RuleContext(
        variables=variables,
        published=published,
        plan=plan,
        check=check,
        figures=figures,
        request=project.request,
        no_sensitive_attribute=statement_in(project.request),
        source_rows=project.config.source.rows,
        keys=keys_present(project),
        approvals={what: valid_approvals(project, what) for what in _APPROVED} if project.approvals else {},
        people=signed_people(project.roster, project.people),
        ran=tuple(who_ran(project)),
        claims=read_claims(project.paths.claims),
        attacks=recorded_attacks(project, check.digest),
    )


def statement_in(request: Request | None) -> str:
    """The head's statement that nothing published is a sensitive attribute; empty where there is none."""
    return str(request.item("minsal.no_sensitive_attribute") or "").strip() if request is not None else ""


def read_check(candidate: CandidatePaths) -> CheckReport:
    """The verdict beside a candidate."""
    try:
        return _check_from(json.loads(candidate.verdict.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        raise NoCandidate(path=str(candidate.folder)) from None


def _check_from(document: Any) -> CheckReport:
    if document["format"] != VERDICT_FORMAT or not all(isinstance(document[name], int) for name in _COUNTS):
        raise KeyError
    verdicts = tuple(Verdict(**{**verdict, "state": State(verdict["state"])}) for verdict in document["verdicts"])
    values = {name: document[name] for name in CheckReport.__slots__ if name != "verdicts"}
    return CheckReport(**values, verdicts=verdicts)
