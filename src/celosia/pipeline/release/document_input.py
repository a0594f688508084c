"""What a document of a project may contain, read from the project's files once.

Knows where a project keeps what it did. Ignores how documents look. What belongs to another candidate, another plan or
nobody's rightful signature is left out.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from datetime import datetime

from celosia.dossier.intruder_words import attacks_sentences
from celosia.dossier.minsal import Attacks, Attempts
from celosia.dossier.reports import JournalLine
from celosia.dossier.technique import Done, done_by
from celosia.model.claims import Claims
from celosia.model.paths import DATA
from celosia.model.people import Approval, Person, name_of_signer
from celosia.model.plan import Plan
from celosia.model.reports.evaluation import EvaluationReport
from celosia.model.reports.verification import Publication
from celosia.model.requests import Request
from celosia.model.rules import RuleReport
from celosia.model.variables import Variable
from celosia.model.verdict import CheckReport
from celosia.pipeline.candidate.approvals import valid_approvals
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.intruder_evidence import asks_attacks, recorded_attacks
from celosia.pipeline.candidate.present_state import judged_rules, plan_and_check
from celosia.pipeline.candidate.rule_context import original_names, published_variables
from celosia.pipeline.intruder.claims import summarise_claims
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.roster import signed_people
from celosia.pipeline.release.errors import NotARelease, ReleaseDamaged
from celosia.pipeline.release.folder import ReleaseOnDisk, read_release
from celosia.pipeline.release.signers import valid_signatures

_JOURNAL_KEYS = ("when", "who", "what", "why")


@dataclass(frozen=True, slots=True)
class DocumentInput:
    """What a project holds at this moment; None and empty are what is not there yet."""

    project: Project
    now: datetime
    request: Request
    variables: tuple[Variable, ...]
    plan: Plan | None
    check: CheckReport | None
    rules: RuleReport | None
    journal: tuple[JournalLine, ...]
    people: tuple[Person, ...]
    approvals: tuple[Approval, ...]
    signatures: tuple[Approval, ...]
    publication: Publication | None
    attempts: Attempts | None
    attacks: Attacks = field(default_factory=Attacks)
    evaluation: EvaluationReport | None = None
    release: ReleaseOnDisk | None = None  # the latest of this candidate

    @property
    def public_variables(self) -> tuple[Variable, ...]:
        """The published variables, under the names they are published with."""
        return published_variables(self.variables, self.plan) if self.plan else ()

    @property
    def withheld(self) -> tuple[str, ...]:
        """Variables of the source of which nothing is published."""
        origin_names = set(original_names(self.plan).values()) if self.plan else set()
        return (
            tuple(variable.name for variable in self.variables if variable.name not in origin_names)
            if self.plan
            else ()
        )

    @property
    def work_done(self) -> Done | None:
        """What was done and measured."""
        return done_by(self.plan, self.check, len(self.withheld)) if self.plan and self.check else None

    @property
    def title(self) -> str:
        """The title the request gives, else the name of the project."""
        return self.request.title or str(self.request.source.get("name", "")) or self.project.config.name


def collect_document_input(
    project: Project, now: datetime, evaluation: EvaluationReport | None = None
) -> DocumentInput:
    """Everything that a document may contain, read from the project as it is."""
    plan, check = plan_and_check(project)
    release = _release_of(project, check)
    claims = read_claims(project.paths.claims)
    return DocumentInput(
        project=project,
        now=now,
        request=project.request or Request(),
        variables=project.variables,
        plan=plan,
        check=check,
        rules=judged_rules(project, check),
        journal=tuple(JournalLine(*(str(entry[key]) for key in _JOURNAL_KEYS)) for entry in project.journal.entries),
        people=signed_people(project.roster, project.people) if project.roster.entries else project.people,
        approvals=_approvals(project),
        signatures=tuple(valid_signatures(release)) if release else (),
        publication=release.publication if release else None,
        attempts=_attempts(project, claims, check) if claims else None,
        attacks=_attacks(project, check),
        evaluation=evaluation,
        release=release,
    )


def _attacks(project: Project, check: CheckReport | None) -> Attacks:
    """What the attacks on this candidate found, and who accepted what is grave of it."""
    if check is None:
        return Attacks()
    report = recorded_attacks(project, check.digest).report
    if report is None and not asks_attacks(project):
        return Attacks()
    return Attacks(tuple(attacks_sentences(report)), valid_approvals(project, "findings"))


def _attempts(project: Project, claims: Claims, check: CheckReport | None) -> Attempts:
    claims_summary = summarise_claims(claims, check.digest if check else "")
    interval = (
        None if claims_summary.low is None or claims_summary.high is None else (claims_summary.low, claims_summary.high)
    )
    return Attempts(
        claims_summary.attempts,
        claims_summary.correct,
        check is not None and claims_summary.current,
        interval,
        claims.minutes,
        claims.outsiders,
        claims.statement,
        claims.sources,
        tuple(_restore_known_name(project, approval) for approval in valid_approvals(project, "intruder")),
    )


def _restore_known_name(project: Project, approval: Approval) -> Approval:
    """An approval under the name that the institution knows; in public an outsider has none."""
    return replace(approval, name=name_of_signer(approval, project.people))


def _release_of(project: Project, check: CheckReport | None) -> ReleaseOnDisk | None:
    """The latest release of the present candidate."""
    folders = sorted(project.paths.releases.glob("*"), reverse=True) if check else []
    for folder in folders:
        with contextlib.suppress(NotARelease, ReleaseDamaged):
            release = read_release(folder)
            if check and release.manifest.files.get(DATA) == check.digest:
                return release
    return None


def _approvals(project: Project) -> tuple[Approval, ...]:
    """The approvals that count now, in the order in which they were given."""
    subjects = dict.fromkeys(approval.what for approval in project.approvals)
    counted = [
        _restore_known_name(project, approval) for what in subjects for approval in valid_approvals(project, what)
    ]
    return tuple(sorted(counted, key=lambda approval: approval.when))
