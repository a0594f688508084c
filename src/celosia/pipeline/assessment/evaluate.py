"""`evaluate`: two files, or a project's source and its candidate, compared: loss, preserved properties, residual risk.

Knows how both are opened and which columns they share. Ignores how samples are compared (package `evaluation`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from celosia.evaluation.compare import ComparisonRequest, compare
from celosia.evaluation.properties import ALPHA, DEFAULT, TOLERANCE, PropertyRequest, PropertyRules, parse_property
from celosia.evaluation.sample import Sample
from celosia.model.errors import UnknownVariable
from celosia.model.plan import Plan, policy_from
from celosia.model.reports.evaluation import EvaluationReport, FileFacts, RiskComparison
from celosia.model.reports.scenarios import THRESHOLD, Scenario, threshold_of
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Scale, Variable
from celosia.pipeline.assessment.corresponding_rows import corresponding_rows
from celosia.pipeline.assessment.errors import CandidateOfOtherPlan, NoCandidate, NoCommonColumn
from celosia.pipeline.assessment.evaluation_risk import (
    declared_shares,
    open_released_persons,
    risk_side,
    scenario_shares,
    search_metrics,
)
from celosia.pipeline.assessment.evaluation_samples import CommonColumns, FileColumns, make_samples
from celosia.pipeline.assessment.frame_kinds import remember_frame_kind
from celosia.pipeline.assessment.scenario_risk import read_scenario
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.project.arguments import check_arguments, column_names
from celosia.pipeline.project.folder import Project, names_project
from celosia.pipeline.project.progress import Progress, stage_progress

NUMERIC_PROPERTIES = ("total", "mean", "variance", "minimum", "maximum", "median", "quantiles", "correlation", "trend")
_TOLERANCES = "0.05; mean=0.01"
_CANDIDATE = {"format": "csv", "encoding": "utf-8", "delimiter": ",", "quote": '"', "header": True}


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """What the caller asks of the comparison."""

    keep: tuple[PropertyRequest, ...]
    rules: PropertyRules
    variables: tuple[str, ...] = ()
    match: Mapping[str, str] | None = None  # new name → old name
    weights: str | None = None
    key: str | None = None
    quasi: tuple[str, ...] = ()
    contrast: tuple[str, ...] = ()
    threshold: Fraction = THRESHOLD


@dataclass(frozen=True, slots=True)
class FilePair:
    """Both files, open, and the plan behind the second where it is a project's candidate."""

    before: OpenTable
    after: OpenTable
    plan: Plan | None = None
    order: Path | None = None  # the person of each row, where the institution knows it


@check_arguments
@remember_frame_kind
def evaluate(
    before: Any,
    after: Any = None,
    *,
    keep: str | Sequence[str] = (),
    tolerance: Sequence[str] | str | float = (),
    variables: str | Sequence[str] = (),
    match: Mapping[str, str] | None = None,
    weights: str | None = None,
    key: str | None = None,
    quasi: str | Sequence[str] = (),
    contrast: str | Sequence[str] = (),
    period: str | None = None,
    alpha: float = ALPHA,
    threshold: Any = THRESHOLD,
    report: Progress = None,
    **reading: Any,
) -> EvaluationReport:
    """What a release lost, what it preserves and how exposed it leaves people; `before` alone is a project."""
    properties = tuple(parse_property(text) for text in (column_names("keep", keep) or DEFAULT))
    common, by_property = _tolerances(tolerance)
    request = EvaluationRequest(
        keep=properties,
        rules=PropertyRules(common, by_property, alpha, period, must_apply=bool(keep)),
        variables=column_names("variables", variables),
        match=match,
        weights=weights,
        key=key,
        quasi=column_names("quasi", quasi),
        contrast=column_names("contrast", contrast),
        threshold=threshold_of(threshold),
    )
    with open_pair(before, after, report, reading) as pair:
        return evaluate_pair(pair, request, report)


@contextlib.contextmanager
def open_pair(before: Any, after: Any, report: Progress, reading: Mapping[str, Any]) -> Iterator[FilePair]:
    """Both files, open; a project alone is its source and its candidate."""
    # Of the choices for a file, a project accepts where it is counted.
    counting = {key: reading[key] for key in ("engine", "memory") if key in reading}
    with contextlib.ExitStack() as stack:

        def enter(source: Any, **settings: Any) -> OpenTable:
            return stack.enter_context(open_table(source, report, **settings))

        first = enter(before, **(counting if names_project(before) else reading))
        project = before if after is None else after if names_project(after) else None
        if project is None:
            yield FilePair(first, enter(after, described=False, **reading))
            return
        if not names_project(project):
            raise NoCandidate(path=str(project) if isinstance(project, str | Path) else "–")
        own = first if names_project(before) else enter(project, **counting)
        assert own.project is not None
        candidate = candidate_of(own.project)
        plan = own.project.plan if names_project(before) else None
        second = enter(candidate, described=False, **candidate_reading(own))
        order = own.project.paths.candidate.order
        yield FilePair(first, second, plan, order if plan and order.exists() else None)


def candidate_of(project: Project) -> Path:
    """The candidate of a project's present plan; an error where there is none."""
    file = project.paths.candidate.data
    if not file.is_file():
        raise NoCandidate(path=str(project.folder))
    runs = project.journal.facts("run")
    if runs and project.paths.plan.is_file() and runs[-1].get("plan") != project.plan.digest:
        raise CandidateOfOtherPlan(path=str(project.folder))
    return file


def candidate_reading(source: OpenTable) -> dict[str, Any]:
    """How a candidate is read: our own CSV, with the decimal mark that its source has."""
    decimal = source.source.choices.decimal
    return {**_CANDIDATE, "decimal": decimal if decimal in (".", ",") else "."}


def evaluate_pair(pair: FilePair, request: EvaluationRequest, report: Progress = None) -> EvaluationReport:
    """The comparison of two open files."""
    columns = _common_columns(pair, request)
    question, samples = _comparison_request(pair, request, columns)
    progress = stage_progress(report, "compare")
    comparison = compare(samples[0], samples[1], question, progress)
    loss = comparison.loss
    if pair.plan is not None and set(policy_from(pair.plan.policy).quasi) <= set(pair.before.table.names):
        loss = replace(loss, search=search_metrics(pair.before, pair.after, pair.plan))
    progress(1.0)
    return EvaluationReport(
        before=_facts(pair.before),
        after=_facts(pair.after),
        equal_rows=samples[0].n_rows == samples[1].n_rows,
        variables=question.variables,
        removed=tuple(name for name in pair.before.table.names if name not in columns.common),
        added=tuple(name for name in pair.after.table.names if name not in columns.renamed.values()),
        loss=loss,
        properties=comparison.properties,
        distances=comparison.distances,
        association=comparison.association,
        propensity=comparison.propensity,
        numeric=comparison.numeric,
        contrast=comparison.contrast,
        risk=compare_risk(pair, question.quasi, columns, request.threshold, _declared_scenarios(pair)),
        distributions=comparison.distributions,
        weights=request.weights,
        key=request.key,
    )


def _common_columns(pair: FilePair, request: EvaluationRequest) -> CommonColumns:
    """Which column of the second file is which of the first."""
    before, after = pair.before.table.names, pair.after.table.names
    matches = dict(request.match or {})
    for new, old in matches.items():
        pair.after.table.schema.position(new)
        pair.before.table.schema.position(old)
    renamed = {matches.get(name, name): name for name in after}
    common = tuple(name for name in before if name in renamed)
    if not common:
        raise NoCommonColumn(before=pair.before.source.name, after=pair.after.source.name)
    return CommonColumns(common, {name: renamed[name] for name in common})


def _comparison_request(
    pair: FilePair, request: EvaluationRequest, columns: CommonColumns
) -> tuple[ComparisonRequest, tuple[Sample, Sample]]:
    special = [name for name in (request.key, request.weights, request.rules.period) if name]
    of_properties = [name for each in request.keep for name in each.variables]
    named = [*request.variables, *request.contrast, *request.quasi, *of_properties]
    for name in (*named, *special):
        if name not in columns.common:
            raise UnknownVariable(variable=name, known=", ".join(columns.common))
    chosen = request.variables or tuple(n for n in columns.common if n not in (request.key, request.weights))
    described = {variable.name: variable for variable in pair.before.variables}
    needed = tuple(dict.fromkeys([*chosen, *request.contrast, *named, *special]))
    numeric = {name for each in request.keep if each.property in NUMERIC_PROPERTIES for name in each.variables}
    numeric |= {each.variables[0] for each in request.keep if each.property == "model"}
    first = FileColumns(pair.before, needed, pair.before.source.name)
    second = FileColumns(pair.after, tuple(columns.renamed[name] for name in needed), pair.after.source.name)
    samples = make_samples(first, second, described, numeric, request.weights, strict=pair.plan is None)
    question = ComparisonRequest(
        variables=chosen,
        keep=request.keep,
        rules=request.rules,
        quasi=_quasi(pair, request, columns, described),
        key=request.key,
        contrast=request.contrast,
        labels={n: v.mel_label.value for n, v in described.items() if v.mel_label and n in columns.common},
        links=corresponding_rows((pair.before.table, pair.after.table), columns.renamed.items(), samples.tuples),
        recoded=samples.recoded,
        veiled=frozenset(veiled_variables(described)),
        files=(first.file, second.file),
    )
    return question, (samples.before, samples.after)


def _quasi(
    pair: FilePair, request: EvaluationRequest, columns: CommonColumns, described: Mapping[str, Variable]
) -> tuple[str, ...]:
    """The quasi-identifiers named, those of the plan, or those that the source seems to have."""
    if request.quasi:
        return request.quasi
    if pair.plan is not None:
        # A step may have renamed a variable.
        old_names = {new: old for old, new in columns.renamed.items()}
        return tuple(old_names[name] for name in policy_from(pair.plan.policy).quasi if name in old_names)
    return tuple(n for n in columns.common if n in described and described[n].role == Role.QUASI)


def veiled_variables(described: Mapping[str, Variable]) -> list[str]:
    """Identifiers and free text: their values identify people."""
    return [n for n, v in described.items() if v.role == Role.IDENTIFIER or v.scale == Scale.FREE_TEXT]


def compare_risk(
    pair: FilePair,
    quasi: tuple[str, ...],
    columns: CommonColumns,
    threshold: Fraction,
    scenarios: Sequence[Scenario] = (),
) -> RiskComparison | None:
    """The identification risk over the quasi-identifiers in both files; None where there is none.

    With the scenarios of a risk analysis, those are compared and no others.
    """
    if not quasi:
        return None
    key = pair.before.person
    published = tuple(columns.renamed[name] for name in quasi)
    with open_released_persons(pair.after, pair.order) as (table, person):
        person_column = person or (columns.renamed.get(key) if key else None)
        second = table.tuples(published, person_column)
        persons = (key if person_column else None, person_column)
        declared = declared_shares(pair.before, table, persons, columns.renamed, scenarios) if scenarios else ()
    # Persons are counted in both files, or rows in both.
    first = pair.before.table.tuples(quasi, persons[0])
    sides = risk_side(first, threshold), risk_side(second, threshold)
    return RiskComparison(quasi, str(float(threshold)), *sides, declared or scenario_shares(first, second, threshold))


def _declared_scenarios(pair: FilePair) -> tuple[Scenario, ...]:
    """The scenarios that the project of a pair declares."""
    project = pair.before.project if pair.plan is not None else None
    specs = project.settings.get("scenarios", ()) if project is not None else ()
    return tuple(read_scenario(spec, Fraction(THRESHOLD), "declared") for spec in specs)


def _facts(data: OpenTable) -> FileFacts:
    return FileFacts(data.source.name, data.table.count_rows(), len(data.table.names))


def _tolerances(tolerances: Sequence[str] | str | float) -> tuple[float, dict[str, float]]:
    """`0.01` for all, `mean=0.001` for one property."""
    texts = [str(tolerances)] if isinstance(tolerances, str | int | float) else list(tolerances)
    # 0,05 split at its comma would be two tolerances, and the second would allow everything.
    if sum("=" not in text for text in texts) > 1:
        raise ValueOutOfRange(parameter="tolerance", given=" ".join(texts), allowed=_TOLERANCES)
    common, by_property = TOLERANCE, {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if equals:
            by_property[parse_property(name if name not in ("model", "test") else "?").property] = _tolerance(number)
        else:
            common = _tolerance(number)
    return common, by_property


def _tolerance(text: str) -> float:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueOutOfRange(parameter="tolerance", given=text, allowed=_TOLERANCES)
    return number
