"""The page's papers: who approves what, what voids it, releases packed and judged, and nothing half signed."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import pickle
import shutil
import stat
import struct
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.model import dictionary
from celosia.model.people import ChangedPart
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.verdict import State
from celosia.pipeline.candidate.approvals import valid_approvals
from celosia.pipeline.candidate.errors import NotApproved, RoleNotHeld
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import (
    NotAuthority,
    PersonRepeats,
    RolesClash,
    RosterDisagrees,
    ShownOther,
    WrongPassphrase,
)
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import load_identity
from celosia.pipeline.project.journal import read_journal
from celosia.pipeline.release.archive import archive_release, verify_upload
from celosia.pipeline.release.errors import AlreadySigned, ArchiveRefused, ReleaseDamaged, RulesFail
from celosia.pipeline.release.make_release import make_release
from celosia.pipeline.release.verify import verify_release
from celosia.workbench.accounts import add_account, key_path
from celosia.workbench.dossier import (
    document_file,
    dossier_view,
    journal_view,
    read_document,
    release_view,
    signing_view,
)
from celosia.workbench.errors import KeyAbsent, RoleNotOfAccount
from celosia.workbench.signing_keys import (
    approve_with_key,
    change_key,
    join_card,
    join_person,
    key_card,
    make_key,
    people_view,
    publish_release,
    publish_with_key,
    remove_person,
    sign_people,
    sign_with_key,
)
from tests.pipeline import killed_process
from tests.pipeline.killed_process import KILLED
from tests.projects import household_survey
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW, PHRASE, edit_dictionary

SCRIPT = Path(killed_process.__file__)
RELEASE = "2026-11-15"


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A project with an unsigned release, and the keys of its three people beside it."""
    home = tmp_path_factory.mktemp("desk")
    people = make_keys(home / "keys")
    folder = run_to_approved_candidate(make_project(home / "egresos", people, rows=300), people)
    make_release(folder, now=NOW)
    return home


@pytest.fixture
def folder(home, tmp_path) -> Path:
    return Path(shutil.copytree(home, tmp_path / "w")) / "egresos"


def key(folder: Path, role: str) -> Path:
    return folder.parent / "keys" / f"{role}.key"


def approve(folder: Path, what: str, role: str, **more: object):
    return approve_with_key(folder, what, role, key(folder, role), PHRASE, now=NOW, **more)


def sign(folder: Path, role: str, **more: object):
    return sign_with_key(folder, RELEASE, role, key(folder, role), PHRASE, now=NOW, **more)


def subject(folder: Path, what: str):
    return next(subject for subject in dossier_view(folder, now=NOW).subjects if subject.what == what)


# --- the view -------------------------------------------------------------------------------------


@pytest.mark.requirement("M31", "M33", "M38")
def test_the_view_says_who_approved_what_and_which_signatures_lack(folder):
    view = dossier_view(folder, now=NOW)
    assert pickle.loads(pickle.dumps(view)) == view
    assert [(subject.what, subject.roles, subject.met) for subject in view.subjects] == [
        ("plan", ("head", "verifier"), True),
        ("intruder", ("outsider", "verifier"), True),
        ("candidate", ("verifier",), True),
    ]
    [release] = view.releases
    assert (release.name, release.missing, release.sound, release.current) == (
        RELEASE,
        ("head", "executor", "verifier"),
        True,
        True,
    )
    assert [gate.gate for gate in view.blocked] == ["signatures"]
    assert {document.id: document.audience for document in view.documents} == {
        "approval_sheet": "internal",
        "minsal_form": "internal",
        "internal_report": "internal",
        "public_report": "public",
    }


@pytest.mark.requirement("P10", "M35")
def test_a_voided_approval_names_the_variable_the_setting_and_the_file_that_changed(folder):
    approve(folder, "plan", "head")
    lines = [replace(v, label="Otra") if v.name == "SEXO" else v for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write("\n[policy]\nlimit = 0.5\n")
    plan = subject(folder, "plan")
    assert not plan.met
    assert {approval.state for approval in plan.approvals} == {"voided"}
    assert plan.approvals[-1].changes == (ChangedPart("variables", ("SEXO",)), ChangedPart("settings", ("policy",)))
    data = folder / "private/candidate/data.csv"
    data.write_bytes(data.read_bytes() + b" ")
    [given] = subject(folder, "candidate").approvals
    assert (given.state, given.changes) == ("voided", (ChangedPart("candidate", ("",)),))


def test_a_project_that_cannot_be_read_is_told_as_broken(folder):
    (folder / "celosia.toml").write_text("esto no es", "utf-8")
    view = dossier_view(folder)
    assert view.problems
    assert view.subjects == view.releases == ()


@pytest.mark.requirement("M35")
def test_the_journal_is_told_newest_first_and_holds_no_cell(folder):
    view = journal_view(folder, last=3)
    assert [entry.number for entry in view.entries] == [view.total, view.total - 1, view.total - 2]
    assert view.entries[0].what == "release"
    assert dict(view.entries[0].facts)["release"] == RELEASE
    with pytest.raises(ValueOutOfRange):
        journal_view(folder, last=0)


# --- documents ------------------------------------------------------------------------------------


@pytest.mark.requirement("M33")
@pytest.mark.parametrize("form", ["html", "pdf", "docx"])
def test_each_document_can_be_downloaded(folder, tmp_path, form):
    made = document_file(folder, "minsal_form", form, tmp_path / f"x.{form}", now=NOW)
    assert made.read_bytes()[:4] in {b"<!do", b"<!DO", b"%PDF", b"PK\x03\x04"}
    assert made.stat().st_mode & 0o077 == 0


@pytest.mark.requirement("M33")
def test_a_document_can_be_read_as_blocks_of_text(folder):
    document = read_document(folder, "minsal_form", now=NOW)
    assert pickle.loads(pickle.dumps(document)) == document
    assert document.title == "Anexo I: Formulario de anonimización"
    with pytest.raises(ValueOutOfRange):
        read_document(folder, "../../etc/passwd")
    with pytest.raises(ValueOutOfRange):
        document_file(folder, "minsal_form", "exe", "/nonexistent")


# --- signing --------------------------------------------------------------------------------------


@pytest.mark.requirement("M31", "M38")
def test_what_was_shown_is_what_is_signed(folder):
    shown = signing_view(folder, "plan")
    made = approve(folder, "plan", "head", expected=shown.seal)
    assert made.digest == shown.digest
    assert dict(made.figures) == shown.figures
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write("\n[policy]\nlimit = 0.5\n")
    before = (folder / "approvals.jsonl").read_bytes()
    with pytest.raises(ShownOther):
        approve(folder, "plan", "head", expected=shown.seal)
    assert (folder / "approvals.jsonl").read_bytes() == before


def test_another_manifest_than_the_one_shown_is_not_signed(folder):
    with pytest.raises(ShownOther):
        sign(folder, "head", expected="sha256:" + "0" * 64)
    assert sign(folder, "head", expected=release_view(folder, RELEASE).seal).role == "head"


@pytest.mark.requirement("M31", "M38")
def test_nobody_signs_in_a_role_that_is_not_theirs_nor_their_own_work(folder):
    with pytest.raises(RoleNotHeld):
        approve_with_key(folder, "candidate", "verifier", key(folder, "executor"), PHRASE, now=NOW)
    sign(folder, "executor")
    people = folder / "people.toml"
    people.write_text(people.read_text("utf-8").replace('roles = ["executor"]', 'roles = ["verifier"]'), "utf-8")
    with pytest.raises(RosterDisagrees):
        sign_with_key(folder, RELEASE, "verifier", key(folder, "executor"), PHRASE, now=NOW)


def test_a_wrong_passphrase_or_an_absent_key_says_so_without_telling_where_it_lies(folder):
    with pytest.raises(WrongPassphrase) as wrong:
        approve_with_key(folder, "plan", "head", key(folder, "head"), "otra frase de paso", now=NOW)
    assert str(folder.parent) not in str(wrong.value)
    with pytest.raises(KeyAbsent) as absent:
        approve_with_key(folder, "plan", "head", key(folder, "nobody"), PHRASE, now=NOW)
    assert str(folder.parent) not in str(absent.value)


@pytest.mark.requirement("M32", "M33")
def test_three_signatures_then_the_consultation_and_the_dates_publish_it(folder):
    for role in ("head", "executor", "verifier"):
        sign(folder, role)
    assert dossier_view(folder, now=NOW).releases[0].missing == ()
    head = load_identity(PHRASE, key(folder, "head"))
    with pytest.raises(ValueOutOfRange):
        publish_release(folder, RELEASE, head, "ayer", "2026-11-20", "anual", now=NOW)
    with pytest.raises(RulesFail):
        publish_release(folder, RELEASE, head, "", "2026-11-20", "anual", now=NOW)
    dates = {"consultation": "2026-11-02", "publication_date": "2026-11-20", "update_period": "anual"}
    publish_with_key(folder, RELEASE, key(folder, "head"), PHRASE, dates, now=NOW)
    [release] = dossier_view(folder, now=NOW).releases
    assert release.publication is not None
    assert release.publication.next_review == "2027-11-20"


# --- killed and at once ---------------------------------------------------------------------------


def kill_at_every_step(verb: str, folder: Path, scratch: Path) -> list[dict]:
    command = [sys.executable, str(SCRIPT), verb, str(folder), str(scratch), "1", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert lines[-1]["code"] == 0, ended.stderr
    assert len(lines) > 5
    assert all(line["code"] == KILLED for line in lines[:-1])
    return lines


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a killed process is told by its exit code")
@pytest.mark.requirement("M31")
def test_a_signature_killed_at_any_moment_is_whole_or_not_there(folder, tmp_path):
    for line in kill_at_every_step("sign", folder, tmp_path):
        left, after = Path(line["left"]), Path(line["folder"])
        read_journal(left / "journal.jsonl")
        files = list((left / f"releases/{RELEASE}/signatures").glob("*"))
        assert len(files) in (0, 1)
        assert [signature.valid for signature in dossier_view(left, now=NOW).releases[0].signatures] == [True] * len(
            files
        )
        if line["again"]:  # it was there already
            with pytest.raises(AlreadySigned):
                sign_with_key(after, RELEASE, "head", key(folder, "head"), PHRASE, now=NOW)
        assert len(list((after / f"releases/{RELEASE}/signatures").glob("*"))) == 1
        lines = [entry for entry in read_journal(after / "journal.jsonl").entries if entry["what"] == "sign"]
        assert [entry["who"] for entry in lines] == [
            "Ana Rojas"
        ]  # once, even where the first was cut off before its line


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a killed process is told by its exit code")
@pytest.mark.requirement("M31")
def test_an_approval_killed_at_any_moment_is_whole_or_not_there(folder, tmp_path):
    (folder / "approvals.jsonl").unlink()
    for line in kill_at_every_step("approve", folder, tmp_path):
        left, after = Path(line["left"]), Path(line["folder"])
        read_journal(left / "journal.jsonl")
        assert len(valid_approvals(open_project(left), "candidate")) in (0, 1)
        assert line["again"] == 0
        assert valid_approvals(open_project(after), "candidate")
        noted = [entry for entry in read_journal(after / "journal.jsonl").entries if entry["what"] == "approve"]
        assert {entry["facts"]["what"] for entry in noted} >= {"candidate"}
        assert not [path for path in after.iterdir() if path.name.startswith(".celosia")]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a killed process is told by its exit code")
def test_a_person_added_by_a_killed_process_is_there_or_not(folder, tmp_path):
    make_key(key(folder, "new"), "Dora Paz", PHRASE)
    for line in kill_at_every_step("join", folder, tmp_path):
        assert len(open_project(line["left"]).people) in (3, 4)
        assert [person.name for person in open_project(line["folder"]).people][3:] == ["Dora Paz"]


def at_once(folder: Path, release: str, role: str, start) -> None:
    start.wait()
    sign_with_key(folder, release, "head", folder.parent / "keys" / f"{role}.key", PHRASE, now=NOW)


@pytest.mark.slow
def test_two_heads_who_sign_at_once_both_have_signed(folder):
    make_key(key(folder, "new"), "Dora Paz", PHRASE)
    join_card(folder, key(folder, "new").with_suffix(".pub.json"), ["head"], now=NOW)
    sign_people(folder, key(folder, "head"), PHRASE, people_view(folder, folder.parent).seal, now=NOW)
    second = make_release(folder, now=NOW).folder.name
    context = multiprocessing.get_context("spawn")
    start = context.Event()
    both = [context.Process(target=at_once, args=(folder, second, role, start)) for role in ("head", "new")]
    for process in both:
        process.start()
    start.set()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert len(list((folder / f"releases/{second}/signatures").glob("*.json"))) == 2
    assert sum(entry["what"] == "sign" for entry in read_journal(folder / "journal.jsonl").entries) == 2


# --- people ---------------------------------------------------------------------------------------


@pytest.mark.requirement("M38")
def test_an_account_joins_with_its_own_card_in_roles_that_it_has(folder):
    root = folder.parent
    add_account(root, "dora", "Dora Paz", ["head", "lead"])
    with pytest.raises(KeyAbsent):
        join_person(folder, root, "dora", ["lead"], now=NOW)
    made = make_key(key_path(root, "dora"), "Dora Paz", PHRASE, root=root)
    assert key_card(key_path(root, "dora")) == made
    assert key_card(root / "no.key") is None
    with pytest.raises(RoleNotOfAccount, match=r"«quien verifica» \(verifier\)"):
        join_person(folder, root, "dora", ["verifier"], now=NOW)
    before = people_view(folder, root)
    assert before.lacking == ()
    assert [(account.login, account.has_key, account.joined) for account in before.accounts] == [("dora", True, False)]
    person = join_person(folder, root, "dora", ["lead"], now=NOW)
    assert (person.name, person.key) == ("Dora Paz", made.key)
    assert people_view(folder, root).accounts[0].joined
    assert read_journal(folder / "journal.jsonl").entries[-1]["what"] == "person-added"
    with pytest.raises(PersonRepeats):
        join_person(folder, root, "dora", ["lead"], now=NOW)


def test_an_outsider_is_not_asked_for_a_key_that_no_page_of_theirs_makes(folder):
    add_account(folder.parent, "omar", "Omar Rey", ["outsider"])
    assert people_view(folder, folder.parent).accounts == ()


@pytest.mark.requirement("M31", "M38")
def test_a_role_that_nobody_holds_is_told(folder):
    people = folder / "people.toml"
    people.write_text(people.read_text("utf-8").replace('roles = ["head"]', 'roles = ["delegate"]'), "utf-8")
    view = people_view(folder, folder.parent)
    assert view.lacking == ("head",)
    assert "Ana Rojas" in view.problem


@pytest.mark.requirement("M31", "M38")
def test_who_was_added_waits_until_the_head_signs_whom_the_page_showed(folder):
    make_key(key(folder, "new"), "Dora Paz", PHRASE)
    shown = people_view(folder, folder.parent)
    join_card(folder, key(folder, "new").with_suffix(".pub.json"), ["delegate"], now=NOW)
    view = people_view(folder, folder.parent)
    assert ([p.name for p in view.waiting], [p.name for p in shown.waiting]) == (["Dora Paz"], [])
    with pytest.raises(ShownOther):
        sign_people(folder, key(folder, "head"), PHRASE, shown.seal, now=NOW)
    with pytest.raises(NotAuthority):
        sign_people(folder, key(folder, "executor"), PHRASE, view.seal, now=NOW)
    assert sign_people(folder, key(folder, "head"), PHRASE, view.seal, now=NOW) == ("Dora Paz",)
    make_key(key(folder, "other"), "Dora Paz", PHRASE)
    change_key(folder, "Dora Paz", key(folder, "other").with_suffix(".pub.json"), key(folder, "head"), PHRASE, now=NOW)
    assert key_card(key(folder, "other")).key in [p.key for p in people_view(folder, folder.parent).people]
    remove_person(folder, "Dora Paz", key(folder, "head"), PHRASE, why="cambio de cargo", now=NOW)
    view = people_view(folder, folder.parent)
    assert ("Dora Paz" in [p.name for p in view.people], view.problem) == (False, "")


@pytest.mark.requirement("M31", "M38")
def test_nobody_joins_as_executor_and_verifier(folder):
    make_key(key(folder, "new"), "Dora Paz", PHRASE)
    with pytest.raises(RolesClash):
        join_card(folder, key(folder, "new").with_suffix(".pub.json"), ["executor", "verifier"], now=NOW)
    assert len(open_project(folder).people) == 3


# --- MEL --------------------------------------------------------------------------------------------


@pytest.mark.requirement("P10", "P16", "P17")
def test_the_lead_approves_the_dictionary_with_their_key_and_an_edit_takes_it_back(tmp_path):
    folder = household_survey.make_project(tmp_path / "evaluacion")
    household_survey.add_people(folder, tmp_path)
    household_survey.answer_request(folder)
    view = dossier_view(folder, now=NOW)
    assert [(subject.what, subject.roles, subject.ready, subject.met) for subject in view.subjects] == [
        ("dictionary", ("lead", "delegate"), True, False),
        ("residual", ("lead", "delegate"), False, False),
        ("candidate", ("verifier",), False, False),
    ]
    assert view.delivery == "asked"
    assert next(document for document in view.documents if document.id == "mel_dictionary").formats[-1] == "xlsx"
    with pytest.raises(NotApproved):
        run_mel(folder)
    shown = signing_view(folder, "dictionary")
    phrase, lead = PHRASE, tmp_path / "lead.key"
    approve_with_key(folder, "dictionary", "lead", lead, phrase, "revisado", shown.seal, now=NOW)
    assert subject(folder, "dictionary").met
    with pytest.raises(RoleNotHeld):
        approve_with_key(folder, "dictionary", "lead", tmp_path / "executor.key", phrase, now=NOW)
    edit_dictionary(folder, SEXO={"label": "Sexo declarado"})
    taken = subject(folder, "dictionary")
    assert not taken.met
    assert taken.approvals[0].changes == (ChangedPart("variables", ("SEXO",)),)
    with pytest.raises(NotApproved):
        run_mel(folder)


def run_mel(folder: Path) -> None:
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)


# --- packed ---------------------------------------------------------------------------------------


@pytest.fixture
def archive_path(folder, tmp_path) -> Path:
    for role in ("head", "executor", "verifier"):
        sign(folder, role)
    return archive_release(folder, RELEASE, tmp_path / "r.zip")


@pytest.mark.requirement("M36")
def test_the_same_release_is_packed_into_the_same_bytes_and_stands_by_itself(folder, archive_path, tmp_path):
    for path in sorted((folder / "releases" / RELEASE).rglob("*")):
        os.utime(path, (1, 1))
    again = archive_release(folder, RELEASE, tmp_path / "again.zip")
    assert again.read_bytes() == archive_path.read_bytes()
    with zipfile.ZipFile(archive_path) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    report = verify_upload(archive_path)
    assert report == verify_release(folder / "releases" / RELEASE)
    assert report.holds
    assert pickle.loads(pickle.dumps(report)) == report
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".celosia")] == []


def test_only_a_release_of_the_project_can_be_named(folder, tmp_path):
    for name in ("../egresos", "/etc", "", "2020-01-01"):
        with pytest.raises(ValueOutOfRange):
            archive_release(folder, name, tmp_path / "x.zip")


def repack(archive_path: Path, target: Path, change) -> Path:
    """The same archive with its entries changed: `change` gives (name, bytes) pairs from (name, bytes) pairs."""
    with zipfile.ZipFile(archive_path) as archive:
        pairs = [(member.filename, archive.read(member)) for member in archive.infolist()]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in change(pairs):
            archive.writestr(name, body)
    return target


def test_one_changed_byte_of_the_data_does_not_stand(archive_path, tmp_path):
    def change_data(pairs):
        return [(name, body[:-2] + b"9\n" if name.endswith("data.csv") else body) for name, body in pairs]

    report = verify_upload(repack(archive_path, tmp_path / "x.zip", change_data))
    assert not report.holds
    assert next(finding for finding in report.findings if finding.id == "files").state is State.FAILS


@pytest.mark.parametrize(
    "extra",
    [
        "../fuera.csv",
        "/etc/fuera.csv",
        f"{RELEASE}/../../fuera.csv",
        f"{RELEASE}\\fuera.csv",
        "C:/fuera.csv",
        f"{RELEASE}/.oculto",
        f"{RELEASE}/notas.txt",
        f"{RELEASE}/DATA.csv",
        f"otra/{RELEASE}/data.csv",
    ],
)
def test_names_that_lead_elsewhere_or_that_no_release_has_are_refused(archive_path, tmp_path, extra):
    place = tmp_path / "corner"
    place.mkdir()
    made = repack(archive_path, place / "x.zip", lambda pairs: [*pairs, (extra, b"x")])
    with pytest.raises(ArchiveRefused):
        verify_upload(made)
    assert [path.name for path in tmp_path.rglob("fuera*")] == []
    assert [path.name for path in place.iterdir()] == ["x.zip"]


@pytest.mark.parametrize("extra", [f"{RELEASE}/vacía/", "vacía/", f"{RELEASE}/dossier/otra/", "../"])
def test_an_empty_folder_that_no_release_has_is_refused(archive_path, tmp_path, extra):
    made = repack(archive_path, tmp_path / "x.zip", lambda pairs: [*pairs, (extra, b"")])
    with pytest.raises(ArchiveRefused):
        verify_upload(made)


def test_an_archive_may_list_the_folders_of_the_release(archive_path, tmp_path):
    folders = [(f"{RELEASE}/", b""), (f"{RELEASE}/dossier/", b""), (f"{RELEASE}/signatures/", b"")]
    assert verify_upload(repack(archive_path, tmp_path / "x.zip", lambda pairs: [*folders, *pairs])).holds
    unsigned = repack(
        archive_path, tmp_path / "y.zip", lambda pairs: folders + [p for p in pairs if "/sig" not in p[0]]
    )
    assert not verify_upload(unsigned).holds


def test_links_are_refused(archive_path, tmp_path):
    link = zipfile.ZipInfo(f"{RELEASE}/dictionary.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16

    def add_link(pairs):
        return [(link, b"/etc/passwd") if name.endswith("dictionary.csv") else (name, body) for name, body in pairs]

    with pytest.raises(ArchiveRefused):
        verify_upload(repack(archive_path, tmp_path / "x.zip", add_link))


def test_bombs_are_stopped_by_what_comes_out_not_by_what_they_say(archive_path, tmp_path):
    def swollen(pairs):
        return [(name, b"0" * 3_000_000 if name.endswith("data.csv") else body) for name, body in pairs]

    made = repack(archive_path, tmp_path / "x.zip", swollen)
    body = made.read_bytes()
    lying = body.replace(struct.pack("<I", 3_000_000), struct.pack("<I", 10))  # both places that tell its size
    for name, bomb in (("plain", body), ("lying", lying)):
        path = tmp_path / f"{name}.zip"
        path.write_bytes(bomb)
        with pytest.raises(ArchiveRefused):
            verify_upload(path, most_bytes=1_000_000)
    with pytest.raises(ArchiveRefused):
        verify_upload(archive_path, most_files=3)


def test_a_workbook_that_swells_is_not_opened(archive_path, tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 5_000_000)
    made = repack(archive_path, tmp_path / "x.zip", lambda pairs: [*pairs, (f"{RELEASE}/data.xlsx", inner.getvalue())])
    with pytest.raises(ArchiveRefused):
        verify_upload(made, most_bytes=2_000_000)


@pytest.mark.parametrize("body", [b"", b"PK", b"no es un zip", b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_archive_is_refused_as_such(tmp_path, body):
    path = tmp_path / "x.zip"
    path.write_bytes(body)
    with pytest.raises(ArchiveRefused):
        verify_upload(path)


def test_an_archive_damaged_on_its_way_is_refused(archive_path, tmp_path):
    body = archive_path.read_bytes()
    for start in range(200, len(body) - 1_000, len(body) // 20):
        path = tmp_path / "x.zip"
        path.write_bytes(body[:start] + bytes(byte ^ 0x5A for byte in body[start : start + 300]) + body[start + 300 :])
        with pytest.raises(ArchiveRefused):
            verify_upload(path)


def test_a_manifest_nested_without_end_is_refused(archive_path, tmp_path):
    def nest_manifest(pairs):
        return [(name, b"[" * 200_000 if name.endswith("manifest.json") else body) for name, body in pairs]

    with pytest.raises(ReleaseDamaged) as refused:
        verify_upload(repack(archive_path, tmp_path / "x.zip", nest_manifest))
    assert str(tmp_path) not in str(refused.value)  # where it was unpacked is not told
