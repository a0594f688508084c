"""MEL's delivery: exactly four data files, the restricted half apart, nothing left half done."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from celosia.cli.entry import main
from celosia.messages import LANGUAGES, speaking
from celosia.model import dictionary
from celosia.model.reports.status import GateState
from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.project.edits import add_person
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import load_identity
from celosia.pipeline.release import mel_delivery as delivering
from celosia.pipeline.release.errors import DeliveryDamaged, NothingToDeliver, ReleaseDamaged, RulesFail
from celosia.pipeline.release.gate_outcomes import GateOutcome, delivery_outcome
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.mel_delivery import deliver, delivered_files
from celosia.pipeline.release.publish import publish
from celosia.pipeline.release.status import read_facts, signing_command, status
from tests.projects.household_survey import (
    HEADER,
    PUBLISHED,
    add_people,
    answer_request,
    area_rows,
    make_project,
    run_to_candidate,
)
from tests.projects.steps import NOW, PHRASE, make_keys, sign_people

FOUR = ("public/data.csv", "public/dictionary.csv", "restricted/data.csv", "restricted/dictionary.csv")


@pytest.fixture(scope="module")
def checked(tmp_path_factory) -> Path:
    """A project run and checked, and the residual risk not yet signed."""
    place = tmp_path_factory.mktemp("delivery")
    folder = make_project(place / "evaluacion")
    answer_request(folder)
    signers = add_people(folder, place / "keys")
    run_to_candidate(folder, signers)
    approve(folder, "candidate", signers["verifier"], "verifier", "revisado", now=NOW)
    return folder


@pytest.fixture(scope="module")
def released(checked, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("released")
    folder = Path(shutil.copytree(checked, place / "evaluacion"))
    lead = load_identity(PHRASE, checked.parent / "keys" / "lead.key")
    approve(folder, "residual", lead, "lead", "se acepta", now=NOW)
    make_release(folder, now=NOW)
    return folder


@pytest.fixture
def folder(released, tmp_path) -> Path:
    return Path(shutil.copytree(released, tmp_path / "evaluacion"))


def data_files(home: Path) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(home).as_posix() for path in home.rglob("*.csv")))


def header_and_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        first, *rest = csv.reader(file)
    return first, rest


@pytest.mark.requirement("X18")
def test_without_the_signed_residual_risk_nothing_is_released(checked):
    with pytest.raises(RulesFail) as refused:
        make_release(checked, now=NOW)
    assert "residual" in str(refused.value)


@pytest.mark.requirement("P16")
def test_a_delivery_holds_exactly_four_data_files_and_a_manifest_with_their_digests(folder):
    made_now = deliver(folder, now=NOW)
    home = folder / "delivery"
    assert made_now.folder == home
    assert data_files(home) == FOUR
    manifest = json.loads((home / "manifest.json").read_text("utf-8"))
    listed = {one["path"]: one for one in manifest["files"]}
    assert tuple(sorted(listed)) == FOUR
    for name, one in listed.items():
        assert one["sha256"] == "sha256:" + hashlib.sha256((home / name).read_bytes()).hexdigest()
        assert one["publish"] == name.startswith("public/")
    assert delivered_files(open_project(folder)) == FOUR


@pytest.mark.requirement("P16")
def test_the_restricted_half_is_closed_to_others_and_says_that_it_is_not_published(folder):
    deliver(folder, now=NOW)
    restricted = folder / "delivery" / "restricted"
    assert stat.S_IMODE(restricted.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in restricted.iterdir()} == {0o600}
    assert (restricted / "NO-PUBLICAR.txt").read_text("utf-8").startswith("NO PUBLICAR")


@pytest.mark.requirement("P16")
def test_the_full_base_is_the_source_row_by_row_with_its_annotated_dictionary(folder):
    deliver(folder, now=NOW)
    restricted = folder / "delivery" / "restricted"
    first, rows = header_and_rows(restricted / "data.csv")
    assert tuple(first) == HEADER
    assert [tuple(row) for row in rows] == area_rows()
    assert [v.name for v in dictionary.load((restricted / "dictionary.csv").read_text("utf-8"), "-")] == list(HEADER)


@pytest.mark.requirement("P16", "P17")
def test_the_anonymised_half_is_the_release_and_describes_only_published_variables(folder):
    deliver(folder, now=NOW)
    public, release = folder / "delivery" / "public", next((folder / "releases").iterdir())
    for name in ("data.csv", "dictionary.csv"):
        assert (public / name).read_bytes() == (release / name).read_bytes()
    _, lines = header_and_rows(public / "dictionary.csv")
    assert [line[0] for line in lines[1:]] == list(PUBLISHED)
    words = (public / "dictionary.csv").read_text("utf-8")
    assert not [name for name in HEADER if name not in PUBLISHED and name in words]


@pytest.mark.requirement("P23")
def test_a_delivery_carries_title_period_contact_and_licence(folder):
    about = deliver(folder, now=NOW).delivery.about
    assert about["title"] == "Evaluación de una actividad inventada"
    assert about["source"]["period_from"] == "2026-01-01"
    assert (about["contact"], about["licence"]) == ("datos@ejemplo.org", "CC BY 4.0")


def test_without_a_release_there_is_nothing_to_deliver(checked):
    with pytest.raises(NothingToDeliver):
        deliver(checked, now=NOW)
    assert delivered_files(open_project(checked)) is None


def test_a_release_that_was_touched_is_not_delivered(folder):
    data = next((folder / "releases").iterdir()) / "data.csv"
    data.write_bytes(data.read_bytes().replace(b"Granada", b"granada", 1))
    with pytest.raises(ReleaseDamaged):
        deliver(folder, now=NOW)
    assert not (folder / "delivery").exists()


def test_a_delivery_that_was_touched_is_no_delivery(folder):
    deliver(folder, now=NOW)
    path = folder / "delivery" / "restricted" / "data.csv"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(DeliveryDamaged) as refused:
        delivered_files(open_project(folder))
    assert refused.value.values["file"] == "restricted/data.csv"


def one_more_word(home: Path) -> None:
    (home / "public" / "dictionary.csv").write_bytes((home / "public" / "dictionary.csv").read_bytes() + b" ")


def notes_in_the_public_half(home: Path) -> None:
    (home / "public" / "nota.txt").write_text("nombres\n", "utf-8")


def folder_within(home: Path) -> None:
    (home / "public" / "más").mkdir()


def other_mark(home: Path) -> None:
    (home / "restricted" / "NO-PUBLICAR.txt").write_text("se puede publicar\n", "utf-8")


def no_mark(home: Path) -> None:
    (home / "restricted" / "NO-PUBLICAR.txt").unlink()


def other_title(home: Path) -> None:
    path = home / "manifest.json"
    path.write_text(path.read_text("utf-8").replace("inventada", "verdadera"), "utf-8", newline="\n")


def other_line_ends(home: Path) -> None:
    path = home / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def other_data_and_digest(home: Path) -> None:
    """Whoever changes a file writes its new digest into the manifest of the delivery: nobody signs that one."""
    data, path = home / "public" / "data.csv", home / "manifest.json"
    before = hashlib.sha256(data.read_bytes()).hexdigest()
    data.write_bytes(data.read_bytes() + b"\n")
    after = hashlib.sha256(data.read_bytes()).hexdigest()
    path.write_text(path.read_text("utf-8").replace(before, after), "utf-8", newline="\n")


def link_instead(home: Path) -> None:
    path = home / "public" / "data.csv"
    path.rename(home.parent / "otro.csv")
    path.symlink_to(home.parent / "otro.csv")


@pytest.mark.parametrize(
    "tamper",
    [
        one_more_word, notes_in_the_public_half, folder_within, other_mark, no_mark, other_title, other_line_ends,
        other_data_and_digest, link_instead,
    ],
    ids=lambda tamper: tamper.__name__,
)  # fmt: skip
def test_status_names_whatever_of_a_delivery_is_not_as_it_was_made(folder, tamper):
    deliver(folder, now=NOW)
    assert outcome(folder).reason == ""
    tamper(folder / "delivery")
    assert outcome(folder).command == f"celosia deliver {folder}"
    with pytest.raises(DeliveryDamaged):
        delivered_files(open_project(folder))


def outcome(folder: Path) -> GateOutcome:
    """What the gate of the delivery says."""
    facts = read_facts(folder)
    return delivery_outcome(facts.project, facts.release.manifest.digest if facts.release else "")


@pytest.mark.parametrize("moment", ["_restricted_half", "_file_entry", "replace_folder"])
def test_a_delivery_that_breaks_off_leaves_the_old_one_whole(folder, monkeypatch, moment):
    deliver(folder, now=NOW)
    before = {name: (folder / "delivery" / name).read_bytes() for name in FOUR}

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(delivering, moment, broken)
    with pytest.raises(KeyboardInterrupt):
        deliver(folder, now=NOW)
    assert {name: (folder / "delivery" / name).read_bytes() for name in FOUR} == before
    assert delivered_files(open_project(folder)) == FOUR
    assert not [name for name in os.listdir(folder) if name.startswith(".celosia-")]


def test_the_command_shows_the_four_files_or_gives_them_as_json(folder, capsys):
    assert main(["deliver", str(folder)]) == 0
    told = capsys.readouterr().out
    assert [name for name in FOUR if name in told] == list(FOUR)
    assert "NO publicar" in told
    assert main(["deliver", str(folder), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["format"], len(report["files"])) == ("celosia/delivery/1", 4)


def test_the_command_says_what_is_missing(checked, capsys):
    assert main(["deliver", str(checked)]) == 1
    assert "celosia release" in capsys.readouterr().err


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_has_still_to_sign_is_told_by_name_with_what_they_type(checked, folder, language):
    [release] = (folder / "releases").iterdir()
    keys = checked.parent / "keys"
    people = {role: load_identity(PHRASE, keys / f"{role}.key") for role in ("lead", "executor", "verifier")}
    for role, person in people.items():
        with speaking(language):
            told = status(folder, now=NOW)
        [gate] = [gate for gate in told.gates if gate.state is GateState.BLOCKED]
        assert (gate.gate, told.next) == ("signatures", f"celosia sign {release} --role {role}")
        left = [other.name for other in people.values() if other.name in gate.reason]
        assert left == [other.name for other in list(people.values())[list(people).index(role) :]]
        with pytest.raises(ReleaseDamaged):
            publish(folder, release, people["lead"], publication_date=NOW.date(), update_period="anual", now=NOW)
        sign_release(release, folder, person, role, now=NOW)
    assert next(gate.gate for gate in status(folder, now=NOW).gates if gate.state is GateState.BLOCKED) == "delivery"


def test_a_role_that_nobody_of_the_release_holds_is_told_with_its_three_steps(folder, checked, tmp_path):
    assert signing_command(read_facts(folder), "delegate") == f"celosia people add {folder} --card … --role delegate"
    late = make_keys(tmp_path / "late", {"delegate": "Eva Soto"})["delegate"]
    add_person(folder, late.name, ("delegate",), late.key, now=NOW)
    assert signing_command(read_facts(folder), "delegate") == f"celosia people sign {folder}"
    sign_people(folder, [load_identity(PHRASE, checked.parent / "keys" / "lead.key")])
    assert signing_command(read_facts(folder), "delegate") == f"celosia release {folder}"
