"""What a project keeps of signed PDFs: `private/signed-forms/`, each PDF beside its record, and what is said of them.

Knows records, where they lie and the journal that names each. Ignores certificates and how signatures are verified.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.model.errors import UnknownFormat
from celosia.model.paths import ProjectPaths
from celosia.model.releases import Manifest
from celosia.model.reports.legal_signatures import LegalSignature, LegalSigner, legal_signature_from
from celosia.pipeline.project.acts import Act
from celosia.pipeline.project.people import role_words
from celosia.pipeline.release import errors
from celosia.pipeline.release.folder import ReleaseOnDisk, added_text
from celosia.storage import content_digest, translate_read_errors

ACT, STAMP_ACT = "sign-form", "stamp"  # entries of the journal
LARGEST = 50_000_000  # bytes of a signed PDF
PAPER, RECORD = ".pdf", ".json"
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError, UnknownFormat)


def form_digests(manifest: Manifest) -> dict[str, str]:
    """The PDFs that a manifest lists, with their digests."""
    return {name: str(digest) for name, digest in sorted((manifest.forms or {}).items()) if name.endswith(PAPER)}


def signed_folder(paths: ProjectPaths, release: str) -> Path:
    """Where the signed PDFs of a release are kept."""
    return paths.signed_forms / release


def read_paper(path: Path) -> bytes:
    """The bytes of a PDF that somebody gives; one that is too large is not read."""
    with translate_read_errors(path):
        if path.stat().st_size > LARGEST:
            raise errors.PdfUnreadable(path=path.name)
        return path.read_bytes()


# --- what is kept -----------------------------------------------------------------------------------


def read_records(paths: ProjectPaths, release: ReleaseOnDisk) -> list[tuple[Path, LegalSignature]]:
    """The records of the signed PDFs of a release, each as it was written."""
    folder = signed_folder(paths, release.folder.resolve().name)
    return [(file, read_record(file)) for file in sorted(folder.glob(f"*{RECORD}"))]


def read_record(file: Path) -> LegalSignature:
    """A record; nothing may hide in it, not even a key written twice."""
    try:
        text = file.read_bytes().decode("utf-8")  # line ends as they are
        document: Mapping[str, Any] = json.loads(text)
        record = legal_signature_from(document, file.name)
        if added_text(record.as_dict()) != text:
            raise ValueError
        return record
    except (OSError, *_MALFORMED):
        raise errors.LegalRecordDamaged(file=file.name) from None


def legal_acts(paths: ProjectPaths, release: ReleaseOnDisk) -> list[Act]:
    """That signed PDFs were taken in, as the journal should tell it."""
    return [act_of(file, record) for file, record in read_records(paths, release)]


def act_of(file: Path, record: LegalSignature) -> Act:
    """That a signed PDF was taken in."""
    facts = {
        "release": record.release,
        "manifest": record.manifest,
        "file": file.stem,
        "record": content_digest(file),
        "pdf": record.pdf,
        "roles": [signer.role for signer in record.signers],
    }
    return Act(ACT, facts, record.taken_by, "", record.taken)


# --- what is said of them ---------------------------------------------------------------------------


def signer_sentence(signer: LegalSigner, form: str) -> str:
    """Who signed a form with legal effect, in which role, when, and what proves it."""
    signature = signer.pdf_signature
    fields = {
        "name": signer.name,
        "role": role_words(signer.role),
        "certificate": signature.certificate_name,
        "form": form,
        "authority": signature.anchor,
        "moment": signature.proven_moment or "–",
    }
    if signature.stamped:
        return messages.text("legal.signed_stamped", **fields, stamper=signature.stamp_authority)
    return messages.text("legal.signed", **fields, until=signature.until[:10])


def legal_sentences(
    paths: ProjectPaths, release: ReleaseOnDisk, journal: Sequence[Mapping[str, Any]], form: str = ""
) -> tuple[str, ...]:
    """A sentence for each legal signature on a form, or on all, and for each time stamp, as they were taken in."""
    records = [(file, record) for file, record in read_records(paths, release) if form in ("", record.form)]
    signed = [signer_sentence(signer, record.form) for _, record in records for signer in record.signers]
    stamps = [entry.get("facts") or {} for entry in journal if entry.get("what") == STAMP_ACT]
    own = [stamp for stamp in stamps if stamp.get("manifest") == release.manifest.digest]
    return (*signed, *(messages.text("legal.stamped", **_stamp_fields(stamp)) for stamp in own))


def _stamp_fields(facts: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(facts.get(key, "–")) for key in ("moment", "authority")}
