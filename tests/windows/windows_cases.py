"""What only Windows answers: run by its own Python, and collected on no other system.

python -m pytest tests/windows/windows_cases.py
"""

from __future__ import annotations

import ctypes
import ntpath
import socket
import sys
from pathlib import Path

import pytest

from celosia import messages, storage, system
from celosia.cli import main
from celosia.kernels import _cache
from celosia.storage import FileInUse, atomic_write, translate_read_errors
from celosia.system import access, memory, paths

assert system.WINDOWS
LINES = b"SEXO;EDAD;DIAG\n" + b"M;30;J18\nH;40;I10\n" * 40


def test_a_file_that_a_program_holds_open_is_named_and_stays(tmp_path: Path) -> None:
    target = tmp_path / "data.csv"
    target.write_bytes(b"old")
    with target.open("rb"), pytest.raises(FileInUse) as refused, atomic_write(target) as draft:
        draft.write_bytes(b"new")
    assert refused.value.values["path"] == str(target)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_a_program_reads_alone_is_said_to_be_in_use(tmp_path: Path) -> None:
    path = tmp_path / "egresos.csv"
    path.write_bytes(LINES)
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    kernel.CreateFileW.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(kernel.CreateFileW(str(path), 0x80000000, 0, None, 3, 0, None))
    try:
        with pytest.raises(FileInUse), translate_read_errors(path):
            path.read_bytes()
    finally:
        kernel.CloseHandle(handle)
    assert path.read_bytes() == LINES


def test_a_worker_joins_its_job_and_the_machine_knows_its_memory() -> None:
    size = memory.machine_memory()
    assert size is not None
    assert memory._join_limited_job(size)


def test_an_access_list_names_people_by_letters_or_in_full(tmp_path: Path) -> None:
    assert access._identifier("SY") == "S-1-5-18"
    assert access._identifier("BA") == "S-1-5-32-544"
    assert access._own_name().startswith("S-1-5-")
    folder = storage.make_private_folder(tmp_path / "private")
    assert storage.is_private(folder)


def test_compiled_kernels_lie_in_a_private_folder_of_the_profile() -> None:
    folder = _cache.cache_folder()
    assert folder is not None
    assert _cache.is_private(folder)


def test_windows_says_its_language() -> None:
    assert messages._windows_language() > 0


def test_nobody_else_takes_the_port_of_the_page() -> None:
    from celosia.web.server.serve import Listening, _open_socket

    with _open_socket(Listening()) as listener, socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError):
            other.bind(listener.getsockname())


@pytest.mark.parametrize("prefix", [False, True], ids=["long paths on", "long paths off"])
def test_a_project_whose_path_passes_260_signs_is_made_and_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], prefix: bool
) -> None:
    # Wine asks for the final name of a path with a buffer of 260 signs; Windows does not.
    monkeypatch.setattr(ntpath, "realpath", lambda path, strict=False: ntpath.abspath(path))
    monkeypatch.setattr(paths, "_opens_long_paths", lambda: not prefix)
    home = tmp_path.joinpath(*["Estadísticas vitales del año 2024"] * 6)
    home.mkdir(parents=True)
    source, project = home / "egresos.csv", home / "egresos"
    assert len(str(source)) > 260
    source.write_bytes(LINES)
    assert str(paths.usable_path(source)).startswith("\\\\?\\") is prefix
    assert main(["init", str(source), "--into", str(project)]) == 0
    assert main(["measure", str(source), "--quasi", "SEXO,EDAD", "--sensitive", "DIAG"]) == 0
    assert main(["profile", str(project)]) == 0
    assert "\\\\?\\" not in capsys.readouterr().out
    assert not list(home.rglob(".celosia-*"))


def test_processes_are_started_anew() -> None:
    import multiprocessing

    assert sys.platform == "win32"
    assert multiprocessing.get_start_method() == "spawn"
