"""Treatments declared from a page: the file holds what was asked, comments stay, nonsense is not written."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from celosia.model.errors import UnknownVariable
from celosia.model.value_errors import WrongParameter
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import EditedMeanwhile
from celosia.pipeline.release.stats_rules import journal_entries
from celosia.techniques import NAMES, read_step
from celosia.workbench.search import search_view
from celosia.workbench.treatments import edit_steps, proposed_steps_view, steps_view
from tests.projects.steps import NOW
from tests.projects.survey import make_project

GROUPS = {"technique": "microaggregate", "columns": ["INGRESO"], "k": 3}
NOISE = {"technique": "noise", "columns": ["INGRESO"], "level": "0.2", "restore": True}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "p", ("atenea",))


def declared_steps(folder: Path) -> list[dict[str, Any]]:
    return list(tomllib.loads((folder / "celosia.toml").read_text("utf-8")).get("steps", []))


@pytest.mark.requirement("A19", "A20")
def test_the_file_holds_what_was_asked_in_its_order(folder: Path) -> None:
    view = edit_steps(folder, [GROUPS], now=NOW)
    assert declared_steps(folder) == [GROUPS]
    edit_steps(folder, [NOISE, GROUPS], expected=view.digest, now=NOW)
    assert declared_steps(folder) == [NOISE, GROUPS]
    assert [declared_steps.step["technique"] for declared_steps in steps_view(folder).steps] == [
        "noise",
        "microaggregate",
    ]
    edit_steps(folder, [], now=NOW)
    assert declared_steps(folder) == []
    assert [entry["facts"] for entry in journal_entries(folder / "journal.jsonl") if entry["what"] == "steps"] == [
        {"techniques": ["microaggregate"]},
        {"techniques": ["noise", "microaggregate"]},
        {"techniques": []},
    ]


def test_a_step_that_stays_keeps_its_comment_and_the_rest_of_the_file_stays(folder: Path) -> None:
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[steps]]\ntechnique = "microaggregate"\n')
        file.write('columns = ["INGRESO"]  # acordado en la reunión\nk = 3\n')
        file.write('\n[policy]\nmean = "arithmetic"  # probado\n')
    edit_steps(folder, [NOISE, GROUPS], now=NOW)
    text = (folder / "celosia.toml").read_text("utf-8")
    assert declared_steps(folder) == [NOISE, GROUPS]
    assert "# acordado en la reunión" in text
    assert 'mean = "arithmetic"  # probado' in text


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ({"technique": "microaggregate", "columns": ["OTRA"]}, UnknownVariable),
        ({"technique": "microaggregate"}, WrongParameter),
        ({"technique": "microaggregate", "columns": ["INGRESO"], "k": 2, "small_groups": True}, WrongParameter),
        ({"technique": "noise", "columns": ["INGRESO"], "level": "mucho"}, WrongParameter),
    ],
)
def test_what_a_run_would_refuse_is_not_written(folder: Path, step: dict[str, Any], error: type[Exception]) -> None:
    before = (folder / "celosia.toml").read_bytes()
    with pytest.raises(error):
        edit_steps(folder, [step], now=NOW)
    assert (folder / "celosia.toml").read_bytes() == before


def test_steps_that_somebody_else_changed_are_not_written_over(folder: Path) -> None:
    seen = steps_view(folder).digest
    edit_steps(folder, [NOISE], now=NOW)
    with pytest.raises(EditedMeanwhile):
        edit_steps(folder, [GROUPS], expected=seen, now=NOW)
    assert declared_steps(folder) == [NOISE]


def plan_is_stale(folder: Path) -> bool | None:
    plan = search_view(folder).plan
    return plan and plan.stale


def test_a_plan_made_before_a_treatment_is_stale(folder: Path) -> None:
    make_plan(folder, now=NOW)
    assert plan_is_stale(folder) is False
    edit_steps(folder, [GROUPS], now=NOW)
    assert plan_is_stale(folder) is True


def test_a_step_that_cannot_be_understood_is_shown_with_its_fault_and_can_be_taken_out(folder: Path) -> None:
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[steps]]\ntechnique = "alquimia"\n')
    assert "alquimia" in steps_view(folder).steps[0].fault
    edit_steps(folder, [], now=NOW)
    assert declared_steps(folder) == []


def test_every_technique_has_a_form_and_every_proposal_is_a_step(folder: Path) -> None:
    forms = {form.technique: form for form in steps_view(folder).forms}
    assert set(forms) == set(NAMES)
    asked = {name: {field.name: field.kind for field in form.parameters} for name, form in forms.items()}
    assert asked["recode"]["map"] == "pairs"
    assert asked["remove_records"]["where"] == asked["select"]["keep"] == "conditions"
    assert "hierarchy" not in asked["generalise"]
    assert all(form.title and form.summary for form in forms.values())
    for proposal in proposed_steps_view(folder):
        assert proposal.needs or read_step(proposal.step)
