"""Scenarios of a project or file: declared, named or generated; persons as units; wrong requests refused by name."""

from __future__ import annotations

import csv
import itertools
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from celosia.hierarchy.errors import LevelOutsideHierarchy
from celosia.model import dictionary
from celosia.model.errors import NothingChosen, RepeatedVariable, UnknownVariable
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role
from celosia.pipeline.assessment.errors import (
    CombinationTooWide,
    LevelNeedsProject,
    NoScenario,
    SettingOutsideScenario,
    TableNeedsScenario,
    TableOfIdentifiers,
    TooManyScenarios,
)
from celosia.pipeline.assessment.scenario_risk import scenario_risk
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.errors import WrongSetting
from celosia.pipeline.project.folder import open_project

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ROWS = [
    # run, edad, sexo, comuna
    ("1", "34", "M", "10101"), ("1", "34", "M", "10102"), ("2", "36", "F", "10101"), ("3", "36", "F", "10101"),
    ("4", "36", "F", "10101"), ("5", "36", "F", "10101"), ("6", "52", "M", "05302"), ("7", "53", "M", "05302"),
    ("8", "54", "M", "05302"), ("9", "55", "M", "05302"), ("10", "12", "F", ""),
]  # fmt: skip
QUASI = ("edad", "sexo", "comuna")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "egresos.csv"
    lines = [",".join(row) for row in [("run", *QUASI), *ROWS]]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def project(file: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "proyecto"
    init(file, folder, person="run", now=NOW)
    roles = {"run": Role.IDENTIFIER, **dict.fromkeys(QUASI, Role.QUASI)}
    variables = [replace(v, role=roles[v.name]) for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(variables), "utf-8")
    return folder


def declare(folder: Path, text: str) -> None:
    """Add to the project file: tables at its end, a plain key at its beginning."""
    path = folder / "celosia.toml"
    held = path.read_text("utf-8")
    path.write_text(f"{held}\n{text}" if text.lstrip().startswith("[") else f"{text}\n{held}", "utf-8")


def persons_at_risk(names: tuple[str, ...], threshold: Fraction = Fraction(3, 10)) -> int:
    """Distinct persons in combinations of few persons, counted row by row."""
    columns = [1 + QUASI.index(name) for name in names]
    behind = defaultdict(set)
    for row in ROWS:
        behind[tuple(row[column] for column in columns)].add(row[0])
    return len(set().union(*[people for people in behind.values() if Fraction(1, len(people)) >= threshold]))


def test_without_a_word_all_quasi_identifiers_together_and_every_pair_are_counted_in_persons(project):
    report = scenario_risk(project)
    assert (report.unit, report.units, report.rows) == ("persons", 10, 11)
    assert {risk.scenario.variables for risk in report.scenarios} == {QUASI, *itertools.combinations(QUASI, 2)}
    assert {risk.scenario.variables: risk.at_risk for risk in report.scenarios} == {
        names: persons_at_risk(names) for names in [QUASI, *itertools.combinations(QUASI, 2)]
    }


@pytest.mark.requirement("A13", "A17")
def test_a_declared_scenario_has_its_own_criterion_and_level(project):
    declare(project, '''
[hierarchies.edad]
builder = "intervals"
width = 10
end = 60
[[scenarios]]
variables = ["edad", "sexo"]
levels = {edad = 1}
threshold = "1/5"
[[scenarios]]
variables = ["sexo"]
''')  # fmt: skip
    report = scenario_risk(project, threshold="0.05")
    lines = report.as_dict()["scenarios"]
    assert [(line["variables"], line["criterion"]["exact"], line["levels"]) for line in lines] == [
        (["sexo"], "1/20", {"sexo": 0}),
        (["edad", "sexo"], "1/5", {"edad": 1, "sexo": 0}),
    ]
    assert [line["at_risk"] for line in lines] == [10, 10]  # 30–39: 1 man, 4 women; 50–59: 4 men; 10–19: 1 woman


@pytest.mark.requirement("A13")
def test_generated_combinations_join_the_declared_ones_and_none_twice(project):
    declare(project, '[[scenarios]]\nvariables = ["sexo", "edad"]\n')
    report = scenario_risk(project, all_combinations=3)
    assert len(report.scenarios) == 4
    assert Counter(risk.scenario.origin for risk in report.scenarios) == {"declared": 1, "generated": 3}


def test_named_scenarios_replace_the_declared_ones(project):
    declare(project, '[[scenarios]]\nvariables = ["sexo", "edad"]\n')
    report = scenario_risk(project, ["comuna,sexo", {"variables": ["edad"], "threshold": 0.5}])
    assert {(risk.scenario.variables, risk.scenario.threshold) for risk in report.scenarios} == {
        (("comuna", "sexo"), Fraction(3, 10)),
        (("edad",), Fraction(1, 2)),
    }


def test_direct_identifiers_are_combined_when_asked(project):
    plain = scenario_risk(project, all_combinations=2)
    every = scenario_risk(project, all_combinations=2, identifiers=True)
    assert len(plain.scenarios) == 3
    assert len(every.scenarios) == 6
    assert every.scenarios[0].share == 1.0


def test_a_file_alone_counts_rows_unless_a_key_is_named(file):
    rows = scenario_risk(file, [["edad", "sexo"]])
    persons = scenario_risk(file, [["edad", "sexo"]], person="run")
    assert (rows.unit, rows.units, rows.scenarios[0].at_risk) == ("rows", 11, 7)
    assert (persons.unit, persons.units, persons.scenarios[0].at_risk) == ("persons", 10, 6)


def test_the_table_follows_the_order_and_the_list_of_categories(project):
    named = {"variables": ["sexo", "comuna"], "categories": {"sexo": ["M", "F", "X"]}}
    [risk] = scenario_risk(project, [named], table=True).scenarios
    assert risk.table is not None
    assert [line.values[0] for line in risk.table.lines] == ["M"] * 4 + ["F"] * 4 + ["X"] * 4
    assert sum(line.frequency for line in risk.table.lines) == 11  # person 1 stands in two combinations
    assert all(line.as_dict()["ri"] is None for line in risk.table.lines if line.values[0] == "X")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"scenarios": [["edad", "nada"]]}, UnknownVariable),
        ({"scenarios": [["edad", "edad"]]}, RepeatedVariable),
        ({"scenarios": [[]]}, NothingChosen),
        ({"scenarios": [{"variables": ["edad"], "umbral": 1}]}, ValueOutOfRange),
        ({"scenarios": [{"variables": ["edad"], "levels": {"sexo": 1}}]}, SettingOutsideScenario),
        ({"scenarios": [{"variables": ["edad"], "levels": {"edad": 9}}]}, LevelOutsideHierarchy),
        ({"scenarios": [{"variables": ["edad"], "threshold": "0"}]}, ValueOutOfRange),
        ({"threshold": "-0.3"}, ValueOutOfRange),
        ({"threshold": "poco"}, ValueOutOfRange),
        ({"all_combinations": 4}, CombinationTooWide),
        ({"all_combinations": 1}, ValueOutOfRange),
        ({"quasi": ["edad", "nada"], "all_combinations": 2}, UnknownVariable),
        ({"person": "nadie"}, UnknownVariable),
        ({"all_combinations": 2, "table": True}, TableNeedsScenario),
        ({"scenarios": [["run", "sexo"]], "table": True}, TableOfIdentifiers),
    ],
)
def test_a_wrong_request_is_refused_by_name(project, asked, error):
    with pytest.raises(error):
        scenario_risk(project, **asked)


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ('[[scenarios]]\nthreshold = "0.3"', "scenarios.1"),
        ('[[scenarios]]\nvariables = "edad"', "scenarios.1.variables"),
        ('scenarios = [{variables = ["edad"]}, {variables = ["sexo"], threshold = 0}]', "scenarios.2.threshold"),
        ('[[scenarios]]\nvariables = ["edad"]\nlevels = {edad = -1}', "scenarios.1.levels"),
        ('[[scenarios]]\nvariables = ["edad"]\ncategories = {edad = "x"}', "scenarios.1.categories"),
        ('[[scenarios]]\nvariables = ["edad"]\nnivel = 1', "scenarios.1.nivel"),
        ("[scenarios]\nvariables = 1", "scenarios"),
    ],
)  # fmt: skip
def test_a_scenario_written_wrong_is_refused_when_the_project_is_read(project, text, setting):
    declare(project, text + "\n")
    with pytest.raises(WrongSetting) as refused:
        scenario_risk(project)
    assert refused.value.values["setting"] == setting


def test_a_file_alone_has_no_levels(file):
    with pytest.raises(LevelNeedsProject):
        scenario_risk(file, [{"variables": ["edad"], "levels": {"edad": 1}}])


def test_a_table_without_quasi_identifiers_has_no_scenario(project):
    plain = [replace(v, role=Role.PLAIN) for v in open_project(project).variables]
    (project / "dictionary.csv").write_text(dictionary.dump(plain), "utf-8")
    with pytest.raises(NoScenario):
        scenario_risk(project)


def test_more_scenarios_than_anybody_reads_are_refused(tmp_path):
    path = tmp_path / "ancho.csv"
    names = [f"v{i}" for i in range(60)]
    path.write_text(",".join(names) + "\n" + ",".join("x" * 60) + "\n", "utf-8")
    with pytest.raises(TooManyScenarios):
        scenario_risk(path, quasi=names, all_combinations=4, header=True)


@pytest.mark.slow
@pytest.mark.requirement("A13", "A14", "A18")
def test_all_three_way_combinations_of_the_household_survey_are_ordered(shared):
    path = shared / "data" / "co_dane_ecv_households.csv"
    names = [
        "P1079",
        "P9010",
        "P9030",
        "P9040",
        "P9050",
        "P5230",
        "P9090",
        "P8706",
        "P1072S1",
        "P1072S2",
        "P1076",
        "P8718",
    ]
    report = scenario_risk(path, quasi=names, all_combinations=3)
    assert (report.unit, report.units, len(report.scenarios)) == ("rows", 20_141, 66 + 220)
    shares = [risk.share for risk in report.scenarios]
    assert shares == sorted(shares, reverse=True)
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for risk in (*report.scenarios[:5], *report.scenarios[140:145], *report.scenarios[-5:]):
        counted = Counter(tuple(row[name] for name in risk.scenario.variables) for row in rows)
        assert risk.at_risk == sum(f for f in counted.values() if f <= 3)
        assert risk.combinations == len(counted)
