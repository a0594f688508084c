"""The certificate of a page that others can reach: given, or made here and recognised by its fingerprint."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from celosia.errors import BadCertificate, ValueOutOfRange
from celosia.pipeline import office_folder

_DAYS = 397
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")


def usable(certificate: Path, key: Path) -> None:
    """Refuse a certificate and key that do not belong together."""
    try:  # with a passphrase, so that nobody is asked for one: a server starts by itself
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (OSError, ssl.SSLError, ValueError):
        raise BadCertificate(path=str(certificate)) from None


def plain_name(given: str) -> str:
    """A name or address as browsers send it: small letters, accents as the network writes them."""
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
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (OSError, ValueError):
        raise BadCertificate(path=str(certificate)) from None
    return found.fingerprint(hashes.SHA256()).hex(":").upper()


def self_made(root: Path, names: Sequence[str], now: datetime | None = None) -> tuple[Path, Path]:
    """A certificate for these names, made once and kept beside the projects; made anew when it ends or they change."""
    folder = office_folder(root) / "tls"
    folder.mkdir(mode=0o700, exist_ok=True)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    moment = now or datetime.now(UTC)
    if not _still_good(certificate, names, moment):
        _make(certificate, key, names, moment)
    return certificate, key


def _still_good(path: Path, names: Sequence[str], now: datetime) -> bool:
    from cryptography import x509

    try:
        found = x509.load_pem_x509_certificate(path.read_bytes())
        held = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    return found.not_valid_after_utc > now + timedelta(days=7) and list(held) == list(_alternatives(names))


def _alternatives(names: Sequence[str]) -> list[object]:
    from cryptography import x509

    def one(name: str) -> object:
        try:
            return x509.IPAddress(ipaddress.ip_address(name))
        except ValueError:
            return x509.DNSName(name)

    return [one(name) for name in names]


def _make(certificate: Path, key: Path, names: Sequence[str], now: datetime) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"celosia {names[0]}"[:64])])  # its most
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName(_alternatives(names)), critical=False)  # type: ignore[arg-type]
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    key.touch(mode=0o600)
    key.write_bytes(secret)
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
