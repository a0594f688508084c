"""Signatures with legal effect on the PDF of a form, and time stamps: what certificates say, as data.

`celosia/legal-signature/1` is the record of a signed PDF that was taken in: which release, form and file, and whose
each signature is. Knows names, moments and digests. Ignores how they are verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celosia.model.errors import UnknownFormat
from celosia.model.plain import plain_fields

LEGAL_SIGNATURE_FORMAT = "celosia/legal-signature/1"


@dataclass(frozen=True, slots=True)
class PdfSignature:
    """A signature inside a PDF, as its certificate and its time stamp tell it; all moments in UTC."""

    certificate_name: str  # the common name of the certificate's holder
    certificate: str  # digest of the certificate
    issuer: str
    anchor: str  # the authority that the reader declared and the certificate leads to
    anchor_certificate: str  # its digest
    until: str  # the last moment of the certificate
    signed: str  # when the signer says it was signed; empty where nothing says so
    stamped: str  # when a time stamp proves that it was there; empty without one
    stamp_authority: str
    signature: str  # digest of the signature itself

    @property
    def proven_moment(self) -> str:
        """The moment that is proved by a time stamp, else the one that the signer states."""
        return self.stamped or self.signed


@dataclass(frozen=True, slots=True)
class LegalSigner:
    """Whose a signature of a PDF is: a person of the release, in a role."""

    role: str
    name: str
    name_declared: bool  # the certificate bears another name; whoever took the PDF in said whose it is
    pdf_signature: PdfSignature


@dataclass(frozen=True, slots=True)
class LegalSignature:
    """A signed PDF of a form of a release."""

    release: str
    manifest: str  # digest of the manifest that lists the form
    form: str  # file of the form
    form_digest: str
    pdf: str  # digest of the signed PDF
    taken: str  # when it was taken in
    taken_by: str
    signers: tuple[LegalSigner, ...]

    def as_dict(self) -> dict[str, Any]:
        """The record as its versioned JSON."""
        return {"format": LEGAL_SIGNATURE_FORMAT, **plain_fields(self)}


def legal_signature_from(document: Mapping[str, Any], path: str = "-") -> LegalSignature:
    """A record from its JSON."""
    if document.get("format") != LEGAL_SIGNATURE_FORMAT:
        raise UnknownFormat(path=path, found=str(document.get("format")), expected=LEGAL_SIGNATURE_FORMAT)
    values = {name: document[name] for name in LegalSignature.__slots__ if name != "signers"}
    return LegalSignature(**values, signers=tuple(_signer_from(signer) for signer in document["signers"]))


def _signer_from(document: Mapping[str, Any]) -> LegalSigner:
    parts = document["pdf_signature"]
    pdf_signature = PdfSignature(**{name: parts[name] for name in PdfSignature.__slots__})
    return LegalSigner(document["role"], document["name"], document["name_declared"], pdf_signature)


@dataclass(frozen=True, slots=True)
class TimeStamp:
    """A time stamp over the manifest of a release (RFC 3161)."""

    moment: str  # UTC
    authority: str  # the common name of the certificate that stamped
    certificate: str  # its digest
    anchor: str  # the declared authority it leads to; empty where none was declared

    def as_dict(self) -> dict[str, Any]:
        """The stamp as data."""
        return plain_fields(self)
