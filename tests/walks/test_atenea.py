"""The ATENEA example: walked to the end, verified elsewhere, refused when tampered with or when a limit is broken."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from examples.atenea.make_data import make_data
from examples.atenea.walk import PROJECT, STEPS, USE
from examples.walker import sign_with, type_in, walk
from tests.walks.walked import TAMPERINGS, Walked, approval_line, before, one_journal_line, walked

ROWS = 400
STAGES = {"asked": "celosia profile", "checked": "celosia release", "signed": "celosia publish"}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    return walked(STEPS, make_data, tmp_path_factory.mktemp("atenea"), ROWS, STAGES)


@pytest.fixture
def alone(example: Walked, tmp_path: Path) -> Path:
    """The release folder on another machine, with nothing else."""
    return shutil.copytree(example.end.release, tmp_path / "elsewhere")


@pytest.mark.slow
def test_the_walk_ends_with_a_published_release(example: Walked) -> None:
    release = example.end.release
    assert {"data.csv", "data.parquet", "dictionary.csv", "manifest.json", "publication.json"} <= {
        path.name for path in release.iterdir()
    }
    assert example.answers[-1].code == 0  # status: nothing is left to do


@pytest.mark.slow
def test_a_copy_in_another_folder_verifies_without_the_project(alone: Path) -> None:
    assert type_in(f"celosia verify {alone}").code == 4


@pytest.mark.slow
@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda change: change.__name__)
def test_a_copy_that_was_tampered_with_is_refused(alone: Path, tamper: Callable[[Path], None]) -> None:
    tamper(alone)
    assert type_in(f"celosia verify {alone}").code == 1


@pytest.mark.slow
def test_a_journal_line_changed_afterwards_stops_the_publication(example: Walked) -> None:
    stage = example.copied("signed")
    one_journal_line(stage.project)
    release = f"{PROJECT}/releases/{stage.release.name}"
    line = f"celosia publish {PROJECT} {release} --date 2026-11-20 --update-period anual {sign_with('clara')}"
    assert stage.types(line).code != 0
    assert not (stage.release / "publication.json").exists()


@pytest.mark.slow
def test_an_approval_changed_afterwards_stops_the_release(example: Walked) -> None:
    stage = example.copied("checked")
    approval_line(stage.project)
    assert stage.types(f"celosia release {PROJECT}").code == 1


@pytest.mark.slow
@pytest.mark.requirement("A02", "A30")
def test_a_limited_variable_that_would_be_published_is_refused(example: Walked) -> None:
    stage = example.copied("asked")
    purpose = f'--variables "Edad,Departamento,Religión" --purpose "{USE}"'
    assert stage.types(f"celosia dictionary purpose {PROJECT} {purpose}").code == 0
    stage.types(f"celosia plan {PROJECT}")
    answer = stage.types(f"celosia run {PROJECT}")
    assert (answer.code, "Religión" in answer.printed) == (1, True)
    assert not (stage.project / "private" / "candidate" / "data.csv").exists()


@pytest.mark.slow
@pytest.mark.requirement("A03", "A29")
def test_the_closing_evaluation_checks_exactly_the_chosen_properties(example: Walked) -> None:
    answer = example.copied("checked").types(f"celosia request {PROJECT} --closing --json")
    chosen = [(one["property"], one["variable"]) for one in json.loads(answer.printed)["properties"]]
    assert chosen == [("total", "Ingresos"), ("mean", "Ingresos")]


@pytest.mark.slow
@pytest.mark.requirement("A18")
def test_the_risk_table_has_the_columns_and_the_order_of_the_guide(example: Walked) -> None:
    printed = next(one.printed for one in example.answers if one.line.startswith("celosia risk"))
    head = next(line for line in printed.splitlines() if line.startswith("┃"))
    columns = [cell.strip().lower() for cell in head.strip("┃").split("┃")]
    assert [bool(set(cell.split()) & words) for cell, words in zip(columns, _GUIDE, strict=False)] == [True] * 5


_GUIDE = ({"orden"}, {"variables"}, {"criterio"}, {"número", "unidades"}, {"proporción", "porcentaje"})


@pytest.mark.requirement("A01")
def test_a_short_walk_goes_from_the_request_to_a_signed_release_that_verifies(tmp_path: Path) -> None:
    make_data(tmp_path, 300)
    looking = ("celosia profile", "celosia risk", "celosia check")
    walk([step for step in before(STEPS, "celosia publish") if not step.line.startswith(looking)], tmp_path)
    (release,) = (tmp_path / PROJECT / "releases").iterdir()
    assert type_in(f"celosia verify {release}").code == 4
