"""The frontier and the explanation are kept with the project; adopting a point writes the policy and makes the plan."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path

import pytest

from celosia.demo.synthetic.discharges import write_discharges
from celosia.pipeline.intake.dictionary_files import state_purpose
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import EditedMeanwhile
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.journal import read_journal
from celosia.workbench.errors import WeakerThanNorm
from celosia.workbench.policy import edit_policy, policy_view
from celosia.workbench.search import adopt_point, explain_report, frontier_report, search_plan, search_view
from tests.projects.steps import NOW

QUASI = ("SEXO", "EDAD_AÑOS", "PREVISION")
KS, LIMITS = (2, 5, 10), (0, "0.05", 0.5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    raw = write_discharges(tmp_path / "egresos.csv", 600, 11)
    made = init(str(raw), tmp_path / "p", ("minsal",), now=NOW).project.folder
    state_purpose(made, (*QUASI, "DIAG1"), "estudio", now=NOW)
    return Path(made)


@pytest.mark.requirement("M20", "M23", "M26")
def test_each_point_is_what_a_plan_with_its_k_and_limit_gives(folder: Path) -> None:
    frontier = frontier_report(folder, KS, LIMITS, now=NOW)
    assert len(frontier.points) == len(KS) * len(LIMITS)
    for point in frontier.points:
        if point.outcome.feasible and point.limit:
            plan = make_plan(folder, k=point.k, limit=str(point.limit), now=NOW).plan
            assert plan.levels == point.outcome.levels
            assert plan.loss == pytest.approx(point.outcome.loss)


def test_the_frontier_is_kept_and_shown_without_searching_again(folder: Path) -> None:
    frontier = frontier_report(folder, KS, LIMITS, now=NOW)
    saved = search_view(folder).frontier
    assert saved is not None
    assert not saved.stale
    assert [(point.k, point.limit, point.loss) for point in saved.report.points] == [
        (point.k, point.limit, point.outcome.loss) for point in frontier.points
    ]


def test_adopting_a_point_writes_the_policy_makes_the_plan_and_keeps_the_frontier_fresh(folder: Path) -> None:
    point = next(
        point for point in frontier_report(folder, KS, LIMITS, now=NOW).points if point.k == 5 and point.limit > 0.1
    )
    answer = adopt_point(folder, 5, point.limit, expected=policy_view(folder).digest, now=NOW)
    plan = open_project(folder).plan
    assert answer.feasible
    assert answer.digest == plan.digest
    assert (plan.policy["limit"], plan.policy["criteria"][0]["k"]) == ("1/2", 5)
    assert plan.loss == pytest.approx(point.outcome.loss)
    assert answer.suppressed_share == plan.suppressed_rows / 600
    view = search_view(folder)
    assert view.frontier is not None
    assert view.plan is not None
    assert not view.frontier.stale
    assert not view.plan.stale
    assert [entry["what"] for entry in read_journal(folder / "journal.jsonl").entries][-2:] == ["policy", "plan"]


def test_a_frontier_of_other_hierarchies_is_stale(folder: Path) -> None:
    frontier_report(folder, (2,), (1,), now=NOW)
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(
            '\n[hierarchies.EDAD_AÑOS]\nbuilder = "intervals"\nwidth = 20\nend = 120\n'.replace(
                "EDAD_AÑOS", '"EDAD_AÑOS"'
            )
        )
    saved = search_view(folder).frontier
    assert saved is not None
    assert saved.stale


def test_a_point_below_the_norm_needs_a_reason(folder: Path) -> None:
    with pytest.raises(WeakerThanNorm):
        adopt_point(folder, 1, 1, now=NOW)
    assert adopt_point(folder, 1, 1, why="piloto", now=NOW).feasible


def test_a_point_seen_on_another_state_of_the_file_is_refused(folder: Path) -> None:
    seen = policy_view(folder).digest
    edit_policy(folder, {"limit": 0.1}, now=NOW)
    with pytest.raises(EditedMeanwhile):
        adopt_point(folder, 5, 1, expected=seen, now=NOW)


@pytest.mark.requirement("M26")
def test_no_solution_is_an_answer_that_is_kept(folder: Path) -> None:
    text = (folder / "celosia.toml").read_text("utf-8")
    bounds = "".join(f'\n[hierarchies."{name}"]\nmaximum = 0\n' for name in QUASI)
    (folder / "celosia.toml").write_text(text + bounds, "utf-8")
    edit_policy(folder, {"k": 20, "limit": 0}, now=NOW)
    answer = search_plan(folder, now=NOW)
    assert not answer.feasible
    assert answer.suppressed_rows > answer.allowed_rows == 0
    view = search_view(folder)
    assert view.search is not None
    assert view.search.report == answer
    assert answer.hint != ""
    assert view.plan is None


@pytest.mark.requirement("M23")
def test_with_all_records_suppressible_there_is_always_a_solution(folder: Path) -> None:
    assert adopt_point(folder, 600, 1, now=NOW).feasible


def test_levels_are_told_by_groups_and_by_labels_that_are_no_value_of_the_source(folder: Path) -> None:
    answer = adopt_point(folder, 20, Fraction(1, 20), now=NOW)
    values = {
        cell for line in (folder.parent / "egresos.csv").read_text("cp1252").splitlines() for cell in line.split(";")
    }
    assert [level.variable for level in answer.levels] == list(QUASI)
    for level in answer.levels:
        assert 1 <= level.groups <= level.values
        assert not set(level.examples) & values
        assert level.level or not level.examples
    assert any(level.examples for level in answer.levels)


def test_the_explanation_is_kept_in_both_languages(folder: Path) -> None:
    explanation = explain_report(folder, now=NOW)
    saved = search_view(folder).explanation
    assert saved is not None
    assert saved.report.explanation == explanation
    assert not saved.stale
    spanish, english = saved.report.sentences["es"], saved.report.sentences["en"]
    assert all("más cuesta" in sentence or "Ninguna" in sentence for sentence in spanish[1:2])
    assert len(english) == len(spanish)
    edit_policy(folder, {"k": 7}, now=NOW)
    saved = search_view(folder).explanation
    assert saved is not None
    assert saved.stale


def test_what_the_page_reads_can_travel_between_processes(folder: Path) -> None:
    search_plan(folder, now=NOW)
    view = search_view(folder)
    assert pickle.loads(pickle.dumps(view)) == view
