"""The certificate of a page that others can reach: given, or made here and recognised by its fingerprint."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.model.value_errors import ValueOutOfRange
from celosia.web.errors import BadCertificate
from celosia.workbench.accounts import server_folder

if TYPE_CHECKING:
    from cryptography import x509

_DAYS = 397
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")


def refuse_unusable(certificate: Path, key: Path) -> None:
    """Refuse a certificate and key that do not belong together."""
    try:  # with a passphrase, so that nobody is asked for one: a server starts by itself
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (OSError, ssl.SSLError, ValueError):
        raise BadCertificate(path=str(certificate)) from None


def plain_name(given: str) -> str:
    """A name or address as browsers send it: small letters, accents in the encoding of host names."""
    name = given.strip().rstrip(".").lower()
    with contextlib.suppress(ValueError):
        return str(ipaddress.IPv4Address(name))
    try:
        name = name.encode("idna").decode("ascii")
    except ValueError:
        name = ""
    if not _NAME.fullmatch(name):
        raise ValueOutOfRange(parameter="names", given=given[:80], allowed="datos.example, 10.0.0.5")
    return name


def fingerprint(certificate: Path) -> str:
    """The SHA-256 of a certificate, as browsers show it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    try:
        return x509.load_pem_x509_certificate(certificate.read_bytes()).fingerprint(hashes.SHA256()).hex(":").upper()
    except (OSError, ValueError):
        raise BadCertificate(path=str(certificate)) from None


def own_certificate(root: Path, names: Sequence[str], now: datetime | None = None) -> tuple[Path, Path]:
    """A self-signed certificate and its key, kept beside the projects; made again when it ends or the names change."""
    folder = server_folder(root) / "tls"
    folder.mkdir(mode=0o700, exist_ok=True)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    when = now or datetime.now(UTC)
    if not _is_valid(certificate, names, when):
        _make(certificate, key, names, when)
    return certificate, key


def _is_valid(path: Path, names: Sequence[str], now: datetime) -> bool:
    from cryptography import x509

    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
        known = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    return certificate.not_valid_after_utc > now + timedelta(days=7) and list(known) == _alternative_names(names)


def _alternative_names(names: Sequence[str]) -> list[x509.GeneralName]:
    from cryptography import x509

    def general_name(name: str) -> x509.GeneralName:
        try:
            return x509.IPAddress(ipaddress.ip_address(name))
        except ValueError:
            return x509.DNSName(name)

    return [general_name(name) for name in names]


def _make(certificate: Path, key: Path, names: Sequence[str], now: datetime) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    # A common name holds at most 64 characters.
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"celosia {names[0]}"[:64])])
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName(_alternative_names(names)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    key.touch(mode=0o600)
    key.write_bytes(secret)
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
