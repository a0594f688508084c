"""Kept reports of risk and the desk around them: right figures, no cell, stale when and only when the ground moved."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.model import dictionary
from celosia.model.errors import NothingChosen, UnknownVariable
from celosia.model.reports.scenarios import scenario_report_from
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Kind, Role
from celosia.pipeline.assessment.errors import TableOfIdentifiers
from celosia.pipeline.assessment.scenario_risk import scenario_risk
from celosia.pipeline.intake.dictionary_files import state_purpose
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.errors import EditedMeanwhile
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import open_project
from celosia.workbench.risk import (
    add_scenario,
    remove_scenario,
    risk_after,
    risk_geography,
    risk_overview,
    risk_people,
    risk_scenarios,
    risk_special,
    risk_state,
    risk_table,
    write_risk_document,
)
from tests.projects.steps import NOW
from tests.projects.survey import PLANTED, make_project, run_to_candidate
from tests.risk.guide_example import NAMES, guide_rows

ROLES = {"run": Role.IDENTIFIER, "edad": Role.QUASI, "sexo": Role.QUASI, "comuna": Role.QUASI, "diag": Role.SENSITIVE}
ROWS = [
    # run, edad, sexo, comuna, diag
    ("1", "34", "M", "10101", "A"),
    ("1", "34", "M", "10102", "B"),
    ("2", "36", "F", "10101", "C"),
    ("3", "36", "F", "10101", "C"),
    ("4", "36", "F", "10101", "C"),
    ("5", "36", "F", "10101", "C"),
    ("6", "52", "M", "05302", "D"),
    ("7", "52", "M", "05302", "E"),
    ("7", "52", "M", "05302", "E"),
    ("8", "54", "M", "05302", "D"),
    ("9", "55", "M", "05302", ""),
    ("10", "12", "F", "", "F"),
]
QUASI = ("edad", "sexo", "comuna")


def set_roles(folder: Path, roles: dict[str, Role]) -> Path:
    lines = [replace(v, role=roles[v.name]) for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    return folder


def project_of(place: Path, header: Sequence[str], rows: Sequence[Sequence[str]], roles: dict[str, Role]) -> Path:
    source = place / "base.csv"
    source.write_text("\n".join(";".join(row) for row in [header, *rows]) + "\n", "utf-8")
    person = "run" if "run" in header else None
    init(source, place / "p", ("atenea",), person=person, now=NOW)
    return set_roles(place / "p", roles)


@pytest.fixture(scope="module")
def shared_project(tmp_path_factory) -> Path:
    return project_of(tmp_path_factory.mktemp("risk"), tuple(ROLES), ROWS, ROLES)


@pytest.fixture
def folder(shared_project, tmp_path) -> Path:
    return Path(shutil.copytree(shared_project, tmp_path / "p"))


@pytest.fixture(scope="module")
def guide_made(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("guide")
    return project_of(place, NAMES, guide_rows(), dict.fromkeys(NAMES, Role.QUASI))


@pytest.fixture
def guide(guide_made, tmp_path) -> Path:
    return Path(shutil.copytree(guide_made, tmp_path / "guide"))


def people_by_class() -> list[set[str]]:
    behind = defaultdict(set)
    for run, edad, sexo, comuna, _ in ROWS:
        behind[edad, sexo, comuna].add(run)
    return list(behind.values())


def test_the_bands_count_each_person_once_in_each(folder):
    overview = risk_overview(folder, now=NOW)["found"]
    bands = {band["low"]: band for band in overview["bands"]}
    for low, band in bands.items():
        high = band["high"] or 10**9
        inside = [people for people in people_by_class() if low <= len(people) <= high]
        assert (band["classes"], band["units"]) == (len(inside), len(set().union(*inside)))
    assert bands[1]["units"] == 4  # person 1 is alone in two classes, and still one person
    assert sum(band["rows"] for band in bands.values()) == len(ROWS)


@pytest.mark.requirement("M28")
def test_singling_out_linkability_and_inference_stand_apart(folder):
    overview = risk_overview(folder, now=NOW)["found"]
    assert overview["singling_out"] == {"units": 4, "share": 0.4}
    assert overview["linkability"] == {"persons": 10, "rows": 12, "scattered": 1}
    # One value: the four of 36 years, and the classes of one row; 52 years has two, and an empty cell is a value.
    assert overview["inference"]["diag"]["units"] == 8
    assert overview["measures"]["sensitive"]["diag"]["l"] == 1
    assert overview["at_risk"] == {"units": 6, "share": 0.6}


def test_a_masked_sensitive_value_gives_nobody_away(tmp_path):
    rows = [("H", "*"), ("H", "*"), ("M", "*"), ("M", "A")]
    folder = project_of(tmp_path, ("sexo", "diag"), rows, {"sexo": Role.QUASI, "diag": Role.SENSITIVE})
    overview = risk_overview(folder, now=NOW)["found"]
    assert overview["inference"]["diag"] == {"classes": 1, "units": 1, "share": 0.25}
    assert (overview["unit"], overview["linkability"]) == ("rows", None)


def test_an_overview_needs_a_quasi_identifier(folder):
    with pytest.raises(NothingChosen):
        risk_overview(set_roles(folder, dict.fromkeys(ROLES, Role.PLAIN)), now=NOW)


@pytest.mark.requirement("A14", "A17", "A18")
@pytest.mark.parametrize(
    ("at_most", "people", "exact"), [(None, 7, "3/10"), (3, 7, "3/10"), (5, 12, "1/5"), (2, 4, "1/2")]
)
def test_the_criterion_in_whole_numbers_finds_the_guides_people(guide, at_most, people, exact):
    report = risk_scenarios(guide, [list(NAMES)], at_most=at_most, now=NOW)["found"]
    [scenario] = report["scenarios"]
    assert (scenario["at_risk"], report["units"]) == (people, 84)
    assert scenario["criterion"]["exact"] == exact


@pytest.mark.requirement("A13")
def test_pairs_and_triples_join_the_declared_scenarios(folder):
    add_scenario(folder, ["edad", "diag"], 2, now=NOW)
    report = risk_scenarios(folder, all_combinations=3, now=NOW)["found"]["scenarios"]
    asked = [tuple(scenario["variables"]) for scenario in report]
    assert sorted(asked) == sorted([("edad", "diag"), QUASI, ("edad", "sexo"), ("edad", "comuna"), ("sexo", "comuna")])
    shares = [scenario["share"] for scenario in report]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("at_most", [0, -1, True, "3", 2.5])
def test_a_criterion_that_is_no_whole_number_is_refused(folder, at_most):
    with pytest.raises(ValueOutOfRange):
        risk_scenarios(folder, at_most=at_most, now=NOW)


@pytest.mark.requirement("A13", "A17")
def test_a_declared_scenario_is_what_the_command_line_reads(folder):
    text = (folder / "celosia.toml").read_text("utf-8")
    assert add_scenario(folder, ["edad", "sexo"], 5, expected=digest_of_file(folder / "celosia.toml"), now=NOW) == 1
    assert add_scenario(folder, ["comuna"], now=NOW) == 2
    stated = {risk.scenario.variables: str(risk.scenario.threshold) for risk in scenario_risk(folder).scenarios}
    assert stated == {("edad", "sexo"): "1/5", ("comuna",): "3/10"}
    assert [scenario.criterion.largest_f for scenario in risk_state(folder).scenarios] == [5, 3]
    assert (folder / "celosia.toml").read_text("utf-8").startswith(text.rstrip("\n"))
    assert remove_scenario(folder, 1, now=NOW) == 1
    assert remove_scenario(folder, 1, now=NOW) == 0
    assert risk_state(folder).scenarios == ()


def test_a_list_of_scenarios_written_by_hand_keeps_its_manner_and_its_settings(folder):
    path = folder / "celosia.toml"
    listed = 'scenarios = [{variables = ["sexo"], categories = {sexo = ["F", "M"]}}]\n'
    path.write_text(path.read_text("utf-8").replace("protocols", listed + "protocols", 1), "utf-8")
    assert add_scenario(folder, ["edad"], 4, now=NOW) == 2
    assert 'categories = {sexo = ["F", "M"]}' in path.read_text("utf-8")
    assert [scenario.criterion.largest_f for scenario in risk_state(folder).scenarios] == [3, 4]
    assert "categories" not in repr(risk_state(folder).scenarios)


def test_an_edit_on_another_state_of_the_file_is_refused(folder):
    seen = digest_of_file(folder / "celosia.toml")
    add_scenario(folder, ["edad"], expected=seen, now=NOW)
    with pytest.raises(EditedMeanwhile):
        add_scenario(folder, ["sexo"], expected=seen, now=NOW)
    with pytest.raises(UnknownVariable):
        add_scenario(folder, ["nombre"], now=NOW)
    with pytest.raises(ValueOutOfRange):
        remove_scenario(folder, 2, now=NOW)


@pytest.mark.requirement("A15", "A16")
def test_the_table_of_a_scenario_is_the_guides(guide):
    risk_table(guide, list(NAMES), now=NOW)
    saved = risk_state(guide).table
    assert saved is not None
    [scenario] = saved.report.scenarios
    assert scenario.table is not None
    lines = scenario.table.lines
    assert len(lines) == scenario.table.listed == 12
    assert sum(line.f for line in lines if line.at_risk) == 7
    assert sum(line.f == 0 for line in lines) == 4


def test_no_table_lists_a_direct_identifier(folder):
    with pytest.raises(TableOfIdentifiers):
        risk_table(folder, ["run", "sexo"], now=NOW)


def test_people_and_special_uniques_take_the_roles_of_the_dictionary(folder):
    people, special = risk_people(folder, now=NOW)["found"], risk_special(folder, max_size=2, now=NOW)["found"]
    assert people["variables"] == special["variables"] == list(QUASI)
    assert people["attackers"]["prosecutor"]["highest"] == 1.0
    assert set(special["contributions"]) == set(QUASI)
    assert special["max_size"] == 2


@pytest.mark.requirement("P07", "P08")
@pytest.mark.parametrize(("smallest", "stays"), [(51, True), (50, False)])
def test_a_place_stays_only_if_every_area_has_more_than_fifty_units(tmp_path, smallest, stays):
    rows = [(str(n), place) for n, place in enumerate(["norte"] * 60 + ["sur"] * smallest)]
    folder = project_of(tmp_path, ("run", "zona"), rows, {"run": Role.IDENTIFIER, "zona": Role.QUASI})
    lines = [replace(v, kind=Kind.LOCATION) if v.name == "zona" else v for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    [area] = risk_geography(folder, now=NOW)["found"]["variables"]
    assert (area["variable"], area["passes"], area["unit"]) == ("zona", stays, "key")
    assert area["levels"][0]["smallest"] == smallest


@pytest.mark.requirement("P08")
def test_people_are_counted_and_not_their_households(tmp_path):
    rows = [(str(n), "norte", "2") for n in range(30)]
    roles = {"hogar": Role.IDENTIFIER, "zona": Role.QUASI, "integrantes": Role.PLAIN}
    folder = project_of(tmp_path, tuple(roles), rows, roles)
    [as_homes] = risk_geography(folder, ["zona"], unit="hogar", now=NOW)["found"]["variables"]
    [as_people] = risk_geography(folder, ["zona"], members="integrantes", now=NOW)["found"]["variables"]
    assert (as_homes["passes"], as_people["passes"], as_people["units"]) == (False, True, 60)
    saved = risk_state(folder).geography
    assert saved is not None
    assert [area.variable for area in saved.report.variables] == ["zona"]


def test_a_project_without_places_says_so(guide):
    with pytest.raises(NothingChosen):
        risk_geography(guide, now=NOW)


def test_reports_are_stale_when_a_role_changes_and_not_when_a_purpose_does(folder):
    for verb in (risk_overview, risk_scenarios, risk_people, risk_special):
        verb(folder, now=NOW)
    names = ("overview", "ordered", "people", "special")

    def stale() -> set[str]:
        view = risk_state(folder)
        return {name for name in names if getattr(view, name).stale}

    assert stale() == set()
    overview = risk_state(folder).overview
    assert overview is not None
    assert overview.when == NOW.isoformat(timespec="seconds")
    state_purpose(folder, ["edad"], "estudio", now=NOW)
    assert stale() == set()
    add_scenario(folder, ["edad", "sexo"], now=NOW)
    assert stale() == {"ordered"}
    set_roles(folder, ROLES | {"comuna": Role.PLAIN})
    assert stale() == set(names)


def test_a_project_never_counted_has_no_report(folder):
    view = risk_state(folder)
    reports = (view.overview, view.ordered, view.table, view.people, view.special, view.geography, view.after)
    assert set(reports) == {None}
    assert view.quasi == tuple(QUASI)


def test_no_report_holds_a_cell(tmp_path):
    folder = make_project(tmp_path / "p", ("atenea",))
    risk_overview(folder, now=NOW)
    risk_scenarios(folder, all_combinations=2, identifiers=True, now=NOW)
    risk_people(folder, now=NOW)
    risk_special(folder, now=NOW)
    risk_geography(folder, ["ZONA"], now=NOW)
    content = "".join(path.read_text("utf-8") for path in (folder / "private" / "reports").iterdir())
    for cell in (PLANTED, "Persona3", "norte", "12000003", "731000", "D4"):
        assert cell not in content


@pytest.mark.requirement("A18")
def test_the_printed_report_is_made_from_the_kept_scenarios_while_they_hold(guide):
    risk_scenarios(guide, [list(NAMES)], at_most=5, now=NOW)
    page = write_risk_document(guide, "html", now=NOW)
    assert page == guide / "private" / "dossier" / "atenea_risk.html"
    text = page.read_text("utf-8")
    assert "14,29\xa0%" in text or "14,29 %" in text  # 12 of 84
    set_roles(guide, {NAMES[0]: Role.QUASI, NAMES[1]: Role.PLAIN})
    assert "14,29" not in write_risk_document(guide, "html", now=NOW).read_text("utf-8")
    assert write_risk_document(guide, "pdf", now=NOW).read_bytes().startswith(b"%PDF")
    with pytest.raises(ValueOutOfRange):
        write_risk_document(guide, "odt", now=NOW)


def test_a_report_of_scenarios_reads_back_as_it_was_written(folder):
    report = risk_scenarios(folder, all_combinations=3, now=NOW)["found"]
    assert scenario_report_from(report).as_dict() == report


@pytest.mark.slow
@pytest.mark.requirement("A28")
def test_the_risk_after_treatment_stands_beside_the_first(tmp_path):
    folder = make_project(tmp_path / "p", ("atenea",))
    run_to_candidate(folder)
    comparison = risk_after(folder, now=NOW)["found"]["risk"]
    assert (comparison["before"]["rows"], tuple(comparison["quasi"])) == (120, ("SEXO", "ZONA"))
    assert {name for name, _, _ in comparison["scenarios"]} == {"SEXO × ZONA"}
    after = risk_state(folder).after
    assert after is not None
    assert after.report.risk is not None
    assert not after.stale
