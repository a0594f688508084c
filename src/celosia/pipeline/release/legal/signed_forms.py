"""Forms that leave to be signed with legal effect and come back as signed PDFs (PAdES, FirmaGob and its kin).

Knows the forms of a release, the people that its manifest lists, and where signed PDFs are kept: in
`private/signed-forms/`, each beside its record, which names the manifest and whose every signature is. The journal
names each record. These signatures are an addition: the keys of the people still sign the release.
Sources: Chile, ley 19.799 (advanced electronic signature); MINSAL Anexo I.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from celosia.model.paths import ProjectPaths
from celosia.model.reports.legal_signatures import LegalSignature, LegalSigner, PdfSignature
from celosia.pipeline.candidate.errors import SamePerson
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.acts import note_missing
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.author import author
from celosia.pipeline.project.folder import Project, ProjectArg, open_for_signing, open_project
from celosia.pipeline.project.people import role_words, same_name
from celosia.pipeline.release import errors
from celosia.pipeline.release.folder import ReleaseOnDisk, added_text, read_release, read_signed, release_folder
from celosia.pipeline.release.forms import READ_ALONG, forms_folder, refuse_changed_forms
from celosia.pipeline.release.legal.declared_trust import declared_trust
from celosia.pipeline.release.legal.pdf_signatures import SignedForm, check_signed_pdf
from celosia.pipeline.release.legal.records import (
    PAPER,
    RECORD,
    act_of,
    form_digests,
    legal_acts,
    read_paper,
    read_records,
    signed_folder,
)
from celosia.pipeline.release.make_release import name_in_journal, refuse_foreign_release
from celosia.storage import AlreadyExists, atomic_write, make_private_folder

# --- out --------------------------------------------------------------------------------------------


def export_forms(source: ProjectArg, release: PathArg, into: PathArg) -> tuple[Path, ...]:
    """Copy the forms of a release into a folder, to be signed outside: the newest signed PDF of each, else the form.

    The sheet and the public report, which no norm asks to be signed on paper, are left out.
    """
    project = open_project(source)
    stored = read_signed(release_folder(project, Path(release)))
    folder = forms_folder(project.paths, stored.folder.resolve().name)
    refuse_changed_forms(folder, stored)
    papers = [folder / name for name in form_digests(stored.manifest) if Path(name).stem not in READ_ALONG]
    if not papers:
        raise errors.NoFormsToSign(release=stored.folder.name)
    target = Path(into)
    make_private_folder(target)
    written = []
    for paper in papers:
        signed = _newest_signed(project.paths, stored, paper.name)
        path = target / (signed or paper).name
        if path.exists():
            raise AlreadyExists(path=str(path))
        with atomic_write(path) as draft:
            draft.write_bytes((signed or paper).read_bytes())
        written.append(path)
    return tuple(written)


def _newest_signed(paths: ProjectPaths, release: ReleaseOnDisk, form: str) -> Path | None:
    """The signed PDF of a form on which the next person signs."""
    files = [file for file, record in read_records(paths, release) if record.form == form]
    return files[-1].with_suffix(PAPER) if files else None


# --- back in ----------------------------------------------------------------------------------------


def take_signed_form(
    source: ProjectArg,
    release: PathArg,
    signed: PathArg,
    roles: Sequence[str],
    *,
    names: Sequence[str] = (),
    trust: Sequence[Path] = (),
    now: datetime | None = None,
) -> LegalSignature:
    """Take a signed PDF in: verify it, say whose each new signature is, keep it beside its record.

    `roles` are those of the new signatures in the order in which they were given; `names` says whose they are where a
    certificate bears another name than the release.
    """
    path, moment = Path(signed), utc_now(now)
    content = read_paper(path)
    with open_for_signing(source) as project:
        stored = read_release(release_folder(project, Path(release)))
        if stored.differences:
            raise errors.ReleaseDamaged(path=str(stored.folder), reason=", ".join(stored.differences))
        refuse_foreign_release(project, stored)
        name = name_in_journal(project, stored)
        refuse_changed_forms(forms_folder(project.paths, name), stored)
        anchors = declared_trust(project, trust)
        form = check_signed_pdf(content, path.name, form_digests(stored.manifest), name, anchors, moment)
        records = read_records(project.paths, stored)
        earlier = _continued_record(content, form.form, records)
        signers = _bind(form, earlier[1] if earlier else None, stored, roles, names, path.name, records)
        digest = form_digests(stored.manifest)[form.form]
        record = LegalSignature(
            release=name,
            manifest=stored.manifest.digest,
            form=form.form,
            form_digest=digest,
            pdf=f"sha256:{hashlib.sha256(content).hexdigest()}",
            taken=moment.isoformat(timespec="seconds"),
            taken_by=author(),
            signers=signers,
        )
        file = earlier[0] if earlier else _free_name(signed_folder(project.paths, name), form.form)
        note_missing(project.paths.journal, legal_acts(project.paths, stored))
        _keep(project, file, record, content, moment)
    return record


def _continued_record(
    content: bytes, form: str, records: Sequence[tuple[Path, LegalSignature]]
) -> tuple[Path, LegalSignature] | None:
    """The record of the PDF that this one goes on from: the next person signed on the same file."""
    for file, record in records:
        paper = file.with_suffix(PAPER)
        if record.form == form and paper.is_file() and content.startswith(paper.read_bytes()):
            return file, record
    return None


def _free_name(folder: Path, form: str) -> Path:
    number = 1
    while (target := folder / f"{Path(form).stem}-{number}{RECORD}").exists():
        number += 1
    return target


def _keep(project: Project, file: Path, record: LegalSignature, content: bytes, now: datetime) -> None:
    """The PDF first, then its record, then the journal: what was cut off in between is noticed and can be repeated."""
    _journal.refuse_unwritable(project.paths.journal)
    make_private_folder(project.paths.signed_forms)
    make_private_folder(file.parent)
    with atomic_write(file.with_suffix(PAPER)) as draft:
        draft.write_bytes(content)
    with atomic_write(file) as draft:
        draft.write_bytes(added_text(record.as_dict()).encode("utf-8"))
    act = act_of(file, record)
    _journal.append_entry(project.paths.journal, act.what, now, act.facts, who=act.who)


# --- whose each signature is ------------------------------------------------------------------------


def _bind(
    form: SignedForm,
    earlier: LegalSignature | None,
    release: ReleaseOnDisk,
    roles: Sequence[str],
    names: Sequence[str],
    path: str,
    records: Sequence[tuple[Path, LegalSignature]],
) -> tuple[LegalSigner, ...]:
    """Each signature with its person and role: those of earlier records as they were, the new ones in order."""
    bound = {signer.pdf_signature.signature: signer for _, record in records for signer in record.signers}
    fresh = [signature for signature in form.signatures if signature.signature not in bound]
    if not fresh and earlier is not None and len(form.signatures) == len(earlier.signers):
        raise errors.SignatureTaken(path=path)
    if len(roles) != len(fresh) or (names and len(names) != len(fresh)):
        given = ", ".join(signature.certificate_name for signature in fresh) or "–"
        raise errors.SignerRoleNeeded(count=len(fresh), signers=given)
    for signature, role, name in zip(fresh, roles, names or [""] * len(fresh), strict=True):
        signer = _signer(signature, role, name, release)
        _refuse_clash(signer, [*bound.values()], release)
        bound[signature.signature] = signer
    return tuple(bound[signature.signature] for signature in form.signatures)


def _signer(signature: PdfSignature, role: str, name: str, release: ReleaseOnDisk) -> LegalSigner:
    """The person of the release that a signature belongs to: by the certificate's name, or as declared."""
    holders = [member.name for member in release.holders(role)]
    if name:
        matching = [holder for holder in holders if same_name(holder, name)]
    else:
        matching = [holder for holder in holders if is_named(holder, signature.certificate_name)]
    if len(matching) != 1:
        fields = {"role": role, "words": role_words(role), "names": ", ".join(holders) or "–"}
        raise errors.SignerNameDiffers(signer=name or signature.certificate_name, **fields)
    return LegalSigner(role, matching[0], not is_named(matching[0], signature.certificate_name), signature)


def is_named(name: str, certificate_name: str) -> bool:
    """Whether a certificate bears a name: every word of it, for certificates also give second names in capitals."""
    words = _plain_words(name)
    return bool(words) and words <= _plain_words(certificate_name)


def _plain_words(name: str) -> set[str]:
    letters = unicodedata.normalize("NFKD", name.casefold())
    return set("".join(letter for letter in letters if not unicodedata.combining(letter)).split())


def _refuse_clash(signer: LegalSigner, others: Sequence[LegalSigner], release: ReleaseOnDisk) -> None:
    """One certificate is of one person, and who executed does not verify (MINSAL Verificación 4)."""
    opposite = {"verifier": "executor", "executor": "verifier"}.get(signer.role)
    for other in others:
        same_certificate = other.pdf_signature.certificate == signer.pdf_signature.certificate
        same_person = same_name(other.name, signer.name)
        if (same_certificate and not same_person) or ((same_person or same_certificate) and other.role == opposite):
            raise SamePerson(name=signer.name)
    for approval in (*release.readable_signatures, *release.approvals):
        if approval.role == opposite and same_name(approval.name, signer.name):
            raise SamePerson(name=signer.name)
