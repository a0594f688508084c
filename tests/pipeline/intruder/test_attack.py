"""The intruder in a project: the candidate with the truth of its rows, before and after, and the human part."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from celosia.attacks.attack_input import View
from celosia.attacks.unmasking import recoding_candidates
from celosia.data.sheets import read_rows, write_rows
from celosia.model import dictionary
from celosia.model.errors import UnknownVariable
from celosia.model.paths import ProjectPaths
from celosia.model.reports.attacks import AttackReport, Control, Estimate
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.assessment.errors import NoCandidate, UnknownExtension
from celosia.pipeline.candidate.approvals import digest_for
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.intruder.attack import intrude
from celosia.pipeline.intruder.battery import _universes, against_majority_without_record
from celosia.pipeline.intruder.candidate_target import project_target
from celosia.pipeline.intruder.claims import claims_summary, write_claims_form
from celosia.pipeline.intruder.documents import save_intruder, save_worksheet
from celosia.pipeline.intruder.target import AttackTarget, same_rows
from celosia.pipeline.intruder.worksheet import worksheet_of
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.folder import open_project
from celosia.storage import AlreadyExists
from tests.projects import discharges, survey
from tests.projects.attack_files import QUASI, drop_columns, made_people, with_birth, write_columns
from tests.projects.discharges import make_keys
from tests.projects.steps import NOW

DEIS_QUASI = ("Fecha", "Sexo", "Edad", "EdadTipo", "Codcom")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A MINSAL project of made-up discharges with a candidate."""
    place = tmp_path_factory.mktemp("intruder")
    folder = discharges.make_project(place / "p", make_keys(place), rows=1_500)
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    return folder


@pytest.fixture(scope="module")
def attacked(project: Path) -> AttackReport:
    return intrude(project, seed=3, now=NOW)


def by_name(estimates: tuple[Estimate, ...] | None) -> dict[str, Estimate]:
    return {one.attack: one for one in estimates or ()}


@pytest.mark.slow
@pytest.mark.requirement("M28")
def test_what_works_on_the_original_does_not_work_on_the_candidate(attacked: AttackReport) -> None:
    before, after = by_name(attacked.before), by_name(attacked.estimates)
    for name in ("isolating_combination", "two_views", "class_majority", "homogeneous_class", "learned_model"):
        assert before[name].works, name
        assert before[name].persons > 100
        assert not after[name].works, name
    assert attacked.notes == ("control_margins",)
    assert attacked.persons is not None


@pytest.mark.slow
def test_the_report_is_kept_bound_to_the_candidate(project: Path, attacked: AttackReport) -> None:
    kept = project / "private" / "intruder" / "report.json"
    assert json.loads(kept.read_text("utf-8")) == attacked.as_dict()
    assert kept.stat().st_mode & 0o077 == 0
    assert attacked.target == digest_for(open_project(project), "candidate")
    entry = [one for one in _journal.read_journal(project / "journal.jsonl").entries if one["what"] == "intruder"][-1]
    assert entry["facts"]["candidate"] == attacked.target  # type: ignore[index]
    assert intrude(project, seed=3, now=NOW) == attacked


@pytest.mark.slow
@pytest.mark.requirement("M30", "A33")
def test_claims_with_an_outside_list_are_judged_by_the_persons_of_the_house(project: Path, tmp_path: Path) -> None:
    """The list holds the person key: it only judges. Right claims fall from many to none."""
    raw = project.parent / "egresos.csv"
    with raw.open(encoding="latin-1", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    person = open_project(project).config.person
    assert person is not None
    listed = {name: [row[name] for row in rows[:400]] for name in (person, "SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION")}
    report = intrude(project, external=write_columns(tmp_path / "lista.csv", listed), now=NOW)
    before, after = by_name(report.before)["external_exact"], by_name(report.estimates)["external_exact"]
    assert before.detail["right"] > 100
    assert before.works
    assert after.detail["in_release"] == before.detail["in_release"]
    assert after.detail["right"] <= 5
    assert not after.works


@pytest.mark.slow
def test_a_candidate_whose_plan_moved_judges_itself(tmp_path: Path) -> None:
    folder = survey.make_project(tmp_path / "p")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    lines = [replace(line, label=line.label + ".") for line in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    made = intrude(folder, now=NOW)
    assert made.before is None
    assert {"plan_moved", "judged_by_itself", "no_before"} <= set(made.notes)


@pytest.mark.slow
@pytest.mark.requirement("M29")
def test_the_worksheet_shows_published_values_of_the_most_exposed_records(project: Path, tmp_path: Path) -> None:
    page = save_worksheet(project, tmp_path / "planilla.html", records=5, now=NOW).read_text("utf-8")
    with (project / "private" / "candidate" / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    form = save_worksheet(project, tmp_path / "claims.csv", records=5, now=NOW)
    numbers = [int(row[0].split()[-1]) for row in read_rows(form)[7:]]
    assert len(numbers) == 5
    for number in numbers:
        assert f"Registro {number} del archivo" in page
        assert rows[number - 1]["COMUNA"] in page
    assert "DIAG1" not in page  # what the intruder wants to know is not told
    assert save_worksheet(project, tmp_path / "planilla.pdf", records=5, now=NOW).read_bytes()[:4] == b"%PDF"
    with pytest.raises(AlreadyExists):
        save_worksheet(project, form)
    with pytest.raises(UnknownExtension):
        save_worksheet(project, tmp_path / "planilla.txt")


@pytest.mark.slow
@pytest.mark.requirement("M29")
def test_results_of_the_form_come_back_with_rate_and_interval(project: Path) -> None:
    path = write_claims_form(project, replace=True, records=3)
    empty = claims_summary(project)
    assert empty is not None
    assert (empty.attempts, empty.rate, empty.current) == (0, None, True)
    lines = read_rows(path)
    lines[7][1:6] = ["redes", "alguien", "alta", "sí", "15"]
    lines[8][1:6] = ["prensa", "alguien", "baja", "no", "20"]
    write_rows(path, lines)
    found = claims_summary(project)
    assert found is not None
    assert (found.attempts, found.claims, found.correct, found.minutes, found.rate) == (2, 2, 1, 35, 0.5)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.5 < found.high < 1
    assert read_claims(ProjectPaths(project).claims) is not None
    assert intrude(project, now=NOW).human == found
    path.unlink()


def test_a_project_without_candidate_is_refused(tmp_path: Path) -> None:
    folder = init(str(write_columns(tmp_path / "x.csv", made_people(60))), tmp_path / "p", now=NOW).project.folder
    with pytest.raises(NoCandidate):
        intrude(folder)
    with pytest.raises(ValueOutOfRange):  # a project says it in celosia.toml: no option is silently left aside
        intrude(folder, person="RUN")


def test_a_file_suggests_its_own_roles_and_says_so(tmp_path: Path) -> None:
    found = intrude(write_columns(tmp_path / "raw.csv", made_people(200)))
    assert "roles_guessed" in found.notes
    assert {"SEXO", "EDAD", "COMUNA"} <= set(found.quasi)
    with pytest.raises(UnknownVariable):
        intrude(write_columns(tmp_path / "raw.csv", made_people(200)), person="NADIE")


def test_without_roles_nothing_is_silent(tmp_path: Path) -> None:
    made = {"N": [str(number % 7) for number in range(50)], "M": [str(number % 3) for number in range(50)]}
    found = intrude(write_columns(tmp_path / "x.csv", made), quasi=("N",))
    reasons = {one.attack: one.reason for one in found.estimates if not one.measured}
    assert reasons["two_views"] == "one_view_only"
    assert reasons["class_majority"] == "no_sensitive"
    assert reasons["external_exact"] == "no_external"
    assert reasons["followed"] == "no_earlier"
    assert reasons["dependency"] == "no_masked_cells"


def view(*columns: tuple[str, list[str]]) -> View:
    """A few columns as codes."""
    labels = [tuple(sorted(set(values))) for _, values in columns]
    codes = [[known.index(value) for value in values] for known, (_, values) in zip(labels, columns, strict=True)]
    return View(tuple(name for name, _ in columns), tuple(labels), np.array(codes, np.int64).T)


def test_rows_go_together_only_in_their_order() -> None:
    original = view(("EDAD", ["31", "38", "45", "72"]))
    assert same_rows(view(("EDAD", ["30 a 39", "30 a 39", "40 a 49", "*"])), original, {})
    assert not same_rows(view(("EDAD", ["40 a 49", "30 a 39", "30 a 39", "*"])), original, {})
    assert not same_rows(view(("EDAD", ["30 a 39"])), original, {})


@pytest.mark.requirement("M29")
def test_the_most_exposed_come_first_and_what_shows_nothing_is_left_out() -> None:
    seen = view(("SEXO", ["H", "H", "H", "M", "*", "X"]), ("COMUNA", ["a", "a", "a", "a", "*", "b"]))
    sheet = worksheet_of(AttackTarget("sha256:0", seen, ("SEXO", "COMUNA"), ()), 10)
    assert [(one.row, one.alike) for one in sheet.records] == [(6, 1), (4, 1), (1, 3)]
    assert sheet.records[0].values == (("SEXO", "X"), ("COMUNA", "b"))


def test_a_guess_that_others_allow_too_is_a_habit() -> None:
    told = {"sensitive": "CAUSA", "majority_rate_without_record": 0.29}
    found = Estimate(
        attack="class_majority", risk="inference", attempts=1_000, successes=300, rate=0.3, low=0.27, high=0.33,
        control=Control.MARGINS, control_attempts=1_000, control_successes=50, control_rate=0.05, excess=0.25,
        excess_low=0.2, excess_high=0.3, persons=500, detail=told,
    )  # fmt: skip
    assert found.works
    beyond = against_majority_without_record(found)
    assert not beyond.works
    assert beyond.control is Control.WITHOUT_RECORD
    assert beyond.control_successes == 290
    assert beyond.persons == 20
    sure = replace(found, attack="homogeneous_class")
    assert against_majority_without_record(sure) is sure


def test_pages_are_written_by_their_suffix(tmp_path: Path) -> None:
    found = intrude(write_columns(tmp_path / "raw.csv", made_people(200)), quasi=QUASI, sensitive=("CAUSA",))
    page, paper = save_intruder(found, [tmp_path / "v.html", tmp_path / "v.pdf"], now=NOW)
    assert "CAUSA" in page.read_text("utf-8")
    assert paper.read_bytes()[:4] == b"%PDF"
    with pytest.raises(UnknownExtension):
        save_intruder(found, [tmp_path / "v.docx"])


@pytest.mark.slow
@pytest.mark.requirement("M34", "Y22")
def test_deis_releases_one_and_two_follow_20525_people_and_show_9_changed_codes(shared: Path) -> None:
    files = [shared / "data" / f"cl_deis_deaths_2024_release{number}.csv" for number in (1, 2)]
    found = intrude(files[1], earlier=[files[0]], quasi=DEIS_QUASI, sensitive=("ID_DP",))
    assert by_name(found.estimates)["followed"].detail["followed"] == 20_525
    changed = {one.columns: one.cells for one in found.findings if one.kind == "value_changed"}
    assert changed[("ID_DP",)] == 9


@pytest.mark.slow
@pytest.mark.requirement("M34")
def test_on_released_versions_of_both_nobody_is_followed(shared: Path, tmp_path: Path) -> None:
    folders = []
    for number in (1, 2):
        file = shared / "data" / f"cl_deis_deaths_2024_release{number}.csv"
        folder = Path(init(str(file), tmp_path / f"p{number}", ("minsal",), now=NOW).project.folder)
        lines = [
            replace(line, purpose="estudio" if line.name in (*DEIS_QUASI, "ID_DP") else "")
            for line in open_project(folder).variables
        ]
        (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
        make_plan(folder, now=NOW)
        run_plan(folder, now=NOW)
        folders.append(folder)
    found = intrude(folders[1], earlier=[folders[0]], now=NOW)
    before, after = by_name(found.before)["followed"], by_name(found.estimates)["followed"]
    assert before.detail["followed"] == 20_525
    assert after.excess is not None
    assert abs(after.excess) < 0.001
    assert not after.works
    assert not any(one.kind.startswith(("masked_cell", "coarse_cell", "value_changed")) for one in found.findings)


def test_an_earlier_release_with_other_rows_is_read_beside_this_one(tmp_path: Path) -> None:
    made = drop_columns(with_birth(made_people(300)), "RUN", "REGION", "EDAD")
    earlier = {name: values[:250] for name, values in made.items()}
    names = ("SEXO", "NACIMIENTO", "COMUNA")
    found = intrude(
        write_columns(tmp_path / "now.csv", made), earlier=[write_columns(tmp_path / "then.csv", earlier)], quasi=names,
        sensitive=("CAUSA",),
    )  # fmt: skip
    followed = by_name(found.estimates)["followed"]
    assert followed.attempts == 250
    assert followed.works


@pytest.mark.slow
@pytest.mark.requirement("M16", "M28")
def test_nothing_that_is_claimed_of_the_recipe_of_annex_ii_is_false(tmp_path: Path) -> None:
    """A code shown elsewhere may still be masked here: every code said to be the only one is the original's."""
    people = make_keys(tmp_path / "keys")
    folder = discharges.make_project(tmp_path / "p", people, rows=2_000)
    make_plan(folder, method="recipe", order=("COMUNA", "PREVISION", "EDAD_AÑOS", "SEXO"), now=NOW)
    run_plan(folder, now=NOW)
    target = project_target(open_project(folder), (), (), None)
    assert target.truth is not None
    masked = claims = 0
    for name, universe in _universes(target).items():
        column, place = target.view.column_index(name), target.truth.column_index(name)
        left = recoding_candidates(target.view, column, universe, target.truth)
        codes, values = target.view.codes[:, column], target.truth.codes[:, place]
        masked += sum(code in left for code in codes.tolist())
        for code, value in zip(codes.tolist(), values.tolist(), strict=True):
            if len(left.get(code, ())) == 1:
                claims += 1
                assert target.truth.labels[place][value] == left[code][0]
    assert masked > 100
    report = intrude(str(folder), attempts=100, now=NOW)
    betrayed = [finding.detail["single"] for finding in report.findings if finding.kind == "recoding_betrayed"]
    assert sum(betrayed) == claims
