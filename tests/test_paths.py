"""Names and paths as the three systems take them; here the answers of Windows and macOS are played."""

from __future__ import annotations

import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path

import pytest

from celosia import messages, storage, system
from celosia.cli import main
from celosia.data.readers.folder import parts_in
from celosia.hierarchy.csv import read_csv
from celosia.pipeline.intake.init_project import folder_name
from celosia.system import paths
from celosia.workbench.projects import list_sources, proposed_name

TOGETHER = "Región de Ñuble"
APART = unicodedata.normalize("NFD", TOGETHER)
DEEP = "\\".join(["C:", "Usuarios", "María Fernández", "OneDrive - Ministerio", *["Estadísticas vitales"] * 6])
ON_SHARE = DEEP.replace("C:", "\\\\servidor\\datos")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Windows as it is installed: without long paths."""
    monkeypatch.setattr(system, "WINDOWS", True)
    monkeypatch.setattr(paths, "_opens_long_paths", lambda: False)


# --- long paths, drives and shares ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "opened"),
    [
        ("C:\\datos\\egresos 2024.csv", "C:\\datos\\egresos 2024.csv"),
        ("\\\\servidor\\datos\\egresos.csv", "\\\\servidor\\datos\\egresos.csv"),
        (DEEP, f"\\\\?\\{DEEP}"),
        (DEEP.replace("\\", "/"), f"\\\\?\\{DEEP}"),
        (f"{DEEP}\\..\\otra", f"\\\\?\\{DEEP.rpartition(chr(92))[0]}\\otra"),
        (ON_SHARE, f"\\\\?\\UNC{ON_SHARE[1:]}"),
        (f"\\\\?\\{DEEP}", f"\\\\?\\{DEEP}"),
    ],
    ids=["short", "share", "long", "strokes", "upwards", "long share", "already"],
)
def test_a_path_that_may_become_too_long_is_opened_without_the_limit(windows: None, named: str, opened: str) -> None:
    assert str(paths.usable_path(Path(named))) == opened


def test_a_windows_that_opens_long_paths_gets_them_as_they_are(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "_opens_long_paths", lambda: True)
    assert str(paths.usable_path(Path(DEEP))) == str(Path(DEEP))


@pytest.mark.parametrize("path", [DEEP, ON_SHARE], ids=["drive", "share"])
def test_a_sentence_names_a_long_path_as_the_person_did(windows: None, path: str) -> None:
    opened = paths.usable_path(Path(path))
    assert str(opened) != path
    with messages.speaking("es"):
        assert f"«{path}»" in str(storage.FileMissing(path=str(opened)))
        assert f"«{path}»" in str(storage.FileMissing(path=opened))


@pytest.mark.parametrize("name", ["a b.db", "100 %41.db", "año#1?.db", "¿qué.db"])
def test_sqlite_opens_every_name_and_never_by_a_host(tmp_path: Path, name: str) -> None:
    path = tmp_path / (name.replace("?", "") if system.WINDOWS else name)
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE t (a)")
        made.commit()
    address = storage.sqlite_address(path, "ro")
    assert not address.startswith("file://")
    with closing(sqlite3.connect(address, uri=True)) as opened:
        assert opened.execute("SELECT count(*) FROM t").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError):
            opened.execute("DROP TABLE t")


# --- accents ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("on_disk", "typed"), [(APART, TOGETHER), (TOGETHER, APART)], ids=["from macOS", "to macOS"])
def test_a_name_with_its_accents_apart_is_the_same_name(tmp_path: Path, on_disk: str, typed: str) -> None:
    (tmp_path / on_disk).mkdir()
    (tmp_path / on_disk / f"{on_disk}.csv").write_bytes(b"Los Lagos;Sur\nMaule;Centro\n")
    found = paths.usable_path(tmp_path / typed / f"{typed}.csv")
    assert found.is_file()
    assert read_csv(tmp_path / typed / f"{typed}.csv", "region")[0].height == 1
    new = paths.usable_path(tmp_path / typed / "nuevo año.csv")
    assert new.parent.is_dir()
    assert new.name == "nuevo año.csv"


def test_windows_finds_a_name_with_its_accents_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "WINDOWS", True)
    monkeypatch.setattr(paths, "_opens_long_paths", lambda: True)
    (tmp_path / f"{APART}.csv").write_bytes(b"SEXO\n")
    assert paths.usable_path(tmp_path / f"{TOGETHER}.csv").is_file()


def test_a_command_finds_a_file_that_came_from_macos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / f"{APART}.csv").write_bytes(b"SEXO,EDAD\n" + b"M,3\nH,4\n" * 20)
    assert main(["measure", str(tmp_path / f"{TOGETHER}.csv"), "--quasi", "SEXO,EDAD"]) == 0
    assert main(["measure", str(tmp_path / "Región.csv"), "--quasi", "SEXO,EDAD"]) == 2
    assert "Región.csv" in capsys.readouterr().err


# --- names that a system keeps for itself -----------------------------------------------------------


@pytest.mark.parametrize("name", ["con", "AUX.csv", "nul.tar.gz", "lpt9", "prn "])
def test_no_file_is_named_as_a_device(name: str) -> None:
    changed = paths.unreserved_name(name)
    assert changed.partition(".")[0] == f"{name.partition('.')[0]}_"
    assert paths.unreserved_name(changed) == changed


@pytest.mark.parametrize("name", ["console.csv", "aux2", "com10", "conversión.csv", ".con"])
def test_names_that_only_resemble_a_device_stay(name: str) -> None:
    assert paths.unreserved_name(name) == name


def test_a_project_made_from_a_table_called_aux_has_a_folder_that_windows_can_make() -> None:
    assert folder_name("registros.aux".rpartition(".")[2]) == "aux_"


def test_a_name_that_differs_in_capitals_alone_is_taken(tmp_path: Path) -> None:
    (tmp_path / "Egresos").mkdir()
    assert proposed_name(tmp_path, "EGRESOS.csv") == "egresos-2"


def test_files_of_an_explorer_and_of_an_open_workbook_are_no_data(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(b"a\n1\n")
    (tmp_path / "C.csv").write_bytes(b"a\n1\n")
    for name in ("Thumbs.db", "desktop.ini", ".DS_Store", "._b.csv", "~$egresos.xlsx"):
        (tmp_path / name).write_bytes(b"x")
    assert [path.name for path in parts_in(tmp_path)] == ["C.csv", "b.csv"]
    assert [source.name for source in list_sources(tmp_path)] == ["C.csv", "b.csv"]


# --- what to type -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("on_windows", "path", "word"),
    [
        (False, "/datos/año 2024", "'/datos/año 2024'"),
        (False, "/datos/2024", "/datos/2024"),
        (True, "C:\\datos\\año_2024", "C:\\datos\\año_2024"),
        (True, "C:\\datos\\año 2024", '"C:\\datos\\año 2024"'),
        (True, "C:\\I&D (nuevo)", '"C:\\I&D (nuevo)"'),
    ],
)
def test_a_path_is_shown_as_the_shell_of_the_system_takes_it(
    monkeypatch: pytest.MonkeyPatch, on_windows: bool, path: str, word: str
) -> None:
    monkeypatch.setattr(system, "WINDOWS", on_windows)
    assert paths.shell_word(path) == word
