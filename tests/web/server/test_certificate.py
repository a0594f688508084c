"""The certificate of a page that others can reach."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from celosia.model.value_errors import ValueOutOfRange
from celosia.web.errors import BadCertificate, HostUnusable, PortTaken
from celosia.web.server.certificate import fingerprint, own_certificate, plain_name, refuse_unusable
from celosia.web.server.serve import Listening, _certificate, _host_names, _open_socket

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def test_a_made_certificate_is_usable_private_and_kept(tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path, ["datos.example", "10.0.0.5"], NOW)
    refuse_unusable(certificate, key)
    assert key.stat().st_mode & 0o777 == 0o600
    known_fingerprint = fingerprint(certificate)
    assert len(known_fingerprint.split(":")) == 32
    assert fingerprint(own_certificate(tmp_path, ["datos.example", "10.0.0.5"], NOW)[0]) == known_fingerprint


def test_it_is_made_anew_when_it_ends_or_the_names_change(tmp_path: Path) -> None:
    first = fingerprint(own_certificate(tmp_path, ["a.example"], NOW)[0])
    other = fingerprint(own_certificate(tmp_path, ["b.example"], NOW)[0])
    later = fingerprint(own_certificate(tmp_path, ["b.example"], NOW + timedelta(days=395))[0])
    assert len({first, other, later}) == 3


def test_a_certificate_that_is_none_or_has_another_key_is_refused(tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path, ["a.example"], NOW)
    other = tmp_path / "other"
    other.mkdir()
    _, stranger = own_certificate(other, ["a.example"], NOW)
    for pair in ((certificate, stranger), (key, certificate), (tmp_path / "none.pem", key)):
        with pytest.raises(BadCertificate):
            refuse_unusable(*pair)


def test_its_names_are_what_browsers_check(tmp_path: Path) -> None:
    certificate, _ = own_certificate(tmp_path, ["datos.example", "10.0.0.5"], NOW)
    loaded = x509.load_pem_x509_certificate(certificate.read_bytes())
    names = loaded.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["datos.example"]
    assert [str(name) for name in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.5"]


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("Datos.Example.", "datos.example"),
        ("estadística.example", "xn--estadstica-o8a.example"),
        ("10.0.0.5", "10.0.0.5"),
    ],
)
def test_a_name_is_taken_as_browsers_send_it(tmp_path: Path, given: str, plain: str) -> None:
    assert plain_name(given) == plain
    refuse_unusable(*own_certificate(tmp_path, [plain], NOW))


@pytest.mark.parametrize("given", ["", "a b", "::", "http://a.example", "a.example:443", "a" * 64 + ".example"])
def test_what_is_no_name_is_refused(given: str) -> None:
    with pytest.raises(ValueOutOfRange):
        plain_name(given)


def test_a_long_name_has_its_certificate(tmp_path: Path) -> None:
    refuse_unusable(*own_certificate(tmp_path, ["a" * 60 + ".ministerio.example"], NOW))


def test_a_key_that_asks_for_a_passphrase_asks_nobody(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    certificate, key = own_certificate(tmp_path, ["a.example"], NOW)
    private = load_pem_private_key(key.read_bytes(), None)
    locked = tmp_path / "locked.pem"
    locked.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secreta")))
    with pytest.raises(BadCertificate):
        refuse_unusable(certificate, locked)
    assert capfd.readouterr() == ("", "")


def test_a_certificate_without_its_key_is_never_left_out(tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path, ["a.example"], NOW)
    both = tmp_path / "both.pem"
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    assert _certificate(tmp_path, Listening(certificate=both), ("a.example",)) == (both, both)
    for asked in (Listening(certificate=certificate), Listening(key=key)):
        with pytest.raises(BadCertificate):
            _certificate(tmp_path, asked, ("a.example",))


def test_listening_everywhere_the_page_has_this_machines_name() -> None:
    assert _host_names(Listening("0.0.0.0", names=("Datos.Example",)))[0] == "datos.example"
    assert _host_names(Listening("0.0.0.0"))[-2:] == ("127.0.0.1", "localhost")
    assert _host_names(Listening("10.0.0.5")) == ("10.0.0.5", "127.0.0.1", "localhost")
    with pytest.raises(HostUnusable):
        _host_names(Listening("::"))


def test_an_address_of_another_machine_is_not_called_a_taken_port() -> None:
    with pytest.raises(HostUnusable):
        _open_socket(Listening("192.0.2.1"))
    taken = _open_socket(Listening())
    with pytest.raises(PortTaken):
        _open_socket(Listening(port=taken.getsockname()[1]))
    taken.close()
