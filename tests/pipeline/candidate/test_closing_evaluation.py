"""The closing evaluation runs exactly what the request chose, against the source that was asked for."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from celosia.pipeline.candidate.closing_evaluation import closing_evaluation
from celosia.pipeline.candidate.errors import CandidateChanged, NothingToApprove
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import write_request
from tests.projects.steps import NOW
from tests.projects.survey import ANSWERS, PLANTED, make_project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = make_project(tmp_path_factory.mktemp("closing") / "p", ("atenea",))
    write_request(folder, now=NOW, **ANSWERS)
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "p"))


def choose(folder: Path, *chosen: dict[str, object]) -> None:
    write_request(folder, now=NOW, properties=list(chosen))


def incomes(folder: Path) -> list[float]:
    """The published incomes, read in plain Python."""
    with (folder / "private" / "candidate" / "data.csv").open(encoding="utf-8", newline="") as file:
        return [float(row["INGRESO"]) for row in csv.DictReader(file) if row["INGRESO"] not in ("*", "")]


def with_step(folder: Path, step: str) -> None:
    """The same project with one step more, run again."""
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8") + f"\n[[steps]]\n{step}\n", "utf-8")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)


@pytest.mark.requirement("A03", "A29")
def test_exactly_the_chosen_properties_are_checked_in_their_order(folder):
    chosen = [
        {"property": "frequencies", "variables": ["SEXO"], "tolerance": "0.2"},
        {"property": "mean", "variables": ["INGRESO"]},
        {"property": "observations"},
        {"property": "total"},
    ]
    choose(folder, *chosen)
    report = closing_evaluation(folder)
    assert [(one.property, one.variable) for one in report.properties] == [
        ("frequencies", "SEXO"), ("mean", "INGRESO"), ("observations", "–"), ("total", "INGRESO"),
    ]  # fmt: skip
    assert report.properties[0].tolerance == 0.2
    stored = json.loads((folder / "private" / "candidate" / "closing.json").read_text("utf-8"))
    assert stored == json.loads(json.dumps(report.as_dict()))
    assert PLANTED not in json.dumps(stored, ensure_ascii=False)


@pytest.mark.requirement("A29", "A31")
def test_differences_are_those_of_the_two_files_counted_by_hand(folder):
    choose(folder, {"property": "total", "variables": ["INGRESO"], "tolerance": "0"})
    [check] = closing_evaluation(folder).properties
    after = sum(incomes(folder))
    before = sum(731000 + 1000 * (i % 7) for i in range(120))
    assert (check.before, check.after) == (before, after)
    assert check.difference == after - before
    assert check.relative == pytest.approx((after - before) / before)
    assert check.passes == (after == before)


@pytest.mark.requirement("A03", "A29")
def test_a_treatment_counts_as_a_change_and_the_selection_asked_for_does_not(folder):
    choose(folder, {"property": "mean", "variables": ["INGRESO"], "tolerance": "0.0001"}, {"property": "observations"})
    with_step(folder, 'technique = "select"\nkeep = {SEXO = ["H"]}')
    report = closing_evaluation(folder)
    assert report.passes
    assert (report.observations.before, report.observations.after) == (60, 60)
    with_step(folder, 'technique = "round"\ncolumns = ["INGRESO"]\nbase = 100000')
    report = closing_evaluation(folder)
    assert report.properties[0].before == sum(731000 + 1000 * (i % 7) for i in range(0, 120, 2)) / 60
    assert report.properties[0].after == pytest.approx(sum(incomes(folder)) / 60, rel=1e-12)
    assert set(incomes(folder)) <= {700000, 800000}
    assert not report.passes
    assert closing_evaluation(folder).results == {"mean INGRESO": False, "observations": True}


@pytest.mark.requirement("A03")
def test_a_property_of_a_variable_that_left_is_not_kept(folder):
    choose(folder, {"property": "frequencies", "variables": ["NOMBRE"]})
    [check] = closing_evaluation(folder).properties
    assert (check.passes, check.note, check.variable) == (False, "not_measurable", "NOMBRE")


@pytest.mark.requirement("A03")
def test_nothing_chosen_shows_nothing(folder):
    choose(folder)
    report = closing_evaluation(folder)
    assert (report.properties, report.passes, dict(report.results)) == ((), False, {})
    assert report.observations.passes


@pytest.mark.requirement("A30", "A31")
def test_limited_variables_in_the_file_are_named_and_the_residual_risk_is_told(folder):
    write_request(folder, now=NOW, **{"legal.limited": ["DIAG"]})
    report = closing_evaluation(folder)
    assert report.limited == ("DIAG",)
    assert not report.passes
    assert "Ninguna técnica es absoluta" in report.residual


def test_without_a_checked_candidate_nothing_is_evaluated(folder):
    data = folder / "private" / "candidate" / "data.csv"
    data.write_bytes(data.read_bytes() + b"\n")
    with pytest.raises(CandidateChanged):
        closing_evaluation(folder)
    shutil.rmtree(folder / "private" / "candidate")
    with pytest.raises(NothingToApprove):
        closing_evaluation(folder)
