"""`init`: a raw file becomes a project folder, whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from celosia.demo.synthetic.discharges import write_discharges
from celosia.errors import BadInput
from celosia.model.errors import DictionaryDisagrees
from celosia.model.variables import Role
from celosia.pipeline.intake.dictionary_files import check_dictionary, export_dictionary, import_dictionary
from celosia.pipeline.intake.errors import DictionaryNeeded
from celosia.pipeline.intake.init_project import _staging_folder, init
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.journal import read_journal
from celosia.storage import AlreadyExists, FolderUnwritable

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> Path:
    return write_discharges(tmp_path_factory.mktemp("raw") / "egresos.csv", 1_500, 7)


@pytest.fixture(scope="module")
def project(raw, tmp_path_factory):
    into = tmp_path_factory.mktemp("projects") / "egresos"
    return init(str(raw), into, ("minsal",), now=NOW, drop=("MES_EGRESO",))


@pytest.mark.requirement("M01", "M02")
def test_the_folder_of_the_design_is_written_and_every_variable_has_a_role(project):
    folder = project.project.folder
    expected = {"celosia.toml", "dictionary.csv", "hierarchies", "journal.jsonl", "private"}
    assert {path.name for path in folder.iterdir()} == expected
    assert all(variable.role is not None for variable in open_project(folder).variables)
    roles = {variable.name: variable.role for variable in project.variables}
    assert roles["RUN"] == roles["NOMBRE"] == roles["CORREO"] == Role.IDENTIFIER
    assert roles["SEXO"] == roles["COMUNA"] == Role.QUASI
    assert roles["DIAG1"] == Role.SENSITIVE


def test_private_is_for_its_owner_alone(project):
    private = project.project.folder / "private"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in private.iterdir())


@pytest.mark.requirement("M22")
def test_a_column_left_out_at_import_appears_nowhere_in_the_data_or_dictionary(project):
    import pyarrow.parquet as pq

    folder = project.project.folder
    assert "MES_EGRESO" not in [variable.name for variable in project.variables]
    assert "MES_EGRESO" not in (folder / "dictionary.csv").read_text("utf-8")
    assert b"MES_EGRESO" not in (folder / "private" / "working.parquet").read_bytes()
    assert pq.read_metadata(folder / "private" / "working.parquet").num_columns == len(project.variables)


def test_the_person_key_is_found_and_the_reading_recorded(project):
    config = open_project(project.project.folder).config
    assert config.person == "RUN"
    assert (config.source.choices.encoding, config.source.choices.delimiter) == ("latin-1", ";")
    assert "encoding" in config.source.choices.guessed
    assert config == project.project.config


def test_the_journal_begins_with_the_digest_of_the_source(project):
    first = read_journal(project.project.paths.journal).entries[0]
    assert first["what"] == "init"
    assert first["facts"]["source"] == project.project.config.source.digest


def test_no_person_of_the_file_appears_outside_private(project, raw):
    people = {line.split(";")[1] for line in raw.read_text("latin-1").splitlines()[1:200]}
    folder = project.project.folder
    written = "".join(path.read_text("utf-8") for path in folder.iterdir() if path.is_file())
    assert not [name for name in people if name and name in written]


def test_an_existing_folder_is_not_overwritten(project, raw):
    with pytest.raises(AlreadyExists):
        init(str(raw), project.project.folder, now=NOW)


def test_of_two_who_make_a_folder_at_once_the_second_is_told_that_it_is_there(tmp_path):
    folder = tmp_path / "p"
    with pytest.raises(AlreadyExists), _staging_folder(folder):
        (folder / "private").mkdir(parents=True)
    assert [path.name for path in tmp_path.rglob("*")] == ["p", "private"]


def test_a_source_that_cannot_be_read_leaves_no_folder(tmp_path):
    bad = tmp_path / "vacio.csv"
    bad.write_bytes(b"")
    with pytest.raises(BadInput):
        init(str(bad), tmp_path / "proyecto", now=NOW)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["vacio.csv"]


def test_a_folder_that_cannot_be_made_is_a_clear_refusal(raw, tmp_path):
    (tmp_path / "archivo").write_text("")
    with pytest.raises(FolderUnwritable):
        init(str(raw), tmp_path / "archivo" / "proyecto", now=NOW)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are letters")
def test_a_name_in_bytes_that_are_no_letters_makes_a_project(raw, tmp_path):
    source, into = (tmp_path / os.fsdecode(name) for name in (b"mal\xff.csv", b"mal\xff"))
    shutil.copy(raw, source)
    made = init(source, into=into, now=NOW)
    assert (made.project.config.name, open_project(into).config.source.name) == ("mal\ufffd", "mal\ufffd.csv")


@pytest.mark.requirement("P01")
def test_mel_does_not_start_without_a_dictionary(raw, tmp_path):
    with pytest.raises(DictionaryNeeded):
        init(str(raw), tmp_path / "p", ("mel",), now=NOW)


@pytest.mark.requirement("P01", "M08")
def test_a_dictionary_that_misses_a_column_is_refused_by_its_name(raw, tmp_path):
    header = raw.read_text("latin-1").splitlines()[0].split(";")
    own = tmp_path / "diccionario.csv"
    own.write_text("Variable,Descripción\n" + "".join(f"{name},x\n" for name in header if name != "DIAG2"), "utf-8")
    with pytest.raises(DictionaryDisagrees, match="DIAG2"):
        init(str(raw), tmp_path / "p", ("mel",), own, now=NOW)
    own.write_text("Variable,Descripción\n" + "".join(f"{name},de {name}\n" for name in header), "utf-8")
    made = init(str(raw), tmp_path / "p", ("mel",), own, now=NOW)
    assert {variable.label for variable in made.variables if variable.name == "DIAG2"} == {"de DIAG2"}


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_the_dictionary_goes_out_to_a_workbook_and_back(project, tmp_path, suffix):
    folder = Path(shutil.copytree(project.project.folder, tmp_path / "p"))
    before = open_project(folder).variables
    export_dictionary(folder, tmp_path / f"d{suffix}")
    assert import_dictionary(folder, tmp_path / f"d{suffix}", now=NOW) == 0
    assert open_project(folder).variables == before


@pytest.mark.requirement("M06")
def test_nothing_is_published_until_a_purpose_is_stated(project):
    state = check_dictionary(project.project.folder)
    assert state.published == ()
    assert "SEXO" in state.without_purpose
    assert state.without_role == ()


def test_init_killed_in_mid_work_leaves_no_project(raw, tmp_path):
    code = (
        "import sys, threading, os, time\n"
        "threading.Timer(float(sys.argv[3]), lambda: os._exit(9)).start()\n"
        "from celosia.cli import main\n"
        "main(['init', sys.argv[1], '--into', sys.argv[2]])\n"
    )
    for delay in ("0.4", "0.9", "1.5"):
        target = tmp_path / f"p{delay}"
        subprocess.run([sys.executable, "-c", code, str(raw), str(target), delay], capture_output=True, check=False)
        assert not target.exists() or (target / "journal.jsonl").read_text().count("\n") == 1


def test_init_as_json_names_everything_without_a_cell(raw, tmp_path, capsys):
    from celosia.cli import main

    assert main(["init", str(raw), "--into", str(tmp_path / "p"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["format"] == "celosia/init/1"
    assert len(report["variables"]) == report["source"]["columns"]


def test_what_a_killed_init_left_is_swept_by_the_next(raw, tmp_path):
    code = (
        "import os, sys\n"
        "import celosia.pipeline.intake.init_project as prepare\n"
        "prepare._describe_variables = lambda *_: os._exit(9)\n"
        "prepare.init(sys.argv[1], __import__('pathlib').Path(sys.argv[2]))\n"
    )
    command = [sys.executable, "-c", code, str(raw), str(tmp_path / "a")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 9
    assert len(list(tmp_path.iterdir())) == 1  # the remains of the killed one
    init(str(raw), tmp_path / "b", now=NOW)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
