"""A process killed at any moment leaves the old state or the new one, and what it left is swept away."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from celosia import system
from celosia.data.engines.duckdb import DuckDBEngine
from celosia.storage import (
    FolderUnwritable,
    atomic_write,
    is_private,
    make_private_folder,
    remove_abandoned_folders,
    temporary_folder_beside,
    write_error,
)

KILLED = """
import os, signal, sys
from pathlib import Path
from celosia.storage import atomic_write
with atomic_write(Path(sys.argv[1])) as draft:
    draft.write_text("half of it")
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
"""


def test_a_killed_writer_leaves_the_old_file_and_its_remains_can_be_swept(tmp_path: Path) -> None:
    target = tmp_path / "t.txt"
    target.write_text("old")
    subprocess.run([sys.executable, "-c", KILLED, str(target)], timeout=60)
    assert target.read_text() == "old"
    left = [path for path in tmp_path.iterdir() if path != target]
    assert [is_private(path) for path in left] == [True]
    with temporary_folder_beside(target) as mine:
        assert [path for path in tmp_path.iterdir() if path != target] == [mine]
        assert remove_abandoned_folders(tmp_path) == 0
    assert list(tmp_path.iterdir()) == [target]


SPILLED = """
import os, signal, sys
from pathlib import Path
from celosia.data.engines.duckdb import DuckDBEngine
DuckDBEngine(spill=Path(sys.argv[1]))
os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
"""


def test_what_a_killed_engine_spilled_goes_when_the_next_one_opens(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", SPILLED, str(tmp_path)], timeout=60)
    (left,) = tmp_path.iterdir()
    other_machine = tmp_path / "celosia-999999999-00000000-x"
    other_machine.mkdir()
    first, second = DuckDBEngine(spill=tmp_path), DuckDBEngine(spill=tmp_path)
    assert not left.exists()
    assert len(list(tmp_path.iterdir())) == 3
    first.close()
    second.close()
    assert list(tmp_path.iterdir()) == [other_machine]


def test_a_file_is_new_or_old_and_private(tmp_path: Path) -> None:
    target = tmp_path / "t.txt"
    with atomic_write(target) as draft:
        draft.write_text("new")
        assert not target.exists()
        assert is_private(draft.parent)
    assert target.read_text() == "new"
    assert is_private(target)
    assert system.WINDOWS or stat.S_IMODE(os.stat(target).st_mode) == 0o600


def test_a_private_folder_is_closed_to_others(tmp_path: Path) -> None:
    folder = make_private_folder(tmp_path / "a" / "b")
    assert is_private(folder)
    assert system.WINDOWS or stat.S_IMODE(folder.stat().st_mode) == 0o700
    (tmp_path / "file").write_text("x")
    with pytest.raises(FolderUnwritable):
        make_private_folder(tmp_path / "file" / "b")


def test_a_full_disk_is_told_by_a_place_that_is_still_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = OSError(errno.ENOSPC, "")
    with temporary_folder_beside(tmp_path / "candidate") as scratch:
        assert write_error(full, scratch / "candidate").values["path"] == str(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert write_error(full, Path("t.csv").parent).values["path"] == str(tmp_path)
    assert write_error(full, Path("project/private")).values["path"] == str(Path("project/private"))
