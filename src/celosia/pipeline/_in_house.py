"""`check`: the verifier's own look at the candidate, in the house, against the private order of persons.

The file is read back and judged from its bytes; the verdict that the run left beside it is only compared with.
Source: MINSAL Verificación 4 (a second person verifies procedure and output).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.candidate import PERSON, persons_of
from celosia.data.engines import open_engine
from celosia.data.files import private_folder, scratch_beside
from celosia.errors import CandidateChanged, CelosiaError, NoCandidate, NoProtocolNamed, PlanStale
from celosia.model.plan import Plan, digest_of
from celosia.model.rules import RuleReport
from celosia.model.variables import Variable
from celosia.model.verdict import CheckReport
from celosia.model.verification import InHouseReport
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._check import check_file
from celosia.pipeline._ground import Ground
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._plan import ground_for, read_plan
from celosia.pipeline._progress import Progress, ready_kernels, stage
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._run import _refuse_stale, order_digest, reading_engine, source_of
from celosia.pipeline._steps import stepped
from celosia.risk.criteria import criterion_from
from celosia.solver import domain_of

Marginals = Mapping[str, Mapping[str, int]]  # variable -> value -> rows of the source


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate as it was found again in the house; what the source alone can say of it stands beside."""

    project: Project
    plan: Plan
    check: CheckReport
    published: tuple[Variable, ...]  # in the order of the file, under the published names
    marginals: Marginals  # reference distributions of criteria that compare with the source

    @property
    def candidate(self) -> Path:
        """The folder of the candidate."""
        return candidate_folder(self.project)

    @property
    def data(self) -> Path:
        """The file that was judged."""
        return self.candidate / "data.csv"


def check_in_house(
    folder: Place,
    *,
    now: datetime | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
) -> InHouseReport:
    """Judge the candidate again from its file, for the verifier, and say so in the journal."""
    found = judge_candidate(folder, report, engine, memory)
    made = InHouseReport(found.check, rules_on(found, "run"), recorded_digest(found.candidate))
    facts = {"candidate": found.check.digest, "agrees": made.agrees, "holds": made.holds}
    _journal.append(found.project.journal_path, "check", moment(now), facts)
    return made


def judge_candidate(
    folder: Place, report: Progress = None, engine: str | None = None, memory: str | None = None
) -> Judged:
    """The candidate read back and measured against the present source, dictionary, policy and plan."""
    project = open_project(folder)
    _journal.entries(project.journal_path)  # a broken chain stops everything
    plan = read_plan(project.folder)
    if not (candidate_folder(project) / "data.csv").is_file():
        raise NoCandidate(path=str(project.folder))
    ready_kernels(report)
    _refuse_stale(project, plan)
    with (
        opened(project.folder, engine=engine, memory=memory) as source,
        stepped(project, source_of(plan, source), report=report) as after,
    ):
        ground = ground_for(project, after.found, **plan.asked)
        if digest_of(ground.policy.as_dict()) != digest_of(plan.policy):
            raise PlanStale(what=messages.text("plan.stale_policy"))
        check = _judged_again(project, plan, after.found, ground, report)
        by_name = {variable.name: variable for variable in after.found.variables}
        published = tuple(by_name[name] for name in plan.published)
        return Judged(project, plan, check, published, _marginals(ground))


def rules_on(found: Judged, at: str, **parts: Any) -> RuleReport:
    """The rules of the project's protocols on the candidate as it was just measured."""
    from celosia.pipeline._rule_context import context_of
    from celosia.pipeline._rules import judge_rules, rules_of

    if not found.project.config.protocols:
        raise NoProtocolNamed(path=str(found.project.folder))
    context = context_of(found.project, found.plan, found.check, found.candidate)
    return judge_rules(replace(context, **parts), rules_of(found.project.folder), at)


def refuse_changed(found: Judged) -> None:
    """Stop where the file is not the one that the last run of this very plan left and judged."""
    path = str(found.data)
    if recorded_verdict(found.candidate) != json.loads(json.dumps(found.check.as_dict())):
        raise CandidateChanged(path=path, reason=messages.text("release.reason.file"))
    entries = _journal.entries(found.project.journal_path)
    runs = [entry.get("facts") for entry in entries if entry.get("what") == "run"]
    last: Any = (runs[-1] if runs else None) or {}
    if last.get("candidate") != found.check.digest or last.get("plan") != found.plan.digest:
        raise CandidateChanged(path=path, reason=messages.text("release.reason.plan"))
    if last.get("order", "") != order_digest(found.candidate):
        raise CandidateChanged(path=path, reason=messages.text("release.reason.order"))
    if not found.check.holds:
        raise CandidateChanged(path=path, reason=messages.text("release.reason.verdict"))


def candidate_folder(project: Project) -> Path:
    """Where `run` leaves the candidate."""
    return project.folder / "private" / "candidate"


def recorded_verdict(candidate: Path) -> dict[str, Any]:
    """The verdict that the run left beside the file; empty where it cannot be read."""
    try:
        found = json.loads((candidate / "verdict.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def recorded_digest(candidate: Path) -> str:
    """The digest that the run's verdict speaks of; empty where there is none."""
    return str(recorded_verdict(candidate).get("digest", ""))


def _judged_again(project: Project, plan: Plan, found: Opened, ground: Ground, report: Progress) -> CheckReport:
    candidate = candidate_folder(project)
    order = candidate / "order.parquet" if found.person is not None else None
    if order is not None:
        _refuse_other_persons(order, found, ground.policy.suppressed)
    if told := stage(report, "check"):
        told(0.5)
    with scratch_beside(candidate) as scratch:
        place = private_folder(scratch / "again")
        try:
            return check_file(
                candidate / "data.csv", plan, place, order, dict(ground.sensitive), ground.quasi.n_rows,
                ground.sensitive_hierarchies, ground.population, reading_engine(found.table),
            )  # fmt: skip
        except ValueError:  # Arrow's too: file and order have not the same length; its words may quote cells
            reason = messages.text("release.reason.order")
            raise CandidateChanged(path=str(candidate / "data.csv"), reason=reason) from None


def _refuse_other_persons(order: Path, found: Opened, suppressed: str) -> None:
    """The private order must hold as many persons with one row, two, three… as the source does.

    Who they are does not matter, and the order of another engine does not say: it is k that hangs on it.
    """
    with scratch_beside(order) as scratch, contextlib.closing(open_engine(None, scratch)) as engine:
        try:
            held = persons_of(engine, order).multiplicities(PERSON)
        except CelosiaError:
            held = None  # what cannot be read is not the order of this candidate
    if held is None or (suppressed != "drop" and held != found.table.multiplicities(str(found.person))):
        raise CandidateChanged(path=str(order), reason=messages.text("release.reason.order"))


def _marginals(ground: Ground) -> dict[str, dict[str, int]]:
    """What each criterion that looks at the source compares with: rows behind each value, masked ones left out."""
    return {name: _marginal(ground, name) for name in _compared(ground.policy.criteria)}


def _compared(criteria: Sequence[Mapping[str, Any]]) -> list[str]:
    held = [criterion_from(data) for data in criteria]
    return list(dict.fromkeys(one.variable for one in held if one.as_dict().get("reference") == "source"))


def _marginal(ground: Ground, name: str) -> dict[str, int]:
    domain = domain_of(name, ground.sensitive[name])
    pairs = zip(domain.vocabulary, domain.reference.tolist(), strict=True)
    return {value: rows for value, rows in pairs if rows}
