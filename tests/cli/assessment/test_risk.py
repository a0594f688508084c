"""`celosia risk`: the guide's report and table as printed, the JSON as promised, one sentence for a mistake."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from celosia.cli import main
from celosia.pipeline.intake.init_project import init
from tests.risk.guide_example import GUIDE, LEVELS, NAMES, guide_rows

SCENARIO = ",".join(NAMES)


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    path = tmp_path / "guia.csv"
    path.write_text("\n".join(";".join(row) for row in [NAMES, *guide_rows()]) + "\n", "utf-8")
    return path


def printed_cells(out: str) -> list[list[str]]:
    """The cells of every line of the printed tables."""
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in out.splitlines() if line.startswith("│")]


@pytest.mark.requirement("A14", "A17")
@pytest.mark.parametrize(("threshold", "people"), [("0.3", 7), ("0.2", 12), ("0.5", 4), ("0,2", 12), ("1/3", 7)])
def test_the_report_has_exactly_the_promised_keys_and_the_guides_people(guide, threshold, people, capsys):
    assert main(["risk", str(guide), "--scenario", SCENARIO, "--threshold", threshold, "--json"]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert err == ""
    assert (report["format"], report["units"]) == ("celosia/risk/1", 84)
    [scenario] = report["scenarios"]
    assert {"order", "variables", "threshold", "at_risk", "share"} <= set(scenario)
    assert (scenario["order"], scenario["variables"], scenario["at_risk"]) == (1, list(NAMES), people)
    assert scenario["share"] == people / 84
    assert "table" not in scenario
    assert "Gitano" not in out


@pytest.mark.requirement("A18")
def test_the_printed_report_has_the_guides_five_columns(guide, capsys):
    assert main(["risk", str(guide), "--scenario", SCENARIO, "--scenario", NAMES[1]]) == 0
    out = capsys.readouterr().out
    heads = re.findall(r"┃ *(.*?) *(?=┃)", out)
    assert heads == ["Orden", "Variables involucradas", "Criterio de riesgo", "Unidades en riesgo", "Proporción"]
    assert printed_cells(out) == [
        ["1", ", ".join(NAMES), "RI ≥ 0,3", "7", "8,33 %"],
        ["2", NAMES[1], "RI ≥ 0,3", "0", "0,00 %"],
    ]


@pytest.mark.requirement("A14", "A15", "A16", "A18")
def test_the_printed_table_is_the_guides(guide, tmp_path, capsys):
    folder = tmp_path / "proyecto"
    init(guide, folder)
    levels = json.dumps(LEVELS, ensure_ascii=False)
    with (folder / "celosia.toml").open("a", encoding="utf-8") as settings:
        settings.write(f"[[scenarios]]\nvariables = {json.dumps(NAMES, ensure_ascii=False)}\n")
        settings.write(f'categories = {{"{NAMES[0]}" = {levels}}}\n')
    assert main(["risk", str(folder), "--table"]) == 0
    out = capsys.readouterr().out
    assert printed_cells(out)[1:] == [
        [str(number), level, group, str(f), indicator] for number, (level, group, f, indicator) in enumerate(GUIDE, 1)
    ]
    assert "Filas en riesgo: 8, 10, 11. Registros en riesgo: 7 (8,33 %)." in out


def test_the_table_goes_into_the_json_only_when_asked(guide, capsys):
    main(["risk", str(guide), "--scenario", SCENARIO, "--table", "--json"])
    table = json.loads(capsys.readouterr().out)["scenarios"][0]["table"]
    assert (table["cells"], table["complete"]) == (12, True)
    assert {line["ri"] for line in table["lines"] if line["f"] == 0} == {None}
    assert sum(line["f"] for line in table["lines"] if line["at_risk"]) == 7


def test_explain_defines_every_figure_with_its_source(guide, capsys):
    main(["risk", str(guide), "--scenario", SCENARIO, "--explain", "--json"])
    definitions = json.loads(capsys.readouterr().out)["definitions"]
    assert set(definitions) >= {"indicator", "at_risk", "share", "rows_at_risk"}
    assert all("ATENEA" in each["source"] for name, each in definitions.items() if name in ("indicator", "share"))
    main(["--lang", "en", "risk", str(guide), "--scenario", SCENARIO, "--explain"])
    assert "Units at risk: Number of units" in capsys.readouterr().out


def test_many_scenarios_are_shown_in_part_and_the_page_says_so(tmp_path, capsys):
    path = tmp_path / "ancho.csv"
    path.write_text("a,b,c,d\nx,1,p,q\ny,2,p,q\n", "utf-8")
    asked = ["risk", str(path), "--quasi", "a,b,c,d", "--all-combinations", "3", "--header"]
    assert main([*asked, "--top", "4"]) == 0
    out = capsys.readouterr().out
    assert len(printed_cells(out)) == 4
    assert "Se muestran 4 de 10 escenarios" in out
    main([*asked, "--top", "0"])
    assert len(printed_cells(capsys.readouterr().out)) == 10


@pytest.mark.parametrize(
    "arguments",
    [
        ["--scenario", "Inexistente"],
        ["--scenario", "Grupo Étnico,Grupo Étnico"],
        ["--scenario", ","],
        ["--scenario", SCENARIO, "--threshold", "0"],
        ["--scenario", SCENARIO, "--threshold", "-0.3"],
        ["--scenario", SCENARIO, "--threshold", "alto"],
        ["--scenario", SCENARIO, "--person", "Nadie"],
        ["--quasi", SCENARIO, "--all-combinations", "3"],
        ["--quasi", SCENARIO, "--all-combinations", "1"],
        ["--quasi", SCENARIO, "--all-combinations", "2", "--table"],
    ],
)
@pytest.mark.parametrize("language", ["es", "en"])
def test_a_mistake_is_one_sentence(guide, arguments, language, capsys):
    assert main(["--lang", language, "risk", str(guide), *arguments]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert "Gitano" not in out + err
