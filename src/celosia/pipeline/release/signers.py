"""Who signed and approved a release, judged by the roster that it carries, by the reader's cards and by the calendar.

Knows signatures, approvals, roles and dates. Ignores the data. What a person may do comes from the signed roster alone,
and whoever answers for the project must have signed the release that carries it: whoever may write the folder can make
a roster of invented people, but not that signature. Sources: MINSAL Verificación 4, Anexo I; docs/decisions/0012.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

from celosia import messages
from celosia.model.paths import DATA
from celosia.model.people import Approval
from celosia.model.reports.verification import Finding
from celosia.model.roster import ANSWERING
from celosia.model.verdict import State
from celosia.pipeline.candidate.approvals import is_rightly_signed
from celosia.pipeline.project.people import same_name
from celosia.pipeline.project.roster import moment_of
from celosia.pipeline.release.folder import ReleaseOnDisk

_ZONES = timedelta(days=1)  # two places may write two days for one moment


def valid_signatures(release: ReleaseOnDisk) -> list[Approval]:
    """The signatures over the manifest by people whom the roster names in that role."""
    own = [signed for signed in release.readable_signatures if signed.what == "release"]
    return [s for s in own if s.digest == release.manifest.digest and _counts(s, release)]


def signatures_finding(release: ReleaseOnDisk, valid: Sequence[Approval]) -> Finding:
    """One signature that is not right, or none at all, fails; so does who executed and verified."""
    bad = len(release.signatures) - len(valid)
    reasons = [messages.text("release.signature_wrong", count=bad)] if bad else []
    reasons += [messages.text("release.signature_none")] if not release.signatures else []
    reasons += [messages.text("release.same_person", name=name) for name in _clash([*valid, *release.approvals])]
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


def trust_finding(given: Sequence[tuple[str, str]], trusted: Mapping[str, str]) -> Finding:
    """Whether everybody who signed or approved, each a key and a name, is on a card of the reader.

    A name that a card gives another key, or a key under another name, is an impostor. Somebody without a card is
    unknown: whoever may write the folder can invent the people who sign.
    """
    unknown = dict.fromkeys(name for key, name in given if not same_name(trusted.get(key, ""), name))
    names = list(trusted.values())
    impostors = [name for name in unknown if any(same_name(name, other) for other in names)]
    impostors += [name for key, name in given if key in trusted and not same_name(trusted[key], name)]
    if impostors or not given:
        return Finding("trust", State.FAILS, tuple(dict.fromkeys(impostors)))
    missing = tuple(messages.text("release.no_card", name=name) for name in unknown)
    return Finding("trust", State.ATTESTED if missing else State.HOLDS, missing)


def _counts(approval: Approval, release: ReleaseOnDisk) -> bool:
    """Signed by the key it names, which the roster gives to that person in that role at that moment."""
    stated = approval.journal is not None or release.manifest.people is not None
    return stated and release.is_members(approval) and is_rightly_signed(approval)


def _clash(signed: Sequence[Approval]) -> list[str]:
    """People who executed and verified."""
    executors = [approval for approval in signed if approval.role == "executor"]
    own = {mark for executor in executors for mark in (executor.key, executor.name.casefold())}
    verifiers = [approval for approval in signed if approval.role == "verifier"]
    return list(dict.fromkeys(who.name for who in verifiers if {who.key, who.name.casefold()} & own))


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
