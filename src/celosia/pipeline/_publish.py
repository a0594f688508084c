"""`publish`: the last gate. Signatures, the consultation and the dates the norms ask for; then the publication entry.

Knows the release folder, the project's rules and calendars. Sources: MINSAL Verificación 4 and Anexo I (consultation,
publication date, update period), Seguridad 5 (audit at each update).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.errors import AlreadyPublished, CandidateChanged, DeliveryDamaged, ReleaseDamaged, ValueOutOfRange
from celosia.model.people import Approval
from celosia.model.rules import RuleReport
from celosia.model.verdict import State
from celosia.model.verification import Publication, VerifyReport
from celosia.pipeline import _journal
from celosia.pipeline._approve import approval_acts
from celosia.pipeline._call import Place, moment
from celosia.pipeline._delivery import delivered_files, delivered_release
from celosia.pipeline._in_house import candidate_folder, recorded_digest
from celosia.pipeline._plan import read_plan
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._publication import facts_of, next_review
from celosia.pipeline._release import (
    add_to_release,
    evidence_of,
    made_name,
    refuse_failing,
    refuse_unmade,
    signature_acts,
)
from celosia.pipeline._release_folder import PUBLICATION, Held, file_digest, read_release, release_folder
from celosia.pipeline._rules import failing_text, judge_project
from celosia.pipeline._run import _refuse_stale
from celosia.pipeline._signing import NOBODY, Act, note_missing, signing
from celosia.pipeline._verify import verify_release


def publish(
    folder: Place,
    release: Place,
    *,
    consultation: date | None = None,
    publication_date: date | None = None,
    update_period: str = "",
    now: datetime | None = None,
) -> Publication:
    """Enter a release as published, if everything its protocols ask for is there; give its next review."""
    project = open_project(folder)
    dates = {"consultation": _day(consultation), "publication_date": _day(publication_date),
             "update_period": update_period.strip()}  # fmt: skip
    with signing(project.folder):
        place = release_folder(project.folder, Path(release))
        return _entered(project, place, dates, publication_date, moment(now))


def _entered(
    project: Project, place: Path, dates: Mapping[str, str], publication_date: date | None, now: datetime
) -> Publication:
    held = read_release(place)
    if held.publication is not None:
        refuse_unmade(project.journal_path, held)
        note_missing(project.journal_path, [*signature_acts(held), *publication_acts(held, now)])
        raise AlreadyPublished(path=str(place))
    refuse_unverified(verify_release(place), place)
    refuse_unmade(project.journal_path, held)
    note_missing(project.journal_path, [*approval_acts(project.folder), *signature_acts(held)])
    _refuse_other_candidate(project, held)
    parts = evidence_of(project.folder) | _delivered(project.folder, held)
    refuse_failing(judge_project(project.folder, "publish", publication=dates, signatures=_valid(held), **parts))
    day = publication_date or now.date()
    _refuse_late_consultation(dates["consultation"], day)
    entry = Publication(
        release=made_name(project.journal_path, held),
        manifest=held.manifest.digest,
        consultation=dates["consultation"],
        publication_date=day.isoformat(),
        update_period=dates["update_period"],
        next_review=next_review(day, dates["update_period"]).isoformat(),
    )
    _journal.refuse_unwritable(project.journal_path)
    add_to_release(place, PUBLICATION, entry.as_dict(), now)
    _journal.append(project.journal_path, "publish", now, facts_of(entry))
    return entry


def _refuse_late_consultation(consultation: str, day: date) -> None:
    """Who is asked is asked before the data are out."""
    if consultation > day.isoformat():
        raise ValueOutOfRange(parameter="consultation", given=consultation, allowed=f"≤ {day.isoformat()}")


def publication_acts(held: Held, now: datetime) -> list[Act]:
    """That a release was published, where it was; its entry says neither by whom nor when it was made."""
    entry = held.publication
    if entry is None or entry.manifest != held.manifest.digest:
        return []
    return [Act("publish", facts_of(entry), NOBODY, "", now.isoformat())]


def refuse_unverified(report: VerifyReport, place: Path) -> None:
    """Stop where the release folder does not stand by itself."""
    if report.holds:
        return
    findings = [one for one in report.findings if one.state not in (State.HOLDS, State.ATTESTED)]
    reasons = [", ".join(one.detail) or messages.text(f"release.finding.{one.id}") for one in findings]
    broken = RuleReport("", report.rules)
    rules = [failing_text(broken)] if broken.failing else []
    verdicts = report.check.verdicts if report.check else ()
    failing = [messages.text(f"plan.criterion.{one.rule}") for one in verdicts if one.state is State.FAILS]
    raise ReleaseDamaged(path=str(place), reason="; ".join([*reasons, *rules, *failing]) or "–")


def _valid(held: Held) -> list[Approval]:
    return [one for one in held.signatures if one is not None]  # verify has refused any that is not right


def _refuse_other_candidate(project: Project, held: Held) -> None:
    """The rules are judged on the project's candidate: it must be, byte by byte, what the release holds."""
    plan, data = read_plan(project.folder), candidate_folder(project) / "data.csv"
    _refuse_stale(project, plan)
    released = held.manifest.files.get("data.csv")
    same = data.is_file() and file_digest(data) == released == recorded_digest(data.parent)
    if not same or plan.digest != held.manifest.plan:
        raise CandidateChanged(path=str(data), reason=messages.text("release.reason.other"))


def _delivered(folder: Path, held: Held) -> dict[str, Any]:
    """The data files of the delivery of this very release, each as it was delivered, where there is one."""
    files = delivered_files(folder)
    if files is None or delivered_release(folder) != held.manifest.digest:
        return {}
    for name in ("data.csv", "dictionary.csv"):
        if file_digest(folder / "delivery" / "public" / name) != held.manifest.files.get(name):
            raise DeliveryDamaged(path=str(folder / "delivery"), file=f"public/{name}")
    return {"delivery": files}


def _day(given: date | None) -> str:
    return "" if given is None else given.isoformat()
