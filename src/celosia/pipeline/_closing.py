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
from pathlib import Path
from typing import Any

from celosia.data.files import PRIVATE_FILE, replacing, scratch_beside
from celosia.evaluation.properties import TOLERANCE, Asked, Rules, check_properties
from celosia.model.closing import ClosingReport
from celosia.model.evaluation import PropertyCheck
from celosia.model.plan import Plan, digest_of
from celosia.model.requests import Request
from celosia.model.variables import Scale, Variable
from celosia.pipeline._approve import digest_for
from celosia.pipeline._call import Place
from celosia.pipeline._evaluate import _OF_NUMBERS, THRESHOLD, Pair, _risk, _veiled, candidate_reading
from celosia.pipeline._evaluate_samples import Side, Sides, make_samples
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._plan import read_plan
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._request import read_request
from celosia.pipeline._rule_context import origins
from celosia.pipeline._steps import StepPlace, one_step

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
    def named(self) -> tuple[str, ...]:
        return (*self.variables, *([self.period] if self.period else []))


def closing_evaluation(folder: Place, *, report: Progress = None) -> ClosingReport:
    """Check exactly what the request chose on the present candidate, and keep the result beside it."""
    project, request = open_project(folder), read_request(folder)
    digest, plan = digest_for(folder, "candidate"), read_plan(folder)
    told = stage(report, "compare")
    with _opened_pair(project, plan) as pair:
        sides = _sides(pair, plan)
        choices = [_choice(one, pair.before.variables) for one in request.properties]
        rows = pair.before.table.count_rows(), pair.after.table.count_rows()
        checks = _checked(pair, sides, choices, rows)
        quasi = tuple(old for old in _originals(plan.policy["quasi"], plan) if old in sides.common)
        risk = _risk(pair, quasi, sides, Fraction(THRESHOLD))
    made = ClosingReport(
        candidate=digest,
        request=digest_of(request.as_dict()),
        observations=_observations(*rows),
        properties=tuple(checks),
        limited=limited_in(request, plan),
        residual=_words(risk),
        risk=risk,
    )
    with replacing(closing_path(project.folder), PRIVATE_FILE) as draft:
        draft.write_text(json.dumps(made.as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8")
    if told:
        told(1.0)
    return made


def closing_results(folder: Place) -> Mapping[str, bool]:
    """Each property that the request chose and whether the present candidate preserves it."""
    return closing_evaluation(folder).results


def closing_path(folder: Place) -> Path:
    """Where the closing evaluation of a candidate is kept."""
    return Path(folder) / "private" / "candidate" / "closing.json"


def limited_in(request: Request, plan: Plan) -> tuple[str, ...]:
    """Limited variables that the plan publishes all the same, under the name they have there (A30)."""
    limited = set(request.limited)
    return tuple(name for name, old in origins(plan).items() if {name, old} & limited)


@contextlib.contextmanager
def _opened_pair(project: Project, plan: Plan) -> Iterator[Pair]:
    candidate = project.folder / "private" / "candidate"
    order = candidate / "order.parquet"
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(opened(project.folder))
        extracted = stack.enter_context(_extracted(project, source, plan))
        after = stack.enter_context(opened(candidate / "data.csv", None, False, **candidate_reading(source)))
        yield Pair(extracted, after, plan, order if order.exists() else None)


@contextlib.contextmanager
def _extracted(project: Project, found: Opened, plan: Plan) -> Iterator[Opened]:
    """The source after the selection that was asked for."""
    selections = list(takewhile(lambda step: step["technique"] == "select", plan.steps))
    with scratch_beside(project.folder / "private" / "closing") as scratch:
        for number, step in enumerate(selections, start=1):
            place = StepPlace(project.folder, scratch, f"{number}-select", b"", fresh=False)
            found, _ = one_step(found, step, place)
        yield found


def _sides(pair: Pair, plan: Plan) -> Sides:
    place = {old: new for new, old in origins(plan).items()}
    common = tuple(n for n in pair.before.table.names if n in place and place[n] in pair.after.table.names)
    return Sides(common, {name: place[name] for name in common})


def _originals(names: Sequence[str], plan: Plan) -> list[str]:
    old = origins(plan)
    return [old[name] for name in names if name in old]


def _choice(asked: Mapping[str, Any], described: Sequence[Variable]) -> _Choice:
    name, variables = str(asked["property"]), tuple(asked.get("variables", ()))
    if name == "significance":  # a regression where the outcome is a number, else a test of two categories
        scales = {variable.name: variable.scale for variable in described}
        name = "model" if len(variables) > 2 or scales.get(variables[0]) in _NUMBERS else "test"
    tolerance = float(asked["tolerance"]) if "tolerance" in asked else TOLERANCE
    return _Choice(_NAMES.get(name, name), variables, tolerance, asked.get("period") or None)


def _checked(pair: Pair, sides: Sides, choices: Sequence[_Choice], rows: tuple[int, int]) -> list[PropertyCheck]:
    """Every choice in its order."""
    measurable = [one for one in choices if one.check != "observations" and set(one.named) <= set(sides.common)]
    described = {variable.name: variable for variable in pair.before.variables}
    veiled = set(_veiled(described))
    names = [name for name in sides.common if name not in veiled]
    wide = any(not one.variables for one in measurable)
    needed = tuple(dict.fromkeys([*(names if wide else ()), *(name for one in measurable for name in one.named)]))
    samples = None
    if needed:
        forced = {name for one in measurable if one.check in _OF_NUMBERS for name in one.variables}
        forced |= {one.variables[0] for one in measurable if one.check == "model"}
        first = Side(pair.before, needed, pair.before.source.name)
        second = Side(pair.after, tuple(sides.renamed[name] for name in needed), pair.after.source.name)
        samples = make_samples(first, second, described, forced, None, strict=False)
    found: list[PropertyCheck] = []
    for one in choices:
        if one.check == "observations":
            found.append(_observations(*rows))
        elif one not in measurable or samples is None:
            label = ", ".join(name for name in one.named if name not in sides.common) or "–"
            found.append(PropertyCheck(one.check, label, None, None, None, None, None, False, "not_measurable"))
        else:
            rules = Rules(one.tolerance, period=one.period)
            asked = [Asked(one.check, one.variables)]
            found += check_properties(samples.before, samples.after, asked, [n for n in names if n in needed], rules)
    return found


def _observations(before: int, after: int) -> PropertyCheck:
    """As many rows as before; MEL and ATENEA count on it, so there is no tolerance."""
    relative = (after - before) / before if before else None
    return PropertyCheck("observations", "–", before, after, after - before, relative, 0.0, before == after)


def _words(risk: Any) -> str:
    from celosia.dossier import residual_risk

    return residual_risk(risk)
