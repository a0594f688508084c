"""An approval counts while its signature, its signer's role and the bytes it covers are right, not one byte longer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.candidate.approvals import approval_states, approve, figures_for, valid_approvals
from celosia.pipeline.candidate.errors import CandidateChanged, NothingToApprove, RoleNotHeld, SamePerson
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import add_person
from celosia.pipeline.project.errors import ApprovalFileDamaged, JournalBroken, PeopleMissing
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import load_identity, new_identity
from celosia.pipeline.project.roster_edits import revoke_person
from tests.projects.steps import CHEAP, NOW, PHRASE, sign_people
from tests.projects.survey import PLANTED, add_people, make_project, run_to_candidate


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = make_project(tmp_path_factory.mktemp("approvals") / "p")
    run_to_candidate(folder)
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made.parent, tmp_path / "w") / "p")


def identity(folder, name):
    return load_identity(PHRASE, folder.parent / "keys" / f"{name}.key")


def states(folder):
    return [state for _, state in approval_states(open_project(folder))]


@pytest.mark.requirement("M31", "M38", "P10")
def test_an_approval_stores_name_date_and_digest_and_counts(folder):
    [one] = valid_approvals(open_project(folder), "plan")
    assert (one.name, one.role, one.note, one.when) == ("Eva Díaz", "head", "visto", "2026-11-15T12:00:00+00:00")
    assert one.digest.startswith("sha256:")
    made = approve(folder, "dictionary", identity(folder, "eva"), "head", now=NOW)
    assert valid_approvals(open_project(folder), "dictionary") == (made,)


@pytest.mark.requirement("P10")
def test_one_byte_of_the_dictionary_voids_its_approval_and_the_plans(folder):
    approve(folder, "dictionary", identity(folder, "eva"), "head", now=NOW)
    path = folder / "dictionary.csv"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"estudio", b"estudip", 1))
    assert valid_approvals(open_project(folder), "dictionary") == valid_approvals(open_project(folder), "plan") == ()
    assert states(folder) == ["voided", "voided"]
    path.write_bytes(before)
    assert states(folder) == ["valid", "valid"]


@pytest.mark.parametrize(
    "edit",
    [
        '\n[[steps]]\ntechnique = "round"\ncolumns = ["INGRESO"]\nbase = 1000\n',
        "\n[policy]\nlimit = 0.5\n",
        '\n[overrides.minsal.k]\nasked = {k = 1}\nreason = "porque sí"\n',
    ],
)
def test_a_step_a_policy_or_an_override_voids_the_approved_plan(folder, edit):
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8") + edit, "utf-8")
    assert valid_approvals(open_project(folder), "plan") == ()


def test_another_plan_voids_the_approval_and_a_comment_does_not(folder):
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8") + "\n# una nota\n", "utf-8")
    assert states(folder) == ["valid"]
    make_plan(folder, now=NOW, k=5)
    assert states(folder) == ["voided"]


@pytest.mark.requirement("P09", "P10")
def test_an_exception_that_the_approver_was_not_shown_voids_the_dictionary(folder):
    approve(folder, "dictionary", identity(folder, "eva"), "head", now=NOW)
    path = folder / "celosia.toml"
    text = path.read_text("utf-8")
    path.write_text(text + '\n[overrides.minsal.k]\nasked = {k = 3}\nreason = "más seguro"\n', "utf-8")
    assert valid_approvals(open_project(folder), "dictionary") == ()
    # The override is listed for the approver.
    assert figures_for(open_project(folder), "dictionary")["overrides"] == {"minsal.k": "más seguro"}
    approve(folder, "dictionary", identity(folder, "eva"), "head", now=NOW)
    assert len(valid_approvals(open_project(folder), "dictionary")) == 1


@pytest.mark.requirement("M31")
def test_a_changed_candidate_cannot_be_approved_and_voids_what_was(folder):
    approve(folder, "candidate", identity(folder, "luis"), "verifier", now=NOW)
    assert len(valid_approvals(open_project(folder), "candidate")) == 1
    data = folder / "private" / "candidate" / "data.csv"
    data.write_bytes(data.read_bytes().replace(b"H", b"M", 1))
    assert valid_approvals(open_project(folder), "candidate") == ()
    with pytest.raises(CandidateChanged):
        approve(folder, "candidate", identity(folder, "luis"), "verifier", now=NOW)
    shutil.rmtree(folder / "private" / "candidate")
    with pytest.raises(NothingToApprove):
        approve(folder, "candidate", identity(folder, "luis"), "verifier", now=NOW)


@pytest.mark.requirement("M31", "M38")
def test_nobody_signs_in_a_role_they_do_not_hold_or_with_a_key_nobody_knows(folder, tmp_path):
    with pytest.raises(RoleNotHeld):
        approve(folder, "plan", identity(folder, "ana"), "head", now=NOW)
    with pytest.raises(PeopleMissing):
        approve(folder, "plan", new_identity("Otra", PHRASE, tmp_path / "otra.key"), "head", now=NOW)
    with pytest.raises(ValueOutOfRange):
        approve(folder, "release", identity(folder, "eva"), "head", now=NOW)
    assert states(folder) == ["valid"]


@pytest.mark.requirement("M31")
def test_who_executed_does_not_verify_even_with_another_role_written_since(folder):
    approve(folder, "plan", identity(folder, "ana"), "executor", now=NOW)
    revoke_person(folder, "Ana Díaz", identity(folder, "eva"), now=NOW)
    again = new_identity("Ana Díaz", PHRASE, folder.parent / "keys" / "again.key", cost=CHEAP)
    add_person(folder, again.name, ["verifier"], again.key, now=NOW)
    sign_people(folder, [identity(folder, "eva")])
    with pytest.raises(SamePerson):
        approve(folder, "candidate", again, "verifier", now=NOW)


@pytest.mark.requirement("M31")
def test_who_ran_the_plan_does_not_verify(tmp_path, monkeypatch):
    folder = make_project(tmp_path / "p")
    monkeypatch.setenv("CELOSIA_IDENTITY", str(tmp_path / "keys" / "luis.key"))
    people = run_to_candidate(folder)  # at Luis's machine, once his key is there
    with pytest.raises(SamePerson):
        approve(folder, "candidate", people["luis"], "verifier", now=NOW)


@pytest.mark.requirement("P10")
def test_a_recorded_delegate_may_approve_for_the_lead(folder):
    people = add_people(folder, sol=["delegate"])
    sign_people(folder, [identity(folder, "eva")])
    approve(folder, "dictionary", people["sol"], "delegate", "por encargo", now=NOW)
    [one] = valid_approvals(open_project(folder), "dictionary")
    assert (one.role, one.name) == ("delegate", "Sol Díaz")


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({"note": "otra"}, "forged"),
        ({"role": "verifier"}, "forged"),
        ({"digest": "sha256:0"}, "forged"),
        ({"key": "ab" * 32}, "forged"),
        ({"figures": {"k": 99}}, "forged"),
        ({"signature": "00" * 64}, "forged"),
    ],
)
def test_a_forged_line_counts_for_nothing_and_accuses_nobody(folder, change, state):
    path = folder / "approvals.jsonl"
    line = json.loads(path.read_text("utf-8"))
    path.write_text(spelt(line | change), "utf-8")
    assert states(folder) == [state]
    assert valid_approvals(open_project(folder), "plan") == ()
    accusing = line | {"role": "executor", "name": "Luis Díaz"}
    path.write_text(spelt(accusing), "utf-8")
    approve(folder, "candidate", identity(folder, "luis"), "verifier", now=NOW)


def spelt(line: dict[str, object]) -> str:
    return json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n"


def test_an_approval_spelt_otherwise_is_another_line(folder):
    path = folder / "approvals.jsonl"
    line = json.loads(path.read_text("utf-8"))
    body = path.read_bytes()
    capitals = spelt(line | {"signature": line["signature"].upper()}).encode("utf-8")
    for changed in (body.replace(b"\n", b"\r\n"), body.replace(b"{", b'{"note": "x", ', 1)):
        path.write_bytes(changed)
        with pytest.raises(ApprovalFileDamaged):
            valid_approvals(open_project(folder), "plan")
    path.write_bytes(capitals)
    assert states(folder) == ["forged"]


def test_an_approval_of_somebody_whom_no_roster_names_does_not_count(folder):
    (folder / "roster.jsonl").unlink()
    assert states(folder) == ["stranger"]


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"format": "celosia/approval/9"}', b"\xff\xfe", b'{"format": 1}'])
def test_a_line_that_cannot_be_read_stops_everything(folder, line):
    path = folder / "approvals.jsonl"
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(ApprovalFileDamaged) as fault:
        valid_approvals(open_project(folder), "plan")
    assert fault.value.values["line"] == 2


def test_figures_that_are_no_table_and_names_that_are_no_text_stop_everything(folder):
    path = folder / "approvals.jsonl"
    line = json.loads(path.read_text("utf-8"))
    for change in ({"figures": [1]}, {"name": 3}):
        path.write_text(spelt(line | change), "utf-8")
        with pytest.raises(ApprovalFileDamaged):
            valid_approvals(open_project(folder), "plan")


def test_a_note_with_odd_line_ends_comes_back_whole(folder):
    approve(folder, "dictionary", identity(folder, "eva"), "head", "uno\u2028dos\x85tres\nfin", now=NOW)
    assert [one.note for one in valid_approvals(open_project(folder), "dictionary")] == ["uno\u2028dos\x85tres\nfin"]
    approve(folder, "candidate", identity(folder, "luis"), "verifier", now=NOW)  # the journal's chain holds too


@pytest.mark.requirement("M35")
def test_nobody_signs_over_a_journal_that_was_changed(folder):
    path = folder / "journal.jsonl"
    path.write_text(path.read_text("utf-8").replace("120", "121", 1), "utf-8")
    with pytest.raises(JournalBroken):
        approve(folder, "plan", identity(folder, "eva"), "head", now=NOW)


@pytest.mark.requirement("M35")
def test_every_entry_says_who_when_what_and_no_entry_holds_a_data_value(folder):
    approve(folder, "candidate", identity(folder, "luis"), "verifier", "conforme", now=NOW)
    text = (folder / "journal.jsonl").read_text("utf-8")
    entries = [json.loads(line) for line in text.splitlines()]
    assert {entry["what"] for entry in entries} >= {"init", "request", "person-added", "plan", "approve", "run"}
    assert all(entry["who"] and entry["when"] and entry["what"] for entry in entries)
    assert (entries[-1]["who"], entries[-1]["why"]) == ("Luis Díaz", "conforme")
    source = (folder.parent / "encuesta.csv").read_text("utf-8").splitlines()[1:]
    cells = {cell for line in source for cell in line.split(",") if len(cell) >= 5}
    assert PLANTED in cells
    written = "".join((folder / name).read_text("utf-8") for name in ("journal.jsonl", "approvals.jsonl"))
    assert [cell for cell in cells if f'"{cell}"' in written or (len(cell) > 6 and cell in written)] == []


@pytest.mark.slow
@pytest.mark.requirement("P10", "P20")
def test_the_accepted_risk_is_the_one_measured_and_another_candidate_voids_it(tmp_path):
    from tests.projects import household_survey

    folder = household_survey.make_project(tmp_path / "evaluacion")
    household_survey.answer_request(folder)
    signers = household_survey.add_people(folder, tmp_path / "keys")
    with pytest.raises(NothingToApprove):
        approve(folder, "candidate", signers["verifier"], "verifier", now=NOW)
    household_survey.run_to_candidate(folder, signers)
    one = approve(folder, "residual", signers["lead"], "lead", "se acepta", figures={"k": 999}, now=NOW)
    assert one.figures == figures_for(open_project(folder), "residual")
    assert one.figures["k"] != 999
    assert len(valid_approvals(open_project(folder), "residual")) == 1
    data = folder / "private" / "candidate" / "data.csv"
    data.write_bytes(data.read_bytes() + b"\n")
    assert valid_approvals(open_project(folder), "residual") == ()
