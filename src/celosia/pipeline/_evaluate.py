"""`evaluate`: two files side by side, or a project's source and its candidate: what was lost, kept, and still risky."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from celosia.errors import NoCandidate, NoCommonColumn, UnknownVariable, ValueOutOfRange
from celosia.evaluation import Sample
from celosia.evaluation.compare import Question, compare
from celosia.evaluation.properties import ALPHA, DEFAULT, TOLERANCE, Asked, Rules, asked_property
from celosia.model.evaluation import EvaluationReport, FileFacts, RiskComparison
from celosia.model.plan import Plan, policy_from
from celosia.model.scenarios import THRESHOLD, threshold_of
from celosia.model.variables import Role, Scale, Variable
from celosia.pipeline._evaluate_risk import released_persons, risk_side, scenario_shares, search_metrics
from celosia.pipeline._evaluate_samples import Side, Sides, make_samples
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._plan import read_plan
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import is_project

_TOLERANCES = "0.05; mean=0.01"
_CANDIDATE = {"format": "csv", "encoding": "utf-8", "delimiter": ",", "quote": '"', "header": True}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller asks of the comparison."""

    keep: tuple[Asked, ...]
    rules: Rules
    variables: tuple[str, ...] = ()
    match: Mapping[str, str] | None = None  # new name → old name
    weights: str | None = None
    key: str | None = None
    quasi: tuple[str, ...] = ()
    contrast: tuple[str, ...] = ()
    threshold: Fraction = THRESHOLD


@dataclass(frozen=True, slots=True)
class Pair:
    """Both files, opened, and the plan behind the second where it is a project's candidate."""

    before: Opened
    after: Opened
    plan: Plan | None = None
    order: Path | None = None  # whose row each one is, in the house


def evaluate(
    before: Any,
    after: Any = None,
    *,
    keep: Sequence[str] = (),
    tolerance: Sequence[str] | str | float = (),
    variables: Sequence[str] = (),
    match: Mapping[str, str] | None = None,
    weights: str | None = None,
    key: str | None = None,
    quasi: Sequence[str] = (),
    contrast: Sequence[str] = (),
    period: str | None = None,
    alpha: float = ALPHA,
    threshold: Any = THRESHOLD,
    report: Progress = None,
    **reading: Any,
) -> EvaluationReport:
    """What a release lost, what it kept and how exposed it leaves people; `before` alone is a project."""
    asked = tuple(asked_property(words) for words in (keep or DEFAULT))
    common, own = _tolerances(tolerance)
    wanted = Wanted(
        keep=asked,
        rules=Rules(common, own, alpha, period, must_apply=bool(keep)),
        variables=tuple(variables),
        match=match,
        weights=weights,
        key=key,
        quasi=tuple(quasi),
        contrast=tuple(contrast),
        threshold=threshold_of(threshold),
    )
    with opened_pair(before, after, report, reading) as pair:
        return evaluate_pair(pair, wanted, report)


@contextlib.contextmanager
def opened_pair(before: Any, after: Any, report: Progress, reading: Mapping[str, Any]) -> Iterator[Pair]:
    """Both files, opened; a project alone is its source and its candidate."""
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(opened(before, report, **(_counting(reading) if _project(before) else reading)))
        folder = before if after is None else after if _project(after) else None
        if folder is None:
            yield Pair(first, stack.enter_context(opened(after, report, described=False, **reading)))
            return
        file, plan = _candidate(Path(folder)), read_plan(Path(folder)) if _project(before) else None
        own = first if _project(before) else stack.enter_context(opened(folder, report, **_counting(reading)))
        second = stack.enter_context(opened(file, report, described=False, **candidate_reading(own)))
        order = file.with_name("order.parquet")
        yield Pair(first, second, plan, order if order.exists() and plan else None)


def _counting(reading: Mapping[str, Any]) -> dict[str, Any]:
    """What a project accepts of the choices for a file: where it is counted."""
    return {key: reading[key] for key in ("engine", "memory") if key in reading}


def candidate_reading(source: Opened) -> dict[str, Any]:
    """How a candidate is read: our own CSV, with the decimal mark that its source has."""
    decimal = source.source.choices.decimal
    return {**_CANDIDATE, "decimal": decimal if decimal in (".", ",") else "."}


def evaluate_pair(pair: Pair, wanted: Wanted, report: Progress = None) -> EvaluationReport:
    """The comparison of two opened files."""
    sides = _sides(pair, wanted)
    question, samples = _question(pair, wanted, sides)
    told = stage(report, "compare")
    found = compare(samples[0], samples[1], question, told)
    loss = found.loss
    if pair.plan is not None and set(policy_from(pair.plan.policy).quasi) <= set(pair.before.table.names):
        loss = replace(loss, search=search_metrics(pair.before, pair.after, pair.plan))
    if told:
        told(1.0)
    return EvaluationReport(
        before=_facts(pair.before),
        after=_facts(pair.after),
        equal_rows=samples[0].n_rows == samples[1].n_rows,
        variables=question.variables,
        removed=tuple(name for name in pair.before.table.names if name not in sides.common),
        added=tuple(name for name in pair.after.table.names if name not in sides.renamed.values()),
        loss=loss,
        properties=found.properties,
        distances=found.distances,
        association=found.association,
        propensity=found.propensity,
        numeric=found.numeric,
        contrast=found.contrast,
        risk=_risk(pair, question.quasi, sides, wanted.threshold),
        distributions=found.distributions,
        weights=wanted.weights,
        key=wanted.key,
    )


def _sides(pair: Pair, wanted: Wanted) -> Sides:
    """Which column of the second file is which of the first."""
    before, after = pair.before.table.names, pair.after.table.names
    given = dict(wanted.match or {})
    for new, old in given.items():
        pair.after.table.schema.position(new)
        pair.before.table.schema.position(old)
    renamed = {given.get(name, name): name for name in after}
    common = tuple(name for name in before if name in renamed)
    if not common:
        raise NoCommonColumn(before=pair.before.source.name, after=pair.after.source.name)
    return Sides(common, {name: renamed[name] for name in common})


def _question(pair: Pair, wanted: Wanted, sides: Sides) -> tuple[Question, tuple[Sample, Sample]]:
    special = [name for name in (wanted.key, wanted.weights, wanted.rules.period) if name]
    named = [*wanted.variables, *wanted.contrast, *wanted.quasi, *(v for one in wanted.keep for v in one.variables)]
    for name in (*named, *special):
        if name not in sides.common:
            raise UnknownVariable(variable=name, known=", ".join(sides.common))
    chosen = wanted.variables or tuple(n for n in sides.common if n not in (wanted.key, wanted.weights))
    described = {variable.name: variable for variable in pair.before.variables}
    needed = tuple(dict.fromkeys([*chosen, *wanted.contrast, *named, *special]))
    forced = {v for one in wanted.keep if one.property in _OF_NUMBERS for v in one.variables}
    forced |= {one.variables[0] for one in wanted.keep if one.property == "model"}
    first = Side(pair.before, needed, pair.before.source.name)
    second = Side(pair.after, tuple(sides.renamed[name] for name in needed), pair.after.source.name)
    made = make_samples(first, second, described, forced, wanted.weights, strict=pair.plan is None)
    question = Question(
        variables=chosen,
        keep=wanted.keep,
        rules=wanted.rules,
        quasi=_quasi(pair, wanted, sides, described),
        key=wanted.key,
        contrast=wanted.contrast,
        labels={n: v.mel_label.value for n, v in described.items() if v.mel_label and n in sides.common},
        recoded=made.recoded,
        veiled=frozenset(_veiled(described)),
        files=(first.file, second.file),
    )
    return question, (made.before, made.after)


_OF_NUMBERS = ("total", "mean", "variance", "minimum", "maximum", "median", "quantiles", "correlation", "trend")


def _quasi(pair: Pair, wanted: Wanted, sides: Sides, described: Mapping[str, Variable]) -> tuple[str, ...]:
    """The quasi-identifiers named, those of the plan, or those that the source seems to have."""
    if wanted.quasi:
        return wanted.quasi
    if pair.plan is not None:
        place = {new: old for old, new in sides.renamed.items()}  # a step may have given a variable another name
        return tuple(place[name] for name in policy_from(pair.plan.policy).quasi if name in place)
    return tuple(n for n in sides.common if n in described and described[n].role == Role.QUASI)


def _veiled(described: Mapping[str, Variable]) -> list[str]:
    """Identifiers and free text: their values are people."""
    return [n for n, v in described.items() if v.role == Role.IDENTIFIER or v.scale == Scale.FREE_TEXT]


def _risk(pair: Pair, quasi: tuple[str, ...], sides: Sides, threshold: Fraction) -> RiskComparison | None:
    if not quasi:
        return None
    key = pair.before.person
    published = tuple(sides.renamed[name] for name in quasi)
    with released_persons(pair.after, pair.order) as (table, person):
        behind = person or (sides.renamed.get(key) if key else None)
        second = table.tuples(published, behind)
    first = pair.before.table.tuples(quasi, key if behind else None)  # persons in both, or rows in both
    sides_of_risk = risk_side(first, threshold), risk_side(second, threshold)
    return RiskComparison(quasi, str(float(threshold)), *sides_of_risk, scenario_shares(first, second, threshold))


def _facts(found: Opened) -> FileFacts:
    return FileFacts(found.source.name, found.table.count_rows(), len(found.table.names))


def _project(source: Any) -> bool:
    return isinstance(source, str | Path) and is_project(Path(source))


def _candidate(folder: Path) -> Path:
    file = folder / "private" / "candidate" / "data.csv"
    if not _project(folder) or not file.is_file():
        raise NoCandidate(path=str(folder))
    return file


def _tolerances(given: Sequence[str] | str | float) -> tuple[float, dict[str, float]]:
    """`0.01` for all, `mean=0.001` for one property."""
    asked = [str(given)] if isinstance(given, str | int | float) else list(given)
    if sum("=" not in words for words in asked) > 1:  # 0,05 taken apart at its comma would allow everything
        raise ValueOutOfRange(parameter="tolerance", given=" ".join(asked), allowed=_TOLERANCES)
    common, own = TOLERANCE, {}
    for words in asked:
        name, equals, number = words.rpartition("=")
        if equals:
            own[asked_property(name if name not in ("model", "test") else "?").property] = _tolerance(number)
        else:
            common = _tolerance(number)
    return common, own


def _tolerance(words: str) -> float:
    try:
        number = float(words.replace(",", "."))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueOutOfRange(parameter="tolerance", given=words, allowed=_TOLERANCES)
    return number
