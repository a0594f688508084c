"""The publication entry of a release: its dates, the review they lead to, and whether it agrees with what is signed.

Knows calendars, the manifest and, where the release lies in its project, the journal. The entry is made after the
people signed, and is an act of its own, signed by whoever answers for the project. Sources: MINSAL Verificación 4 and
Anexo I (consultation, publication date, update period), Seguridad 5 (audit at each update).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from celosia.errors import CelosiaError
from celosia.model.paths import RELEASES, ProjectPaths
from celosia.model.releases import Manifest
from celosia.model.reports.verification import Publication
from celosia.model.roster import ANSWERING
from celosia.pipeline.candidate.approvals import is_rightly_signed
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.acts import NOBODY, Act
from celosia.pipeline.project.errors import JournalBroken
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.roster import acted_after_end
from celosia.pipeline.release.errors import PeriodUnclear
from celosia.pipeline.release.folder import ReleaseOnDisk

_WORDS_BY_MONTHS = {
    1: "mensual monthly",
    2: "bimestral bimonthly",
    3: "trimestral quarterly",
    4: "cuatrimestral",
    6: "semestral half-yearly",
    12: "anual annual yearly",
    24: "bienal biennial",
}
_MONTHS = {word: months for months, words in _WORDS_BY_MONTHS.items() for word in words.split()}
_COUNTED = re.compile(r"(\d{1,3})\s*(meses|mes|months|month|años|año|years|year)")
_DURATION = re.compile(r"p(?:(\d{1,2})y)?(?:(\d{1,3})m)?")
_YEARS = ("año", "años", "year", "years")
_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})(-\d+)?")
_ZONES = timedelta(days=1)  # the name is of the day in UTC, the manifest's date of the day where it was made
_YEAR = timedelta(days=366)  # a consultation about a base is not older, nor is a publication planned further ahead


def next_review(day: date, period: str) -> date:
    """The day on which a release is looked at again: a month's last day where the month is shorter."""
    month = day.month - 1 + months_of(period)
    year, month = day.year + month // 12, month % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def months_of(period: str) -> int:
    """An update period in months: «anual», «6 meses», «2 años», P1Y, P6M."""
    words = period.strip().casefold()
    if words in _MONTHS:
        return _MONTHS[words]
    counted, duration = _COUNTED.fullmatch(words), _DURATION.fullmatch(words)
    months = 0
    if counted:
        months = int(counted[1]) * (12 if counted[2] in _YEARS else 1)
    elif duration:
        months = 12 * int(duration[1] or 0) + int(duration[2] or 0)
    if not months:
        raise PeriodUnclear(given=period)
    return months


def journal_facts(entry: Publication) -> dict[str, Any]:
    """What the journal tells of a publication: its whole entry."""
    return entry.facts


def publication_acts(project: Project, release: ReleaseOnDisk, now: datetime) -> list[Act]:
    """That a release was published, where it was; an entry without signature says neither by whom nor when.

    One that was signed with a key that the project had given up says nothing.
    """
    entry = release.publication
    if entry is None or entry.manifest != release.manifest.digest or not is_signed_entry(entry, release):
        return []
    who, when = (entry.signed.name, entry.signed.when) if entry.signed else (NOBODY, now.isoformat())
    act = Act("publish", journal_facts(entry), who, "", when)
    late = entry.signed is not None and acted_after_end(project.roster, project.journal, entry.signed.key, act)
    return [] if late else [act]


def is_signed_entry(entry: Publication, release: ReleaseOnDisk) -> bool:
    """Whether an entry was signed, as it is, by somebody who answers for the project by the release's roster.

    Only the entry of a release that is older than signed forms carries no signature.
    """
    signed = entry.signed
    if signed is None:
        return release.manifest.forms is None
    right = signed.role in ANSWERING and (signed.what, signed.digest) == ("publication", entry.digest)
    return right and release.is_members(signed) and release.is_current(signed) and is_rightly_signed(signed)


def wrong_parts(entry: Publication, release: ReleaseOnDisk) -> tuple[str, ...]:
    """Parts of an entry that contradict the signed manifest, each other or the journal that the folder lies beside."""
    manifest = release.manifest
    answers = {
        "manifest": entry.manifest == manifest.digest,
        "release": _is_named_by_day(entry.release, manifest.created),
        "dates": _dates_in_order(entry) and not wrong_dates(entry, manifest),
        "next_review": _review_agrees(entry),
        "signature": is_signed_entry(entry, release),
        "journal": _matches_journal(entry, release.folder),
    }
    return tuple(part for part, right in answers.items() if not right)


def _is_named_by_day(name: str, created: str) -> bool:
    """A release is named by the day on which it was made, which is signed."""
    match = _NAME.fullmatch(name)
    day, creation_day = _day(match[1] if match else ""), _day(created)
    return day is not None and creation_day is not None and abs(day - creation_day) <= _ZONES


def _dates_in_order(entry: Publication) -> bool:
    """Days, written in one way; the consultation comes no later than the publication."""
    published, consulted = _day(entry.publication_date), _day(entry.consultation or entry.publication_date)
    return published is not None and consulted is not None and consulted <= published


def wrong_dates(entry: Publication, manifest: Manifest) -> dict[str, str]:
    """Dates that cannot be of a release made on that day, each with the days that can.

    The consultation is about this base, and has happened when it is entered; a publication comes after the release.
    """
    created = _day(manifest.created)
    if created is None:
        return {}
    entered = _day(entry.signed.when[:10]) if entry.signed else None
    spans = {
        "consultation": (created - _YEAR, None if entered is None else entered + _ZONES),
        "publication_date": (created - _ZONES, created + _YEAR),
    }
    wrong = {}
    for part, (first, last) in spans.items():
        day = _day(getattr(entry, part))
        if day is not None and (day < first or (last is not None and day > last)):
            wrong[part] = f"{first.isoformat()} – {'' if last is None else last.isoformat()}"
    return wrong


def _review_agrees(entry: Publication) -> bool:
    """The next review is the one that date and period lead to."""
    day = _day(entry.publication_date)
    try:
        return day is not None and next_review(day, entry.update_period).isoformat() == entry.next_review
    except (PeriodUnclear, ValueError):
        return False


def _matches_journal(entry: Publication, folder: Path) -> bool:
    """Beside its journal, an entry says what `publish` noted there; elsewhere nothing can be compared."""
    home = folder.resolve().parent
    path = ProjectPaths(home.parent).journal
    if home.name != RELEASES or not path.is_file():
        return True
    try:
        journal = _journal.read_journal(path)
        noted = journal.facts("publish")
    except JournalBroken:
        return False
    except CelosiaError:  # somebody who may read the release but not the journal
        return True
    entries = [facts for facts in noted if facts.get("manifest") == entry.manifest]
    if entry.signed is None:
        return not entries or journal_facts(entry) in entries
    return entry.signed.journal in journal.digests and any(_describes_entry(line, entry) for line in journal.entries)


def _describes_entry(line: Mapping[str, Any], entry: Publication) -> bool:
    """Whether a line of the journal is that of a signed entry, word by word; nothing after it chains the last one."""
    signed = entry.signed
    stated = [line.get(part) for part in ("format", "what", "facts", "why")]
    same = stated == [_journal.FORMAT, "publish", journal_facts(entry), ""]
    return signed is not None and same and (line.get("who"), line.get("when")) == (signed.name, signed.when)


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return day if day.isoformat() == text else None
