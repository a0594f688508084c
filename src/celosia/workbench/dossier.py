"""A project's dossier as a page shows it: what can be read, approved, signed and published now, and what blocks.

Knows gates, approvals, releases and documents, and asks `status`, `approve`, `release` and `document` for each. Nothing
is measured here: what takes long is asked for on its own (`signing_view`, `read_document`).
Sources: MINSAL Verificación 4, Seguridad 5, Anexo I; MEL IV.2, IV.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.dossier.document import Document
from celosia.model.paths import ReleasePaths
from celosia.model.people import ROLES, name_of_signer
from celosia.model.protocols import Rule
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.candidate.approvals import (
    Parts,
    approval_contents,
    changes_since,
    covered_parts,
    details_for,
    digest_for,
    seal_of,
)
from celosia.pipeline.candidate.intruder_evidence import needs_note
from celosia.pipeline.candidate.rules import missing_signers, rules_of
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.release.archive import own_release
from celosia.pipeline.release.document_input import collect_document_input
from celosia.pipeline.release.documents import FORMATS, document_builders, export_annotated_dictionary, render
from celosia.pipeline.release.folder import ReleaseOnDisk, read_release
from celosia.pipeline.release.forms import read_forms
from celosia.pipeline.release.journal_recovery import recover_journal
from celosia.pipeline.release.make_release import given_signatures
from celosia.pipeline.release.status import ProjectFacts, read_facts, status_of
from celosia.protocols.load import load
from celosia.storage import atomic_write
from celosia.workbench.views.dossier import (
    DossierDocument,
    DossierRelease,
    DossierView,
    GivenApproval,
    GivenSignature,
    JournalEntry,
    JournalView,
    SigningView,
    Subject,
)

# What a rule about people asks to be approved.
_SUBJECTS = {
    "dictionary_approval": "dictionary",
    "plan_approval": "plan",
    "residual_approval": "residual",
    "intruder_findings": "findings",
    "intruder_approval": "intruder",
    "second_person": "candidate",
}
_VERIFIER = ("verifier",)
_SHEET = "mel_dictionary"  # the one document that is a workbook as well
_MOST_LINES = 500


def dossier_view(folder: PathArg, *, now: datetime | None = None) -> DossierView:
    """Everything a person needs to know before reading, approving, signing or publishing."""
    recover_journal(folder, now=now)
    facts = read_facts(Path(folder))
    report = status_of(facts, utc_now(now).date())
    project = facts.project
    if project is None:
        return DossierView(Path(folder).name, (), problems=report.problems)
    no_rules: tuple[Rule, ...] = ()
    rules = facts.read("overrides", lambda: rules_of(project), no_rules)
    delivered = ReleasePaths(facts.paths.delivery).manifest.is_file()
    asked = "asked" if any(rule.measure == "delivery" for rule in rules) else ""
    return DossierView(
        project=project.config.name,
        protocols=project.config.protocols,
        gates=report.gates,
        subjects=_approval_subjects(facts, project, rules),
        documents=_document_list(facts, project),
        releases=tuple(_release_view(release, facts, rules) for release in reversed(facts.releases)),
        people=facts.people,
        candidate=bool(facts.candidate),
        seeded=facts.plan is not None and facts.plan.seed != "none",
        delivery="done" if delivered else asked,
        problems=report.problems,
    )


# --- what is approved -----------------------------------------------------------------------------


def _approval_subjects(facts: ProjectFacts, project: Project, rules: Sequence[Rule]) -> tuple[Subject, ...]:
    asked: dict[str, tuple[str, ...]] = {}
    for rule in rules:
        if rule.measure in _SUBJECTS:
            roles = tuple(rule.asked.get("roles", _VERIFIER))
            asked[_SUBJECTS[rule.measure]] = tuple(dict.fromkeys((*asked.get(_SUBJECTS[rule.measure], ()), *roles)))
    parts = covered_parts(project) if facts.approvals else {}
    candidate = bool(facts.candidate)
    ready = {
        "dictionary": facts.variables is not None,
        "plan": facts.plan is not None and not facts.stale,
        "residual": candidate,
        "findings": bool(facts.attacks and facts.attacks.high),
        "intruder": _test_is_here(facts),
        "candidate": candidate,
    }
    return tuple(
        Subject(what, asked[what], ready[what], _given_approvals(facts, project, what, parts))
        for what in _SUBJECTS.values()
        if what in asked and (what != "findings" or ready[what])
    )


def _test_is_here(facts: ProjectFacts) -> bool:
    """Whether somebody tried this very candidate."""
    claims = facts.claims
    return claims is not None and bool(facts.candidate and claims.rows) and claims.candidate == facts.candidate


def _given_approvals(facts: ProjectFacts, project: Project, what: str, parts: Parts) -> tuple[GivenApproval, ...]:
    approvals = []
    for approval, state in facts.approvals:
        if approval.what == what:
            changes = changes_since(project, approval, parts) if state == "voided" else ()
            name = name_of_signer(approval, facts.people)
            approvals.append(GivenApproval(approval.role, name, approval.when, state, approval.note, changes))
    return tuple(approvals)


def signing_view(source: ProjectArg, what: str) -> SigningView:
    """What a person is shown before approving something: its digest and its figures, as they are now."""
    project = open_project(source)
    shown = approval_contents(project, what)
    digest = digest_for(project, what, shown.figures)
    documents = (shown.sheet,) if shown.sheet is not None else ()
    details = tuple(details_for(project, what))
    note_roles = tuple(role for role in ROLES if needs_note(what, role))
    return SigningView(what, digest, seal_of(digest, shown.figures), shown.figures, documents, details, note_roles)


# --- releases -------------------------------------------------------------------------------------


def _release_view(release: ReleaseOnDisk, facts: ProjectFacts, rules: Sequence[Rule]) -> DossierRelease:
    manifest = release.manifest
    named = [entry.get("facts") or {} for entry in facts.journal if entry.get("what") == "release"]
    valid = given_signatures(release)
    unreadable = ("signatures",) if None in release.signatures else ()
    signatures = tuple(
        GivenSignature(signature.role, signature.name, signature.key, signature.when, signature in valid)
        for signature in release.signatures
        if signature is not None
    )
    signed = {signature.role for signature in signatures if signature.valid}
    asked = dict.fromkeys(role for rule in rules if rule.measure == "signatures" for role in rule.asked["roles"])
    return DossierRelease(
        name=release.folder.name,
        created=manifest.created,
        rows=manifest.rows,
        suppression=manifest.suppression,
        manifest=manifest.digest,
        files=tuple(sorted(manifest.files)),
        wrong=(*release.changed, *release.added, *release.removed, *unreadable),
        made=any(facts_noted.get("manifest") == manifest.digest for facts_noted in named),
        current=facts.release is not None and facts.release.folder == release.folder,
        signatures=signatures,
        missing=tuple(missing_signers(tuple(asked), signed)),
        publication=release.publication,
    )


def release_view(source: ProjectArg, release: str) -> SigningView:
    """What a person is shown before signing a release; the seal is the digest of its manifest."""
    project = open_project(source)
    path = own_release(project, release)
    manifest = read_release(path).manifest
    counts = ("rows", "suppressed_rows", "otherwise_masked_rows")
    figures = {name: getattr(manifest, name) for name in counts} | {"published": len(manifest.published)}
    return SigningView("release", manifest.digest, manifest.digest, figures, read_forms(path, project).documents)


# --- documents ------------------------------------------------------------------------------------


def _document_list(facts: ProjectFacts, project: Project) -> tuple[DossierDocument, ...]:
    """What each norm asks to be written, the project's own two reports last."""
    documents: dict[str, DossierDocument] = {}
    measured = facts.check is not None and facts.plan is not None
    sheet = DossierDocument("approval_sheet", (), "", "internal", FORMATS, facts.plan is not None)
    documents["approval_sheet"] = sheet
    for name in project.config.protocols:
        for asked in load(name).documents:
            before = documents.get(asked.id)
            formats = (*FORMATS, "xlsx") if asked.id == _SHEET else FORMATS
            protocols = (*(before.protocols if before else ()), name)
            ready = measured or asked.audience == "internal"
            documents[asked.id] = DossierDocument(asked.id, protocols, asked.section, asked.audience, formats, ready)
    for audience in ("internal", "public"):
        own = f"{audience}_report"
        documents.setdefault(own, DossierDocument(own, (), "", audience, FORMATS, measured or audience == "internal"))
    return tuple(documents.values())


def read_document(source: ProjectArg, what: str, *, now: datetime | None = None) -> Document:
    """A document of the project as it would be written now, in the project's language."""
    content = collect_document_input(open_project(source), utc_now(now))
    builders = {**document_builders(content, "internal"), **document_builders(content, "public")}
    if what not in builders:
        raise ValueOutOfRange(parameter="document", given="", allowed=", ".join(builders))
    language = content.project.config.language
    with messages.speaking(language):
        return builders[what](content, language)


def document_file(source: ProjectArg, what: str, form: str, target: PathArg, *, now: datetime | None = None) -> Path:
    """Write one document of the project into a file: html, pdf, docx, or xlsx for the annotated dictionary."""
    path, when = Path(target), utc_now(now)
    if form == "xlsx" and what == _SHEET:
        return export_annotated_dictionary(source, path)
    if form not in FORMATS:
        raise ValueOutOfRange(parameter="format", given="", allowed=", ".join(FORMATS))
    content = render(read_document(source, what, now=when), form, when)
    with atomic_write(path) as draft:
        draft.write_bytes(content)
    return path


# --- the journal ----------------------------------------------------------------------------------


def journal_view(source: ProjectArg, *, last: int = 50) -> JournalView:
    """The last lines of a project's journal, newest first, after checking that its chain holds."""
    if not 0 < last <= _MOST_LINES:
        raise ValueOutOfRange(parameter="last", given=str(last), allowed=f"1–{_MOST_LINES}")
    project = open_project(source)
    entries = project.journal.entries if project.paths.journal.is_file() else []
    return JournalView(len(entries), tuple(_journal_entry(entry) for entry in reversed(entries[-last:])))


def _journal_entry(entry: Mapping[str, Any]) -> JournalEntry:
    facts = entry.get("facts")
    pairs = tuple((str(key), _fact_text(value)) for key, value in facts.items()) if isinstance(facts, Mapping) else ()
    when, who, what, why = (str(entry.get(key, "")) for key in ("when", "who", "what", "why"))
    account = str(entry.get("account", ""))
    return JournalEntry(int(entry["number"]), when, f"{who} ({account})" if account else who, what, why, pairs)


def _fact_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_fact_text(item)}" for key, item in value.items())
    return ", ".join(_fact_text(item) for item in value) if isinstance(value, list | tuple) else str(value)
