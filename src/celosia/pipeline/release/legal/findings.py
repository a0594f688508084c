"""What `verify` says of signatures with legal effect: those that a project took in, and PDFs that the reader brings.

Knows records, the journal and the answers of the PDF's own check. By authorities that the reader brings a signature
holds; by those that the project itself declares it is attested, for whoever writes the project also chose them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.errors import MissingExtra
from celosia.model.reports.legal_signatures import LegalSignature, LegalSigner, PdfSignature
from celosia.model.reports.verification import Finding
from celosia.model.verdict import State
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.people import same_name
from celosia.pipeline.release.errors import LegalRecordDamaged, TrustMissing
from celosia.pipeline.release.folder import ReleaseOnDisk
from celosia.pipeline.release.legal.declared_trust import declared_trust
from celosia.pipeline.release.legal.pdf_signatures import check_signed_pdf
from celosia.pipeline.release.legal.records import (
    ACT,
    form_digests,
    read_paper,
    read_record,
    signed_folder,
    signer_sentence,
)
from celosia.storage import content_digest


def legal_findings(
    release: ReleaseOnDisk,
    project: Project | None,
    signed_pdfs: Sequence[Path],
    trust: Sequence[Path],
    now: datetime | None,
) -> list[Finding]:
    """The findings on signed PDFs: of the project that the release lies in, and of the reader."""
    moment = utc_now(now)
    findings = _kept_finding(project, release, trust, moment) if project is not None else []
    return findings + (_given_finding(project, release, signed_pdfs, trust, moment) if signed_pdfs else [])


def _state(trust: Sequence[Path]) -> State:
    return State.HOLDS if trust else State.ATTESTED


# --- PDFs that the reader brings --------------------------------------------------------------------


def _given_finding(
    project: Project | None, release: ReleaseOnDisk, pdfs: Sequence[Path], trust: Sequence[Path], now: datetime
) -> list[Finding]:
    anchors = declared_trust(project, trust)
    wrong, words = [], []
    for path in pdfs:
        try:
            forms = form_digests(release.manifest)
            form = check_signed_pdf(read_paper(path), path.name, forms, release.folder.resolve().name, anchors, now)
            words += [_sentence(signature, form.form) for signature in form.signatures]
        except MissingExtra:
            raise
        except CelosiaError as error:
            wrong.append(str(error))
    if wrong:
        return [Finding("signed_pdfs", State.FAILS, tuple(wrong))]
    return [Finding("signed_pdfs", _state(trust), tuple(words))]


def _sentence(signature: PdfSignature, form: str) -> str:
    """Who signed, as the certificate alone says it."""
    fields = {"certificate": signature.certificate_name, "form": form, "authority": signature.anchor}
    key = "certificate_stamped" if signature.stamped else "certificate_signed"
    return messages.text(f"legal.{key}", **fields, moment=signature.proven_moment or "–")


# --- PDFs that the project took in ------------------------------------------------------------------


def _kept_finding(project: Project, release: ReleaseOnDisk, trust: Sequence[Path], now: datetime) -> list[Finding]:
    wrong: list[str] = []
    words: list[str] = []
    unchecked: set[str] = set()
    try:
        named = _named_records(project, release)
    except CelosiaError as error:
        return [Finding("legal_signatures", State.FAILS, (str(error),))]
    folder = signed_folder(project.paths, release.folder.resolve().name)
    present = {path.stem for path in folder.glob("*")} if folder.is_dir() else set()
    for name in sorted(present | set(named)):
        try:
            record = _record_as_noted(folder / f"{name}.json", named.get(name), release)
            try:
                signers = _verified_signers(folder / f"{name}.pdf", record, project, release, trust, now)
            except (MissingExtra, TrustMissing) as error:
                signers = record.signers
                unchecked.add("legal.not_checked" if isinstance(error, MissingExtra) else "legal.no_authority")
            words += [signer_sentence(signer, record.form) for signer in signers]
        except CelosiaError as error:
            wrong.append(str(error))
    if wrong:
        return [Finding("legal_signatures", State.FAILS, tuple(wrong))]
    if unchecked:
        return [Finding("legal_signatures", State.ATTESTED, (*words, *map(messages.text, sorted(unchecked))))]
    return [Finding("legal_signatures", _state(trust), tuple(words))] if words else []


def _named_records(project: Project, release: ReleaseOnDisk) -> dict[str, Mapping[str, Any]]:
    """What the journal last said of each signed PDF of a release, by the name of its file."""
    facts = [each for each in project.journal.facts(ACT) if each.get("manifest") == release.manifest.digest]
    return {str(each.get("file")): each for each in facts}


def _record_as_noted(file: Path, noted: Mapping[str, Any] | None, release: ReleaseOnDisk) -> LegalSignature:
    """A record that the journal names, byte by byte, of this manifest, its forms and its people."""
    record = read_record(file)
    manifest = release.manifest
    right = noted is not None and noted.get("record") == content_digest(file) and noted.get("pdf") == record.pdf
    right = right and record.manifest == manifest.digest
    right = right and form_digests(manifest).get(record.form) == record.form_digest
    if not right or not all(_is_listed(signer.name, signer.role, release) for signer in record.signers):
        raise LegalRecordDamaged(file=file.name)
    return record


def _is_listed(name: str, role: str, release: ReleaseOnDisk) -> bool:
    return any(same_name(member.name, name) for member in release.holders(role))


def _verified_signers(
    paper: Path,
    record: LegalSignature,
    project: Project,
    release: ReleaseOnDisk,
    trust: Sequence[Path],
    now: datetime,
) -> tuple[LegalSigner, ...]:
    """The signers of a record, each with their signature as the PDF shows it now; it must bear those very ones."""
    if not paper.is_file() or content_digest(paper) != record.pdf:
        raise LegalRecordDamaged(file=paper.name)
    anchors, forms = declared_trust(project, trust), form_digests(release.manifest)
    form = check_signed_pdf(read_paper(paper), paper.name, forms, record.release, anchors, now)
    noted = [_signature_without_trust(signer.pdf_signature) for signer in record.signers]
    if form.form != record.form or [_signature_without_trust(signature) for signature in form.signatures] != noted:
        raise LegalRecordDamaged(file=paper.name)
    pairs = zip(record.signers, form.signatures, strict=True)
    return tuple(replace(signer, pdf_signature=signature) for signer, signature in pairs)


def _signature_without_trust(signature: PdfSignature) -> PdfSignature:
    """A signature apart from the authorities by which its reader trusts it and its time stamp."""
    return replace(signature, anchor="", anchor_certificate="", stamped="", stamp_authority="")
