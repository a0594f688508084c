"""The projects of a folder: listed with what blocks each, made from files inside it, demonstrations of each norm."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from celosia import messages
from celosia.demo.project import demo_project
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.intake.dictionary_files import check_dictionary
from celosia.pipeline.intake.profile import profile_report
from celosia.pipeline.project.errors import PasswordInAddress
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.saved_reports import saved_report
from celosia.pipeline.release.status import status
from celosia.storage import FileMissing
from celosia.workbench.errors import OutsideProjects
from celosia.workbench.projects import create_project, list_projects, proposed_name
from tests.projects.survey import PLANTED, make_project, write_source

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def test_a_list_says_where_each_project_stands_and_what_blocks_it(tmp_path: Path) -> None:
    make_project(tmp_path / "p")
    (project,) = list_projects(tmp_path).projects
    assert (project.folder, project.protocols, project.rows, project.columns) == ("p", ("minsal",), 120, 6)
    report = status(tmp_path / "p")
    assert project.command == report.next
    assert project.reason in {gate.reason for gate in report.gates}
    assert project.gates == len(report.gates)
    assert not project.broken


def test_a_broken_project_is_named_with_its_sentence_and_hides_no_other(tmp_path: Path) -> None:
    make_project(tmp_path / "p")
    (tmp_path / "roto").mkdir()
    (tmp_path / "roto" / "celosia.toml").write_text("format = ", "utf-8")
    lines = {line.folder: line for line in list_projects(tmp_path).projects}
    assert set(lines) == {"p", "roto"}
    assert lines["roto"].broken
    assert "celosia.toml" in lines["roto"].problems[0]


def test_only_what_lies_directly_inside_is_listed(tmp_path: Path) -> None:
    outside, root = tmp_path / "fuera", tmp_path / "raiz"
    outside.mkdir()
    (root / ".oculto").mkdir(parents=True)
    make_project(outside / "p")
    (root / "enlace").symlink_to(outside / "p")
    (root / "enlace.csv").symlink_to(outside / "encuesta.csv")
    (root / "datos.csv").write_text("a,b\n1,2\n", "utf-8")
    (root / "notas.pdf").write_bytes(b"%PDF")
    listed = list_projects(root)
    assert listed.projects == ()
    assert [file.name for file in listed.files] == ["datos.csv"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        list_projects(tmp_path / "nada")


def test_a_project_is_made_from_a_file_inside_the_root(tmp_path: Path) -> None:
    source = write_source(tmp_path / "encuesta.csv")
    made = create_project(tmp_path, "uno", source, ("minsal",), person="RUT", drop=["DIAG"], now=NOW)
    assert made.project.folder == tmp_path / "uno"
    assert open_project(tmp_path / "uno").config.source.choices.dropped == ("DIAG",)


@pytest.mark.parametrize("name", ["../x", "/x", "a/b", ".x", "", "x\0", "..", "con\nlinea", "punto."])
def test_a_name_that_leads_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(OutsideProjects):
        create_project(tmp_path, name, write_source(tmp_path / "encuesta.csv"))


def test_a_source_or_dictionary_outside_the_root_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "raiz"
    root.mkdir()
    source = write_source(tmp_path / "encuesta.csv")
    (root / "enlace.csv").symlink_to(source)
    inside = write_source(root / "dentro.csv")
    for tried in (source, root / "enlace.csv", "/etc/passwd", root / ".." / "encuesta.csv"):
        with pytest.raises(OutsideProjects):
            create_project(root, "uno", tried)
    with pytest.raises(OutsideProjects):
        create_project(root, "uno", inside, given_dictionary=tmp_path / "d.csv")
    assert not (root / "uno").exists()


@pytest.mark.parametrize("address", ["postgresql://u:clave@h/b", "postgresql://h/b?password=clave", "postgres://[::"])
def test_an_address_with_a_password_is_refused_and_not_repeated(address: str, tmp_path: Path) -> None:
    with pytest.raises(PasswordInAddress) as caught:
        create_project(tmp_path, "uno", address)
    assert "clave@" not in str(caught.value)


def test_the_address_of_a_database_is_kept_nowhere(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE origen AS SELECT i::text AS id, 'H' AS sexo FROM generate_series(1, 30) i")
    try:
        monkeypatch.setenv("BASE", postgres_url)
        folder = create_project(tmp_path, "uno", "env:BASE", ("minsal",), table="origen", now=NOW).project.folder
    finally:
        with psycopg.connect(postgres_url) as connection:
            connection.execute("DROP TABLE origen")
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert postgres_url.encode() not in content


def test_a_free_name_is_proposed(tmp_path: Path) -> None:
    assert proposed_name(tmp_path, "Egresos 2024.csv") == "egresos-2024"
    (tmp_path / "egresos-2024").mkdir()
    assert proposed_name(tmp_path, "Egresos 2024.csv") == "egresos-2024-2"


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("norm", ["atenea", "mel"])
def test_a_demonstration_has_labels_and_purposes(norm: str, language: str, tmp_path: Path) -> None:
    with messages.speaking(language):
        folder = demo_project(tmp_path, norm, now=NOW).project.folder
        assert folder == tmp_path / f"demo-{norm}"
        assert all(variable.label for variable in open_project(folder).variables)
        assert check_dictionary(folder).published
        assert [path.name for path in tmp_path.iterdir()] == [folder.name]


@pytest.mark.slow
def test_a_second_demonstration_takes_another_name(tmp_path: Path) -> None:
    demo_project(tmp_path, "minsal", now=NOW)
    assert demo_project(tmp_path, "minsal", now=NOW).project.folder.name == "demo-minsal-2"
    assert open_project(tmp_path / "demo-minsal").config.person == "RUN"


def test_an_unknown_demonstration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueOutOfRange):
        demo_project(tmp_path, "otra")


def test_a_profile_is_kept_and_grows_old_with_the_dictionary(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p")
    made = profile_report(folder, now=NOW)
    saved = saved_report(folder, "profile")
    assert saved is not None
    assert saved.document["rows"] == made.rows == 120
    assert PLANTED not in str(saved.document)
    assert not saved.stale
    path = folder / "dictionary.csv"
    path.write_text(path.read_text("utf-8").replace("Etiqueta de", "Nombre de"), "utf-8")
    again = saved_report(folder, "profile")
    assert again is not None
    assert again.stale
