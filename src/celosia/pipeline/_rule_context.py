"""What a project and its candidate offer for judging the rules; each part may be absent, and then cannot be measured.

Knows where things are kept. Ignores rules. At a release on another machine only the file's own parts exist.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from celosia.data.files import scratch_beside
from celosia.errors import NoCandidate
from celosia.model.people import Approval, Person
from celosia.model.plan import Plan
from celosia.model.requests import Request
from celosia.model.scenarios import THRESHOLD, Scenario
from celosia.model.variables import Scale, Variable
from celosia.model.verdict import VERDICT_FORMAT, CheckReport, State, Verdict
from celosia.pipeline._claims import Claims, read_claims
from celosia.pipeline._keys import keys_present
from celosia.pipeline._project import Project, read_toml
from celosia.pipeline._rule_figures import FileFigures, published_figures
from celosia.pipeline._scenarios import _scenario

_COUNTS = ("rows", "classes", "suppressed_rows")  # of a verdict; every one is always known
_APPROVED = ("dictionary", "plan", "residual", "candidate")


@dataclass(frozen=True, slots=True)
class RuleContext:
    """Everything a measure may look at; None is what is not there."""

    variables: tuple[Variable, ...] | None = None  # the dictionary
    published: tuple[Variable, ...] | None = None  # its published part, under the published names
    plan: Plan | None = None
    check: CheckReport | None = None
    figures: FileFigures | None = None
    request: Request | None = None
    source_rows: int | None = None
    keys: tuple[str, ...] | None = None  # steps with a key or codebook still kept
    approvals: Mapping[str, Sequence[Approval]] | None = None  # what -> the valid ones
    people: tuple[Person, ...] | None = None
    ran: tuple[str, ...] = ()  # names that the journal has for executing
    claims: Claims | None = None
    closing: Mapping[str, bool] | None = None  # property checked -> preserved
    contrast: Mapping[str, bool] | None = None  # variable -> equal in both bases
    signatures: Sequence[Approval] | None = None  # valid ones over the manifest
    publication: Mapping[str, Any] | None = None  # consultation, publication_date, update_period
    delivery: tuple[str, ...] | None = None  # data files delivered
    statistics: Mapping[str, int] | None = None  # measure -> how many break it, from the statistics


def origins(plan: Plan) -> dict[str, str]:
    """Published name -> the name its variable has in the source."""
    found = {}
    for name in plan.published:
        old = name
        for change in reversed(plan.changes):
            old = change.get("renamed", {}).get(old, old)
        found[name] = old
    return found


def published_variables(variables: Sequence[Variable], plan: Plan) -> tuple[Variable, ...]:
    """The dictionary's lines of the published columns; free text that a step turned into something else is none."""
    known = {variable.name: variable for variable in variables}
    changed = {name for change in plan.changes for name in change.get("cells_touched", ())}
    lines = []
    for name, old in origins(plan).items():
        line = replace(known.get(old, Variable(old)), name=name)
        lines.append(replace(line, scale=Scale.CATEGORICAL) if name in changed and _is_text(line) else line)
    return tuple(lines)


def _is_text(variable: Variable) -> bool:
    return variable.scale == Scale.FREE_TEXT


def declared_scenarios(folder: Path, plan: Plan) -> tuple[Scenario, ...]:
    """The scenarios of celosia.toml under the published names."""
    place = {old: new for new, old in origins(plan).items()}
    stated = [
        _scenario(data, THRESHOLD, "declared") for data in read_toml(folder / "celosia.toml").get("scenarios", ())
    ]
    return tuple(Scenario(tuple(place.get(n, n) for n in one.variables), one.threshold) for one in stated)


def context_of(project: Project, plan: Plan, check: CheckReport, candidate: Path) -> RuleContext:
    """What a project offers; `candidate` is the folder of the candidate and, in the house, of its persons."""
    variables = project.variables()
    published = published_variables(variables, plan)
    order = candidate / "order.parquet"
    scenarios = declared_scenarios(project.folder, plan)
    with scratch_beside(project.folder / "private" / "rules") as scratch:
        figures = published_figures(
            candidate / "data.csv",
            plan,
            published,
            scenarios,
            order if order.exists() else None,
            scratch,
            check.rows,
        )
    return RuleContext(
        variables=variables,
        published=published,
        plan=plan,
        check=check,
        figures=figures,
        request=_request(project.folder),
        source_rows=project.config.source.rows,
        keys=keys_present(project.folder),
        approvals=_approvals(project.folder),
        people=_people(project.folder),
        ran=_ran(project.folder),
        claims=read_claims(project.folder),
    )


def read_check(candidate: Path) -> CheckReport:
    """The verdict beside a candidate."""
    path = candidate / "verdict.json"
    try:
        return _check_from(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        raise NoCandidate(path=str(candidate)) from None


def _check_from(document: Any) -> CheckReport:
    if document["format"] != VERDICT_FORMAT or not all(isinstance(document[name], int) for name in _COUNTS):
        raise KeyError
    verdicts = tuple(Verdict(**{**one, "state": State(one["state"])}) for one in document["verdicts"])
    values = {name: document[name] for name in CheckReport.__slots__ if name != "verdicts"}
    return CheckReport(**values, verdicts=verdicts)


def _request(folder: Path) -> Request | None:
    if not (folder / "request.toml").is_file():
        return None
    from celosia.pipeline._request import read_request

    return read_request(folder)


def _approvals(folder: Path) -> dict[str, tuple[Approval, ...]]:
    if not (folder / "approvals.jsonl").is_file():
        return {}
    from celosia.pipeline._approve import valid_approvals

    return {what: valid_approvals(folder, what) for what in _APPROVED}


def _ran(folder: Path) -> tuple[str, ...]:
    from celosia.pipeline._approve import who_ran

    return tuple(who_ran(folder))


def _people(folder: Path) -> tuple[Person, ...]:
    if not (folder / "people.toml").is_file():
        return ()
    from celosia.pipeline._people import read_people

    return read_people(folder)
