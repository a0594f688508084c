"""The authorities that an institution declares, and the revoked certificates that it was given: files, never a network.

Knows certificates (PEM or DER) and lists of revoked ones. Ignores what they sign. An authority's certificate says that
it may issue others; one that may not is refused, or a person could vouch for themself.
Source: RFC 5280, 4.2.1.9 (basic constraints) and 5 (CRL).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import NameOID

from celosia.pipeline.release.errors import TrustMissing, TrustNotAuthority, TrustUnreadable
from celosia.storage import translate_read_errors

_LARGEST = 20_000_000  # bytes of a certificate file or a list of revoked ones
_LISTS, _CERTIFICATES = (".crl",), (".pem", ".crt", ".cer", ".der", ".ca-bundle")
_PEM_LIST, _PEM = b"-----BEGIN X509 CRL-----", b"-----BEGIN"


@dataclass(frozen=True)
class Trust:
    """What a certificate may lead to, and which ones were revoked."""

    authorities: tuple[x509.Certificate, ...]
    revoked: tuple[x509.CertificateRevocationList, ...] = ()


def read_trust(paths: Sequence[Path]) -> Trust:
    """The authorities and lists in files and folders; at least one authority."""
    authorities: list[x509.Certificate] = []
    revoked: list[x509.CertificateRevocationList] = []
    for file in _trust_files(paths):
        certificates, lists = _read_file(file)
        authorities += certificates
        revoked += lists
        for certificate in certificates:
            if not _may_issue(certificate):
                raise TrustNotAuthority(path=str(file), name=common_name(certificate.subject))
    if not authorities:
        raise TrustMissing()
    return Trust(tuple(dict.fromkeys(authorities)), tuple(revoked))


def _trust_files(paths: Sequence[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        # Whatever else lies in a folder, such as a note on where the files come from, is left alone.
        files += [file for file in inside if file == path or file.suffix.lower() in (*_LISTS, *_CERTIFICATES)]
    return files


def _read_file(file: Path) -> tuple[list[x509.Certificate], list[x509.CertificateRevocationList]]:
    with translate_read_errors(file):
        if file.stat().st_size > _LARGEST:
            raise TrustUnreadable(path=str(file))
        content = file.read_bytes()
    try:
        if _PEM_LIST in content or file.suffix.lower() in _LISTS:
            load = x509.load_pem_x509_crl if _PEM_LIST in content else x509.load_der_x509_crl
            return [], [load(content)]
        if _PEM in content:
            return x509.load_pem_x509_certificates(content), []
        return [x509.load_der_x509_certificate(content)], []
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise TrustUnreadable(path=str(file)) from None


def _may_issue(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except (x509.ExtensionNotFound, ValueError):
        return False


def revocation_moment(
    chain: Sequence[x509.Certificate], lists: Iterable[x509.CertificateRevocationList]
) -> tuple[datetime, x509.ReasonFlags] | None:
    """The earliest revocation of a certificate of a chain, issuer first, with its reason.

    A list that is older than today still says who had been revoked by then.
    """
    revocations: list[tuple[datetime, x509.ReasonFlags]] = []
    for issuer, certificate in itertools.pairwise(chain):
        for revoked in lists:
            entry = _entry_in(revoked, issuer, certificate)
            revocations += [] if entry is None else [(entry.revocation_date_utc, _reason_of(entry))]
    return min(revocations, key=lambda revocation: revocation[0], default=None)


def _entry_in(
    revoked: x509.CertificateRevocationList, issuer: x509.Certificate, certificate: x509.Certificate
) -> x509.RevokedCertificate | None:
    """The line of a certificate in a list that its own issuer signed."""
    if revoked.issuer != issuer.subject:
        return None
    try:
        if not revoked.is_signature_valid(issuer.public_key()):  # type: ignore[arg-type]
            return None
    except (InvalidSignature, TypeError, UnsupportedAlgorithm, ValueError):
        return None
    return revoked.get_revoked_certificate_by_serial_number(certificate.serial_number)


def _reason_of(entry: x509.RevokedCertificate) -> x509.ReasonFlags:
    try:
        return entry.extensions.get_extension_for_class(x509.CRLReason).value.reason
    except (x509.ExtensionNotFound, ValueError):
        return x509.ReasonFlags.unspecified


def common_name(name: x509.Name) -> str:
    """What the holder of a certificate is called; the whole name where it has no common one."""
    parts = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return " ".join(str(parts[0].value).split()) if parts else name.rfc4514_string()


def certificate_digest(certificate: x509.Certificate) -> str:
    """The digest of a certificate, as browsers and PDF readers show it."""
    return f"sha256:{certificate.fingerprint(hashes.SHA256()).hex()}"


def der(part: x509.Certificate | x509.CertificateRevocationList) -> bytes:
    """A certificate or list as the bytes that other libraries read."""
    return part.public_bytes(serialization.Encoding.DER)
