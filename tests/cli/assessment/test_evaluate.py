"""`celosia evaluate` at the terminal: JSON alone, exit codes, definitions on request, files where asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celosia import messages
from celosia.cli import main

BEFORE = "sexo,edad,zona,ingreso\n" + "".join(
    f"{'HM'[i % 2]},{20 + 11 * i % 50},{'norte' if i % 3 else 'sur'},{500 + 31 * i % 300}\n" for i in range(40)
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "antes.csv").write_text(BEFORE, "utf-8")
    (tmp_path / "después.csv").write_text(BEFORE.replace("sur", "*"), "utf-8")
    return str(tmp_path / "antes.csv"), str(tmp_path / "después.csv")


@pytest.mark.requirement("A03", "A29")
def test_json_stands_alone_and_holds_the_versioned_report(files, capsys) -> None:
    code = main(["evaluate", *files, "--keep", "total,mean", "--quasi", "sexo,zona", "--json"])
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (code, err, report["format"]) == (0, "", "celosia/evaluation/2")
    assert {check["property"] for check in report["properties"]} == {"total", "mean"}
    assert report["equal_rows"] is True
    assert report["loss"]["masked_cells"] == 14


def test_a_property_that_is_not_kept_ends_with_one(files, capsys) -> None:
    assert main(["evaluate", *files, "--keep", "frequencies", "--json"]) == 1
    assert main(["evaluate", *files, "--keep", "frequencies", "--tolerance", "frequencies=0.5", "--json"]) == 0
    assert main(["evaluate", *files, "--json"]) == 0
    capsys.readouterr()


@pytest.mark.requirement("A31")
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_the_terminal_shows_losses_properties_and_the_residual_risk(files, capsys, language) -> None:
    main(["--lang", language, "evaluate", *files, "--quasi", "sexo,zona", "--explain", "--keep", "mean,variance"])
    out = capsys.readouterr().out
    assert messages.text("evaluation.section.loss") in out
    assert messages.text("evaluation.residual.always") in out
    assert "MINSAL" in out  # the sources of the definitions


def test_every_figure_has_its_definition_and_source(files, capsys) -> None:
    keep = (
        "total,mean,variance,minimum,maximum,median,quantiles,frequencies,correlation,model:ingreso~edad,test:sexo:zona"
    )
    main(["evaluate", *files, "--keep", keep, "--quasi", "sexo", "--explain", "--json"])
    told = json.loads(capsys.readouterr().out)["definitions"]
    assert {"entropy_loss", "total_variation", "pmse_ratio", "association", "at_risk", "model"} <= set(told)
    assert all(set(one) == {"name", "definition", "source"} and all(one.values()) for one in told.values())


def test_the_report_and_the_pictures_are_written_where_asked(files, tmp_path, capsys) -> None:
    page, folder = tmp_path / "salida" / "informe.html", tmp_path / "imagenes"
    main(["evaluate", *files, "--quasi", "sexo,zona", "--report", str(page), "--pictures", str(folder)])
    assert "<svg" in page.read_text("utf-8")
    svg = {path.stem for path in folder.glob("*.svg")}
    assert svg == {path.stem for path in folder.glob("*.png")} >= {"class-sizes", "risk", "risk-utility", "association"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in folder.glob("*.png"))
    capsys.readouterr()


@pytest.mark.parametrize(
    ("asked", "code", "exit_code"),
    [
        (["--contrast", "sexo,edad,zona"], "contrast_too_small", 1),
        (["--keep", "moda"], "unknown_property", 2),
        (["--variables", "nadie"], "unknown_variable", 2),
        (["--tolerance", "mucha"], "value_out_of_range", 2),
        (["--threshold", "3"], "value_out_of_range", 2),
        (["--keep", "trend"], "unknown_property", 2),
        (["--match", "sin igual"], "wrong_use", 2),
    ],
)
def test_a_mistake_is_told_in_one_sentence(files, capsys, asked, code, exit_code) -> None:
    assert main(["evaluate", *files, *asked, "--json"]) == exit_code
    out, err = capsys.readouterr()
    assert json.loads(out)["code"] == code
    assert len(err.strip().splitlines()) == 1


@pytest.mark.requirement("P12", "P13", "P14", "P15")
def test_the_contrast_of_untouched_variables_is_shown(files, capsys) -> None:
    before, after = files
    chosen = ["--contrast", "sexo,edad,zona,ingreso", "--json"]
    assert main(["evaluate", before, before, *chosen]) == 0
    assert all(line["equal"] for line in json.loads(capsys.readouterr().out)["contrast"])
    assert main(["evaluate", before, after, *chosen]) == 1
    lines = {line["variable"]: line["equal"] for line in json.loads(capsys.readouterr().out)["contrast"]}
    assert lines == {"sexo": True, "edad": True, "zona": False, "ingreso": True}


@pytest.mark.requirement("A29")
@pytest.mark.parametrize(
    ("written", "held"),
    [("0,01", {"mean": 0.01, "total": 0.01}), ("0,5,mean=0,02", {"mean": 0.02, "total": 0.5}), ("0.5", {"mean": 0.5})],
)
def test_a_tolerance_with_a_decimal_comma_is_one_number(files, capsys, written: str, held: dict[str, float]) -> None:
    main(["evaluate", *files, "--keep", "total,mean", "--tolerance", written, "--json"])
    checks = json.loads(capsys.readouterr().out)["properties"]
    assert held.items() <= {check["property"]: check["tolerance"] for check in checks}.items()


def test_two_tolerances_for_everything_are_refused(files, capsys) -> None:
    assert main(["evaluate", *files, "--tolerance", "0.1", "--tolerance", "0.2", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["code"] == "value_out_of_range"


def test_a_criterion_of_a_third_is_told_as_a_third(files, capsys) -> None:
    main(["evaluate", *files, "--quasi", "sexo,edad", "--threshold", "1/3"])
    assert "RI ≥ 1/3" in capsys.readouterr().out
