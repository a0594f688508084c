"""Who signed and approved a release, judged by the roster that it carries and by the calendar.

Knows signatures, approvals, roles and dates. Ignores the data and whom the reader knows. What a person may do comes
from the signed roster alone, and whoever answers for the project must have signed the release that carries it: whoever
may write the folder can make a roster of invented people, but not that signature. Sources: MINSAL Verificación 4,
Anexo I; docs/decisions/0012.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.paths import DATA
from celosia.model.people import Approval
from celosia.model.reports.verification import Finding
from celosia.model.roster import ANSWERING
from celosia.model.verdict import State
from celosia.pipeline.candidate.approvals import is_rightly_signed
from celosia.pipeline.project.acts import Act
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.people import looks_alike
from celosia.pipeline.project.roster import acted_after_end, moment_of
from celosia.pipeline.release.folder import ReleaseOnDisk

_ZONES = timedelta(days=1)  # two places may write two days for one moment


def valid_signatures(release: ReleaseOnDisk) -> list[Approval]:
    """The signatures over the manifest by people whom its roster names in that role, one of each."""
    own = [signed for signed in release.readable_signatures if signed.what == "release"]
    right = [s for s in own if s.digest == release.manifest.digest and _counts(s, release) and release.is_current(s)]
    return list({(signature.role, signature.key): signature for signature in right}.values())


def signature_act(signature: Approval, release: ReleaseOnDisk) -> Act:
    """A signature as the journal of the project tells it."""
    facts = {"release": release.folder.name, "manifest": release.manifest.digest, "role": signature.role}
    return Act("sign", facts, signature.name, signature.note, signature.when)


def late_signatures(project: Project, release: ReleaseOnDisk, given: Sequence[Approval]) -> list[Approval]:
    """The signatures with keys that the project had given up before its journal tells of them.

    A release that was made before does not know; the moment that a signature states is its signer's word.
    """
    roster, journal = project.roster, project.journal
    return [each for each in given if acted_after_end(roster, journal, each.key, signature_act(each, release))]


def signatures_finding(release: ReleaseOnDisk, valid: Sequence[Approval], project: Project | None = None) -> Finding:
    """One signature that is not right, or none at all, fails; so does who executed and verified.

    Beside its project, so does one that was given after its key.
    """
    bad = len(release.signatures) - len(valid)
    reasons = [messages.text("release.signature_wrong", count=bad)] if bad else []
    reasons += [messages.text("release.signature_none")] if not release.signatures else []
    reasons += [messages.text("release.same_person", name=name) for name in _clash([*valid, *release.approvals])]
    if project is not None:
        with contextlib.suppress(CelosiaError):  # what the project itself lacks, its own status says
            late = late_signatures(project, release, valid)
            reasons += [messages.text("release.signature_late", name=signature.name) for signature in late]
    return Finding("signatures", _state(not reasons), tuple(reasons))


def valid_approvals(release: ReleaseOnDisk) -> list[Approval]:
    """The approvals of the manifest that are rightly signed and cover what the release holds."""
    digests = {**release.manifest.covered, "candidate": release.manifest.files.get(DATA)}
    covering = [approval for approval in release.approvals if approval.digest == digests.get(approval.what)]
    return [approval for approval in covering if _counts(approval, release)]


def approvals_finding(release: ReleaseOnDisk) -> Finding:
    """Every approval that the manifest carries must count."""
    valid = valid_approvals(release)
    wrong = [approval for approval in release.approvals if approval not in valid]
    return Finding("approvals", _state(not wrong), tuple(f"{approval.what} · {approval.name}" for approval in wrong))


def roster_finding(release: ReleaseOnDisk, signatures: Sequence[Approval]) -> Finding:
    """The roster's chain, and the signature of whoever answers for the project over the release that carries it.

    A release that is older than the roster says by itself who its people are: it can be intact, never known.
    """
    if release.manifest.people is not None:
        return Finding("roster", State.ATTESTED, (messages.text("release.roster_wrong.older"),))
    reasons = [release.roster_fault] if release.roster_fault else []
    if release.roster is not None and not release.roster.entries:
        reasons.append(messages.text("release.roster_wrong.absent"))
    if not any(signature.role in ANSWERING for signature in signatures):
        reasons.append(messages.text("release.roster_wrong.unanswered"))
    return Finding("roster", _state(not reasons), tuple(reasons))


def _counts(approval: Approval, release: ReleaseOnDisk) -> bool:
    """Signed by the key it names, which the roster gives to that person in that role at that moment."""
    stated = approval.journal is not None or release.manifest.people is not None
    return stated and release.is_members(approval) and is_rightly_signed(approval)


def _clash(signed: Sequence[Approval]) -> list[str]:
    """People who executed and verified."""
    executors = [approval for approval in signed if approval.role == "executor"]
    verifiers = [approval for approval in signed if approval.role == "verifier"]
    clashes = [
        verifier.name
        for verifier in verifiers
        for executor in executors
        if verifier.key == executor.key or looks_alike(verifier.name, executor.name)
    ]
    return list(dict.fromkeys(clashes))


def _state(holds: bool) -> State:
    return State.HOLDS if holds else State.FAILS


# --- dates ----------------------------------------------------------------------------------------


def wrong_dates(release: ReleaseOnDisk, signatures: Sequence[Approval], now: datetime) -> tuple[str, ...]:
    """Dates that cannot be: in the future, approvals and people after the release was made, signatures before it."""
    created, today = day_of(release.manifest.created), now.date()
    if created is None or created > today + _ZONES:
        return (messages.text("release.date_wrong.created"),)
    latest = created + _ZONES
    before = [(approval.when, f"{approval.what} · {approval.name}") for approval in release.approvals]
    before += [
        (entry.when, f"{entry.act} · {entry.name}") for entry in (release.roster.entries if release.roster else ())
    ]
    wrong = [
        messages.text("release.date_wrong.before", what=what)
        for when, what in before
        if (day := _day_of_moment(when)) is None or day > latest
    ]
    wrong += [
        messages.text("release.date_wrong.signature", name=signature.name)
        for signature in signatures
        if (day := _day_of_moment(signature.when)) is None or not created - _ZONES <= day <= today + _ZONES
    ]
    return tuple(wrong)


def dates_finding(release: ReleaseOnDisk, signatures: Sequence[Approval], now: datetime) -> Finding:
    """Whether every date of a release can be."""
    wrong = wrong_dates(release, signatures, now)
    return Finding("dates", _state(not wrong), wrong)


def day_of(text: str) -> date | None:
    """A day in its one spelling; None for anything else."""
    try:
        day = date.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return day if day.isoformat() == text else None


def _day_of_moment(text: str) -> date | None:
    moment = moment_of(text)
    return None if moment is None else moment.date()
