"""identity, people, approve, request, status and claims at the terminal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from celosia import messages
from celosia.cli import main
from celosia.pipeline.candidate.approvals import valid_approvals
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.fingerprints import spoken_key
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import read_card
from tests.projects.steps import NOW
from tests.projects.survey import make_project

PHRASE = "una frase larga"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = make_project(tmp_path_factory.mktemp("cli") / "p", ("atenea",))
    make_plan(folder, now=NOW)
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch) -> str:
    monkeypatch.setenv("CELOSIA_PASSPHRASE", PHRASE)
    monkeypatch.setenv("CELOSIA_IDENTITY", str(tmp_path / "keys" / "ana.key"))
    return str(shutil.copytree(made, tmp_path / "p"))


def said(capsys, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.requirement("M31", "M38", "P10")
def test_from_an_identity_to_an_approval(folder, tmp_path, capsys) -> None:
    code, out, err = said(capsys, "identity", "new", "--name", "Ana Díaz", "--json")
    assert (code, err) == (0, "")
    card = json.loads(out)["card"]
    code, out, _ = said(capsys, "identity", "show")
    assert "Ana Díaz" in out
    assert PHRASE not in out
    assert said(capsys, "people", "add", folder, "--card", card, "--role", "lead,executor", "--why", "norma")[0] == 0
    code, out, _ = said(capsys, "people", "list", folder)
    assert "Ana Díaz" in out
    code, out, err = said(capsys, "approve", folder, "plan", "--role", "lead", "--note", "visto")
    assert (code, err) == (0, "")
    assert valid_approvals(open_project(folder), "plan")[0].digest in out  # what is signed was shown
    assert messages.text("people.figure.suppressed_rows") in out
    code, out, err = said(capsys, "approve", folder, "dictionary", "--role", "lead", "--json")
    assert json.loads(out)["format"] == "celosia/approval/2"
    assert json.loads(out)["digest"] in err


def test_refusals_end_with_their_code_and_say_why(folder, tmp_path, capsys, monkeypatch) -> None:
    said(capsys, "identity", "new", "--name", "Ana")
    card = str(tmp_path / "keys" / "ana.pub.json")
    assert said(capsys, "identity", "new", "--name", "Ana")[0] == 2  # it exists
    assert said(capsys, "people", "add", folder, "--card", card, "--role", "boss")[0] == 2
    assert said(capsys, "people", "add", folder, "--card", card, "--role", "executor,verifier")[0] == 1
    assert said(capsys, "approve", folder, "plan", "--role", "lead")[0] == 1  # not of the project
    said(capsys, "people", "add", folder, "--card", card, "--role", "head")
    assert said(capsys, "people", "add", folder, "--card", card, "--role", "verifier")[0] == 2  # twice
    assert said(capsys, "approve", folder, "plan", "--role", "lead")[0] == 1  # a role not held
    assert said(capsys, "approve", folder, "candidate", "--role", "head")[0] == 1  # none yet
    assert said(capsys, "approve", folder, "release", "--role", "head")[0] == 2
    monkeypatch.setenv("CELOSIA_PASSPHRASE", "otra frase larga")
    code, _, err = said(capsys, "approve", folder, "plan", "--role", "head")
    assert code == 1
    assert "frase de paso" in err
    monkeypatch.delenv("CELOSIA_PASSPHRASE")
    assert said(capsys, "approve", folder, "plan", "--role", "head")[0] == 2  # nobody to ask
    (tmp_path / "phrase").write_text(PHRASE + "\n", "utf-8")
    words = ("approve", folder, "plan", "--role", "head", "--passphrase-file", str(tmp_path / "phrase"))
    assert said(capsys, *words)[0] == 0


@pytest.mark.requirement("M38")
def test_several_people_are_added_at_once_and_wait_until_the_head_signs_them(folder, tmp_path, capsys) -> None:
    for name in ("Ana Díaz", "Luis Soto", "Marta Paz"):
        said(capsys, "identity", "new", "--name", name, "--file", str(tmp_path / "keys" / f"{name[:3].lower()}.key"))
    ana, luis, marta = (str(tmp_path / "keys" / f"{short}.pub.json") for short in ("ana", "lui", "mar"))
    words = ["--card", luis, "--role", "executor", "--card", marta, "--role", "verifier"]
    assert said(capsys, "people", "add", folder, *words[:-2])[0] == 2  # a role for each card
    code, out, _ = said(capsys, "people", "add", folder, *words)
    assert (code, f"celosia people sign {folder}" in out) == (0, True)  # nobody heads the project yet
    code, out, _ = said(capsys, "people", "add", folder, "--card", ana, "--role", "head")
    assert (code, "fundó la nómina" in out) == (0, True)
    assert [entry.name for entry in open_project(folder).roster.entries] == ["Ana Díaz"]  # the others were not shown
    luis_key = ["--identity", str(tmp_path / "keys" / "lui.key")]
    assert said(capsys, "people", "sign", folder, *luis_key)[0] == 1
    code, out, _ = said(capsys, "people", "sign", folder)
    assert (code, spoken_key(read_card(luis)[1])[:20] in out) == (0, True)
    assert [entry.name for entry in open_project(folder).roster.entries] == ["Ana Díaz", "Luis Soto", "Marta Paz"]
    said(capsys, "identity", "new", "--name", "Luis Soto", "--file", str(tmp_path / "keys" / "nue.key"))
    new_card = str(tmp_path / "keys" / "nue.pub.json")
    assert said(capsys, "people", "rotate", folder, "Luis Soto", "--card", new_card, *luis_key)[0] == 1
    assert said(capsys, "people", "rotate", folder, "luis soto", "--card", new_card, "--why", "se perdió")[0] == 0
    assert said(capsys, "people", "revoke", folder, "Marta Paz")[0] == 0
    code, out, _ = said(capsys, "people", "list", folder)
    assert ("Marta" in out, "desde el" in out) == (False, True)
    assert said(capsys, "people", "sign", folder)[0] == 0  # nobody waits


@pytest.mark.requirement("A01", "A02", "A03")
def test_the_request_is_written_by_options_and_says_what_is_missing(folder, capsys) -> None:
    code, out, _ = said(capsys, "request", folder)
    assert code == 1
    assert "Falta responder" in out
    words = ["--kind", "external", "--requester", "U", "--official", "N", "--received", "2026-10-01",
             "--variables", "SEXO,INGRESO", "--aggregation", "registro",
             "--property", "mean:INGRESO:0.01", "--property", "observations", "--authorisation", "Convenio",
             "--protected-by-law", "--subject-authorisation", "--limited", "DIAG"]  # fmt: skip
    code, out, _ = said(capsys, "request", folder, *words, "--json")
    assert (code, json.loads(out)["missing"]) == (1, ["use"])
    code, out, _ = said(capsys, "request", folder, "--use", "estudio", "--json")
    report = json.loads(out)
    assert (code, report["legal"]["protected_by_law"], report["legal"]["limited"]) == (0, True, ["DIAG"])
    assert report["properties"][0] == {"property": "mean", "tolerance": "0.01", "variables": ["INGRESO"]}
    assert said(capsys, "request", folder, "--property", "mode:SEXO")[0] == 2
    assert said(capsys, "request", folder, "--variables", "EDAD")[0] == 2
    code, out, _ = said(capsys, "request", folder, "--extract")
    assert (code, "SEXO, INGRESO" in out) == (0, True)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_status_shows_the_gates_and_ends_with_one_until_all_is_done(folder, capsys, language) -> None:
    code, out, _ = said(capsys, "--lang", language, "status", folder)
    assert code == 1
    assert f"celosia request {folder}" in out.replace("\n", "")
    code, out, err = said(capsys, "status", folder, "--json")
    assert (code, err, json.loads(out)["format"]) == (1, "", "celosia/status/1")
    (Path(folder) / "celosia.toml").write_text("name = ", "utf-8")
    code, out, _ = said(capsys, "--lang", language, "status", folder)
    assert (code, "celosia.toml" in out) == (1, True)


@pytest.mark.requirement("M29")
def test_claims_are_counted_and_never_shown(folder, capsys) -> None:
    assert said(capsys, "claims", folder)[0] == 1  # no candidate to attack
    head = "celosia/claims/1\ncandidate,x\ntarget,source_used,claim,confidence,correct,minutes,note\n"
    (Path(folder) / "claims.csv").write_text(head + "a,b,Zutanita,alta,no,5,\n", "utf-8")
    code, out, _ = said(capsys, "claims", folder)
    assert (code, "Zutanita" in out) == (0, False)
    (Path(folder) / "claims.csv").write_text(head + "a,b,Zutanita,alta,sí,5,\n", "utf-8")
    code, out, _ = said(capsys, "claims", folder, "--json")
    assert (code, json.loads(out)["correct"]) == (1, 1)
