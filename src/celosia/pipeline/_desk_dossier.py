"""A project's papers as a page shows them: what can be read, approved, signed and published now, and what blocks.

Knows gates, approvals, releases and documents, and asks `status`, `approve`, `release` and `document` for each. Nothing
is measured here: what takes long is asked for on its own (`signing_view`, `read_document`).
Sources: MINSAL Verificación 4, Seguridad 5, Anexo I; MEL IV.2, IV.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.files import replacing
from celosia.dossier import Document
from celosia.errors import ValueOutOfRange
from celosia.model.desk import (
    DeskDocument,
    DeskRelease,
    DossierView,
    GivenApproval,
    GivenSignature,
    JournalEntry,
    JournalView,
    SigningView,
    Subject,
)
from celosia.model.people import Approval
from celosia.model.protocols import Rule
from celosia.model.verification import Publication
from celosia.pipeline import _journal
from celosia.pipeline._approve import digest_for, figures_for, present_parts, seal_of
from celosia.pipeline._approved import Parts, changes_since
from celosia.pipeline._archive import own_release
from celosia.pipeline._call import Place, moment
from celosia.pipeline._delivery import FOLDER, MANIFEST
from celosia.pipeline._documents import FORMATS, _rendered, _wanted, gather
from celosia.pipeline._norm_documents import export_annotated_dictionary
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._publish import publish
from celosia.pipeline._release import _right
from celosia.pipeline._release_folder import Held, read_release
from celosia.pipeline._rules import rules_of
from celosia.pipeline._settle import settle_signatures
from celosia.pipeline._status import status_of
from celosia.pipeline._status_facts import Facts, facts_of
from celosia.protocols import load

# What a rule about people asks to be approved.
_SUBJECTS = {
    "dictionary_approval": "dictionary", "plan_approval": "plan", "residual_approval": "residual",
    "second_person": "candidate",
}  # fmt: skip
_VERIFIER = ("verifier",)
_SHEET = "mel_dictionary"  # the one document that is a workbook as well
_MOST_LINES = 500


def dossier_view(folder: Place, *, now: datetime | None = None) -> DossierView:
    """Everything a person needs to know before reading, approving, signing or publishing."""
    settle_signatures(folder, now=now)
    facts = facts_of(Path(folder))
    told = status_of(facts, moment(now).date())
    project = facts.project
    if project is None:
        return DossierView(Path(folder).name, (), problems=told.problems)
    none: tuple[Rule, ...] = ()
    rules = facts.read("overrides", lambda: rules_of(project.folder), none)
    return DossierView(
        project=project.config.name,
        protocols=project.config.protocols,
        gates=told.gates,
        subjects=_subjects(facts, project, rules),
        documents=_documents(facts, project),
        releases=tuple(_release(held, facts, rules) for held in reversed(facts.releases)),
        people=facts.people,
        candidate=bool(facts.candidate),
        seeded=facts.plan is not None and facts.plan.seed != "none",
        delivery=_delivery(facts, rules),
        problems=told.problems,
    )


# --- what is approved -----------------------------------------------------------------------------


def _subjects(facts: Facts, project: Project, rules: Sequence[Rule]) -> tuple[Subject, ...]:
    asked: dict[str, tuple[str, ...]] = {}
    for rule in rules:
        if rule.measure in _SUBJECTS:
            roles = tuple(rule.asked.get("roles", _VERIFIER))
            asked[_SUBJECTS[rule.measure]] = tuple(dict.fromkeys((*asked.get(_SUBJECTS[rule.measure], ()), *roles)))
    given = [one for one, _ in facts.approvals]
    parts = present_parts(project) if given else {}
    order = [what for what in _SUBJECTS.values() if what in asked]
    return tuple(Subject(what, asked[what], _ready(facts, what), _given(facts, project, what, parts)) for what in order)


def _ready(facts: Facts, what: str) -> bool:
    if what == "dictionary":
        return facts.variables is not None
    return facts.plan is not None and not facts.stale if what == "plan" else bool(facts.candidate)


def _given(facts: Facts, project: Project, what: str, parts: Parts) -> tuple[GivenApproval, ...]:
    found = []
    for one, state in facts.approvals:
        if one.what == what:
            changes = changes_since(project, one, parts) if state == "voided" else ()
            found.append(GivenApproval(one.role, one.name, one.when, state, one.note, changes))
    return tuple(found)


def signing_view(folder: Place, what: str) -> SigningView:
    """What a person is shown before approving something: its digest and its figures, as they are now."""
    figures = figures_for(folder, what)
    digest = digest_for(folder, what, figures)
    return SigningView(what, digest, seal_of(digest, figures), figures)


# --- releases -------------------------------------------------------------------------------------


def _release(held: Held, facts: Facts, rules: Sequence[Rule]) -> DeskRelease:
    manifest = held.manifest
    named = [entry.get("facts") or {} for entry in facts.journal if entry.get("what") == "release"]
    right = _right(held)
    signatures = tuple(_signature(one, one in right) for one in held.signatures if one is not None)
    signed = {one.role for one in signatures if one.valid}
    asked = dict.fromkeys(role for rule in rules if rule.measure == "signatures" for role in rule.asked["roles"])
    return DeskRelease(
        name=held.folder.name,
        created=manifest.created,
        rows=manifest.rows,
        suppressed_rows=manifest.suppressed_rows,
        manifest=manifest.digest,
        files=tuple(sorted(manifest.files)),
        wrong=(*held.changed, *held.added, *held.removed, *_unread(held)),
        made=any(one.get("manifest") == manifest.digest for one in named),
        current=facts.release is not None and facts.release.folder == held.folder,
        signatures=signatures,
        missing=tuple(role for role in asked if role not in signed),
        publication=held.publication,
    )


def _unread(held: Held) -> tuple[str, ...]:
    return ("signatures",) if None in held.signatures else ()


def _signature(one: Approval, valid: bool) -> GivenSignature:
    return GivenSignature(one.role, one.name, one.key, one.when, valid)


def _delivery(facts: Facts, rules: Sequence[Rule]) -> str:
    if (facts.folder / FOLDER / MANIFEST).is_file():
        return "done"
    return "asked" if any(rule.measure == "delivery" for rule in rules) else ""


def release_view(folder: Place, release: str) -> SigningView:
    """What a person is shown before signing a release; the seal is the digest of its manifest."""
    manifest = read_release(own_release(open_project(folder).folder, release)).manifest
    figures = {"rows": manifest.rows, "suppressed_rows": manifest.suppressed_rows, "published": len(manifest.published)}
    return SigningView("release", manifest.digest, manifest.digest, figures)


def publish_release(
    folder: Place, release: str, consultation: str = "", publication_date: str = "", update_period: str = "",
    *, now: datetime | None = None,
) -> Publication:  # fmt: skip
    """Enter a release as published, with its dates written as 2026-11-20."""
    place = own_release(open_project(folder).folder, release)
    days = {"consultation": _day("consultation", consultation), "publication_date": _day("date", publication_date)}
    return publish(folder, place, **days, update_period=update_period, now=now)


def _day(parameter: str, given: str) -> date | None:
    try:
        return date.fromisoformat(given.strip()) if given.strip() else None
    except ValueError:
        raise ValueOutOfRange(parameter=parameter, given=given[:20], allowed="AAAA-MM-DD") from None


# --- documents ------------------------------------------------------------------------------------


def _documents(facts: Facts, project: Project) -> tuple[DeskDocument, ...]:
    """What each norm asks to be written, the project's own two reports last."""
    found: dict[str, DeskDocument] = {}
    measured = facts.check is not None and facts.plan is not None
    for name in project.config.protocols:
        for one in load(name).documents:
            before = found.get(one.id)
            formats = (*FORMATS, "xlsx") if one.id == _SHEET else FORMATS
            protocols = (*(before.protocols if before else ()), name)
            ready = measured or one.audience == "internal"
            found[one.id] = DeskDocument(one.id, protocols, one.section, one.audience, formats, ready)
    for audience in ("internal", "public"):
        own = f"{audience}_report"
        found.setdefault(own, DeskDocument(own, (), "", audience, FORMATS, measured or audience == "internal"))
    return tuple(found.values())


def read_document(folder: Place, what: str, *, now: datetime | None = None) -> Document:
    """A document of the project as it would be written now, in the project's language."""
    gathered = gather(folder, moment(now))
    builders = {**_wanted(gathered, "internal"), **_wanted(gathered, "public")}
    if what not in builders:
        raise ValueOutOfRange(parameter="document", given="", allowed=", ".join(builders))
    language = gathered.project.config.language
    with messages.speaking(language):
        return builders[what](gathered, language)


def document_file(folder: Place, what: str, form: str, target: Place, *, now: datetime | None = None) -> Path:
    """Write one document of the project into a file: html, pdf, docx, or xlsx for the annotated dictionary."""
    path, when = Path(target), moment(now)
    if form == "xlsx" and what == _SHEET:
        return export_annotated_dictionary(folder, path)
    if form not in FORMATS:
        raise ValueOutOfRange(parameter="format", given="", allowed=", ".join(FORMATS))
    content = _rendered(read_document(folder, what, now=when), form, when)
    with replacing(path) as draft:
        draft.write_bytes(content)
    return path


# --- the journal ----------------------------------------------------------------------------------


def journal_view(folder: Place, *, last: int = 50) -> JournalView:
    """The last lines of a project's journal, newest first, after checking that its chain holds."""
    if not 0 < last <= _MOST_LINES:
        raise ValueOutOfRange(parameter="last", given=str(last), allowed=f"1–{_MOST_LINES}")
    project = open_project(folder)
    entries = _journal.entries(project.journal_path) if project.journal_path.is_file() else []
    return JournalView(len(entries), tuple(_line(one) for one in reversed(entries[-last:])))


def _line(entry: Mapping[str, Any]) -> JournalEntry:
    facts = entry.get("facts")
    told = tuple((str(key), _text(value)) for key, value in facts.items()) if isinstance(facts, Mapping) else ()
    when, who, what, why = (str(entry.get(key, "")) for key in ("when", "who", "what", "why"))
    account = str(entry.get("account", ""))
    return JournalEntry(int(entry["number"]), when, f"{who} ({account})" if account else who, what, why, told)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(one)}" for key, one in value.items())
    return ", ".join(_text(one) for one in value) if isinstance(value, list | tuple) else str(value)
