"""From the candidate to the public on the command line: every verb, its exit code and its JSON."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path

import pytest

from celosia.cli import main
from celosia.pipeline.release.make_release import make_release
from celosia.pipeline.release.publication_entry import next_review
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW, PHRASE


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("home")
    people = make_keys(home / "keys")
    run_to_approved_candidate(make_project(home / "egresos", people, rows=300), people)
    return home


@pytest.fixture
def place(home, tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("CELOSIA_PASSPHRASE", raising=False)
    return Path(shutil.copytree(home, tmp_path / "home"))


def document(capsys) -> dict:
    return json.loads(capsys.readouterr().out)


@pytest.mark.requirement("M31", "M32", "M33", "M34")
def test_the_last_steps_of_the_walk_from_check_to_publication(place, capsys):
    project = str(place / "egresos")
    phrase = place / "frase.txt"
    phrase.write_text(PHRASE + "\n", "utf-8")
    assert main(["check", project, "--json"]) == 0
    assert document(capsys)["format"] == "celosia/in-house/1"
    assert main(["release", project, "--json"]) == 0
    release = document(capsys)["path"]
    assert main(["verify", release]) == 1  # nobody signed yet
    capsys.readouterr()
    for role in ("head", "executor", "verifier"):
        key = str(place / "keys" / f"{role}.key")
        assert main(["sign", release, "--role", role, "--identity", key, "--passphrase-file", str(phrase)]) == 0
    assert "Ana Rojas" in capsys.readouterr().out
    assert main(["verify", release, "--json"]) == 4  # intact, signers unknown to the reader
    assert document(capsys)["holds"] is True
    today = date.fromisoformat(Path(release).name[:10])
    dates = ["--consultation", str(today), "--date", str(today), "--update-period", "anual"]
    signing = ["--identity", str(place / "keys" / "head.key"), "--passphrase-file", str(phrase)]
    assert main(["publish", project, Path(release).name, *dates, *signing, "--json"]) == 0
    assert document(capsys)["next_review"] == (review := next_review(today, "anual").isoformat())
    assert main(["recheck", release, "--json"]) == 0
    assert document(capsys)["due"] == review
    assert main(["recheck", project, "--new-source", str(place / "egresos.csv"), "--json"]) == 0
    assert document(capsys)["needs_work"] is False


@pytest.mark.parametrize("language", ["es", "en"])
def test_tables_are_shown_in_both_languages(place, capsys, language):
    project = str(place / "egresos")
    assert main(["check", project, "--lang", language]) == 0
    assert main(["release", project, "--lang", language]) == 0
    release = str(next((place / "egresos" / "releases").iterdir()))
    assert main(["verify", release, "--lang", language]) == 1
    assert main(["recheck", release, "--lang", language]) == 0
    assert main(["recheck", project, "--new-source", str(place / "egresos.csv"), "--lang", language]) == 0
    shown = capsys.readouterr().out
    assert ("Integridad de" if language == "es" else "Integrity of") in shown


def test_a_refused_release_ends_with_one_and_says_which_rules(place, capsys):
    (place / "egresos" / "approvals.jsonl").unlink()
    assert main(["release", str(place / "egresos")]) == 1
    told = capsys.readouterr().err
    assert "plan aprobado" in told
    assert "verifica otra persona" in told


def test_without_a_terminal_a_passphrase_must_come_from_elsewhere(place, capsys, monkeypatch):
    release = make_release(place / "egresos", now=NOW).folder
    key = str(place / "keys" / "head.key")
    monkeypatch.setattr("sys.stdin", open("/dev/null", encoding="utf-8"))  # noqa: SIM115
    assert main(["sign", str(release), "--role", "head", "--identity", key]) == 2
    monkeypatch.setenv("CELOSIA_PASSPHRASE", "otra frase")
    assert main(["sign", str(release), "--role", "head", "--identity", key]) == 1
    monkeypatch.setenv("CELOSIA_PASSPHRASE", PHRASE)
    assert main(["sign", str(release), "--role", "head", "--identity", key]) == 0
