"""The closing evaluation: the properties that the request chose, and no others, on the extracted source and candidate.

Before is the source after its leading `select` steps, for that selection is what was asked for; every other step is a
treatment, and what it changes counts. A property that cannot be measured, or whose variable left, is not kept.
Source: ATENEA 4.2.1 and 4.2.5.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import Any

from celosia.evaluation.properties import TOLERANCE, PropertyRequest, PropertyRules, check_properties
from celosia.model.plan import Plan, digest_of
from celosia.model.reports.closing import ClosingReport
from celosia.model.reports.evaluation import PropertyCheck
from celosia.model.requests import Request
from celosia.model.variables import Scale, Variable
from celosia.pipeline.assessment.evaluate import (
    NUMERIC_PROPERTIES,
    THRESHOLD,
    FilePair,
    candidate_reading,
    compare_risk,
    veiled_variables,
)
from celosia.pipeline.assessment.evaluation_samples import CommonColumns, FileColumns, make_samples
from celosia.pipeline.assessment.scenario_risk import analysed_scenarios
from celosia.pipeline.candidate.approvals import digest_for
from celosia.pipeline.candidate.rule_context import original_names
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.planning.steps import StepContext, apply_step
from celosia.pipeline.project.edits import read_request
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.storage import PRIVATE_FILE, atomic_write, temporary_folder_beside

_NAMES = {"correlations": "correlation"}  # the request's word -> the measure's
_NUMBERS = (Scale.CONTINUOUS, Scale.DISCRETE)


@dataclass(frozen=True, slots=True)
class _Choice:
    """One property that the request chose."""

    check: str
    variables: tuple[str, ...]
    tolerance: float
    period: str | None

    @property
    def used_variables(self) -> tuple[str, ...]:
        return (*self.variables, *([self.period] if self.period else []))


def closing_evaluation(folder: ProjectArg, *, report: Progress = None) -> ClosingReport:
    """Check exactly what the request chose on the present candidate, and keep the result beside it."""
    from celosia.dossier.evaluation import residual_risk

    project = open_project(folder)
    request, digest, plan = read_request(project), digest_for(project, "candidate"), project.plan
    progress = stage_progress(report, "compare")
    with _open_files(project, plan) as pair:
        sides = _sides(pair, plan)
        choices = [_choice(entry, pair.before.variables) for entry in request.properties]
        rows = pair.before.table.count_rows(), pair.after.table.count_rows()
        checks = _check_choices(pair, sides, choices, rows)
        original = original_names(plan)
        quasi = tuple(original[name] for name in plan.policy["quasi"] if original.get(name) in sides.common)
        risk = compare_risk(pair, quasi, sides, Fraction(THRESHOLD), analysed_scenarios(pair.before))
    closing = ClosingReport(
        candidate=digest,
        request=digest_of(request.as_dict()),
        observations=_observations(*rows),
        properties=tuple(checks),
        limited=limited_in(request, plan),
        residual=residual_risk(risk),
        risk=risk,
    )
    with atomic_write(project.paths.candidate.closing, PRIVATE_FILE) as draft:
        draft.write_text(json.dumps(closing.as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8", newline="\n")
    progress(1.0)
    return closing


def stored_closing(project: Project, candidate: str, request: Request | None) -> ClosingReport | None:
    """The last closing evaluation, where it is of this candidate and of what is asked now."""
    try:
        stored = json.loads(project.paths.candidate.closing.read_text("utf-8"))
        asked = digest_of(request.as_dict()) if request is not None else ""
        if (stored["candidate"], stored["request"]) != (candidate, asked):
            return None
        checks = [PropertyCheck(**check) for check in (stored["observations"], *stored["properties"])]
        limited, residual = tuple(stored["limited"]), str(stored["residual"])
        return ClosingReport(candidate, stored["request"], checks[0], tuple(checks[1:]), limited, residual)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def limited_in(request: Request, plan: Plan) -> tuple[str, ...]:
    """Limited variables that the plan publishes all the same, under the name they have there (A30)."""
    limited = set(request.limited)
    return tuple(name for name, old in original_names(plan).items() if {name, old} & limited)


@contextlib.contextmanager
def _open_files(project: Project, plan: Plan) -> Iterator[FilePair]:
    candidate = project.paths.candidate
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open_table(project))
        extracted = stack.enter_context(_apply_selection(project, source, plan))
        after = stack.enter_context(open_table(candidate.data, None, False, **candidate_reading(source)))
        yield FilePair(extracted, after, plan, candidate.order if candidate.order.exists() else None)


@contextlib.contextmanager
def _apply_selection(project: Project, source: OpenTable, plan: Plan) -> Iterator[OpenTable]:
    """The source after the selection that was asked for."""
    selections = list(takewhile(lambda step: step["technique"] == "select", plan.steps))
    with temporary_folder_beside(project.paths.working_copy) as scratch:
        for number, step in enumerate(selections, start=1):
            context = StepContext(project.paths, scratch, f"{number}-select", b"", fresh=False)
            source, _ = apply_step(source, step, context)
        yield source


def _sides(pair: FilePair, plan: Plan) -> CommonColumns:
    published_name = {old: new for new, old in original_names(plan).items()}
    after = pair.after.table.names
    common = tuple(name for name in pair.before.table.names if published_name.get(name) in after)
    return CommonColumns(common, {name: published_name[name] for name in common})


def _choice(asked: Mapping[str, Any], described: Sequence[Variable]) -> _Choice:
    name, variables = str(asked["property"]), tuple(asked.get("variables", ()))
    if name == "significance":  # a regression where the outcome is a number, else a test of two categories
        scales = {variable.name: variable.scale for variable in described}
        name = "model" if len(variables) > 2 or scales.get(variables[0]) in _NUMBERS else "test"
    tolerance = float(asked["tolerance"]) if "tolerance" in asked else TOLERANCE
    return _Choice(_NAMES.get(name, name), variables, tolerance, asked.get("period") or None)


def _check_choices(
    pair: FilePair, sides: CommonColumns, choices: Sequence[_Choice], rows: tuple[int, int]
) -> list[PropertyCheck]:
    """The check of each choice, in the order of the request."""
    counted = [choice for choice in choices if choice.check != "observations"]
    measurable = [choice for choice in counted if set(choice.used_variables) <= set(sides.common)]
    described = {variable.name: variable for variable in pair.before.variables}
    veiled = set(veiled_variables(described))
    names = [name for name in sides.common if name not in veiled]
    every = names if any(not choice.variables for choice in measurable) else []
    needed = tuple(dict.fromkeys([*every, *(name for choice in measurable for name in choice.used_variables)]))
    samples = None
    if needed:
        forced = {name for choice in measurable if choice.check in NUMERIC_PROPERTIES for name in choice.variables}
        forced |= {choice.variables[0] for choice in measurable if choice.check == "model"}
        first = FileColumns(pair.before, needed, pair.before.source.name)
        second = FileColumns(pair.after, tuple(sides.renamed[name] for name in needed), pair.after.source.name)
        samples = make_samples(first, second, described, forced, None, strict=False)
    checks: list[PropertyCheck] = []
    for choice in choices:
        if choice.check == "observations":
            checks.append(_observations(*rows))
        elif choice not in measurable or samples is None:
            label = ", ".join(name for name in choice.used_variables if name not in sides.common) or "–"
            checks.append(PropertyCheck(choice.check, label, None, None, None, None, None, False, "not_measurable"))
        else:
            rules = PropertyRules(choice.tolerance, period=choice.period)
            asked = [PropertyRequest(choice.check, choice.variables)]
            checks += check_properties(samples.before, samples.after, asked, [n for n in names if n in needed], rules)
    return checks


def _observations(before: int, after: int) -> PropertyCheck:
    """As many rows as before; MEL and ATENEA count on it, so there is no tolerance."""
    relative = (after - before) / before if before else None
    return PropertyCheck("observations", "–", before, after, after - before, relative, 0.0, before == after)
