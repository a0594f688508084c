"""`celosia protocol` explains each rule with its section, in both languages; `run` shows the verdict as a table."""

from __future__ import annotations

import json

import pytest

from celosia.cli import main
from celosia.protocols.load import IDS, load


def test_the_list_names_every_protocol(capsys):
    assert main(["protocol", "list"]) == 0
    shown = capsys.readouterr().out
    assert all(identifier in shown for identifier in IDS)
    assert main(["protocol", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["format"] == "celosia/protocols/1"
    assert [one["id"] for one in listed["protocols"]] == list(IDS)


@pytest.mark.parametrize("language", ["es", "en"])
@pytest.mark.parametrize("identifier", IDS)
def test_show_explains_every_rule_step_and_document(capsys, identifier, language):
    assert main(["protocol", "show", identifier, "--lang", language]) == 0
    shown = capsys.readouterr().out
    protocol = load(identifier)
    for part in (*protocol.rules, *protocol.gates):
        assert f"│ {part.id} " in shown


@pytest.mark.requirement("M14")
def test_the_levels_are_shown_in_the_words_of_the_norm(capsys):
    assert main(["protocol", "show", "minsal"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("rojo (k = 1", "ámbar (k = 2 o 3", "verde (k ≥ 4", "ideal: mayor que 3"))


def test_json_holds_both_languages(capsys):
    assert main(["protocol", "show", "mel", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["format"] == "celosia/protocol/1"
    for rule in told["rules"]:
        assert rule["section"]
        assert rule["sentence_es"] != rule["sentence_en"]


def test_an_unknown_protocol_ends_with_two_and_names_the_known(capsys):
    assert main(["protocol", "show", "gdpr"]) == 2
    assert "minsal-sensible" in capsys.readouterr().err


def test_run_prints_rule_section_asked_measured_and_result(tmp_path, capsys):
    raw, folder = tmp_path / "datos.csv", tmp_path / "datos"
    lines = [f"{'HM'[i % 2]},{30 + i % 3},{'ABC'[i % 3]}{i // 90}" for i in range(360)]
    raw.write_text("SEXO,EDAD,DIAGNOSTICO\n" + "\n".join(lines) + "\n", "utf-8")
    assert main(["init", str(raw), "--into", str(folder), "--protocol", "minsal"]) == 0
    assert main(["dictionary", "purpose", str(folder), "--variables", "SEXO,EDAD,DIAGNOSTICO", "--purpose", "x"]) == 0
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[overrides.minsal.k]\nasked = {k = 5}\nreason = "más cuidado"\n')
    assert main(["plan", str(folder)]) == 0
    capsys.readouterr()
    assert main(["run", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("minsal · k", "4. Verificación y Validación", "k ≥ 5 *", "cumple"))
    assert "Motivo: más cuidado" in shown
    assert main(["run", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rules"]["format"] == "celosia/rules/1"
