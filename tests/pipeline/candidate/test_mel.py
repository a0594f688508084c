"""MEL's walk: labels and treatments, the rule of fifty, the approval before anything, what risk stays, the contrast."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from pathlib import Path

import pytest

from celosia.data.sheets import read_rows
from celosia.evaluation.errors import ContrastOneKind, ContrastTooSmall
from celosia.model.errors import UnknownVariable
from celosia.model.reports.mel import Fault
from celosia.model.variables import Kind, MelLabel, Role, Treatment
from celosia.pipeline.candidate.approvals import approve, valid_approvals
from celosia.pipeline.candidate.errors import AnnotatedDictionaryFaulty, NotApproved
from celosia.pipeline.candidate.mel import (
    annotated_dictionary,
    contrast_report,
    contrast_results,
    residual_figures,
    source_figures,
)
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.errors import DictionaryNeeded
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.documents import export_annotated_dictionary
from celosia.protocols.errors import OverrideUnexplained
from tests.projects.household_survey import (
    CONTRAST,
    HEADER,
    PUBLISHED,
    add_people,
    answer_request,
    area_rows,
    make_project,
    run_to_candidate,
    write_source,
)
from tests.projects.steps import NOW, add_settings, edit_dictionary


@pytest.fixture(scope="module")
def described(tmp_path_factory) -> Path:
    return make_project(tmp_path_factory.mktemp("mel") / "evaluacion")


@pytest.fixture
def folder(described, tmp_path) -> Path:
    return Path(shutil.copytree(described, tmp_path / "evaluacion"))


@pytest.fixture
def signers(folder, tmp_path):
    return add_people(folder, tmp_path / "keys")


def line(folder: Path, name: str):
    return next(one for one in annotated_dictionary(open_project(folder)).lines if one.variable == name)


def candidate(folder: Path) -> list[dict[str, str]]:
    with (folder / "private" / "candidate" / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- labels and treatments ------------------------------------------------------------------------


@pytest.mark.requirement("P01")
def test_a_mel_project_cannot_begin_without_the_dictionary(tmp_path):
    with pytest.raises(DictionaryNeeded):
        init(str(tmp_path / "base.csv"), tmp_path / "p", ("mel",))


@pytest.mark.requirement("P02", "P06")
def test_every_line_has_one_label_and_one_treatment_and_the_two_agree(folder):
    annotated = annotated_dictionary(open_project(folder))
    assert annotated.complete
    assert [one.variable for one in annotated.lines] == list(HEADER)
    by_label = {one.variable: (one.label, one.treatment) for one in annotated.lines}
    assert by_label["NOMBRE"] == by_label["DOCUMENTO"] == ("direct", "remove")
    assert by_label["OPINION"] == by_label["EDAD"] == ("other", "keep")
    assert by_label["MUNICIPIO"] == ("geographic", "keep")


@pytest.mark.requirement("P02", "P06")
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"mel_label": None}, Fault.NO_LABEL),
        ({"treatment": None}, Fault.NO_TREATMENT),
        ({"mel_label": MelLabel.DIRECT}, Fault.DIRECT_STAYS),
        ({"treatment": Treatment.REMOVE}, Fault.OTHER_GOES),
        ({"purpose": ""}, Fault.NO_PURPOSE),
    ],
)
def test_a_line_against_the_protocol_is_told_and_cannot_be_approved(folder, signers, change, fault):
    edit_dictionary(folder, OPINION=change)
    assert line(folder, "OPINION").faults == (fault,)
    with pytest.raises(AnnotatedDictionaryFaulty) as refused:
        approve(folder, "dictionary", signers["lead"], "lead", now=NOW)
    assert "OPINION" in str(refused.value)


def test_lines_that_only_lack_their_purpose_share_one_sentence(folder, signers):
    edit_dictionary(folder, OPINION={"purpose": ""}, EDAD={"purpose": ""})
    with pytest.raises(AnnotatedDictionaryFaulty) as refused:
        approve(folder, "dictionary", signers["lead"], "lead", now=NOW)
    assert refused.value.values["count"] == 2
    assert str(refused.value).count("propósito") == 1
    assert "OPINION" in str(refused.value)
    assert "EDAD" in str(refused.value)


@pytest.mark.requirement("P07")
@pytest.mark.parametrize(
    ("sizes", "stays"),
    [((51,), True), ((50,), False), ((50, 60, 200), False), ((51, 60, 200), True)],
)
def test_a_geographic_variable_stays_only_if_every_category_has_more_than_fifty(tmp_path, sizes, stays):
    folder = make_project(tmp_path / "evaluacion", [("Meta", f"Pueblo {i}", size) for i, size in enumerate(sizes)])
    edit_dictionary(folder, MUNICIPIO={"treatment": Treatment.KEEP, "purpose": "evaluación"})
    found = line(folder, "MUNICIPIO")
    assert found.areas.smallest == min(sizes)
    assert found.faults == (() if stays else (Fault.AREA_STAYS,))
    assert ("keep" in found.options) == stays
    assert stays or "remove" in found.options


@pytest.mark.requirement("P08")
def test_units_are_people_not_households(tmp_path):
    folder = make_project(tmp_path / "evaluacion", [("Meta", "Granada", 60), ("Nariño", "Tumaco", 60)])
    homes = {row[4] for row in area_rows([("Meta", "Granada", 60)])}
    assert len(homes) == 30  # counted as households the area would go
    assert line(folder, "MUNICIPIO").areas.smallest == 60
    assert line(folder, "MUNICIPIO").faults == ()


@pytest.mark.requirement("X20")
def test_missing_areas_are_counted_apart_and_decide_nothing(tmp_path):
    folder = make_project(tmp_path / "evaluacion", [("Meta", "Granada", 60), ("Meta", "", 7), ("Nariño", "Tumaco", 60)])
    edit_dictionary(folder, MUNICIPIO={"treatment": Treatment.KEEP, "purpose": "evaluación"})
    found = line(folder, "MUNICIPIO")
    assert (found.areas.smallest, found.areas.missing, found.faults) == (60, 7, ())


@pytest.mark.requirement("X16")
def test_a_mixed_variable_may_go_or_be_recoded_upward(tmp_path):
    folder = make_project(
        tmp_path / "evaluacion", [("Meta", "Granada", 90), ("Meta", "Mesetas", 50), ("Nariño", "Tumaco", 70)]
    )
    edit_dictionary(folder, MUNICIPIO={"treatment": Treatment.KEEP, "purpose": "evaluación"})
    groups = '[hierarchies.MUNICIPIO]\nbuilder = "groups"\n[hierarchies.MUNICIPIO.levels]\n'
    add_settings(folder, groups + 'Oriente = ["Granada", "Mesetas"]\nPacifico = ["Tumaco"]')
    found = line(folder, "MUNICIPIO")
    assert found.options == ("recode", "remove")
    assert found.faults == (Fault.AREA_STAYS,)
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8").replace('builder = "groups"', 'builder = "groups"\nminimum = 1'), "utf-8")
    assert (line(folder, "MUNICIPIO").areas.smallest, line(folder, "MUNICIPIO").faults) == (70, ())


@pytest.mark.requirement("P09")
def test_an_exception_needs_a_written_reason_and_is_listed_for_the_approver(tmp_path):
    folder = make_project(tmp_path / "evaluacion", [("Meta", "Granada", 90), ("Nariño", "Tumaco", 40)])
    signers = add_people(folder, tmp_path / "keys")
    edit_dictionary(
        folder, MUNICIPIO={"treatment": Treatment.KEEP, "purpose": "e"}, DEPARTAMENTO={"treatment": Treatment.REMOVE}
    )
    bare = '[overrides.mel.geography]\nasked = { allowed = ["MUNICIPIO"] }\n'
    add_settings(folder, bare)
    with pytest.raises(OverrideUnexplained):
        annotated_dictionary(open_project(folder))
    add_settings(folder, 'reason = "Lo pide el contrato"')
    assert line(folder, "MUNICIPIO").exception == "Lo pide el contrato"
    approval = approve(folder, "dictionary", signers["lead"], "lead", now=NOW)
    assert approval.figures["exceptions"] == {"MUNICIPIO": "Lo pide el contrato"}
    assert valid_approvals(open_project(folder), "dictionary")
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8").replace("contrato", "convenio"), "utf-8")
    assert not valid_approvals(open_project(folder), "dictionary")  # another reason is another exception


@pytest.mark.requirement("X17")
def test_a_household_number_called_other_must_be_renumbered(folder, signers):
    household = {"mel_label": MelLabel.OTHER, "treatment": Treatment.KEEP, "purpose": "e", "kind": Kind.LOCATION}
    edit_dictionary(folder, HOGAR=household)
    assert line(folder, "HOGAR").faults == (Fault.GROUP_NUMBER,)
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8").replace('# household = ""', 'household = "HOGAR"'), "utf-8")
    assert line(folder, "HOGAR").faults == ()
    run_to_candidate(folder, signers)
    rows, numbers = candidate(folder), Counter(row["HOGAR"] for row in candidate(folder))
    assert set(numbers) == {str(i + 1) for i in range(len(numbers))}
    assert len(rows) == 251


@pytest.mark.requirement("P02", "P06")
def test_the_annotated_dictionary_is_a_workbook_with_the_two_added_columns(folder, tmp_path):
    rows = read_rows(export_annotated_dictionary(folder, tmp_path / "anotado.xlsx"))
    assert rows[0][:4] == ["Variable", "Descripción", "Identificación", "Tratamiento potencial"]
    told = {row[0]: row[2:4] for row in rows[1:]}
    assert told["NOMBRE"] == ["identificación o contacto directo", "se elimina"]
    assert told["MUNICIPIO"] == ["identificación geográfica", "permanece"]
    assert told["EDAD"] == ["otros", "permanece"]


# --- gates ----------------------------------------------------------------------------------------


@pytest.mark.requirement("P10")
def test_applying_before_approval_is_refused_and_leaves_nothing(folder, signers):
    make_plan(folder, now=NOW)
    with pytest.raises(NotApproved) as refused:
        run_plan(folder, now=NOW)
    assert "celosia approve" in str(refused.value)
    assert not (folder / "private" / "candidate").exists()


@pytest.mark.requirement("P10")
def test_the_approval_stores_who_when_and_the_digest_and_dies_with_an_edit(folder, signers):
    approval = approve(folder, "dictionary", signers["lead"], "lead", now=NOW)
    assert (approval.name, approval.when[:10]) == ("Persona lead", "2026-11-15")
    assert approval.digest.startswith("sha256:")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    edit_dictionary(folder, EDAD={"label": "edad cumplida"})
    make_plan(folder, now=NOW)
    with pytest.raises(NotApproved):
        run_plan(folder, now=NOW)


@pytest.mark.requirement("P11", "P12")
def test_what_is_published_is_exactly_what_stays_unchanged_row_by_row(folder, signers):
    run_to_candidate(folder, signers)
    rows = candidate(folder)
    assert tuple(rows[0]) == PUBLISHED
    places = [HEADER.index(name) for name in PUBLISHED]
    source = Counter(tuple(row[place] for place in places) for row in area_rows())
    assert Counter(tuple(row.values()) for row in rows) == source
    assert [tuple(row.values()) for row in rows] != [tuple(row[p] for p in places) for row in area_rows()]


# --- the risk that stays --------------------------------------------------------------------------


@pytest.mark.requirement("P20", "X18")
def test_k_and_risk_over_what_stays_are_measured_and_signed(folder, signers):
    before = source_figures(open_project(folder))
    run_to_candidate(folder, signers)
    figures = residual_figures(open_project(folder))
    assert figures == before
    quasi = figures["variables"]
    places = [HEADER.index(name) for name in quasi]
    classes = Counter(tuple(row[place] for place in places) for row in area_rows())
    assert figures["k"] == min(classes.values())
    assert figures["at_risk"] == sum(size for size in classes.values() if size <= 3)
    approval = approve(folder, "residual", signers["lead"], "lead", "se acepta", now=NOW)
    assert approval.figures["k"] == figures["k"]
    assert valid_approvals(open_project(folder), "residual")
    edit_dictionary(folder, EDAD={"label": "otra"})
    assert not valid_approvals(open_project(folder), "residual")


# --- contrast -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def applied(described, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("applied")
    folder = Path(shutil.copytree(described, place / "evaluacion"))
    answer_request(folder)
    run_to_candidate(folder, add_people(folder, place / "keys"))
    return folder


@pytest.mark.requirement("P12", "P13", "P14", "P15")
def test_both_bases_say_the_same_of_the_chosen_variables(applied):
    report = contrast_report(open_project(applied))
    assert report.holds
    assert (report.rows_before, report.rows_after) == (251, 251)
    by_name = {one.variable: one for one in report.lines}
    assert by_name["EDAD"].scale == "continuous"
    ages = [int(row[HEADER.index("EDAD")]) for row in area_rows()]
    assert by_name["EDAD"].statistics["mean"][0] == pytest.approx(sum(ages) / len(ages), rel=1e-12)
    assert by_name["SEXO"].scale == "categorical"
    assert {(one.before, one.after) for one in report.frequencies["SEXO"]} == {(126, 126), (125, 125)}
    assert contrast_results(open_project(applied)) == dict.fromkeys(CONTRAST, True)
    assert report.removed == ("NOMBRE", "DOCUMENTO", "HOGAR")
    assert report.changed == ()


@pytest.mark.requirement("P13")
def test_three_variables_are_refused(applied):
    with pytest.raises(ContrastTooSmall):
        contrast_report(open_project(applied), CONTRAST[:3])
    with pytest.raises(ContrastTooSmall):
        contrast_report(open_project(applied), (*CONTRAST[:3], CONTRAST[0]))  # the same one twice is one


@pytest.mark.requirement("P13")
def test_both_kinds_must_be_there_and_only_what_stays(applied):
    with pytest.raises(ContrastOneKind):
        contrast_report(open_project(applied), ("SEXO", "EDAD", "INGRESO", "OPINION"))
    with pytest.raises(UnknownVariable):
        contrast_report(open_project(applied), (*CONTRAST, "NOMBRE"))


@pytest.mark.requirement("P14", "X21")
def test_a_recoded_column_differs_and_is_listed_as_changed(folder, signers):
    add_settings(folder, "[hierarchies.EDAD]\nbuilder = 'intervals'\nwidth = 10\nend = 100\nminimum = 1")
    run_to_candidate(folder, signers)
    report = contrast_report(open_project(folder), CONTRAST)
    assert not report.holds
    assert [one.variable for one in report.lines if not one.equal] == ["EDAD"]
    assert report.changed == ("EDAD",)


@pytest.mark.requirement("P12")
def test_a_lost_row_fails(applied, tmp_path):
    folder = Path(shutil.copytree(applied, tmp_path / "p"))
    path = folder / "private" / "candidate" / "data.csv"
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    report = contrast_report(open_project(folder))
    assert (report.rows_after, report.holds) == (250, False)


def test_a_survey_with_very_many_indirect_identifiers_is_planned_as_it_is(tmp_path):
    """Without a criterion there is nothing to search for, however many levels the variables have."""
    header = tuple(f"P{i}" for i in range(40))
    rows = [tuple(str((i * (j + 3)) % 7) for j in range(40)) for i in range(120)]
    base, described = write_source(tmp_path / "raw", rows, header)
    folder = init(str(base), tmp_path / "p", ("mel",), described, now=NOW).project.folder
    quasi = {"role": Role.QUASI, "purpose": "e", "treatment": Treatment.KEEP, "mel_label": MelLabel.OTHER}
    edit_dictionary(folder, **{variable.name: quasi for variable in open_project(folder).variables})
    plan = make_plan(folder, now=NOW).plan
    assert (plan.nodes, set(plan.levels.values()), plan.suppressed_rows) == (1, {0}, 0)


@pytest.mark.slow
@pytest.mark.requirement("P06", "P09", "P11", "P12")
def test_a_real_survey_of_a_hundred_columns_is_annotated_and_applied_unchanged(shared, tmp_path):
    source = shared / "data" / "co_dane_ecv_households.csv"
    with open_table(source, described=False) as found:
        header = found.table.names
    _, described = write_source(tmp_path / "raw", (), header)
    folder = init(str(source), tmp_path / "ecv", ("mel",), described, now=NOW).project.folder
    stays = [v.name for v in open_project(folder).variables if v.treatment != Treatment.REMOVE]
    edit_dictionary(folder, **{name: {"purpose": "evaluación"} for name in stays})
    faulty = [one.variable for one in annotated_dictionary(open_project(folder)).lines if one.faults]
    assert faulty == ["P797S5A1", "P5682S1"]  # free text; the ids of dwelling and household stay, as MEL says
    edit_dictionary(folder, **{name: {"treatment": Treatment.REMOVE} for name in faulty})
    excepted = ", ".join(f'"{name}"' for name in faulty)
    add_settings(folder, f'[overrides.mel.labels]\nasked = {{ allowed = [{excepted}] }}\nreason = "Texto libre"')
    run_to_candidate(folder, add_people(folder, tmp_path / "keys"))
    kept = tuple(name for name in stays if name not in faulty)
    report = contrast_report(open_project(folder), kept[:4])
    assert (report.holds, report.changed, report.rows_after) == (True, (), 20_141)
    assert tuple(candidate(folder)[0]) == kept
