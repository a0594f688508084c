"""`check`: the verifier's own measurement of the candidate against the private order of persons.

The file is read back and judged from its bytes; the verdict that the run left beside it is only compared with.
Source: MINSAL Verificación 4 (a second person verifies procedure and output).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.candidate import PERSON, persons_table
from celosia.data.engines.open import open_engine
from celosia.model.paths import CandidatePaths
from celosia.model.plan import Plan, digest_of
from celosia.model.reports.closing import ClosingReport
from celosia.model.reports.verification import InHouseReport
from celosia.model.rules import RuleReport
from celosia.model.variables import Variable
from celosia.model.verdict import CheckReport
from celosia.pipeline.assessment.errors import NoCandidate
from celosia.pipeline.candidate.check_file import check_file
from celosia.pipeline.candidate.errors import CandidateChanged, NoProtocolNamed, PlanStale
from celosia.pipeline.candidate.rule_context import context_of
from celosia.pipeline.candidate.rules import judge_rules, rules_of
from celosia.pipeline.candidate.run import order_digest, reading_engine, reference_of, refuse_stale, source_of
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.planning.plan import search_input_for
from celosia.pipeline.planning.search_input import SearchInput
from celosia.pipeline.planning.steps import apply_project_steps
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.fallbacks import value_or
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.progress import Progress, compile_kernels, stage_progress
from celosia.risk.criteria import criterion_from
from celosia.solver.published import domain_of
from celosia.storage import make_private_folder, temporary_folder_beside

Marginals = Mapping[str, Mapping[str, int]]  # variable -> value -> rows of the source


@dataclass(frozen=True, slots=True)
class CheckedCandidate:
    """A candidate measured again inside the institution, with what only the source can say of it."""

    project: Project
    plan: Plan
    check: CheckReport
    published: tuple[Variable, ...]  # in the order of the file, under the published names
    marginals: Marginals  # reference distributions of criteria that compare with the source

    @property
    def candidate(self) -> CandidatePaths:
        """The files of the candidate."""
        return self.project.paths.candidate


def check_candidate(
    folder: ProjectArg,
    *,
    now: datetime | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
) -> InHouseReport:
    """Judge the candidate again from its file, for the verifier, and say so in the journal."""
    checked = recheck_candidate(open_project(folder), report, engine, memory)
    rules = rules_on(checked, "run")
    result = InHouseReport(checked.check, rules, recorded_digest(checked.candidate), _closing(checked, report))
    facts = {"candidate": checked.check.digest, "agrees": result.agrees, "holds": result.holds}
    _journal.append_entry(checked.project.paths.journal, "check", utc_now(now), facts)
    return result


def _closing(checked: CheckedCandidate, report: Progress) -> ClosingReport | None:
    """The closing evaluation, where a protocol asks for it and somebody said what must be kept."""
    project = checked.project
    asked = any(rule.measure == "properties" for rule in rules_of(project))
    if not asked or project.request is None or recorded_digest(checked.candidate) != checked.check.digest:
        return None
    from celosia.pipeline.candidate.closing_evaluation import closing_evaluation

    return closing_evaluation(project, report=report)


def recheck_candidate(
    project: Project, report: Progress = None, engine: str | None = None, memory: str | None = None
) -> CheckedCandidate:
    """The candidate read back and measured against the present source, dictionary, policy and plan."""
    _journal.read_journal(project.paths.journal)  # a broken chain stops everything
    plan = project.plan
    if not project.paths.candidate.data.is_file():
        raise NoCandidate(path=str(project.folder))
    compile_kernels(report)
    refuse_stale(project, plan)
    with (
        open_table(project, engine=engine, memory=memory) as source,
        apply_project_steps(project, source_of(plan, source), report=report) as after,
    ):
        search_input = search_input_for(project, after.source, combinations=False, **plan.asked)
        if digest_of(search_input.policy.as_dict()) != digest_of(plan.policy):
            raise PlanStale(what=messages.text("plan.stale_policy"))
        check = _check_again(project, plan, after.source, search_input, report)
        by_name = {variable.name: variable for variable in after.source.variables}
        published = tuple(by_name[name] for name in plan.published)
        return CheckedCandidate(project, plan, check, published, _marginals(search_input))


def rules_on(checked: CheckedCandidate, at: str, **parts: Any) -> RuleReport:
    """The rules of the project's protocols on the candidate as it was just measured."""
    if not checked.project.config.protocols:
        raise NoProtocolNamed(path=str(checked.project.folder))
    context = context_of(checked.project, checked.plan, checked.check, checked.candidate)
    return judge_rules(replace(context, **parts), rules_of(checked.project), at)


def refuse_changed(checked: CheckedCandidate) -> None:
    """Stop where the file is not the one that the last run of this plan wrote and checked."""
    path = str(checked.candidate.data)
    if recorded_verdict(checked.candidate) != json.loads(json.dumps(checked.check.as_dict())):
        raise CandidateChanged(path=path, reason=messages.text("release.reason.file"))
    # The journal is read again: another run may have ended while this file was measured.
    runs = _journal.read_journal(checked.project.paths.journal).facts("run")
    last = runs[-1] if runs else {}
    if last.get("candidate") != checked.check.digest or last.get("plan") != checked.plan.digest:
        raise CandidateChanged(path=path, reason=messages.text("release.reason.plan"))
    if last.get("order", "") != order_digest(checked.candidate):
        raise CandidateChanged(path=path, reason=messages.text("release.reason.order"))
    if not checked.check.holds:
        raise CandidateChanged(path=path, reason=messages.text("release.reason.verdict"))


def recorded_verdict(candidate: CandidatePaths) -> dict[str, Any]:
    """The verdict that the run left beside the file; empty where it cannot be read."""
    try:
        verdict = json.loads(candidate.verdict.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return verdict if isinstance(verdict, dict) else {}


def recorded_digest(candidate: CandidatePaths) -> str:
    """The digest in the run's verdict; empty where there is none."""
    return str(recorded_verdict(candidate).get("digest", ""))


def _check_again(
    project: Project, plan: Plan, source: OpenTable, search_input: SearchInput, report: Progress
) -> CheckReport:
    candidate = project.paths.candidate
    order = candidate.order if source.person is not None else None
    if order is not None:
        _refuse_other_persons(order, source, search_input.policy.suppressed)
    stage_progress(report, "check")(0.5)
    with temporary_folder_beside(candidate.folder) as scratch:
        target = make_private_folder(scratch / "again")
        try:
            reference = reference_of(search_input, dict(search_input.sensitive))
            return check_file(candidate.data, plan, target, order, reference, reading_engine(source.table))
        # Also Arrow's: file and order differ in length. Its words may quote cells.
        except ValueError:
            reason = messages.text("release.reason.order")
            raise CandidateChanged(path=str(candidate.data), reason=reason) from None


def _refuse_other_persons(order: Path, source: OpenTable, suppressed: str) -> None:
    """The private order must hold as many persons with one row, two, three… as the source does.

    Their identity does not matter, and the order of another engine does not give it: k depends on these counts.
    """
    with temporary_folder_beside(order) as scratch, contextlib.closing(open_engine(None, scratch)) as engine:
        # What cannot be read is not the order of this candidate.
        counts = value_or(None, lambda: persons_table(engine, order).multiplicities(PERSON))
    if counts is None or (suppressed != "drop" and counts != source.table.multiplicities(str(source.person))):
        raise CandidateChanged(path=str(order), reason=messages.text("release.reason.order"))


def _marginals(search_input: SearchInput) -> dict[str, dict[str, int]]:
    """What each criterion that looks at the source compares with: rows behind each value, masked ones left out."""
    marginals = {}
    for criterion in map(criterion_from, search_input.policy.criteria):
        if criterion.as_dict().get("reference") == "source":
            domain = domain_of(criterion.variable, search_input.sensitive[criterion.variable])
            pairs = zip(domain.vocabulary, domain.reference.tolist(), strict=True)
            marginals[criterion.variable] = {value: rows for value, rows in pairs if rows}
    return marginals
