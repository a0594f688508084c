"""The certificate of a page that others can reach."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from celosia.errors import BadCertificate
from celosia.web._certificate import fingerprint, self_made, usable

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def test_a_made_certificate_is_usable_private_and_kept(tmp_path: Path) -> None:
    certificate, key = self_made(tmp_path, ["datos.example", "10.0.0.5"], NOW)
    usable(certificate, key)
    assert key.stat().st_mode & 0o777 == 0o600
    told = fingerprint(certificate)
    assert len(told.split(":")) == 32
    assert fingerprint(self_made(tmp_path, ["datos.example", "10.0.0.5"], NOW)[0]) == told


def test_it_is_made_anew_when_it_ends_or_the_names_change(tmp_path: Path) -> None:
    first = fingerprint(self_made(tmp_path, ["a.example"], NOW)[0])
    other = fingerprint(self_made(tmp_path, ["b.example"], NOW)[0])
    later = fingerprint(self_made(tmp_path, ["b.example"], NOW + timedelta(days=395))[0])
    assert len({first, other, later}) == 3


def test_a_certificate_that_is_none_or_has_another_key_is_refused(tmp_path: Path) -> None:
    certificate, key = self_made(tmp_path, ["a.example"], NOW)
    other = tmp_path / "other"
    other.mkdir()
    _, stranger = self_made(other, ["a.example"], NOW)
    for pair in ((certificate, stranger), (key, certificate), (tmp_path / "none.pem", key)):
        with pytest.raises(BadCertificate):
            usable(*pair)


def test_its_names_are_what_browsers_check(tmp_path: Path) -> None:
    certificate, _ = self_made(tmp_path, ["datos.example", "10.0.0.5"], NOW)
    found = x509.load_pem_x509_certificate(certificate.read_bytes())
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["datos.example"]
    assert [str(one) for one in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.5"]
