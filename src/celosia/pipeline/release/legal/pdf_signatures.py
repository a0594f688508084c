"""Signatures inside a PDF (PAdES): whether they are over one of the forms, whole, by certificates that can be trusted.

Knows bytes, certificates and moments; the caller says which forms, which authorities and what time it is. Ignores
projects and people. Nothing is fetched: revocation is known only from what the PDF carries or the caller was given.
Sources: ETSI EN 319 142-1 (PAdES); ISO 32000-2, 12.8; RFC 5280.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import logging
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.errors import MissingExtra
from celosia.model.reports.legal_signatures import PdfSignature
from celosia.pipeline.release import errors
from celosia.pipeline.release.legal.event_loops import allow_own_event_loop
from celosia.pipeline.release.legal.records import LARGEST
from celosia.pipeline.release.legal.trust import Trust, certificate_digest, common_name, der, revocation_moment

MOST_SIGNATURES = 50
_MOST_UPDATES = 500
_END = re.compile(rb"%%EOF")
_CLOCKS = timedelta(minutes=10)  # how far two clocks may differ
# What reading a hostile PDF or certificate raises, pyHanko's own errors aside.
_MALFORMED = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    ArithmeticError,
    RuntimeError,
    OSError,
    EOFError,
    zlib.error,
    x509.InvalidVersion,
)


@dataclass(frozen=True, slots=True)
class SignedForm:
    """A PDF that is a form and its signatures, in the order in which they were given."""

    form: str  # file of the form
    signatures: tuple[PdfSignature, ...]


def refuse_without_library() -> None:
    """Say which part to install where the library that verifies is not there."""
    try:
        import pyhanko.sign.validation  # noqa: F401
    except ImportError:
        raise MissingExtra(feature=messages.text("legal.feature"), extra="legal") from None


def form_in(content: bytes, forms: Mapping[str, str]) -> tuple[str, int] | None:
    """The form whose very bytes a PDF begins with, and where they end; None where it is no form of these."""
    names = {digest: name for name, digest in forms.items()}
    running, position = hashlib.sha256(), 0
    for mark in itertools.islice(_END.finditer(content), _MOST_UPDATES):
        # A tool may end its line, or leave it.
        for end in range(mark.end(), min(mark.end() + 2, len(content)) + 1):
            running.update(content[position:end])
            position = max(position, end)
            name = names.get(f"sha256:{running.hexdigest()}")
            if name is not None:
                return name, end
    return None


@allow_own_event_loop
def check_signed_pdf(
    content: bytes, path: str, forms: Mapping[str, str], release: str, trust: Trust, now: datetime
) -> SignedForm:
    """Judge a signed PDF against the digests of a release's forms; the first thing that is wrong is raised."""
    refuse_without_library()
    if len(content) > LARGEST:
        raise errors.PdfUnreadable(path=path)
    form = form_in(content, forms)
    if form is None:
        if content[:5] != b"%PDF-":
            raise errors.PdfUnreadable(path=path)
        raise errors.PdfNotTheForm(path=path, release=release)
    with translate_library_errors(path, errors.PdfUnreadable):
        return SignedForm(form[0], _check_signatures(content, path, form[1], trust, now))


@contextlib.contextmanager
def translate_library_errors(path: str, error: type[CelosiaError]) -> Iterator[None]:
    """What the library raises at a malformed file becomes ours; what it logs, parts of the file, is not printed."""
    from pyhanko.pdf_utils.misc import PdfError

    loggers = [logging.getLogger(name) for name in ("pyhanko", "pyhanko_certvalidator")]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    except CelosiaError:
        raise
    except (PdfError, *_MALFORMED):
        raise error(path=path) from None
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _check_signatures(
    content: bytes, path: str, form_end: int, trust: Trust, now: datetime
) -> tuple[PdfSignature, ...]:
    from pyhanko.pdf_utils.reader import PdfFileReader

    from celosia.pipeline.release.legal.pdf_updates import shows_the_form
    from celosia.pipeline.release.legal.pdf_words import covers_words

    reader = PdfFileReader(io.BytesIO(content))
    own = PdfFileReader(io.BytesIO(content[:form_end]))
    if reader.encrypted or reader.xrefs.get_startxref_for_revision(0) != own.xrefs.get_startxref_for_revision(0):
        raise errors.PdfUnreadable(path=path)
    embedded = reader.embedded_signatures
    signatures = [each for each in embedded if each.sig_object_type == "/Sig"]
    if not signatures:
        raise errors.PdfUnsigned(path=path)
    if len(embedded) > MOST_SIGNATURES:
        raise errors.PdfUnreadable(path=path)
    stamps = [each for each in embedded if each.sig_object_type == "/DocTimeStamp"]
    for each in embedded:
        _refuse_uncovered(each, content, path)
    _refuse_unsigned_end(embedded, reader, content, path)
    material = _Material(reader, trust, now)
    stamped = [(stamp.signed_revision, _document_moment(stamp, path, material)) for stamp in stamps]
    checked = tuple(_check_signature(each, path, material, stamped) for each in signatures)
    if not shows_the_form(reader):
        raise errors.PdfChangesForm(path=path)
    if covers_words(reader, own):
        raise errors.PdfHidesWords(path=path)
    return checked


# --- what is covered ------------------------------------------------------------------------------


def _refuse_uncovered(embedded: Any, content: bytes, path: str) -> None:
    """Two ranges of bytes that leave out the signature's own value alone, to the end of a revision."""
    from pyhanko.sign.validation.status import SignatureCoverageLevel

    name = _signer_name(embedded)
    ranges = [int(number) for number in embedded.byte_range]
    covered = len(ranges) == 4 and ranges[0] == 0 and all(number >= 0 for number in ranges)
    if covered:
        _, first, second, length = ranges
        gap = content[first:second]
        value = gap[1:-1].strip()
        whole = gap[:1] == b"<" and gap[-1:] == b">" and second + length <= len(content)
        covered = whole and value.lower() == embedded.pkcs7_content.hex().encode()
    if not covered or embedded.evaluate_signature_coverage() < SignatureCoverageLevel.ENTIRE_REVISION:
        raise errors.PdfNotCovered(path=path, signer=name)


def _refuse_unsigned_end(embedded: Sequence[Any], reader: Any, content: bytes, path: str) -> None:
    """Bytes behind the last signature are further revisions, which are judged, or nothing."""
    last = max(embedded, key=lambda each: each.signed_revision)
    end = int(last.byte_range[2]) + int(last.byte_range[3])
    later = reader.xrefs.total_revisions - 1 > last.signed_revision
    if content[end:].strip() and not (later and content.rstrip().endswith(b"%%EOF")):
        raise errors.PdfNotCovered(path=path, signer=_signer_name(last))


# --- certificates ---------------------------------------------------------------------------------


class _Material:
    """The authorities, revocations and certificates that every signature of one PDF is judged with."""

    def __init__(self, reader: Any, trust: Trust, now: datetime) -> None:
        from pyhanko.sign.validation.dss import DocumentSecurityStore
        from pyhanko.sign.validation.errors import NoDSSFoundError

        self.trust, self.now = trust, now
        self.lists: list[x509.CertificateRevocationList] = list(trust.revoked)
        self.answers: list[Any] = []
        self.certificates: list[Any] = []
        try:
            store = DocumentSecurityStore.read_dss(reader)
        except NoDSSFoundError:
            return
        self.certificates = list(store.load_certs())
        self.lists += [x509.load_der_x509_crl(each.get_object().data) for each in store.crls]
        self.answers = [each.get_object().data for each in store.ocsps]

    def add_archived(self, embedded: Any) -> None:
        """The proofs that a signature carries in itself, as Adobe's attribute does."""
        from pyhanko.sign.general import NonexistentAttributeError, find_unique_cms_attribute

        with contextlib.suppress(NonexistentAttributeError):
            archived = find_unique_cms_attribute(embedded.signer_info["signed_attrs"], "adobe_revocation_info_archival")
            self.lists += [x509.load_der_x509_crl(each.dump()) for each in archived["crl"] or ()]
            self.answers += [each.dump() for each in archived["ocsp"] or ()]

    def context(self, moment: datetime) -> Any:
        """What pyHanko needs to judge a certificate at a moment, offline."""
        return validation_context(self.trust, moment, self.lists, self.answers, self.certificates)


def validation_context(
    trust: Trust,
    moment: datetime,
    lists: Sequence[x509.CertificateRevocationList] = (),
    answers: Sequence[bytes] = (),
    certificates: Sequence[Any] = (),
) -> Any:
    """The declared authorities at a moment; nothing is fetched, and what was revoked later counts as later."""
    from asn1crypto import crl, ocsp
    from asn1crypto import x509 as asn1_x509
    from pyhanko_certvalidator import ValidationContext

    return ValidationContext(
        trust_roots=[asn1_x509.Certificate.load(der(each)) for each in trust.authorities],
        other_certs=list(certificates),
        moment=moment,
        best_signature_time=moment,
        allow_fetching=False,
        revocation_mode="soft-fail",
        retroactive_revinfo=True,
        crls=[crl.CertificateList.load(der(each)) for each in lists],
        ocsps=[ocsp.OCSPResponse.load(each) for each in answers],
    )


def _check_signature(
    embedded: Any, path: str, material: _Material, stamped: Sequence[tuple[int, tuple[datetime, str]]]
) -> PdfSignature:
    """One signature: what it covers, its time stamp, and its certificate at the moment that is proved."""
    name, now = _signer_name(embedded), material.now
    material.add_archived(embedded)
    status = _validate(embedded, material, now)
    if not status.intact or not status.valid:
        raise errors.PdfAltered(path=path, signer=name)
    if not status.docmdp_ok:
        raise errors.PdfChangedAfterwards(path=path, signer=name)
    moment, authority = _proven_moment(embedded, status, path, material, stamped)
    claimed = status.signer_reported_dt
    status = _validate(embedded, material, moment or now)
    certificate = certificate_from(embedded.signer_cert)
    _refuse_untrusted(status, certificate, path, moment or now, claimed, material)
    anchor = certificate_from(status.validation_path.first)
    return PdfSignature(
        certificate_name=name,
        certificate=certificate_digest(certificate),
        issuer=common_name(certificate.issuer),
        anchor=common_name(anchor.subject),
        anchor_certificate=certificate_digest(anchor),
        until=moment_text(certificate.not_valid_after_utc),
        signed=moment_text(claimed),
        stamped=moment_text(moment),
        stamp_authority=authority,
        signature=f"sha256:{hashlib.sha256(embedded.pkcs7_content).hexdigest()}",
    )


def _validate(embedded: Any, material: _Material, moment: datetime) -> Any:
    from pyhanko.sign.validation import validate_pdf_signature
    from pyhanko.sign.validation.settings import KeyUsageConstraints

    usage = KeyUsageConstraints(key_usage={"non_repudiation", "digital_signature"})
    return validate_pdf_signature(
        embedded, material.context(moment), material.context(moment), key_usage_settings=usage
    )


def _refuse_untrusted(
    status: Any,
    certificate: x509.Certificate,
    path: str,
    moment: datetime,
    claimed: datetime | None,
    material: _Material,
) -> None:
    """Raise what is wrong with a certificate at a moment, by its name."""
    name = common_name(certificate.subject)
    _refuse_outside_validity(certificate, path, name, moment, claimed, proved=moment != material.now)
    if status.revocation_details is not None:
        raise errors.SignerRevoked(path=path, signer=name, when=moment_text(status.revocation_details.revocation_date))
    if not status.trusted:
        raise _chain_error(status, certificate, path, name)
    chain = [certificate_from(each) for each in status.validation_path]
    revocation = revocation_moment(chain, material.lists)
    if revocation is not None and revocation[0] <= moment:
        raise errors.SignerRevoked(path=path, signer=name, when=moment_text(revocation[0]))


def _refuse_outside_validity(
    certificate: x509.Certificate, path: str, name: str, moment: datetime, claimed: datetime | None, *, proved: bool
) -> None:
    """The moment that is proved, else now and the moment that the signer states, lie within the certificate's life."""
    stated = [] if proved or claimed is None else [claimed]
    for each in (moment, *stated):
        if each < certificate.not_valid_before_utc:
            raise errors.SignerNotYetValid(path=path, signer=name, since=moment_text(certificate.not_valid_before_utc))
        if each > certificate.not_valid_after_utc:
            raise errors.SignerExpired(path=path, signer=name, until=moment_text(certificate.not_valid_after_utc))
    if stated and stated[0] > moment + _CLOCKS:
        raise errors.SignerNotYetValid(path=path, signer=name, since=moment_text(stated[0]))


def _chain_error(status: Any, certificate: x509.Certificate, path: str, name: str) -> CelosiaError:
    """Why a certificate is not trusted."""
    from pyhanko.sign.ades.report import AdESIndeterminate

    weak = (AdESIndeterminate.CRYPTO_CONSTRAINTS_FAILURE, AdESIndeterminate.CRYPTO_CONSTRAINTS_FAILURE_NO_POE)
    if status.trust_problem_indic in weak:
        return errors.SignatureWeak(path=path, signer=name)
    if certificate.issuer == certificate.subject:
        return errors.SignerSelfSigned(path=path, signer=name)
    if not _may_sign(certificate):
        return errors.SignerNotForSigning(path=path, signer=name)
    return errors.SignerChainUnknown(path=path, signer=name, issuer=common_name(certificate.issuer))


def _may_sign(certificate: x509.Certificate) -> bool:
    """Whether a certificate was issued to sign; one that says nothing of its use may."""
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return usage.digital_signature or usage.content_commitment


# --- moments --------------------------------------------------------------------------------------


def _proven_moment(
    embedded: Any, status: Any, path: str, material: _Material, stamped: Sequence[tuple[int, tuple[datetime, str]]]
) -> tuple[datetime | None, str]:
    """When a declared authority saw the signature: by its own time stamp, or by one over the document afterwards."""
    moments = [moment for revision, moment in stamped if revision > embedded.signed_revision]
    own = status.timestamp_validity
    if own is not None:
        if not own.intact or not own.valid:
            raise errors.SignatureStampWrong(path=path, signer=_signer_name(embedded))
        judged = _validate(embedded, material, own.timestamp).timestamp_validity
        moments += _trusted_moment(judged, material)
    return min(moments, key=lambda moment: moment[0], default=(None, ""))


def _document_moment(embedded: Any, path: str, material: _Material) -> tuple[datetime, str]:
    """The moment of a time stamp over the document."""
    from pyhanko.sign.validation import validate_pdf_timestamp

    status = validate_pdf_timestamp(embedded, material.context(material.now))
    if not status.intact or not status.valid:
        raise errors.SignatureStampWrong(path=path, signer=_signer_name(embedded))
    judged = validate_pdf_timestamp(embedded, material.context(status.timestamp))
    moments = _trusted_moment(judged, material)
    if not moments:
        raise errors.StampChainUnknown(path=path, authority=_signer_name(embedded))
    return moments[0]


def _trusted_moment(status: Any, material: _Material) -> list[tuple[datetime, str]]:
    """A time stamp that leads to a declared authority; another proves nothing, and is left aside."""
    moment = status.timestamp
    if not status.trusted or moment > material.now + _CLOCKS:
        return []
    chain = [certificate_from(each) for each in status.validation_path]
    if stamp_revoked(chain, material.lists, moment):
        return []
    return [(moment, common_name(chain[-1].subject))]


_HARMLESS = (
    x509.ReasonFlags.superseded,
    x509.ReasonFlags.cessation_of_operation,
    x509.ReasonFlags.affiliation_changed,
)


def stamp_revoked(
    chain: Sequence[x509.Certificate], lists: Sequence[x509.CertificateRevocationList], moment: datetime
) -> datetime | None:
    """When the certificate of a time stamp was revoked, unless that came later and for a harmless reason.

    Whoever holds a stolen key can write any time into a stamp (RFC 3161, 4).
    """
    revocation = revocation_moment(chain, lists)
    if revocation is None or (revocation[1] in _HARMLESS and revocation[0] > moment):
        return None
    return revocation[0]


def certificate_from(parsed: Any) -> x509.Certificate:
    """A certificate that pyHanko read, as everything else here reads it."""
    return x509.load_der_x509_certificate(parsed.dump())


def _signer_name(embedded: Any) -> str:
    return common_name(certificate_from(embedded.signer_cert).subject)


def moment_text(moment: datetime | None) -> str:
    """A moment as files and sentences hold it: in UTC, to the second."""
    return "" if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds")
