"""The MINSAL example: walked to the end, verified elsewhere, refused when tampered with or when a gate is missing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from examples.minsal.make_data import make_data
from examples.minsal.walk import PROJECT, PUBLISH, RELEASE, STEPS
from examples.walker import sign_with, type_in, with_days
from tests.walks.walked import TAMPERINGS, Stage, Walked, approval_line, one_journal_line, walked

pytestmark = pytest.mark.slow

ROWS = 800
STAGES = {"checked": "celosia release", "signed": "--role head --identity", "publishing": "celosia document"}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    return walked(STEPS, make_data, tmp_path_factory.mktemp("minsal"), ROWS, STAGES)


def ready(example: Walked) -> Stage:
    """Everything done and signed; only `publish` is left."""
    stage = example.copied("signed")
    assert stage.types(_dated(stage, f"celosia sign {RELEASE} --role head {sign_with('ana')}")).code == 0
    return stage


def _dated(stage: Stage, line: str) -> str:
    return with_days(line.replace(RELEASE, f"{PROJECT}/releases/{stage.release.name}"), stage.release.name)


def published(stage: Stage, line: str = PUBLISH) -> int:
    """How `celosia publish` ends; a refusal leaves no publication entry."""
    code = stage.types(_dated(stage, line)).code
    assert (stage.release / "publication.json").exists() == (code == 0)
    return code


@pytest.mark.requirement("M12", "M31", "M32", "M33", "M38")
def test_the_walk_ends_with_a_published_release(example: Walked) -> None:
    release = example.end.release
    assert {path.name for path in release.iterdir()} == {
        "data.csv", "dictionary.csv", "dossier", "manifest.json", "publication.json", "roster.jsonl", "signatures",
    }  # fmt: skip
    assert {path.name for path in (release / "signatures").iterdir()} == {
        "executor-1.json", "head-1.json", "verifier-1.json",
    }  # fmt: skip
    assert [one.code for one in example.answers if one.line == f"celosia status {PROJECT}"] == [1, 0]


@pytest.mark.requirement("M33")
def test_the_form_of_annex_i_is_written_for_the_house_and_not_for_the_street(example: Walked) -> None:
    inside = {path.name for path in (example.end.project / "private" / "dossier").iterdir()}
    outside = {path.name for path in (example.end.release / "dossier").iterdir()}
    assert {"minsal_form.pdf", "minsal_form.docx"} <= inside
    assert not {name for name in outside if name.startswith(("minsal_form", "internal"))}


@pytest.mark.requirement("M36")
def test_the_release_holds_no_identifier_of_the_source(example: Walked) -> None:
    source = (example.end.folder / "egresos.csv").read_text("iso-8859-1").splitlines()
    runs = {row.split(";")[0] for row in source[1:]} - {""}
    published_text = "".join(path.read_text("utf-8", errors="ignore") for path in _texts(example.end.release))
    assert len(runs) > 400
    assert not {run for run in runs if run in published_text}


def _texts(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in (".csv", ".json", ".html")]


def test_a_copy_in_another_folder_verifies_without_the_project(example: Walked, tmp_path: Path) -> None:
    copy = _alone(example, tmp_path)
    assert type_in(f"celosia verify {copy}").code == 4


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda change: change.__name__)
def test_a_copy_that_was_tampered_with_is_refused(
    example: Walked, tmp_path: Path, tamper: Callable[[Path], None]
) -> None:
    copy = _alone(example, tmp_path)
    tamper(copy)
    assert type_in(f"celosia verify {copy}").code == 1


def _alone(example: Walked, tmp_path: Path) -> Path:
    return shutil.copytree(example.end.release, tmp_path / "elsewhere")


@pytest.mark.requirement("M35")
def test_a_journal_line_changed_afterwards_stops_the_publication(example: Walked) -> None:
    stage = ready(example)
    one_journal_line(stage.project)
    assert published(stage) != 0


@pytest.mark.requirement("M31")
def test_an_approval_changed_afterwards_stops_the_release(example: Walked) -> None:
    stage = example.copied("checked")
    approval_line(stage.project)
    assert stage.types(f"celosia release {PROJECT}").code == 1
    assert not (stage.project / "releases").exists() or not list((stage.project / "releases").iterdir())


@pytest.mark.requirement("M29")
def test_a_release_is_refused_without_the_intruders_attempts(example: Walked) -> None:
    stage = example.copied("checked")
    (stage.project / "claims.csv").unlink()
    answer = stage.types(f"celosia release {PROJECT}")
    assert (answer.code, "intrus" in answer.printed) == (1, True)


@pytest.mark.requirement("M29")
def test_a_release_is_refused_when_the_intruder_was_right(example: Walked) -> None:
    stage = example.copied("checked")
    claims = stage.project / "claims.csv"
    claims.write_text(claims.read_text("utf-8").replace(",no,6,", ",sí,6,"), "utf-8")
    assert stage.types(f"celosia release {PROJECT}").code == 1


@pytest.mark.requirement("M32")
def test_publication_is_refused_without_the_date_of_the_consultation(example: Walked) -> None:
    assert published(ready(example), PUBLISH.replace(" --consultation 2026-11-02", "")) == 1


@pytest.mark.requirement("M33", "M38")
def test_publication_is_refused_without_the_third_signature(example: Walked) -> None:
    assert published(example.copied("signed")) == 1


@pytest.mark.requirement("M32", "M33")
def test_publication_goes_through_with_signatures_consultation_and_dates(example: Walked) -> None:
    assert published(ready(example)) == 0


@pytest.mark.requirement("M31")
def test_nobody_may_be_executor_and_verifier(example: Walked) -> None:
    stage = example.copied("checked")
    assert stage.types(
        "celosia identity new --name Eva --file llaves/eva.key --passphrase-file llaves/frase.txt"
    ).code == 0  # fmt: skip
    assert stage.types(f"celosia people add {PROJECT} --card llaves/eva.pub.json --role executor,verifier").code != 0


@pytest.mark.requirement("M31")
def test_the_executor_may_not_verify_the_candidate_even_with_the_role_written_by_hand(example: Walked) -> None:
    stage = example.copied("checked")
    people = stage.project / "people.toml"
    text = people.read_text("utf-8")
    people.write_text(text.replace('["executor"]', '["verifier"]').replace('["head"]', '["executor"]'), "utf-8")
    (stage.project / "approvals.jsonl").unlink()
    for what in ("plan", "candidate"):
        stage.types(f"celosia approve {PROJECT} {what} --role verifier --yes {sign_with('luis')}")
    assert stage.types(f"celosia release {PROJECT}").code == 1


@pytest.mark.requirement("M01", "M31")
def test_an_edit_of_the_dictionary_after_the_approval_voids_it(example: Walked) -> None:
    stage = example.copied("checked")
    line = f'celosia dictionary purpose {PROJECT} --variables SEXO --purpose "Otro propósito"'
    assert stage.types(line).code == 0
    assert stage.types(f"celosia release {PROJECT}").code == 1
