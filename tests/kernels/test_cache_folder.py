"""Compiled kernels are kept in a folder of the user's own, or nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from celosia.kernels import _cache

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")


def test_the_folder_is_made_private(tmp_path: Path) -> None:
    folder = _cache.choose_folder({}, tmp_path)
    assert folder is not None
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.is_relative_to(tmp_path)


def test_a_folder_that_others_may_write_is_not_honoured(tmp_path: Path) -> None:
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    assert _cache.choose_folder({"NUMBA_CACHE_DIR": str(open_folder)}, tmp_path) != open_folder


def test_a_private_folder_that_the_user_names_is_honoured(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    assert _cache.choose_folder({"NUMBA_CACHE_DIR": str(own)}, tmp_path) == own


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = _cache.choose_folder({}, tmp_path)
    assert folder is not None
    folder.rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder.symlink_to(elsewhere)
    assert _cache.choose_folder({}, tmp_path) not in (folder, elsewhere)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that everybody may write, in a home that cannot be written."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    (tmp_path / ".cache").write_text("not a folder")
    return folder


def test_without_a_writable_home_kernels_are_kept_among_the_temporary_files(tmp_path: Path, temporary: Path) -> None:
    folder = _cache.choose_folder({}, tmp_path)
    assert folder is not None
    assert folder.parent == temporary
    assert folder.stat().st_mode & 0o777 == 0o700
    assert _cache.choose_folder({}, tmp_path) == folder


def test_temporary_files_that_others_may_rename_are_no_place_for_kernels(tmp_path: Path, temporary: Path) -> None:
    temporary.chmod(0o777)
    assert _cache.choose_folder({}, tmp_path) is None


def test_a_link_among_the_temporary_files_is_refused(tmp_path: Path, temporary: Path) -> None:
    folder = _cache.choose_folder({}, tmp_path)
    assert folder is not None
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert _cache.choose_folder({}, tmp_path) is None


def test_a_permissive_umask_does_not_open_the_folder(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = _cache.choose_folder({"XDG_CACHE_HOME": str(tmp_path / "x")}, tmp_path)
    finally:
        os.umask(before)
    assert folder is not None
    assert folder.stat().st_mode & 0o077 == 0


def run(code: str, home: Path, **more: str) -> str:
    """Run some lines in a fresh process with its own home."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], **more}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_room_and_the_criteria_do_not_load_numba(tmp_path: Path) -> None:
    code = "import sys, celosia.kernels, celosia.risk.criteria; print('numba' in sys.modules)"
    assert run(code, tmp_path) == "False"


@pytest.mark.slow
def test_kernels_are_written_to_the_private_folder_and_nowhere_else(tmp_path: Path) -> None:
    code = (
        "from celosia.kernels import rollup, cache_folder; import numpy as np;"
        "rollup.roll_sets(np.zeros(1, np.int32), 1, np.zeros(1, np.uint64));"
        "print(cache_folder())"
    )
    folder = Path(run(code, tmp_path))
    assert folder.is_relative_to(tmp_path)
    assert list(folder.rglob("*.nbc"))
    assert not list(Path(_cache.__file__).parent.rglob("*.nbc"))


@pytest.mark.slow
def test_without_a_folder_kernels_still_run_uncached(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("not a folder")
    code = (
        "from celosia.kernels import rollup, cache_folder; import numpy as np;"
        "rollup.roll_sets(np.zeros(1, np.int32), 1, np.ones(1, np.uint64));"
        "print(cache_folder())"
    )
    exposed = tmp_path / "exposed"
    exposed.mkdir()
    exposed.chmod(0o777)
    assert run(code, tmp_path, TMPDIR=str(exposed)) == "None"
