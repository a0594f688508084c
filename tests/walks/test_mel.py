"""The MEL example: walked to the end, four files delivered, refused before approval and when tampered with."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from celosia.messages import LANGUAGES
from examples.mel.make_data import make_data
from examples.mel.walk import KEPT, PROJECT, STEPS
from examples.walker import sign_with, type_in
from tests.field_lists import field_differences
from tests.walks.walked import TAMPERINGS, Walked, approval_line, one_journal_line, walked

pytestmark = pytest.mark.slow

WRITTEN = {
    "manifest.json": "releases/*/manifest.json",
    "publication.json": "releases/*/publication.json",
    "signatures/*.json": "releases/*/signatures/*.json",
    "delivery/manifest.json": "delivery/manifest.json",
    "plan.json": "plan.json",
    "verdict.json": "private/candidate/verdict.json",
    "rules.json": "private/candidate/rules.json",
    "journal.jsonl": "journal.jsonl",
}
ROWS = 3_000  # with fewer, some municipality has fifty persons or less, and all of them go
STAGES = {
    "planned": "celosia approve encuesta-2024 dictionary",
    "checked": "celosia release",
    "delivering": "celosia deliver",
    "publishing": "celosia publish",
}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    return walked(STEPS, make_data, tmp_path_factory.mktemp("mel"), ROWS, STAGES)


@pytest.fixture
def alone(example: Walked, tmp_path: Path) -> Path:
    """The release folder on another machine, with nothing else."""
    return shutil.copytree(example.end.release, tmp_path / "elsewhere")


def test_the_walk_ends_with_a_published_release(example: Walked) -> None:
    assert (example.end.release / "publication.json").is_file()
    assert example.answers[-1].code == 0  # status: nothing is left to do


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_of_formats_lists_every_field_of_what_was_written(example: Walked, language: str) -> None:
    """The account stands in the journal of a shared page alone."""
    for heading, place in WRITTEN.items():
        for path in example.end.project.glob(place):
            texts = path.read_text("utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text("utf-8")]
            found = [field_differences(language, heading, json.loads(text), frozenset({"account"})) for text in texts]
            assert found
            assert not set().union(*found), place


def test_a_copy_in_another_folder_verifies_without_the_project(alone: Path) -> None:
    assert type_in(f"celosia verify {alone}").code == 4


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda change: change.__name__)
def test_a_copy_that_was_tampered_with_is_refused(alone: Path, tamper: Callable[[Path], None]) -> None:
    tamper(alone)
    assert type_in(f"celosia verify {alone}").code == 1


def test_a_journal_line_changed_afterwards_stops_the_publication(example: Walked) -> None:
    stage = example.copied("publishing")
    one_journal_line(stage.project)
    release = f"{PROJECT}/releases/{stage.release.name}"
    line = f"celosia publish {PROJECT} {release} --date 2026-11-20 --update-period anual {sign_with('clara')}"
    assert stage.types(line).code != 0
    assert not (stage.release / "publication.json").exists()


def test_an_approval_changed_afterwards_stops_the_release(example: Walked) -> None:
    stage = example.copied("checked")
    approval_line(stage.project)
    assert stage.types(f"celosia release {PROJECT}").code == 1


@pytest.mark.requirement("P10")
def test_nothing_is_applied_before_the_dictionary_is_approved(example: Walked) -> None:
    stage = example.copied("planned")
    answer = stage.types(f"celosia run {PROJECT}")
    assert (answer.code, "diccionario" in answer.printed) == (1, True)
    assert not (stage.project / "private" / "candidate" / "data.csv").exists()


@pytest.mark.requirement("P10")
def test_only_the_lead_or_a_delegate_opens_the_gate(example: Walked) -> None:
    stage = example.copied("planned")
    line = f"celosia approve {PROJECT} dictionary --role verifier --yes {sign_with('nidia')}"
    stage.types(line)
    assert stage.types(f"celosia run {PROJECT}").code == 1


@pytest.mark.requirement("P10")
def test_an_edit_after_the_approval_closes_the_gate_again(example: Walked) -> None:
    stage = example.copied("planned")
    assert stage.types(f"celosia approve {PROJECT} dictionary --role lead --yes {sign_with('clara')}").code == 0
    assert stage.types(f'celosia dictionary purpose {PROJECT} --variables SEXO --purpose "Otro"').code == 0
    stage.types(f"celosia plan {PROJECT}")
    assert stage.types(f"celosia run {PROJECT}").code == 1


@pytest.mark.requirement("P13")
def test_three_variables_are_too_few_for_the_contrast(example: Walked) -> None:
    stage = example.copied("checked")
    stage.types(f"celosia request {PROJECT} --contrast MUNICIPIO,SEXO,EDAD")
    assert stage.types(f"celosia release {PROJECT}").code != 0
    assert not list((stage.project / "releases").glob("*"))


@pytest.mark.requirement("P20")
def test_a_release_is_refused_while_nobody_accepted_the_risk_that_stays(example: Walked) -> None:
    stage = example.copied("checked")
    approvals = stage.project / "approvals.jsonl"
    kept = [line for line in approvals.read_text("utf-8").splitlines() if '"what": "residual"' not in line]
    approvals.write_text("\n".join(kept) + "\n", "utf-8")
    assert stage.types(f"celosia release {PROJECT}").code == 1


@pytest.mark.requirement("P16", "P17")
def test_the_delivery_has_exactly_four_data_files_with_the_restricted_ones_apart(example: Walked) -> None:
    delivery = example.end.project / "delivery"
    data = {path.relative_to(delivery).as_posix() for path in delivery.rglob("*.*") if path.suffix == ".csv"}
    assert data == {
        "public/data.csv", "public/dictionary.csv", "restricted/data.csv", "restricted/dictionary.csv",
    }  # fmt: skip
    with (delivery / "public" / "dictionary.csv").open(encoding="utf-8", newline="") as file:
        described = [row[0] for row in list(csv.reader(file))[2:]]
    assert described == KEPT.split(",")


@pytest.mark.requirement("P16")
def test_publication_is_refused_without_the_delivery_and_with_a_fifth_file(example: Walked) -> None:
    line = f"celosia publish {{0}} {{0}}/releases/{{1}} --date 2026-11-20 --update-period anual {sign_with('clara')}"
    stage = example.copied("delivering")
    assert stage.types(line.format(PROJECT, stage.release.name)).code == 1
    stage = example.copied("publishing")
    shutil.copy(stage.project / "delivery" / "public" / "data.csv", stage.project / "delivery" / "public" / "more.csv")
    assert stage.types(line.format(PROJECT, stage.release.name)).code == 1


@pytest.mark.requirement("P11", "P12")
def test_both_bases_have_the_same_rows_and_the_public_one_just_the_kept_columns(example: Walked) -> None:
    delivery = example.end.project / "delivery"
    public, full = ((delivery / half / "data.csv").read_text("utf-8").splitlines() for half in ("public", "restricted"))
    assert len(public) == len(full) == ROWS + 1
    assert public[0].split(",") == KEPT.split(",")
