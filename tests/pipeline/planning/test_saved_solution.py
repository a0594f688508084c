"""A run takes the solution that its plan was made of, where digests prove that nothing changed; else it searches."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from celosia.demo.synthetic.discharges import write_discharges
from celosia.pipeline.candidate.errors import PlanStale
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.dictionary_files import state_purpose
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan, search_input_after_steps
from celosia.pipeline.planning.saved_solution import saved_solution
from celosia.pipeline.project.folder import open_project
from tests.projects.steps import NOW

ASKED = {"k": 3, "l": 2, "limit": 0.6}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("saved")
    raw = write_discharges(place / "egresos.csv", 300, 5)
    made: Path = init(str(raw), place / "p", ("minsal",), now=NOW).project.folder
    state_purpose(made, ("SEXO", "EDAD_AÑOS", "PREVISION", "DIAG1"), "estudio", now=NOW)
    return made


@pytest.mark.parametrize("method", ["full-domain", "local", "recipe", "cells"])
def test_a_run_writes_the_same_bytes_with_the_saved_solution_and_without_it(folder: Path, method: str) -> None:
    plan = make_plan(folder, now=NOW, method=method, order=["PREVISION", "SEXO", "EDAD_AÑOS"], **ASKED).plan
    project = open_project(folder)
    saved = saved_solution(project, search_input_after_steps(project, **plan.asked))
    assert saved is not None
    assert saved.outcome == plan.notes["outcome"]
    assert project.paths.solution.stat().st_mode & 0o777 == 0o600
    with_it = run_plan(folder, now=NOW).candidate.read_bytes()
    project.paths.solution.unlink()
    assert run_plan(folder, now=NOW).candidate.read_bytes() == with_it


def test_another_policy_or_source_has_no_saved_solution(folder: Path) -> None:
    make_plan(folder, now=NOW, **ASKED)
    project = open_project(folder)
    assert saved_solution(project, search_input_after_steps(project, **(ASKED | {"k": 4}))) is None
    make_plan(folder, now=NOW, **(ASKED | {"k": 4}))
    assert saved_solution(project, search_input_after_steps(project, **ASKED)) is None


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", "half"])
def test_a_solution_that_cannot_be_read_is_searched_for_again(folder: Path, content: bytes | str) -> None:
    make_plan(folder, now=NOW, **ASKED)
    expected = run_plan(folder, now=NOW).candidate.read_bytes()
    path = open_project(folder).paths.solution
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if isinstance(content, str) else content)
    assert run_plan(folder, now=NOW).candidate.read_bytes() == expected


def test_a_solution_that_is_not_the_plans_is_not_published(folder: Path) -> None:
    """Somebody takes a suppressed record back: the plan's digest does not fit, and the search gives the answer."""
    make_plan(folder, now=NOW, **ASKED)
    expected = run_plan(folder, now=NOW).candidate.read_bytes()
    path = open_project(folder).paths.solution
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    arrays["codes"] = np.zeros_like(arrays["codes"])
    with path.open("wb") as stream:
        np.savez(stream, **arrays)
    assert run_plan(folder, now=NOW).candidate.read_bytes() == expected


def test_a_plan_that_was_changed_is_refused_although_its_solution_is_there(folder: Path) -> None:
    make_plan(folder, now=NOW, **ASKED)
    path = open_project(folder).paths.plan
    document = json.loads(path.read_text("utf-8"))
    document["suppressed_rows"] += 1
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(PlanStale):
        run_plan(folder, now=NOW)
