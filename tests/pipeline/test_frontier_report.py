"""The frontier and the explanation are kept with the project; adopting a point writes the policy and makes the plan."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path

import pytest

from celosia.data.synthetic import write_discharges
from celosia.errors import EditedMeanwhile, WeakerThanNorm
from celosia.pipeline import (
    adopt_point,
    edit_policy,
    explain_report,
    frontier_report,
    init,
    make_plan,
    policy_view,
    read_plan,
    search_plan,
    search_view,
    state_purpose,
)
from celosia.pipeline._journal import entries
from pipeline.small_project import NOW

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
    found = frontier_report(folder, KS, LIMITS, now=NOW)
    assert len(found.points) == len(KS) * len(LIMITS)
    for point in found.points:
        if point.outcome.feasible and point.limit:
            plan = make_plan(folder, k=point.k, limit=str(point.limit), now=NOW).plan
            assert plan.levels == point.outcome.levels
            assert plan.loss == pytest.approx(point.outcome.loss)


def test_the_frontier_is_kept_and_shown_without_searching_again(folder: Path) -> None:
    found = frontier_report(folder, KS, LIMITS, now=NOW)
    kept = search_view(folder)["frontier"]
    assert kept["frontier"] == found.as_dict()
    assert not kept["stale"]


def test_adopting_a_point_writes_the_policy_makes_the_plan_and_keeps_the_frontier_fresh(folder: Path) -> None:
    point = next(one for one in frontier_report(folder, KS, LIMITS, now=NOW).points if one.k == 5 and one.limit > 0.1)
    found = adopt_point(folder, 5, point.limit, expected=policy_view(folder).digest, now=NOW)
    plan = read_plan(folder)
    assert found.feasible
    assert found.digest == plan.digest
    assert (plan.policy["limit"], plan.policy["criteria"][0]["k"]) == ("1/2", 5)
    assert plan.loss == pytest.approx(point.outcome.loss)
    assert found.suppressed_share == plan.suppressed_rows / 600
    view = search_view(folder)
    assert not view["frontier"]["stale"]
    assert not view["plan"]["stale"]
    assert [one["what"] for one in entries(folder / "journal.jsonl")][-2:] == ["policy", "plan"]


def test_a_frontier_of_other_hierarchies_is_stale(folder: Path) -> None:
    frontier_report(folder, (2,), (1,), now=NOW)
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(
            '\n[hierarchies.EDAD_AÑOS]\nbuilder = "intervals"\nwidth = 20\nend = 120\n'.replace(
                "EDAD_AÑOS", '"EDAD_AÑOS"'
            )
        )
    assert search_view(folder)["frontier"]["stale"]


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
    found = search_plan(folder, now=NOW)
    assert not found.feasible
    assert found.suppressed_rows > found.allowed_rows == 0
    view = search_view(folder)
    assert view["search"]["search"]["hint"] == found.hint != ""
    assert view["plan"] is None


@pytest.mark.requirement("M23")
def test_with_all_records_suppressible_there_is_always_a_solution(folder: Path) -> None:
    assert adopt_point(folder, 600, 1, now=NOW).feasible


def test_levels_are_told_by_groups_and_by_labels_that_are_no_value_of_the_source(folder: Path) -> None:
    found = adopt_point(folder, 20, Fraction(1, 20), now=NOW)
    values = {
        cell for line in (folder.parent / "egresos.csv").read_text("cp1252").splitlines() for cell in line.split(";")
    }
    assert [one.variable for one in found.levels] == list(QUASI)
    for one in found.levels:
        assert 1 <= one.groups <= one.values
        assert not set(one.examples) & values
        assert one.level or not one.examples
    assert any(one.examples for one in found.levels)


def test_the_explanation_is_kept_in_both_languages(folder: Path) -> None:
    told = explain_report(folder, now=NOW)
    kept = search_view(folder)["explanation"]
    assert kept["explanation"] == told.as_dict()
    assert not kept["stale"]
    assert all("más cuesta" in one or "Ninguna" in one for one in kept["sentences"]["es"][1:2])
    assert len(kept["sentences"]["en"]) == len(kept["sentences"]["es"])
    edit_policy(folder, {"k": 7}, now=NOW)
    assert search_view(folder)["explanation"]["stale"]


def test_what_the_page_reads_can_travel_between_processes(folder: Path) -> None:
    search_plan(folder, now=NOW)
    view = search_view(folder)
    assert pickle.loads(pickle.dumps(view))["plan"] == view["plan"]
