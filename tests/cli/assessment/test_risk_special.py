"""`celosia risk` with special uniques, the rule over a place and rare values: sections of the document and the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celosia.cli import main


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = ["H;05101;profesor"] * 60 + ["M;05101;profesor"] * 55 + ["M;05301;profesor"] * 60 + ["H;05109;astronauta"]
    path = tmp_path / "datos.csv"
    path.write_text("sexo;comuna;cargo\n" + "\n".join(rows) + "\n", "utf-8")
    return path


def test_the_document_gets_a_section_for_each_part_that_is_asked(file: Path, capsys: pytest.CaptureFixture) -> None:
    asked = ["--quasi", "sexo,comuna", "--special-uniques", "--geography", "comuna", "--rare", "--json", "--explain"]
    assert main(["risk", str(file), *asked]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["format"] == "celosia/risk/1"
    assert report["special_uniques"]["special_rows"] == 1
    assert (report["geography"]["finest_level"], report["geography"]["passes"]) == (1, False)
    assert report["rare"]["strong"] == ["cargo"]
    assert {"minimal_unique", "dis", "contribution", "geography", "rare"} <= set(report["definitions"])
    assert "astronauta" not in json.dumps(report)


def test_nothing_is_added_unless_asked(file: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["risk", str(file), "--quasi", "sexo,comuna", "--json"]) == 0
    assert not {"special_uniques", "geography", "rare"} & set(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_page_says_it_in_words_and_names_no_value(file: Path, language: str, capsys: pytest.CaptureFixture) -> None:
    asked = ["--quasi", "sexo,comuna", "--special-uniques", "--geography", "comuna", "--rare", "--lang", language]
    assert main(["risk", str(file), *asked]) == 0
    out = capsys.readouterr().out
    assert ("recodificarla al nivel 1" if language == "es" else "recode it to level 1") in out
    assert "05109" not in out
    assert "astronauta" not in out


def test_the_rows_go_to_a_private_folder(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    folder = tmp_path / "privado"
    assert main(["risk", str(file), "--quasi", "sexo,comuna", "--special-rows", str(folder)]) == 0
    assert "05109" in (folder / "special-uniques.csv").read_text("utf-8")
    assert "05109" not in capsys.readouterr().out


def test_population_floors_are_said(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    table = tmp_path / "poblacion.csv"
    table.write_text("comuna,habitantes\n05101,315000\n05109,5000\n05301,66000\n", "utf-8")
    asked = ["--geography", "comuna", "--area-population", str(table), "--area-count", "habitantes"]
    assert main(["risk", str(file), "--quasi", "sexo,comuna", *asked]) == 0
    assert "Piso de 10.000 habitantes: lo cumplen todas las áreas desde el nivel 1." in capsys.readouterr().out


def test_a_mistake_is_one_sentence(file: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["risk", str(file), "--quasi", "sexo,comuna", "--geography", "zona"]) == 2
    assert "«zona»" in capsys.readouterr().err
