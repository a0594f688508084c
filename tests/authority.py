"""A certification authority made for the tests: it issues real certificates, signs PDFs and stamps the time for real.

Root, intermediate, signers and a time-stamping authority, as a ministry's provider has them. Nobody in it exists.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from asn1crypto import keys as asn1_keys
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields, signers
from pyhanko.sign.timestamps.dummy_client import DummyTimeStamper
from pyhanko_certvalidator.registry import SimpleCertificateStore

from celosia.pipeline.release.legal.event_loops import allow_own_event_loop

YEAR = timedelta(days=365)


@dataclass(frozen=True)
class Holder:
    """A certificate with its private key, and the certificates that lead to it."""

    certificate: x509.Certificate
    key: rsa.RSAPrivateKey
    chain: tuple[x509.Certificate, ...] = ()

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def parsed(self) -> asn1_x509.Certificate:
        return asn1_x509.Certificate.load(self.certificate.public_bytes(serialization.Encoding.DER))

    @property
    def parsed_key(self) -> asn1_keys.PrivateKeyInfo:
        form = serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        return asn1_keys.PrivateKeyInfo.load(self.key.private_bytes(*form))

    @property
    def registry(self) -> SimpleCertificateStore:
        store = SimpleCertificateStore()
        form = serialization.Encoding.DER
        store.register_multiple([asn1_x509.Certificate.load(each.public_bytes(form)) for each in self.chain])
        return store


@cache
def _key(number: int) -> rsa.RSAPrivateKey:
    """A key of its own per number: made once in a run, for making one takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _name(common: str) -> x509.Name:
    parts = [(NameOID.COUNTRY_NAME, "CL"), (NameOID.ORGANIZATION_NAME, "Autoridad de prueba")]
    return x509.Name([x509.NameAttribute(oid, text) for oid, text in [*parts, (NameOID.COMMON_NAME, common)]])


def _usage(*, authority: bool) -> x509.KeyUsage:
    off = dict.fromkeys(
        ("key_encipherment", "data_encipherment", "key_agreement", "encipher_only", "decipher_only"), False
    )
    signing = dict.fromkeys(("digital_signature", "content_commitment"), not authority)
    return x509.KeyUsage(**off, **signing, key_cert_sign=authority, crl_sign=authority)


def issue(
    common: str,
    number: int,
    issuer: Holder | None = None,
    *,
    authority: bool = False,
    stamps: bool = False,
    since: datetime,
    until: datetime,
) -> Holder:
    """A certificate signed by its issuer, or by itself where there is none."""
    key = _key(number)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(common))
        .issuer_name(issuer.certificate.subject if issuer else _name(common))
        .public_key(key.public_key())
        .serial_number(1000 + number)
        .not_valid_before(since)
        .not_valid_after(until)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(_usage(authority=authority), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    signer = issuer.key if issuer else key
    builder = builder.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
    )
    if stamps:
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]), critical=True)
    chain = (*issuer.chain, issuer.certificate) if issuer else ()
    return Holder(builder.sign(signer, hashes.SHA256()), key, chain)


@dataclass(frozen=True)
class Authority:
    """Root, intermediate and time stamps of one provider."""

    root: Holder
    intermediate: Holder
    stamping: Holder
    now: datetime

    def signer(
        self, common: str, number: int, *, since: datetime | None = None, until: datetime | None = None
    ) -> Holder:
        since, until = since or self.now - YEAR, until or self.now + YEAR
        return issue(common, number, self.intermediate, since=since, until=until)

    def stamper(self, moment: datetime | None = None) -> DummyTimeStamper:
        """What stamps the time, at a moment of its own if one is given."""
        holder = self.stamping
        return DummyTimeStamper(
            holder.parsed, holder.parsed_key, certs_to_embed=holder.registry, fixed_dt=moment or self.now
        )

    def revoke(self, holder: Holder, when: datetime, *, listed: datetime | None = None) -> bytes:
        """The list of revoked certificates that names a holder's, as PEM."""
        entry = x509.RevokedCertificateBuilder().serial_number(holder.certificate.serial_number).revocation_date(when)
        listed = listed or when
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self.intermediate.certificate.subject)
            .last_update(listed)
            .next_update(listed + timedelta(days=30))
            .add_revoked_certificate(entry.build())
        )
        return builder.sign(self.intermediate.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def make_authority(now: datetime, *, first: int = 0, name: str = "Raíz de prueba") -> Authority:
    """A provider whose certificates hold from four years before a moment to ten years after it."""
    span = {"since": now - 4 * YEAR, "until": now + 10 * YEAR}
    root = issue(name, first, authority=True, **span)
    intermediate = issue(f"{name}: firma de personas", first + 1, root, authority=True, **span)
    stamping = issue(f"{name}: sello de tiempo", first + 2, intermediate, stamps=True, **span)
    return Authority(root, intermediate, stamping, now)


@allow_own_event_loop
def sign_pdf(
    content: bytes,
    holder: Holder,
    field: str,
    *,
    stamper: DummyTimeStamper | None = None,
    moment: datetime | None = None,
    subfilter: fields.SigSeedSubFilter = fields.SigSeedSubFilter.PADES,
    edit: object = None,
) -> bytes:
    """A PDF with one more signature, added by an incremental update as PAdES asks; `edit` changes the writer first."""
    import time_machine

    signer = signers.SimpleSigner(holder.parsed, holder.parsed_key, holder.registry)
    with time_machine.travel(moment or datetime.now(UTC), tick=False):
        writer = IncrementalPdfFileWriter(io.BytesIO(content))
        if callable(edit):
            edit(writer)
        metadata = signers.PdfSignatureMetadata(field_name=field, subfilter=subfilter, md_algorithm="sha256")
        return signers.PdfSigner(metadata, signer, timestamper=stamper).sign_pdf(writer).getvalue()
