"""One person in two roles is warned of and on record; the verifiers of the form are those who verified."""

from __future__ import annotations

import pytest

from celosia.cli import main
from celosia.dossier.text import to_text
from celosia.model.verdict import State
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.document_input import collect_document_input
from celosia.pipeline.release.documents import minsal_form
from celosia.pipeline.release.forms import read_forms
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from tests.projects import discharges
from tests.projects.steps import NOW, make_keys, register_people

ROLES = {"ana": ("head", "verifier"), "beto": ("executor",), "carla": ("verifier",)}
NAMES = {"ana": "Ana Rojas", "beto": "Beto Soto", "carla": "Carla Díaz"}


def prepare(folder, verifier: str):
    """A project in which Ana heads and may verify, and Carla may verify too; one of them does."""
    keys = make_keys(folder.parent / "keys", NAMES)
    discharges.make_project(folder, {})
    register_people(folder, keys, ROLES)
    acting = {"head": keys["ana"], "executor": keys["beto"], "verifier": keys[verifier]}
    discharges.run_to_approved_candidate(folder, acting)
    return acting


@pytest.mark.requirement("M31", "M38")
def test_a_head_who_verifies_is_warned_of_and_on_record_everywhere(tmp_path, capsys):
    people = prepare(tmp_path / "p", "ana")
    report = status(tmp_path / "p")
    assert len(report.warnings) == 1
    assert "Ana Rojas (jefatura responsable, quien verifica)" in report.warnings[0]
    assert report.as_dict()["warnings"] == list(report.warnings)
    main(["status", str(tmp_path / "p")])
    assert "Advertencia: " in capsys.readouterr().out
    release = make_release(tmp_path / "p", now=NOW).folder
    [paper] = [to_text(document) for document in read_forms(release).documents if "Anexo I" in document.title]
    assert "Actúa en más de un rol: Ana Rojas" in " ".join(paper.split())
    for role, person in people.items():
        sign_release(release, tmp_path / "p", person, role, now=NOW)
    verified = verify_release(release)
    [rule] = [result for result in verified.rules if result.rule == "separate_people"]
    assert rule.state is State.FAILS
    assert rule.passes  # advice: it stops nothing
    assert rule.measured == {"overlaps": {"Ana Rojas": ["head", "verifier"]}}
    assert verified.holds


@pytest.mark.requirement("M31", "M33")
def test_the_form_lists_who_verified_and_not_everybody_who_might_have(tmp_path):
    prepare(tmp_path / "p", "carla")
    report = status(tmp_path / "p")
    assert report.warnings == ()  # Ana may verify, but did not
    paper = to_text(minsal_form(collect_document_input(open_project(tmp_path / "p"), NOW), "es"))
    line = next(line for line in paper.splitlines() if "verificar correcta anonimización" in line)
    assert "Carla Díaz" in line
    assert "Ana Rojas" not in line
