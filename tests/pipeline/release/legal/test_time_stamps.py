"""Time stamps over the manifest of a release: asked for and verified without a network, refused by name."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from asn1crypto import tsp

from celosia.cli import main
from celosia.errors import CelosiaError
from celosia.model.errors import MissingExtra
from celosia.model.verdict import State
from celosia.pipeline.release.archive import archive_release, verify_upload
from celosia.pipeline.release.errors import (
    StampAltered,
    StampChainUnknown,
    StampMomentWrong,
    StampNotForStamping,
    StampNotGranted,
    StampOfOther,
    StampRepeats,
    StampRevoked,
    StampUnreadable,
)
from celosia.pipeline.release.folder import read_release
from celosia.pipeline.release.legal.attach_stamp import attach_stamp
from celosia.pipeline.release.legal.declared_trust import project_of
from celosia.pipeline.release.legal.time_stamps import verify_stamps, write_query
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from tests.authority import YEAR, Authority, issue, make_authority
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW

RELEASE = "2026-11-15"
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def walk(tmp_path_factory) -> Path:
    people = make_keys(tmp_path_factory.mktemp("keys"))
    folder = run_to_approved_candidate(make_project(tmp_path_factory.mktemp("stamps") / "egresos", people), people)
    made = make_release(folder, now=NOW)
    for role, person in people.items():
        sign_release(made.folder, None, person, role, now=NOW)
    return folder


@pytest.fixture(scope="module")
def authority() -> Authority:
    return make_authority(NOW)


@pytest.fixture
def release(walk, tmp_path) -> Path:
    return Path(shutil.copytree(walk, tmp_path / "egresos")) / "releases" / RELEASE


@pytest.fixture
def trust(authority, tmp_path) -> Path:
    folder = tmp_path / "autoridades"
    folder.mkdir()
    (folder / "raiz.pem").write_bytes(authority.root.pem)
    return folder


@pytest.fixture
def answer(release, authority, tmp_path):
    """The answer of an authority to the query of the release, at a moment, changed on its way if asked."""

    def run(moment: datetime = NOW + DAY, by: Authority = authority, change=bytes) -> Path:
        query = write_query(release, tmp_path / "consulta.tsq")
        asked = tsp.TimeStampReq.load(query.read_bytes())
        path = tmp_path / "respuesta.tsr"
        path.write_bytes(change(by.stamper(moment).request_tsa_response(asked).dump()))
        return path

    return run


def attach(release: Path, path: Path, trust: Path, now: datetime = NOW + 2 * DAY):
    return attach_stamp(release, path, trust=[trust], now=now)


def finding(release: Path, **options):
    stored = read_release(release)
    findings = verify_stamps(stored, project_of(stored.folder), options.get("trust", ()), NOW + 2 * DAY)
    return next(iter(findings), None)


def test_the_query_holds_the_digest_of_the_manifest_alone_and_is_the_same_each_time(release, tmp_path):
    first, second = (write_query(release, tmp_path / f"{number}.tsq").read_bytes() for number in (1, 2))
    asked = tsp.TimeStampReq.load(first)
    digest = verify_release(release).manifest
    assert first == second
    assert "sha256:" + asked["message_imprint"]["hashed_message"].native.hex() == digest


def test_an_attached_stamp_is_shown_with_its_time_and_authority(release, answer, trust):
    stamp = attach(release, answer(), trust)
    assert (stamp.moment, stamp.anchor) == ((NOW + DAY).isoformat(timespec="seconds"), "Raíz de prueba")
    held = finding(release, trust=[trust])
    assert held.state is State.HOLDS
    assert stamp.moment in held.detail[0]
    assert "sello de tiempo" in held.detail[0]
    assert verify_release(release, trust=[trust], now=NOW + 2 * DAY).holds
    assert any(stamp.moment in words for words in status(release.parent.parent, now=NOW).legal)


def test_who_declares_no_authority_is_told_that_nobody_vouches_for_the_stamp(release, answer, trust):
    attach(release, answer(), trust)
    said = finding(release)
    assert said.state is State.ATTESTED
    assert "--trust" in said.detail[0]


def test_a_stamp_travels_in_the_archive_of_the_release(release, answer, trust, tmp_path):
    attach(release, answer(), trust)
    report = verify_upload(archive_release(release.parent.parent, RELEASE, tmp_path / "r.zip"))
    assert any(each.id == "time_stamps" and each.state is State.ATTESTED for each in report.findings)


def test_a_token_without_the_envelope_of_an_answer_is_accepted(release, answer, trust):
    bare = answer(change=lambda content: tsp.TimeStampResp.load(content)["time_stamp_token"].dump())
    assert attach(release, bare, trust).anchor


def test_several_stamps_may_be_attached_but_not_the_same_twice(release, answer, trust):
    first = answer()
    attach(release, first, trust)
    with pytest.raises(StampRepeats):
        attach(release, first, trust)
    attach(release, answer(NOW + DAY + timedelta(hours=1)), trust)
    assert len(finding(release, trust=[trust]).detail) == 2


def test_a_stamp_of_another_manifest_is_refused(release, authority, trust, tmp_path):
    asked = tsp.TimeStampReq(
        {
            "version": 1,
            "message_imprint": {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": bytes(32)},
            "cert_req": True,
        }
    )
    path = tmp_path / "otro.tsr"
    path.write_bytes(authority.stamper().request_tsa_response(asked).dump())
    with pytest.raises(StampOfOther, match=RELEASE):
        attach(release, path, trust)


def test_a_stamp_whose_time_was_changed_is_refused(release, answer, trust):
    def earlier(content: bytes) -> bytes:
        # The moment in the stamp itself is written to the second, that of its signature in two digits for the year.
        changed = content.replace(b"20261116120000Z", b"20261115120000Z")
        assert changed != content
        return changed

    with pytest.raises(StampAltered):
        attach(release, answer(change=earlier), trust)


def test_a_stamp_of_an_unknown_authority_is_refused(release, answer, trust):
    stranger = make_authority(NOW, first=30, name="Otra raíz")
    with pytest.raises(StampChainUnknown, match="Otra raíz"):
        attach(release, answer(by=stranger), trust)


def test_a_certificate_that_signs_people_does_not_stamp(release, answer, trust, authority):
    person = Authority(authority.root, authority.intermediate, authority.signer("ANA ROJAS", 10), NOW)
    with pytest.raises(StampNotForStamping, match="ANA ROJAS"):
        attach(release, answer(by=person), trust)


def test_a_revoked_authority_of_stamps_is_refused(release, answer, trust, authority):
    (trust / "revocados.crl").write_bytes(authority.revoke(authority.stamping, NOW + 2 * DAY))
    with pytest.raises(StampRevoked):
        attach(release, answer(), trust)


def test_an_authority_whose_certificate_had_ended_is_refused(release, answer, trust, authority):
    span = {"since": NOW - 2 * YEAR, "until": NOW - DAY}
    old = issue("Sello vencido", 44, authority.intermediate, stamps=True, **span)
    with pytest.raises(StampChainUnknown, match="Sello vencido"):
        attach(release, answer(by=Authority(authority.root, authority.intermediate, old, NOW)), trust)


@pytest.mark.parametrize("moment", [NOW - 30 * DAY, NOW + 30 * DAY])
def test_a_moment_that_cannot_be_is_refused(release, answer, trust, moment):
    with pytest.raises(StampMomentWrong):
        attach(release, answer(moment), trust)


def test_a_refusal_of_the_authority_is_said(release, trust, tmp_path):
    path = tmp_path / "no.tsr"
    status_alone = tsp.PKIStatusInfo({"status": "rejection"}).dump()
    path.write_bytes(b"\x30" + bytes([len(status_alone)]) + status_alone)
    with pytest.raises(StampNotGranted):
        attach(release, path, trust)


@pytest.mark.parametrize("content", [b"", b"nada", b"\x30\x80", b"\x30\x03\x02\x01\x01"])
def test_what_is_no_answer_is_refused(release, trust, tmp_path, content):
    path = tmp_path / "nada.tsr"
    path.write_bytes(content)
    with pytest.raises(StampUnreadable):
        attach(release, path, trust)


def altered_stamps(release: Path):
    """Put stamps changed in one byte into a release, one after another."""
    file = release / "signatures" / "time-stamp-1.tsr"
    content = file.read_bytes()
    for place in range(0, len(content), 37):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        yield place


def test_a_stamp_changed_in_any_byte_makes_verify_in_the_project_fail_by_name(release, answer, trust):
    attach(release, answer(), trust)
    for place in altered_stamps(release):
        said = finding(release, trust=[trust])
        assert said.state is State.FAILS, place
        assert "time-stamp-1.tsr" in said.detail[0]


def test_a_stamp_changed_in_a_release_alone_never_tells_another_time_or_authority(release, answer, trust, tmp_path):
    attach(release, answer(), trust)
    alone = Path(shutil.copytree(release, tmp_path / "sola"))
    genuine = finding(alone, trust=[trust])
    assert genuine.state is State.HOLDS
    refused = 0
    for place in altered_stamps(alone):
        said = finding(alone, trust=[trust])
        refused += said.state is State.FAILS
        # A few bytes of an answer are under no signature, such as the list of methods; they tell the reader nothing.
        assert said.state is State.FAILS or said == genuine, place
    assert refused > 10


def test_a_stamp_taken_away_is_noticed_in_the_project(release, answer, trust):
    attach(release, answer(), trust)
    (release / "signatures" / "time-stamp-1.tsr").unlink()
    assert finding(release, trust=[trust]).state is State.FAILS


def test_the_stamp_of_another_release_makes_verify_fail_by_name(release, answer, trust, authority, tmp_path):
    asked = tsp.TimeStampReq.load(write_query(release, tmp_path / "q.tsq").read_bytes())
    asked["message_imprint"]["hashed_message"] = bytes(32)
    content = authority.stamper(NOW).request_tsa_response(tsp.TimeStampReq.load(asked.dump(force=True))).dump()
    alone = Path(shutil.copytree(release, tmp_path / "sola"))
    (alone / "signatures" / "time-stamp-1.tsr").write_bytes(content)
    said = finding(alone, trust=[trust])
    assert said.state is State.FAILS
    assert "otro manifiesto" in said.detail[0]
    assert not verify_release(alone, now=NOW + DAY).holds


def test_another_file_among_the_signatures_is_still_noticed(release):
    (release / "signatures" / "sello.tsr").write_bytes(b"x")
    assert any(each.id == "files" and each.state is State.FAILS for each in verify_release(release).findings)


def test_without_the_library_it_is_said_that_the_stamp_was_not_checked(release, answer, trust, monkeypatch):
    attach(release, answer(), trust)

    def missing() -> None:
        raise MissingExtra(feature="sellos", extra="legal")

    monkeypatch.setattr("celosia.pipeline.release.legal.time_stamps.refuse_without_library", missing)
    said = finding(release, trust=[trust])
    assert said.state is State.ATTESTED
    assert "celosia[legal]" in said.detail[0]


def test_the_commands_ask_and_attach(release, authority, trust, tmp_path, capsys):
    import time_machine

    query, path = tmp_path / "consulta.tsq", tmp_path / "respuesta.tsr"
    with time_machine.travel(NOW + 2 * DAY, tick=False):
        assert main(["stamp", "request", str(release), "--into", str(query)]) == 0
        assert "celosia stamp attach" in capsys.readouterr().out
        asked = tsp.TimeStampReq.load(query.read_bytes())
        path.write_bytes(authority.stamper(NOW + DAY).request_tsa_response(asked).dump())
        assert main(["stamp", "attach", str(release), str(path), "--trust", str(trust)]) == 0
        assert "Raíz de prueba" in capsys.readouterr().out
        assert main(["verify", str(release), "--trust", str(trust)]) == 4
        assert "sellos de tiempo" in capsys.readouterr().out


def test_errors_of_stamps_are_ours(release, trust, answer):
    content = answer().read_bytes()
    for place in range(0, len(content), 61):
        path = trust.parent / "dañado.tsr"
        path.write_bytes(content[:place])
        with pytest.raises(CelosiaError):
            attach(release, path, trust)
