"""`evaluate` on files and projects: what is refused, what is matched, and the risk said again."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from celosia import messages
from celosia.data.errors import HeaderOnly
from celosia.dossier.evaluation import evaluation_page, evaluation_sentences, residual_risk
from celosia.evaluation.errors import ContrastTooSmall, KeyRepeats, NoCommonRecord
from celosia.model.errors import UnknownVariable
from celosia.model.reports.evaluation import RiskComparison, RiskSide
from celosia.pipeline.assessment.errors import (
    MeasurementDiffers,
    NoCandidate,
    NoCommonColumn,
    PropertyNeedsNumbers,
    UnusableWeight,
)
from celosia.pipeline.assessment.evaluate import evaluate
from celosia.pipeline.assessment.evaluation_files import save_evaluation
from celosia.pipeline.assessment.scenario_risk import scenario_risk
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.dictionary_files import state_purpose
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan

HEADER = "id,sexo,edad,comuna,ingreso,peso\n"
ROWS = [f"{i},{'HM'[i % 2]},{20 + 3 * i % 50},{'05302' if i % 3 else '05101'},{1000 + 37 * i % 400},{1 + i % 3}"
        for i in range(60)]  # fmt: skip


def written(path: Path, rows: list[str], header: str = HEADER) -> Path:
    """A CSV file of a few lines."""
    path.write_text(header + "\n".join(rows) + "\n", "utf-8")
    return path


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return written(tmp_path / "antes.csv", ROWS)


@pytest.mark.requirement("A29", "M27", "P12")
def test_the_same_rows_in_another_order_are_the_same_file(before: Path, tmp_path: Path) -> None:
    after = written(tmp_path / "después.csv", ROWS[::-1])
    report = evaluate(before, after, keep=["total", "frequencies", "correlation"], key="id", quasi=["sexo", "comuna"])
    assert report.passes
    assert report.equal_rows
    assert (report.loss.loss, report.loss.level) == (0.0, "records")
    assert {line.changed_cells for line in report.loss.variables} == {0}
    assert report.propensity.pmse == pytest.approx(0, abs=1e-15)
    assert (report.numeric.il1s, report.numeric.eigenvalues) == (0.0, 0.0)
    assert report.risk.before == report.risk.after
    assert report.association.largest == 0.0


@pytest.mark.requirement("P12", "M26")
def test_a_lost_row_is_said_in_a_line_of_its_own(before: Path, tmp_path: Path) -> None:
    report = evaluate(before, written(tmp_path / "d.csv", ROWS[1:]))
    assert not report.equal_rows
    told = evaluation_sentences(report)
    assert "NO son iguales" in told[0]
    assert "Registros suprimidos: 1 (1,67 %); de ellos, 1 ya no están" in told[1]


@pytest.mark.requirement("A28", "A31")
def test_the_guides_example_still_leaves_everybody_at_risk_and_the_report_says_so(tmp_path: Path) -> None:
    rows = ["H,30,A", "H,31,A", "M,40,B", "M,52,B", "H,60,C"]
    source = written(tmp_path / "a.csv", rows, "sexo,edad,zona\n")
    treated = written(tmp_path / "b.csv", ["H,30-39,A", "H,30-39,A", "M,40-49,B", "M,50-59,B", "H,60-69,C"],
                      "sexo,edad,zona\n")  # fmt: skip
    report = evaluate(source, treated, quasi=["sexo", "edad", "zona"])
    assert [rows for _, _, rows in report.risk.after.class_sizes][:2] == [3, 2]
    assert (report.risk.after.at_risk, report.risk.after.at_risk_share) == (5, 1.0)
    assert "5 de 5 registros (100,00 %)" in residual_risk(report.risk)


@pytest.mark.requirement("A31")
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_residual_risk_is_never_said_to_be_none(language: str, tmp_path: Path) -> None:
    source = written(tmp_path / "a.csv", ["H,A", "M,B"] * 5, "sexo,zona\n")
    masked = written(tmp_path / "b.csv", ["*,*"] * 10, "sexo,zona\n")
    with messages.speaking(language):
        told = [residual_risk(evaluate(source, after, quasi=["sexo", "zona"]).risk) for after in (source, masked)]
        told.append(residual_risk(None))
    for sentence in told:
        assert "riesgo cero" not in sentence.lower()
        assert "zero risk" not in sentence.lower()
        assert "Ninguna técnica es absoluta" in sentence or "No technique is absolute" in sentence
    assert "0,2000" in told[0] or "0.2000" in told[0]


def test_risk_counts_persons_in_both_files_or_rows_in_both(tmp_path: Path) -> None:
    rows = [f"P{i % 40:05d},{'HM'[i % 2]},{'norte' if i % 4 else 'sur'}" for i in range(120)]
    source = written(tmp_path / "a.csv", rows, "id_persona,sexo,zona\n")
    without = written(tmp_path / "b.csv", [row.split(",", 1)[1] for row in rows], "sexo,zona\n")
    keyed, plain = (evaluate(source, after, quasi=["sexo", "zona"]).risk for after in (source, without))
    assert (keyed.before.persons, keyed.after.persons) == (40, 40)
    assert (plain.before.persons, plain.after.persons) == (None, None)
    assert plain.before.at_risk == plain.after.at_risk


def test_a_renamed_column_is_matched_when_declared(before: Path, tmp_path: Path) -> None:
    after = written(tmp_path / "d.csv", ROWS, HEADER.replace("ingreso", "renta"))
    assert evaluate(before, after).removed == ("ingreso",)
    report = evaluate(before, after, match={"renta": "ingreso"}, keep=["total:ingreso"])
    assert (report.removed, report.added, report.passes) == ((), (), True)


def test_weights_expand_totals(before: Path) -> None:
    report = evaluate(before, before, keep=["total:ingreso"], weights="peso")
    cells = [row.split(",") for row in ROWS]
    assert report.properties[0].before == sum(float(cell[4]) * float(cell[5]) for cell in cells)
    assert "peso" not in report.variables


def test_generalised_numbers_are_the_same_variable_told_less_exactly(before: Path, tmp_path: Path) -> None:
    rows = [",".join([*row.split(",")[:4], "1000-1399", row.split(",")[5]]) for row in ROWS]
    report = evaluate(before, written(tmp_path / "d.csv", rows), keep=["mean:ingreso"])
    assert [line.variable for line in report.loss.variables if line.recoded] == ["ingreso"]
    assert (report.properties[0].passes, report.properties[0].note) == (False, "not_measurable")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"variables": ["nadie"]}, UnknownVariable),
        ({"keep": ["mean:sexo"]}, PropertyNeedsNumbers),
        ({"key": "sexo"}, KeyRepeats),
        ({"contrast": ["sexo", "edad", "comuna"]}, ContrastTooSmall),
        ({"weights": "sexo"}, UnusableWeight),
    ],
)
def test_what_cannot_be_answered_is_refused(before: Path, asked: dict, error: type[Exception]) -> None:
    with pytest.raises(error):
        evaluate(before, before, **asked)


def test_files_that_do_not_match_are_refused(before: Path, tmp_path: Path) -> None:
    with pytest.raises(NoCommonColumn):
        evaluate(before, written(tmp_path / "x.csv", ["1,2"], "otra,cosa\n"))
    words = [",".join(["abc" if i == 4 else cell for i, cell in enumerate(row.split(","))]) for row in ROWS]
    with pytest.raises(MeasurementDiffers):
        evaluate(before, written(tmp_path / "w.csv", words))
    strangers = [f"x{row}" for row in ROWS]
    with pytest.raises(NoCommonRecord):
        evaluate(before, written(tmp_path / "s.csv", strangers), key="id", variables=["sexo"])
    empty = tmp_path / "e.csv"
    empty.write_text(HEADER, "utf-8")
    with pytest.raises(HeaderOnly):
        evaluate(before, empty)


@pytest.mark.parametrize("weight", ["0", "-1", ""])
def test_a_weight_that_is_not_above_zero_is_refused(before: Path, tmp_path: Path, weight: str) -> None:
    bad = written(tmp_path / "d.csv", [*ROWS[:-1], ROWS[-1].rsplit(",", 1)[0] + f",{weight}"])
    with pytest.raises(UnusableWeight) as refused:
        evaluate(before, bad, weights="peso")
    assert refused.value.values["rows"] == 1


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project with its candidate."""
    folder = tmp_path_factory.mktemp("project")
    rows = [f"{'HM'[i % 2]};{18 + 7 * i % 60};{'A' if i % 5 else 'B'};{['x', 'y', 'z'][i % 3]}" for i in range(200)]
    source = written(folder / "base.csv", rows, "sexo;edad;zona;causa\n")
    made = folder / "p"
    init(source, made)
    state_purpose(made, ["sexo", "edad", "zona", "causa"], "estudio")
    return made


def test_a_project_without_candidate_says_how_to_make_one(project: Path, tmp_path: Path) -> None:
    bare = shutil.copytree(project, tmp_path / "p", ignore=shutil.ignore_patterns("candidate"))
    with pytest.raises(NoCandidate):
        evaluate(bare)


@pytest.mark.slow
@pytest.mark.requirement("M26", "A28")
def test_a_projects_candidate_is_evaluated_against_its_source(project: Path, tmp_path: Path) -> None:
    planned = make_plan(project, k=3)
    run_plan(project)
    report = evaluate(project, keep=["frequencies"])
    assert report.loss.search["loss"] == pytest.approx(planned.plan.loss, rel=1e-9)
    assert report.loss.suppressed_rows == planned.plan.suppressed_rows
    assert report.risk.after.k >= 3
    assert report.risk.after.at_risk <= report.risk.before.at_risk
    assert not math.isnan(report.loss.loss)
    saved = save_evaluation(report, tmp_path / "e.html", tmp_path / "fotos")
    assert {path.suffix for path in saved} == {".html", ".svg", ".png"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in saved)


def test_no_rare_value_reaches_the_page(tmp_path: Path) -> None:
    rows = [f"{'HM'[i % 2]},cargo común" for i in range(50)] + ["H,embajador único"]
    source = written(tmp_path / "a.csv", rows, "sexo,cargo\n")
    report = evaluate(source, source, keep=["frequencies"])
    assert "embajador" not in evaluation_page(report)
    assert "embajador" not in str(report.as_dict())


@pytest.mark.requirement("A18", "A28")
def test_a_person_at_risk_in_two_classes_is_one_as_in_the_risk_report(tmp_path: Path) -> None:
    rows = [f"P{i:03d},{'HM'[i % 2]},norte" for i in range(40)]
    rows += ["P000,H,sur", "P000,H,este", "P001,M,sur"]
    source = written(tmp_path / "a.csv", rows, "id_persona,sexo,zona\n")
    found = evaluate(source, source, quasi=["sexo", "zona"]).risk
    report = scenario_risk(source, ["sexo,zona"], person="id_persona")
    assert (found.after.persons, found.after.at_risk, report.scenarios[0].at_risk) == (40, 2, 2)
    assert {name: after for name, _, after in found.scenarios}["sexo × zona"] == 2 / 40


def test_a_small_risk_never_reads_as_none() -> None:
    side = RiskSide(10**6, None, 1, 10**6, None, 0, {}, 0, 0, 0.0, 1e-6, ())
    rare = RiskSide(10**6, None, 2, 1, None, 1, {}, 0, 1, 1e-6, 1.0, ())
    with messages.speaking("es"):
        assert "< 0,0001" in residual_risk(RiskComparison(("sexo",), "0.3", side, side))
        assert "< 0,01 %" in residual_risk(RiskComparison(("sexo",), "0.3", rare, rare))
