"""`celosia stats`: what is typed, what is printed, how it ends."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from celosia.cli import main
from tests.stats.small_stats import PERSONS, category, people, project, table

SECTOR = category("sector", ["A", "B", "C"])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    rows = people({("A",): 12, ("B",): 3, ("C",): 20}, ["sector"])
    return project(tmp_path, rows, table("t", SECTOR, PERSONS))


def told(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


@pytest.mark.requirement("Y24", "Y27")
def test_run_check_catalogue_and_attack_in_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "run", str(home), "--json"]) == 0
    ran = told(capsys)
    assert ran["format"] == "celosia/stats-run/1"
    assert [(one["table"], one["rows"], one["primary"]) for one in ran["tables"]] == [("t__internal", 4, 1)]
    assert main(["stats", "check", str(home), "--json"]) == 0
    assert told(capsys)["holds"] is True
    assert main(["stats", "catalogue", str(home), "--json"]) == 0
    assert told(capsys)["format"] == "celosia/catalogue/1"
    assert (home / "catalogue.html").is_file()
    assert main(["stats", "attack", str(home), "--json"]) == 0
    assert told(capsys)["findings"] == []


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_tables_and_the_verdict_are_printed_in_both_languages(
    home: Path, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--lang", language, "stats", "run", str(home)]) == 0
    assert "t__internal" in capsys.readouterr().out
    assert main(["--lang", language, "stats", "check", str(home)]) == 0
    sentence = {"es": "STATS cumple todas las reglas.", "en": "STATS meets every rule."}[language]
    assert sentence in capsys.readouterr().out
    assert main(["--lang", language, "stats", "attack", str(home)]) == 0


def test_init_proposes_a_file_that_is_understood_and_never_overwrites_it(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new"
    assert main(["stats", "init", str(new), "--source", str(tmp_path / "personal.duckdb")]) == 0
    proposed = tomllib.loads((new / "stats.toml").read_text("utf-8"))
    assert proposed["personal"]["people"]["person"] == "user_id"
    assert proposed["personal"]["people"]["drop"] == ["full_name"]
    assert [one["rule"] for one in proposed["tables"][0]["dimensions"]] == ["category"]
    assert main(["stats", "init", str(new), "--source", str(tmp_path / "personal.duckdb")]) == 2
    capsys.readouterr()
    assert main(["stats", "run", str(new)]) != 0
    assert "private/unmapped" in capsys.readouterr().err


def test_a_check_before_any_run_ends_with_two(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "check", str(home)]) == 2
    assert main(["stats", "run", str(home / "nowhere")]) == 2
    assert "celosia stats init" in capsys.readouterr().err
