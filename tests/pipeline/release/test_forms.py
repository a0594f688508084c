"""What is signed is what is read: forms are made before the signatures, covered by them, and printed as signed."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.cli import main
from celosia.dossier.document import (
    Checks,
    Document,
    Fields,
    Heading,
    Items,
    Note,
    Paragraph,
    Picture,
    Signatures,
    Signer,
    Table,
)
from celosia.dossier.stored import document_from, document_text
from celosia.dossier.text import to_text
from celosia.model.paths import ProjectPaths
from celosia.model.releases import manifest_from
from celosia.model.verdict import State
from celosia.pipeline.release.documents import write_documents
from celosia.pipeline.release.errors import ReleaseDamaged
from celosia.pipeline.release.folder import manifest_text, read_release
from celosia.pipeline.release.forms import changed_forms, read_forms
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.publish import publish
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW

DATES = {"consultation": date(2026, 11, 2), "publication_date": date(2026, 11, 20), "update_period": "anual"}
RELEASE = "2026-11-15"


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def walk(people, tmp_path_factory) -> Path:
    folder = run_to_approved_candidate(make_project(tmp_path_factory.mktemp("forms") / "egresos", people), people)
    make_release(folder, now=NOW)
    return folder


@pytest.fixture
def folder(walk, tmp_path) -> Path:
    return Path(shutil.copytree(walk, tmp_path / "egresos"))


def sign_all(folder: Path, people) -> None:
    for role, person in people.items():
        sign_release(folder / "releases" / RELEASE, None, person, role, now=NOW)


def change_request(folder: Path, **answers: str) -> None:
    """As `celosia request P --purpose … --department …` does."""
    words = [part for name, answer in answers.items() for part in (f"--{name}", answer)]
    assert main(["request", str(folder), *words]) == 0


def form_page(folder: Path) -> str:
    paths = write_documents(folder, formats=("html",), now=NOW)
    return next(path for path in paths if path.name == "minsal_form.html").read_text("utf-8")


@pytest.mark.requirement("M33")
def test_the_manifest_holds_the_digest_of_every_form_before_anybody_signs(folder):
    release = read_release(folder / "releases" / RELEASE)
    names = ("approval_sheet", "minsal_form", "public_report")
    papers = {f"{name}.{form}" for name in names for form in ("json", "pdf")}
    assert set(release.manifest.forms) == {*papers, "project.sha256"}
    assert not release.signatures
    assert changed_forms(ProjectPaths(folder).forms / RELEASE, release.manifest) == ()


@pytest.mark.requirement("M33")
def test_after_signing_the_form_is_printed_as_it_was_signed_whatever_is_answered_today(folder, people):
    sign_all(folder, people)
    publish(folder, RELEASE, people["head"], **DATES, now=NOW)
    before = form_page(folder)
    change_request(folder, purpose="Otro propósito", department="Otro departamento")
    after = form_page(folder)
    assert after == before
    assert "Otro" not in after
    assert "2026-11-20" in after  # what came later stands below what was signed
    assert all(person.name in after for person in people.values())


def test_status_names_answers_that_changed_after_the_release(folder, people):
    sign_all(folder, people)
    change_request(folder, purpose="Otro propósito")
    reasons = [gate.reason for gate in status(folder, now=NOW).gates if gate.gate == "release"]
    assert any(RELEASE in reason and "solicitud cambió" in reason for reason in reasons)


@pytest.mark.parametrize("name", ["minsal_form.json", "minsal_form.pdf"])
@pytest.mark.parametrize("change", ["edit", "remove", "add"])
def test_a_form_that_was_touched_is_not_signed_not_printed_and_noticed(folder, people, name, change):
    home = ProjectPaths(folder).forms / RELEASE
    if change == "edit":
        (home / name).write_bytes((home / name).read_bytes().replace(b"Si", b"No", 1) + b" ")
    elif change == "remove":
        (home / name).unlink()
    else:
        (home / f"other-{name}").write_bytes(b"{}")
    with pytest.raises(ReleaseDamaged):
        sign_release(folder / "releases" / RELEASE, None, people["executor"], "executor", now=NOW)
    with pytest.raises(ReleaseDamaged):
        write_documents(folder, formats=("html",), now=NOW)
    finding = next(f for f in verify_release(folder / "releases" / RELEASE).findings if f.id == "forms")
    assert finding.state is State.FAILS


def test_every_answer_of_the_form_is_under_the_signature(folder):
    """Each word changed alone gives another document text, so another digest than the one signed."""
    release = read_release(folder / "releases" / RELEASE)
    home = ProjectPaths(folder).forms / RELEASE
    content = json.loads((home / "minsal_form.json").read_text("utf-8"))
    changes = 0
    for block in content["blocks"]:
        for row in block.get("rows", []):
            row[-1], kept = (not row[-1], row[-1]) if isinstance(row[-1], bool) else (f"{row[-1]}.", row[-1])
            (home / "minsal_form.json").write_text(json.dumps(content, ensure_ascii=False), "utf-8")
            assert changed_forms(home, release.manifest) == ("minsal_form.json",)
            row[-1] = kept
            changes += 1
    assert changes > 10


def test_a_release_made_before_forms_were_signed_keeps_its_spelling(folder):
    document = json.loads((folder / "releases" / RELEASE / "manifest.json").read_text("utf-8"))
    del document["forms"], document["otherwise_masked_rows"]
    document["people"] = []
    document["format"] = "celosia/manifest/1"
    manifest = manifest_from(document)
    assert manifest.forms is None
    assert json.loads(manifest_text(manifest)) == document


def test_the_signer_reads_the_form_in_the_terminal_before_the_pass_phrase(folder):
    forms = read_forms(folder / "releases" / RELEASE)
    text = "\n".join(to_text(document) for document in forms.documents)
    assert "Anexo I" in text
    assert [path.name for path in forms.papers] == ["approval_sheet.pdf", "minsal_form.pdf", "public_report.pdf"]
    assert forms.manifest == read_release(folder / "releases" / RELEASE).manifest.digest


WORDS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=12)
BLOCKS = st.one_of(
    st.builds(Heading, WORDS, st.integers(1, 2)),
    st.builds(Paragraph, WORDS),
    st.builds(Note, WORDS),
    st.builds(Items, st.lists(WORDS, max_size=3).map(tuple)),
    st.builds(Fields, st.lists(st.tuples(WORDS, WORDS), max_size=3).map(tuple)),
    st.builds(Checks, st.lists(st.tuples(WORDS, st.sampled_from((True, False, None))), max_size=3).map(tuple)),
    st.builds(Picture, WORDS, WORDS),
    st.builds(Signatures, st.lists(st.builds(Signer, WORDS, WORDS), max_size=2).map(tuple)),
    st.lists(st.tuples(WORDS, st.booleans()), max_size=3).map(lambda rows: Table(("a", "b"), tuple(rows))),
)


@given(st.builds(Document, WORDS, WORDS, WORDS, st.lists(BLOCKS, max_size=5).map(tuple)))
def test_a_kept_document_is_read_back_equal_and_can_be_read_as_text(document):
    assert document_from(document_text(document), "-") == document
    assert document.title in to_text(document)
