"""The intruder test as evidence: the attacks on record, what is signed about them and about the test with a person.

Knows claims.csv, the report of the last attacks by computation and what the journal says of both. A report counts only
where the journal names its very bytes: one that was deleted or edited is lost, and has to be made again. What is signed
in public are counts; names, sources and findings are shown to the signer and covered by the digest.
Source: MINSAL, Verificación y Validación 4.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from celosia import messages
from celosia.dossier.intruder_words import attacks_sentences, graded_sentence, outsider_text
from celosia.errors import CelosiaError
from celosia.model.claims import Claims
from celosia.model.paths import ProjectPaths
from celosia.model.people import Approval, Person
from celosia.model.plan import digest_of
from celosia.model.reports.attacks import SEVERITIES, AttackReport, Finding, attack_report_from
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.errors import (
    AttacksMissing,
    DayImpossible,
    NothingToApprove,
    OutsiderNotApart,
    ReasonMissing,
)
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.people import role_words, same_name
from celosia.protocols.load import combined_rules
from celosia.storage import content_digest

SUBJECTS = ("intruder", "findings")  # what this module knows how to sign
ATTACKED = "intruder"  # the journal's word for an attack by computation
OUTSIDER, VERIFIER = "outsider", "verifier"


@dataclass(frozen=True, slots=True)
class AttackRecord:
    """The last attacks by computation on a candidate."""

    report: AttackReport | None = None
    when: str = ""
    lost: bool = False  # the journal tells of attacks on this candidate that the report does not hold

    @property
    def high(self) -> tuple[Finding, ...]:
        """The findings that stop a release until they are resolved or accepted."""
        findings = self.report.findings if self.report else ()
        return tuple(finding for finding in findings if finding.severity == "high")


def recorded_attacks(project: Project, candidate: str) -> AttackRecord:
    """The attacks on record for a candidate of a project."""
    entries = project.journal.entries if project.paths.journal.is_file() else ()
    return attack_record(project.paths, entries, candidate)


def attack_record(paths: ProjectPaths, journal: Sequence[Mapping[str, Any]], candidate: str) -> AttackRecord:
    """The attacks on record for a candidate, from the journal and the report that it names."""
    noted = [entry for entry in journal if entry.get("what") == ATTACKED and _names_report(entry, candidate)]
    if not noted or not candidate:
        return AttackRecord()
    try:
        if content_digest(paths.intruder_report) == noted[-1]["facts"]["report"]:
            report = attack_report_from(json.loads(paths.intruder_report.read_text("utf-8")))
            record = AttackRecord(report, str(noted[-1]["when"]))
            # What was found on these very bytes stays found, whatever the last attack was given or spared.
            most = max(_count_high(entry["facts"]) for entry in noted)
            return replace(record, lost=len(record.high) < most)
    except (CelosiaError, OSError, ValueError, KeyError, TypeError):
        pass
    return AttackRecord(lost=True)


def count_findings(report: AttackReport) -> dict[str, int]:
    """How many findings there are of each gravity, for the journal."""
    return {severity: sum(finding.severity == severity for finding in report.findings) for severity in SEVERITIES}


def _count_high(facts: Mapping[str, Any]) -> int:
    return int(facts["findings"]["high"])


def _names_report(entry: Mapping[str, Any], candidate: str) -> bool:
    facts = entry.get("facts")
    return isinstance(facts, Mapping) and facts.get("candidate") == candidate and bool(facts.get("report"))


# --- what is signed -------------------------------------------------------------------------------


def evidence_digest(project: Project, what: str, candidate: str) -> str:
    """The digest of the test with a person, or of the grave findings, on the present candidate."""
    record = recorded_attacks(project, candidate)
    if what == "findings":
        if not record.high:
            raise NothingToApprove(what=what)
        return digest_of({"candidate": candidate, "findings": _json_value(record.high)})
    _present_claims(project, candidate)
    claims = content_digest(project.paths.claims)
    return digest_of({"candidate": candidate, "claims": claims, "attacks": attacks_digest(record)})


def attacks_digest(record: AttackRecord) -> str:
    """What the attacks found: every finding, and which attacks work; not the figures that hang on chance."""
    if record.report is None:
        return ""
    working = [[estimate.attack, *estimate.variables] for estimate in record.report.estimates if estimate.works]
    return digest_of({"findings": _json_value(record.report.findings), "working": working})


def present_attacks_digest(project: Project) -> str:
    """What the attacks on record found on the present candidate."""
    return attacks_digest(recorded_attacks(project, _candidate_of(project)))


def _json_value(findings: Sequence[Finding]) -> Any:
    return json.loads(json.dumps([finding.as_dict() for finding in findings]))


def _present_claims(project: Project, candidate: str) -> Claims:
    claims = read_claims(project.paths.claims)
    if claims is None or claims.candidate != candidate or not claims.rows:
        raise NothingToApprove(what="intruder")
    return claims


def evidence_figures(project: Project, what: str, candidate: str) -> dict[str, Any]:
    """The counts that are signed, and published with the signature."""
    record = recorded_attacks(project, candidate)
    if what == "findings":
        return {"high": len(record.high), "reached": max((finding.persons for finding in record.high), default=0)}
    claims = _present_claims(project, candidate)
    return {
        "outsiders": len(claims.outsiders),
        "independent": claims.independent,
        "attempts": claims.rows,
        "minutes": claims.minutes,
        "sources": len(claims.sources),
        "claims": claims.claims,
        "correct": claims.correct,
        "attacked": record.report is not None,
        "high": len(record.high),
    }


def evidence_details(project: Project, what: str, candidate: str) -> Iterator[tuple[str, str]]:
    """What the signer reads beside the counts, covered by the digest and never published: label and words."""
    record = recorded_attacks(project, candidate)
    if what == "intruder":
        claims = _present_claims(project, candidate)
        label = messages.text("intruder.signed.outsider")
        yield from ((label, outsider_text(outsider)) for outsider in claims.outsiders)
        yield messages.text("intruder.signed.statement"), claims.statement
        yield messages.text("intruder.signed.sources"), "; ".join(claims.sources)
    label = messages.text("intruder.signed.findings")
    yield from ((label, sentence) for sentence in attacks_sentences(record.report, only_high=what == "findings"))


def unanswered_text(record: AttackRecord | None, roles: Sequence[str]) -> str:
    """The grave findings and the two ways out, for whoever is held up by them; empty where the attacks are missing."""
    if record is None or record.report is None or record.lost:
        return ""
    findings = " ".join(graded_sentence(finding, record.report) for finding in record.high)
    fields = {"count": len(record.high), "findings": findings, "roles": ", ".join(map(role_words, roles))}
    return messages.text("status.reason.high_findings", **fields)


# --- who may sign it ------------------------------------------------------------------------------


def needs_note(what: str, role: str) -> bool:
    """Whether whoever signs this in this role says why, or how they know."""
    return what == "findings" or (what == "intruder" and role == VERIFIER)


def refuse_unfit_evidence(project: Project, approval: Approval, now: datetime) -> None:
    """Stop a signature that would show nothing: without a reason, by or about somebody who is not apart."""
    if approval.what not in SUBJECTS:
        return
    if not approval.note.strip() and needs_note(approval.what, approval.role):
        raise ReasonMissing(what=messages.text(f"people.what.{approval.what}"))
    if approval.what != "intruder":
        return
    if asks_attacks(project) and recorded_attacks(project, _candidate_of(project)).report is None:
        raise AttacksMissing(path=str(project.folder))
    claims = read_claims(project.paths.claims)
    people = project.people
    names = [] if claims is None else [outsider.name for outsider in claims.outsiders]
    names += [approval.name] if approval.role == OUTSIDER else []
    for name in names:
        if not is_apart(name, people):
            raise OutsiderNotApart(name=name)
    first, last = _run_day(project, now) - timedelta(days=1), now.date() + timedelta(days=1)
    for outsider in claims.outsiders if claims is not None else ():
        # The journal's days are those of UTC, the outsider's those of where they live.
        if outsider.when and not first <= date.fromisoformat(outsider.when) <= last:
            raise DayImpossible(path=str(project.paths.claims), day=outsider.when)


def _run_day(project: Project, now: datetime) -> date:
    """The first day on which the present candidate was made."""
    candidate = _candidate_of(project)
    runs = [entry for entry in project.journal.entries if entry.get("what") == "run"]
    days = [str(entry["when"])[:10] for entry in runs if (entry.get("facts") or {}).get("candidate") == candidate]
    return date.fromisoformat(min(days)) if days else now.date()


def asks_attacks(project: Project) -> bool:
    """Whether a protocol of the project asks that the attacks by computation are run."""
    rules = combined_rules(project.config.protocols, project.settings.get("overrides", {}))
    return any(rule.measure == "intruder_findings" and rule.asked["run"] for rule in rules)


def _candidate_of(project: Project) -> str:
    return content_digest(project.paths.candidate.data)


def is_apart(name: str, people: Sequence[Person]) -> bool:
    """Whether nobody of that name has another role in the project than that of the outsider."""
    return all(set(person.roles) <= {OUTSIDER} for person in people if same_name(person.name, name))
