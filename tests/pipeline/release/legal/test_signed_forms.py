"""Forms that leave to be signed with legal effect and come back: whose each signature is, and what verify says."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from celosia.cli import main
from celosia.model.errors import MissingExtra
from celosia.model.paths import ProjectPaths
from celosia.model.verdict import State
from celosia.pipeline.candidate.errors import SamePerson
from celosia.pipeline.project.journal import read_journal
from celosia.pipeline.release.documents import write_documents
from celosia.pipeline.release.errors import (
    PdfNotTheForm,
    SignatureTaken,
    SignerChainUnknown,
    SignerNameDiffers,
    SignerRoleNeeded,
    TrustMissing,
)
from celosia.pipeline.release.folder import read_release
from celosia.pipeline.release.journal_recovery import recover_journal
from celosia.pipeline.release.legal.declared_trust import project_of
from celosia.pipeline.release.legal.findings import legal_findings
from celosia.pipeline.release.legal.signed_forms import export_forms, is_named, take_signed_form
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from celosia.storage import AlreadyExists
from tests.authority import YEAR, Authority, Holder, make_authority, sign_pdf
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW

RELEASE, FORM = "2026-11-15", "minsal_form.pdf"
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def walk(people, tmp_path_factory) -> Path:
    """A project with a release that its three people signed with their keys."""
    folder = run_to_approved_candidate(make_project(tmp_path_factory.mktemp("legal") / "egresos", people), people)
    made = make_release(folder, now=NOW)
    for role, person in people.items():
        sign_release(made.folder, None, person, role, now=NOW)
    return folder


@pytest.fixture(scope="module")
def authority() -> Authority:
    return make_authority(NOW)


@pytest.fixture(scope="module")
def holders(authority) -> dict[str, Holder]:
    """The certificates of the three people, by role."""
    names = {"head": "ANA MARIA ROJAS PEREZ", "executor": "BETO SOTO", "verifier": "CARLA DIAZ"}
    return {role: authority.signer(name, 10 + place) for place, (role, name) in enumerate(names.items())}


@pytest.fixture
def folder(walk, authority, tmp_path) -> Path:
    """A copy of the project, which declares the authority."""
    copy = Path(shutil.copytree(walk, tmp_path / "egresos"))
    (copy / "autoridades").mkdir()
    (copy / "autoridades" / "raiz.pem").write_bytes(authority.root.pem)
    with (copy / "celosia.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[legal]\ntrust = "autoridades"\n')
    return copy


@pytest.fixture
def trust(authority, tmp_path) -> Path:
    """The authority, as the reader has it."""
    path = tmp_path / "mi-autoridad.pem"
    path.write_bytes(authority.root.pem)
    return path


def signed_copy(folder: Path, holder: Holder, field: str, into: Path, **options) -> Path:
    """Export the form, sign it with a certificate, and write it as the office's tool does."""
    (paper,) = export_forms(folder, RELEASE, into)
    target = into / f"firmado-{field}.pdf"
    target.write_bytes(sign_pdf(paper.read_bytes(), holder, field, moment=NOW, **options))
    paper.unlink()
    return target


def take(folder: Path, pdf: Path, *roles: str, now=NOW + DAY, **options):
    return take_signed_form(folder, RELEASE, pdf, roles, now=now, **options)


def finding(folder: Path, name: str, now=NOW + DAY, **options):
    """What verify says on one question about the release."""
    stored = read_release(folder / "releases" / RELEASE)
    findings = legal_findings(stored, project_of(stored.folder), (), options.get("trust", ()), now)
    return next((each for each in findings if each.id == name), None)


def records(folder: Path) -> list[Path]:
    return sorted((ProjectPaths(folder).signed_forms / RELEASE).glob("*"))


# --- the round trip -------------------------------------------------------------------------------


def test_what_is_exported_is_the_form_of_the_manifest_byte_by_byte(folder, tmp_path):
    (paper,) = export_forms(folder, RELEASE, tmp_path / "para-firmar")
    assert paper.read_bytes() == (folder / "private" / "forms" / RELEASE / FORM).read_bytes()
    with pytest.raises(AlreadyExists):
        export_forms(folder, RELEASE, tmp_path / "para-firmar")


def test_head_executor_and_verifier_sign_one_pdf_after_another_and_all_of_it_verifies(
    folder, holders, tmp_path, trust, authority
):
    for number, (role, holder) in enumerate(holders.items()):
        pdf = signed_copy(folder, holder, f"Firma{number}", tmp_path / role, stamper=authority.stamper())
        record = take(folder, pdf, role)
    assert [(signer.role, signer.name) for signer in record.signers] == [
        ("head", "Ana Rojas"),
        ("executor", "Beto Soto"),
        ("verifier", "Carla Díaz"),
    ]
    assert [path.name for path in records(folder)] == ["minsal_form-1.json", "minsal_form-1.pdf"]
    held = finding(folder, "legal_signatures", trust=[trust], now=NOW + 3 * YEAR)
    assert held.state is State.HOLDS
    assert "Ana Rojas" in held.detail[0]
    assert "sello de tiempo" in held.detail[2]
    assert verify_release(folder / "releases" / RELEASE, trust=[trust], now=NOW + DAY).holds


def test_the_record_names_the_manifest_and_the_journal_names_the_record(folder, holders, tmp_path):
    record = take(folder, signed_copy(folder, holders["head"], "Firma1", tmp_path / "f"), "head")
    release = verify_release(folder / "releases" / RELEASE, now=NOW + DAY)
    assert record.manifest == release.manifest
    stored = json.loads(records(folder)[0].read_text("utf-8"))
    assert stored["format"] == "celosia/legal-signature/1"
    (facts,) = read_journal(folder / "journal.jsonl").facts("sign-form")
    assert facts["manifest"] == record.manifest
    assert facts["pdf"] == record.pdf


def test_by_the_projects_own_authorities_a_signature_is_attested_not_held(folder, holders, tmp_path):
    take(folder, signed_copy(folder, holders["head"], "Firma1", tmp_path / "f"), "head")
    assert finding(folder, "legal_signatures").state is State.ATTESTED


def test_all_signatures_may_come_back_in_one_pdf(folder, holders, tmp_path):
    (paper,) = export_forms(folder, RELEASE, tmp_path / "f")
    content = paper.read_bytes()
    for number, holder in enumerate(holders.values()):
        content = sign_pdf(content, holder, f"Firma{number}", moment=NOW)
    paper.write_bytes(content)
    with pytest.raises(SignerRoleNeeded, match="3"):
        take(folder, paper, "head")
    assert len(take(folder, paper, "head", "executor", "verifier").signers) == 3


def test_two_people_who_signed_copies_apart_are_both_kept(folder, holders, tmp_path):
    first = signed_copy(folder, holders["head"], "Firma1", tmp_path / "a")
    second = signed_copy(folder, holders["executor"], "Firma1", tmp_path / "b")
    take(folder, first, "head")
    take(folder, second, "executor")
    assert len(records(folder)) == 4
    assert finding(folder, "legal_signatures").state is State.ATTESTED


def test_status_and_document_mention_the_legal_signature(folder, holders, tmp_path):
    assert not status(folder, now=NOW).legal
    take(folder, signed_copy(folder, holders["head"], "Firma1", tmp_path / "f"), "head")
    (words,) = status(folder, now=NOW).legal
    assert "Ana Rojas" in words
    assert "Sin sello de tiempo" in words
    written = write_documents(folder, "internal", ("html",), tmp_path / "doc", now=NOW)
    page = next(path for path in written if path.name == "minsal_form.html").read_text("utf-8")
    assert "ANA MARIA ROJAS PEREZ" in page


def test_a_legal_signature_does_not_replace_the_keys(people, holders, authority, tmp_path, trust):
    folder = run_to_approved_candidate(make_project(tmp_path / "egresos", people), people)
    make_release(folder, now=NOW)
    for number, (role, holder) in enumerate(holders.items()):
        take(folder, signed_copy(folder, holder, f"Firma{number}", tmp_path / role), role, trust=[trust])
    report = verify_release(folder / "releases" / RELEASE, trust=[trust], now=NOW + DAY)
    assert not report.holds
    assert next(each for each in report.findings if each.id == "signatures").state is State.FAILS


# --- whose it is ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "certificate", "same"),
    [
        ("Ana Rojas", "ANA MARÍA ROJAS PÉREZ", True),
        ("Carla Díaz", "CARLA DIAZ", True),
        ("Ana Rojas", "ANA SOTO PÉREZ", False),
        ("Ana Rojas", "ANA ROJASSO", False),
        ("", "ANA", False),
    ],
)
def test_a_certificate_bears_a_name_when_it_has_all_its_words(name, certificate, same):
    assert is_named(name, certificate) is same


def test_a_certificate_of_somebody_else_is_refused_unless_it_is_declared_whose_it_is(folder, authority, tmp_path):
    other = authority.signer("ANITA R. P.", 20)
    pdf = signed_copy(folder, other, "Firma1", tmp_path / "f")
    with pytest.raises(SignerNameDiffers, match="Ana Rojas"):
        take(folder, pdf, "head")
    with pytest.raises(SignerNameDiffers):
        take(folder, pdf, "head", names=["Beto Soto"])
    (signer,) = take(folder, pdf, "head", names=["ana rojas"]).signers
    assert signer.name == "Ana Rojas"
    assert signer.name_declared


def test_nobody_signs_in_a_role_that_the_release_does_not_give_them(folder, holders, tmp_path):
    with pytest.raises(SignerNameDiffers, match="Beto Soto"):
        take(folder, signed_copy(folder, holders["head"], "Firma1", tmp_path / "f"), "executor")


def test_one_certificate_is_of_one_person(folder, holders, tmp_path):
    take(folder, signed_copy(folder, holders["head"], "Firma1", tmp_path / "a"), "head")
    again = signed_copy(folder, holders["head"], "Firma2", tmp_path / "b")
    with pytest.raises(SamePerson):
        take(folder, again, "verifier", names=["Carla Díaz"])


def test_a_pdf_whose_signatures_are_all_known_is_said_to_be_known(folder, holders, tmp_path):
    pdf = signed_copy(folder, holders["head"], "Firma1", tmp_path / "f")
    take(folder, pdf, "head")
    with pytest.raises(SignatureTaken):
        take(folder, pdf, "head")


def test_the_form_of_another_release_is_refused(folder, people, holders, tmp_path):
    pdf = signed_copy(folder, holders["head"], "Firma1", tmp_path / "f")
    request = ProjectPaths(folder).request
    request.write_text(request.read_text("utf-8").replace("Datos abiertos", "Otra"), "utf-8")
    second = make_release(folder, now=NOW + DAY)
    with pytest.raises(PdfNotTheForm, match=second.folder.name):
        take_signed_form(folder, second.folder.name, pdf, ["head"], now=NOW + DAY)


def test_without_a_declared_authority_nothing_is_taken_in(walk, holders, tmp_path):
    folder = Path(shutil.copytree(walk, tmp_path / "egresos"))
    with pytest.raises(TrustMissing, match="--trust"):
        take(folder, signed_copy(folder, holders["head"], "Firma1", tmp_path / "f"), "head")
    assert not records(folder)


def test_a_project_that_declares_no_authority_is_told_that_nobody_vouches_and_not_that_it_is_damaged(
    walk, holders, tmp_path, trust
):
    folder = Path(shutil.copytree(walk, tmp_path / "egresos"))
    take(folder, signed_copy(folder, holders["head"], "Firma1", tmp_path / "f"), "head", trust=[trust])
    said = finding(folder, "legal_signatures")
    assert said.state is State.ATTESTED
    assert "--trust" in said.detail[-1]
    change_pdf(folder)
    assert finding(folder, "legal_signatures").state is State.FAILS


def test_a_refused_pdf_leaves_nothing_behind(folder, tmp_path):
    stranger = make_authority(NOW, first=30, name="Otra raíz")
    before = (folder / "journal.jsonl").read_bytes()
    with pytest.raises(SignerChainUnknown):
        take(folder, signed_copy(folder, stranger.signer("ANA ROJAS", 40), "Firma1", tmp_path / "f"), "head")
    assert not records(folder)
    assert (folder / "journal.jsonl").read_bytes() == before


# --- afterwards -------------------------------------------------------------------------------------


def change_person(folder: Path) -> None:
    record = records(folder)[0]
    record.write_text(record.read_text("utf-8").replace("Ana Rojas", "Carla Díaz"), "utf-8")


def change_role(folder: Path) -> None:
    record = records(folder)[0]
    record.write_text(record.read_text("utf-8").replace('"head"', '"verifier"'), "utf-8")


def add_key(folder: Path) -> None:
    record = records(folder)[0]
    record.write_text(record.read_text("utf-8").replace("{", '{\n  "nota": "x",', 1), "utf-8")


def change_pdf(folder: Path) -> None:
    paper = records(folder)[1]
    paper.write_bytes(paper.read_bytes() + b"\n")


def drop_record(folder: Path) -> None:
    records(folder)[0].unlink()


def drop_both(folder: Path) -> None:
    shutil.rmtree(ProjectPaths(folder).signed_forms)


def swap_authorities(folder: Path) -> None:
    stranger = make_authority(NOW, first=30, name="Otra raíz")
    (folder / "autoridades" / "raiz.pem").write_bytes(stranger.root.pem)


@pytest.mark.parametrize(
    "change", [change_person, change_role, add_key, change_pdf, drop_record, drop_both, swap_authorities]
)
def test_whatever_is_changed_after_a_pdf_was_taken_in_is_noticed(folder, holders, tmp_path, change):
    take(folder, signed_copy(folder, holders["head"], "Firma1", tmp_path / "f"), "head")
    assert finding(folder, "legal_signatures").state is State.ATTESTED
    change(folder)
    assert finding(folder, "legal_signatures").state is State.FAILS


def test_a_signature_without_time_stamp_fails_by_name_once_its_certificate_has_ended(folder, holders, tmp_path):
    take(folder, signed_copy(folder, holders["head"], "Firma1", tmp_path / "f"), "head")
    assert verify_release(folder / "releases" / RELEASE, now=NOW + DAY).holds
    assert not verify_release(folder / "releases" / RELEASE, now=NOW + 2 * YEAR).holds
    late = finding(folder, "legal_signatures", now=NOW + 2 * YEAR)
    assert late.state is State.FAILS
    assert "sello de tiempo" in late.detail[0]


def test_a_line_that_a_killed_process_did_not_write_is_recovered(folder, holders, tmp_path):
    take(folder, signed_copy(folder, holders["head"], "Firma1", tmp_path / "f"), "head")
    journal = folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    assert finding(folder, "legal_signatures").state is State.FAILS
    assert recover_journal(folder, now=NOW) == 1
    assert finding(folder, "legal_signatures").state is State.ATTESTED


# --- a reader who has the release alone -------------------------------------------------------------


def test_a_reader_verifies_a_signed_pdf_against_a_release_alone(folder, holders, tmp_path, trust):
    pdf = signed_copy(folder, holders["head"], "Firma1", tmp_path / "f")
    alone = Path(shutil.copytree(folder / "releases" / RELEASE, tmp_path / "sola"))
    report = verify_release(alone, signed_pdfs=[pdf], trust=[trust], now=NOW + DAY)
    held = next(each for each in report.findings if each.id == "signed_pdfs")
    assert held.state is State.HOLDS
    assert "ANA MARIA ROJAS PEREZ" in held.detail[0]
    with pytest.raises(TrustMissing):
        verify_release(alone, signed_pdfs=[pdf], now=NOW + DAY)


def test_a_swapped_pdf_makes_the_release_of_the_reader_fail_by_name(folder, tmp_path, trust):
    other = tmp_path / "otro.pdf"
    other.write_bytes(b"%PDF-1.7\n%%EOF")
    release = folder / "releases" / RELEASE
    report = verify_release(release, signed_pdfs=[other], trust=[trust], now=NOW + DAY)
    wrong = next(each for each in report.findings if each.id == "signed_pdfs")
    assert wrong.state is State.FAILS
    assert "otro.pdf" in wrong.detail[0]
    assert not report.holds


def test_without_the_library_the_record_is_compared_and_what_was_not_checked_is_said(
    folder, holders, tmp_path, trust, monkeypatch
):
    pdf = signed_copy(folder, holders["head"], "Firma1", tmp_path / "f")
    take(folder, pdf, "head")

    def missing() -> None:
        raise MissingExtra(feature="firmas", extra="legal")

    monkeypatch.setattr("celosia.pipeline.release.legal.pdf_signatures.refuse_without_library", missing)
    said = finding(folder, "legal_signatures", trust=[trust])
    assert said.state is State.ATTESTED
    assert "celosia[legal]" in said.detail[-1]
    change_person(folder)
    assert finding(folder, "legal_signatures").state is State.FAILS
    with pytest.raises(MissingExtra):
        verify_release(folder / "releases" / RELEASE, signed_pdfs=[pdf], trust=[trust])


# --- the command line -------------------------------------------------------------------------------


def test_the_commands_export_take_and_verify(folder, holders, tmp_path, trust, capsys, monkeypatch):
    import time_machine

    release = folder / "releases" / RELEASE
    out = tmp_path / "para-firmar"
    with time_machine.travel(NOW + DAY, tick=False):
        assert main(["forms", "export", str(folder), RELEASE, "--into", str(out)]) == 0
        assert "celosia forms take" in capsys.readouterr().out
        pdf = out / FORM
        pdf.write_bytes(sign_pdf(pdf.read_bytes(), holders["head"], "Firma1", moment=NOW))
        assert main(["forms", "take", str(folder), RELEASE, str(pdf), "--role", "head"]) == 0
        assert "Ana Rojas" in capsys.readouterr().out
        assert main(["verify", str(release), "--signed-pdf", str(pdf), "--trust", str(trust)]) == 4
        said = capsys.readouterr().out
        assert "las firmas con efecto legal" in said
        assert main(["status", str(folder)]) == 1
        assert "Sin sello de tiempo" in capsys.readouterr().out
        pdf.write_bytes(pdf.read_bytes()[:-9])
        assert main(["forms", "take", str(folder), RELEASE, str(pdf), "--role", "head"]) != 0
        assert main(["forms", "take", str(folder), RELEASE, str(pdf), "--role", "head", "--json"]) != 0
