"""A project is a value: it stays as it was read until somebody asks for it again, or takes a lock."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from celosia.pipeline.project.edits import add_person, edit_settings
from celosia.pipeline.project.errors import EditedMeanwhile, NotAProject
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import open_for_editing, open_for_signing, open_project
from tests.projects.steps import PUBLIC_KEY, edit_dictionary
from tests.projects.survey import make_project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "p")


def test_a_project_stays_as_it_was_read_until_it_is_read_again(folder: Path) -> None:
    project = open_project(folder)
    purpose, digest = project.variables[2].purpose, project.dictionary_digest
    edit_dictionary(folder, SEXO={"purpose": "otro propósito"})
    assert (project.variables[2].purpose, project.dictionary_digest) == (purpose, digest)
    again = project.reread()
    assert again.variables[2].purpose == "otro propósito"
    assert again.dictionary_digest == digest_of_file(folder / "dictionary.csv") != digest


def test_a_project_that_is_open_is_not_opened_again(folder: Path) -> None:
    project = open_project(folder)
    assert open_project(project) is project
    with pytest.raises(FrozenInstanceError):
        project.folder = folder.parent


def test_under_a_lock_the_project_is_read_again(folder: Path) -> None:
    project = open_project(folder)
    assert project.people == ()
    add_person(folder, "Ana Rojas", ["head"], PUBLIC_KEY)
    with open_for_signing(project) as current:
        assert [person.name for person in current.people] == ["Ana Rojas"]
    assert project.people == ()


def test_an_edit_is_made_on_the_settings_that_were_shown(folder: Path) -> None:
    project = open_project(folder)
    assert project.settings_digest == digest_of_file(folder / "celosia.toml")
    with edit_settings(project, project.settings_digest) as document:
        document["memory"] = "1GB"
    assert project.reread().config == replace(project.config, memory="1GB")
    with pytest.raises(EditedMeanwhile), open_for_editing(project, project.paths.settings, project.settings_digest):
        pytest.fail("the settings were edited since")


def test_no_lock_is_left_where_there_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(NotAProject), open_for_signing(tmp_path):
        pytest.fail("there is no project")
    assert list(tmp_path.iterdir()) == []
