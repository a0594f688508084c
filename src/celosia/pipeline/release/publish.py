"""`publish`: the last gate. Signatures, the consultation and the dates the norms ask for; then the publication entry.

Knows the release folder, the project's rules and calendars. Sources: MINSAL Verificación 4 and Anexo I (consultation,
publication date, update period), Seguridad 5 (audit at each update).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.model.paths import DATA, DICTIONARY, PUBLIC, PUBLICATION
from celosia.model.reports.verification import Publication, VerifyReport
from celosia.model.roster import ANSWERING
from celosia.model.rules import RuleReport
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.verdict import State
from celosia.pipeline.candidate.approvals import approval_acts, member_of, signature_over
from celosia.pipeline.candidate.errors import CandidateChanged
from celosia.pipeline.candidate.rules import failing_text, judge_project
from celosia.pipeline.candidate.run import refuse_stale
from celosia.pipeline.candidate.verifier_check import recorded_digest
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.acts import note_missing
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, open_for_signing
from celosia.pipeline.project.identity import Identity
from celosia.pipeline.release.errors import AlreadyPublished, DeliveryDamaged, ReleaseDamaged
from celosia.pipeline.release.folder import ReleaseOnDisk, read_release, release_folder
from celosia.pipeline.release.make_release import (
    add_to_release,
    collect_evidence,
    name_in_journal,
    refuse_failing,
    refuse_foreign_release,
    refuse_unlisted,
    signature_acts,
)
from celosia.pipeline.release.mel_delivery import delivered_files, delivered_release
from celosia.pipeline.release.publication_entry import next_review, publication_acts, wrong_dates
from celosia.pipeline.release.verify import verify_release
from celosia.storage import content_digest


def publish(
    folder: ProjectArg,
    release: PathArg,
    identity: Identity,
    *,
    consultation: date | None = None,
    publication_date: date | None = None,
    update_period: str = "",
    now: datetime | None = None,
) -> Publication:
    """Enter a release as published, if everything its protocols ask for is there; give its next review.

    Whoever answers for the project signs the entry with their key.
    """
    dates = {
        "consultation": _day(consultation),
        "publication_date": _day(publication_date),
        "update_period": update_period.strip(),
    }
    with open_for_signing(folder) as project:
        path = release_folder(project, Path(release))
        return _enter_publication(project, path, dates, publication_date, identity, utc_now(now))


def _enter_publication(
    project: Project,
    path: Path,
    dates: Mapping[str, str],
    publication_date: date | None,
    identity: Identity,
    now: datetime,
) -> Publication:
    release = read_release(path)
    if release.publication is not None:
        refuse_foreign_release(project, release)
        acts = [*signature_acts(project, release), *publication_acts(project, release, now)]
        note_missing(project.paths.journal, acts)
        raise AlreadyPublished(path=str(path))
    refuse_foreign_release(project, release)
    refuse_unverified(verify_release(path, project=project), path)
    note_missing(project.paths.journal, [*approval_acts(project), *signature_acts(project, release)])
    _refuse_other_candidate(project, release)
    # The verification above has refused every signature that is not right.
    parts = {"publication": dates, "signatures": release.readable_signatures, **collect_evidence(project)}
    refuse_failing(judge_project(project, "publish", **parts, **_delivery_part(project, release)))
    entry = _sign_entry(
        project, release, _entry(project, release, dates, publication_date or now.date()), identity, now
    )
    _journal.refuse_unwritable(project.paths.journal)
    add_to_release(path, PUBLICATION, entry.as_dict(), now)
    (act,) = publication_acts(project, replace(release, publication=entry), now)
    _journal.append_entry(project.paths.journal, act.what, now, act.facts, who=act.who)
    return entry


def _entry(project: Project, release: ReleaseOnDisk, dates: Mapping[str, str], day: date) -> Publication:
    """What is entered, before anybody signs it."""
    if dates["consultation"] > day.isoformat():
        raise ValueOutOfRange(parameter="consultation", given=dates["consultation"], allowed=f"≤ {day.isoformat()}")
    return Publication(
        release=name_in_journal(project, release),
        manifest=release.manifest.digest,
        consultation=dates["consultation"],
        publication_date=day.isoformat(),
        update_period=dates["update_period"],
        next_review=next_review(day, dates["update_period"]).isoformat(),
    )


def _sign_entry(
    project: Project, release: ReleaseOnDisk, entry: Publication, identity: Identity, now: datetime
) -> Publication:
    """The entry with the signature of somebody who answers for the project, whom the release's own roster names."""
    roles = [role for role in member_of(project, identity).roles if role in ANSWERING]
    role = roles[0] if roles else next(role for role in ANSWERING if release.holders(role))
    signature = signature_over(project, entry.digest, identity, role, "", now, "publication")
    refuse_unlisted(signature, release)
    signed = replace(entry, signed=signature)
    for part, allowed in wrong_dates(signed, release.manifest).items():
        raise ValueOutOfRange(parameter=part, given=getattr(signed, part), allowed=allowed)
    return signed


def refuse_unverified(report: VerifyReport, path: Path) -> None:
    """Stop where the release folder cannot be verified by itself."""
    if report.holds:
        return
    findings = [finding for finding in report.findings if finding.state not in (State.HOLDS, State.ATTESTED)]
    reasons = [", ".join(finding.detail) or messages.text(f"release.finding.{finding.id}") for finding in findings]
    broken = RuleReport("", report.rules)
    rules = [failing_text(broken)] if broken.failing else []
    verdicts = report.check.verdicts if report.check else ()
    failing = [messages.text(f"plan.criterion.{verdict.rule}") for verdict in verdicts if verdict.state is State.FAILS]
    raise ReleaseDamaged(path=str(path), reason="; ".join([*reasons, *rules, *failing]) or "–")


def _refuse_other_candidate(project: Project, release: ReleaseOnDisk) -> None:
    """The rules are judged on the project's candidate: it must be, byte by byte, what the release holds."""
    plan, candidate = project.plan, project.paths.candidate
    refuse_stale(project, plan)
    data, released = candidate.data, release.manifest.files.get(DATA)
    same = data.is_file() and content_digest(data) == released == recorded_digest(candidate)
    if not same or plan.digest != release.manifest.plan:
        raise CandidateChanged(path=str(data), reason=messages.text("release.reason.other"))


def _delivery_part(project: Project, release: ReleaseOnDisk) -> dict[str, Any]:
    """The data files of the delivery of this very release, each as it was delivered, where there is one."""
    files, home = delivered_files(project), project.paths.delivery
    if files is None or delivered_release(project) != release.manifest.digest:
        return {}
    for name in (DATA, DICTIONARY):
        if content_digest(home / PUBLIC / name) != release.manifest.files.get(name):
            raise DeliveryDamaged(path=str(home), file=f"{PUBLIC}/{name}")
    return {"delivery": files}


def _day(given: date | None) -> str:
    return "" if given is None else given.isoformat()
