"""People's risk from a file, what cannot be used is refused, and k-map from the plan to the written file."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from celosia.cli import main
from celosia.model import dictionary
from celosia.model.errors import RepeatedVariable, UnknownVariable
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role
from celosia.pipeline.assessment.errors import HouseholdUnknown, PopulationTooSmall, UnusableWeights
from celosia.pipeline.assessment.individual_risk import people_risk
from celosia.pipeline.candidate.errors import CandidateFails, PlanStale
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.errors import PopulationLacks, UnusableCounts
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def write(path: Path, header: str, *lines: str) -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", "utf-8")
    return path


@pytest.fixture
def people(tmp_path) -> Path:
    lines = ("05101,H,1,10,7", "05101,H,1,20,8", "05101,M,2,10.5,7", "05302,M,3,100,9", ",M,3,4,9", "*,*,4,2,5")
    return write(tmp_path / "encuesta.csv", "comuna,sexo,hogar,factor,persona", *lines)


def test_weights_households_and_persons_of_a_small_file(people) -> None:
    report = people_risk(people, ["comuna", "sexo"], weight="factor", household="hogar", person="persona").as_dict()
    assert report["format"] == "celosia/people-risk/2"
    assert (report["rows"], report["persons"], report["masked_rows"]) == (6, 4, 1)
    assert report["frequencies"]["violations"] == {"2": 3, "3": 5, "5": 5}
    assert report["frequencies"]["sum_Fk"] == pytest.approx(30 + 30 + 10.5 + 100 + 4)
    pair = 1 / 14 - np.log(15) / 14**2
    alone = [np.log(weight) / (weight - 1) for weight in (10.5, 100, 4)]
    assert report["individual"]["expected_reidentifications"] == pytest.approx(2 * pair + sum(alone))
    third = 1 - (1 - alone[1]) * (1 - alone[2])
    homes = 2 * (1 - (1 - pair) ** 2) + alone[0] + 2 * third
    assert report["global"]["household_expected_reidentifications"] == pytest.approx(homes)
    assert report["attackers"]["unit"] == "persons"
    assert report["attackers"]["prosecutor"]["highest"] == 1.0
    assert report["attackers"]["prosecutor"]["mean"] == pytest.approx(4 / 5)


def test_missing_keys_with_alpha_may_be_any_value(people) -> None:
    found = people_risk(people, ["comuna", "sexo"], alpha=0.5).as_dict()["frequencies"]
    assert (found["missing"], found["alpha"]) == ("wildcard", 0.5)
    assert found["sum_fk"] == 2 + 2 + 1.5 + 1.5 + 3


def test_the_population_answers_the_journalist_and_k_map(people, tmp_path) -> None:
    counts = write(
        tmp_path / "censo.csv", "sexo,comuna,n", "H,05101,50", "M,05101,4", "M,05302,0", "M,,9", "M,07101,90"
    )
    report = people_risk(people, ["comuna", "sexo"], population=counts, population_count="n").as_dict()
    assert report["population"]["k_map"] == 0
    assert (report["population"]["size"], report["population"]["size_from"]) == (153.0, "population")
    seen = report["attackers"]["journalist"]
    assert seen["short_classes"] == 1
    assert seen["mean"] == pytest.approx((2 / 50 + 1 / 4 + 1 + 1 / 9) / 5) == report["attackers"]["marketer"]


def test_a_fraction_is_enough_to_estimate_uniqueness(people) -> None:
    found = people_risk(people, ["comuna", "sexo"], fraction=0.5).as_dict()["population"]
    assert (found["size"], found["sampling_fraction"], found["k_map"]) == (10.0, 0.5, None)
    assert 0 <= found["uniqueness"]["dankar"] <= 1


def test_weights_that_cannot_be_are_counted_by_kind(tmp_path) -> None:
    path = write(tmp_path / "e.csv", "sexo,factor", "H,0", "H,-2", "M,", "M,mucho", "M,mucho", "M,3.5")
    with pytest.raises(UnusableWeights) as refused:
        people_risk(path, ["sexo"], weight="factor")
    assert refused.value.values == {"variable": "factor", "missing": 1, "unreadable": 2, "zero": 1, "negative": 1}
    assert "mucho" not in str(refused.value)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"household": "comuna"}, RepeatedVariable),
        ({"weight": "peso"}, UnknownVariable),
        ({"alpha": 2}, ValueOutOfRange),
        ({"alpha": 0.5, "missing": "own"}, ValueOutOfRange),
        ({"missing": "ninguno"}, ValueOutOfRange),
        ({"fraction": 0}, ValueOutOfRange),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused(people, asked, error) -> None:
    with pytest.raises(error):
        people_risk(people, ["comuna", "sexo"], **asked)


def test_a_missing_household_is_counted(tmp_path) -> None:
    path = write(tmp_path / "e.csv", "sexo,hogar", "H,1", "H,", "M,*", "M,2")
    with pytest.raises(HouseholdUnknown, match="2 filas"):
        people_risk(path, ["sexo"], household="hogar")


def test_a_population_that_does_not_fit_is_refused(people, tmp_path) -> None:
    lacking = write(tmp_path / "a.csv", "sexo,n", "H,4")
    with pytest.raises(PopulationLacks, match="comuna"):
        people_risk(people, ["comuna", "sexo"], population=lacking)
    broken = write(tmp_path / "b.csv", "sexo,comuna,n", "H,05101,4", "M,05101,1.5", "M,05302,-1", "M,05302,x")
    with pytest.raises(UnusableCounts, match="3 filas"):
        people_risk(people, ["comuna", "sexo"], population=broken, population_count="n")
    small = write(tmp_path / "c.csv", "sexo,comuna", "H,05101", "M,05101")
    with pytest.raises(PopulationTooSmall, match=r"\(2\).*5 registros"):
        people_risk(people, ["comuna", "sexo"], population=small)


def test_the_command_adds_the_sections_and_prints_them(people, capsys) -> None:
    asked = ["risk", str(people), "--quasi", "comuna,sexo", "--weight", "factor", "--household", "hogar"]
    assert main([*asked, "--json", "--explain"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["format"] == "celosia/risk/1"
    assert report["people_variables"] == ["comuna", "sexo"]
    assert report["individual"]["expected_reidentifications"] > 0
    assert {"individual", "household_risk", "prosecutor"} <= set(report["definitions"])
    assert main(asked) == 0
    out = capsys.readouterr().out
    assert "Riesgo residual: se esperan" in out
    assert "Fiscal (sabe quién participó)" in out
    assert main(["risk", str(people), "--quasi", "comuna,sexo", "--json"]) == 0
    assert "individual" not in json.loads(capsys.readouterr().out)


SAMPLE = [("1", "11", "a"), ("1", "12", "b"), ("1", "12", "a"), ("2", "21", "b"), ("2", "22", "a"), ("2", "22", "b")]
CENSUS = [("1", "11")] * 3 + [("1", "12")] * 8 + [("1", "13")] * 4 + [("2", "21")] * 1 + [("2", "22")] * 9


@pytest.fixture
def project(tmp_path) -> Path:
    sample = [*SAMPLE, *SAMPLE]
    source = write(tmp_path / "fuente.csv", "sexo,area,dato", *[",".join(row) for row in sample])
    folder = init(source, tmp_path / "proyecto", now=NOW).project.folder
    roles = {"sexo": Role.QUASI, "area": Role.QUASI, "dato": Role.PLAIN}
    stated = [replace(v, purpose="estudio", role=roles[v.name]) for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")
    write(folder / "censo.csv", "sexo,area", *[",".join(row) for row in CENSUS])
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(
            '\n[policy]\ncriteria = [{criterion = "k_map", k = 5, population = "censo.csv"}]\nlimit = 1\n'
            '[hierarchies.area]\nbuilder = "mask"\nsteps = [1, 2]\n[hierarchies.sexo]\nbuilder = "suppress"\n'
        )
    return folder


def published(folder: Path) -> list[dict[str, str]]:
    with (folder / "private" / "candidate" / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def generalised(rows: list[tuple[str, str]], levels: dict[str, int]) -> Counter:
    """People by published values, in plain Python."""
    return Counter(
        (sex if levels["sexo"] == 0 else "*", area if levels["area"] == 0 else area[0] + "*") for sex, area in rows
    )


def test_every_written_class_has_k_people_in_the_population(project) -> None:
    ran = run_plan_after_planning(project)
    levels = dict(ran.plan.levels)
    people = generalised(CENSUS, levels)
    shown = {(row["sexo"], row["area"]) for row in published(project)} - {("*", "*")}
    assert shown
    assert all(people[key] >= 5 for key in shown), (levels, shown)
    [verdict] = [verdict for verdict in ran.check.verdicts if verdict.rule == "k_map"]
    assert verdict.failing_rows == 0
    assert ran.plan.notes["population"]["units"] == len(CENSUS)


def run_plan_after_planning(folder: Path, **asked):
    make_plan(folder, now=NOW, **asked)
    return run_plan(folder, now=NOW)


def test_a_population_that_changed_makes_the_plan_stale(project) -> None:
    make_plan(project, now=NOW)
    write(project / "censo.csv", "sexo,area", *[",".join(row) for row in CENSUS[1:]])
    with pytest.raises(PlanStale):
        run_plan(project, now=NOW)


def test_the_written_file_is_judged_in_the_population_again(project, monkeypatch) -> None:
    make_plan(project, now=NOW)
    from celosia.pipeline.candidate import check_file as _check

    monkeypatch.setattr(
        _check, "_population_sizes", lambda quasi, starred, population, plan: np.zeros(len(starred), np.int64)
    )
    with pytest.raises(CandidateFails, match="k-mapa"):
        run_plan(project, now=NOW)


def test_k_map_is_searched_over_whole_levels_only(project) -> None:
    with pytest.raises(ValueOutOfRange, match="full-domain"):
        make_plan(project, now=NOW, method="local")


def test_uniqueness_in_the_population_holds_on_the_written_file(project) -> None:
    toml = (project / "celosia.toml").read_text("utf-8")
    wanted = '{criterion = "population_uniqueness", threshold = 0, fraction = 0.1, model = "zayatz"}'
    old = '{criterion = "k_map", k = 5, population = "censo.csv"}'
    (project / "celosia.toml").write_text(toml.replace(old, wanted), "utf-8")
    ran = run_plan_after_planning(project)
    classes = Counter((row["sexo"], row["area"]) for row in published(project))
    assert min(classes.values()) > 1
    assert [v.failing_rows for v in ran.check.verdicts if v.rule == "population_uniqueness"] == [0]
