"""What Windows does otherwise, tried on every system: here its answers are played, under Windows they are its own."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from celosia import storage, system
from celosia.storage import FileInUse, FileUnreadable, FolderUnwritable, atomic_write, exclusive_lock, replace_folder


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the calls that are made on Windows."""
    monkeypatch.setattr(system, "WINDOWS", True)
    monkeypatch.setattr(system, "_MOVE_PAUSES", (0.0, 0.0))


class _WindowsFault(PermissionError):
    """An error as Windows raises it."""

    winerror: int | None = None


def _fault(number: int, *names: str) -> PermissionError:
    fault = _WindowsFault(errno.EACCES, "", names[0], None, *names[1:])
    fault.winerror = number
    return fault


# --- flushing ---------------------------------------------------------------------------------------------------------


def test_a_handle_that_is_flushed_can_be_written_and_a_folder_is_left_alone(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags: list[int] = []
    opened = os.open
    monkeypatch.setattr(os, "open", lambda path, flag, *mode: flags.append(flag) or opened(path, flag, *mode))
    (tmp_path / "t.txt").write_bytes(b"x")
    storage.sync(tmp_path / "t.txt")
    storage.sync(tmp_path)
    assert [flag & os.O_RDWR for flag in flags] == [os.O_RDWR]


# --- locks ------------------------------------------------------------------------------------------------------------


def test_a_lock_that_windows_refuses_is_asked_for_again(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [OSError(errno.EACCES, "taken"), OSError(errno.EDEADLK, "taken"), None]

    def locking(handle: int, kind: int, size: int) -> None:
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.setattr(system, "_LOCK_PAUSE", 0.0)
    system.lock_handle(0)
    assert answers == []


HOLDER = """
import sys, time
from pathlib import Path
from celosia.storage import exclusive_lock
with exclusive_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def test_a_lock_is_waited_for_until_its_holder_lets_go(tmp_path: Path) -> None:
    lock = tmp_path / ".lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(lock), "1.5"], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        began = time.monotonic()
        with exclusive_lock(lock):
            assert time.monotonic() - began > 0.5


def test_two_threads_of_one_process_wait_for_each_other(tmp_path: Path) -> None:
    inside: list[int] = []

    def work() -> None:
        with exclusive_lock(tmp_path / ".lock"):
            inside.append(1)
            assert len(inside) == 1
            time.sleep(0.05)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert inside == []


# --- processes --------------------------------------------------------------------------------------------------------


def test_a_process_that_ended_is_not_alive_and_one_that_runs_is() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert system.is_process_alive(child.pid)
        child.communicate(b"\n", timeout=60)
    assert not system.is_process_alive(child.pid)
    assert system.is_process_alive(os.getpid())
    assert system.is_process_alive(os.getppid())


@pytest.mark.parametrize(
    ("handle", "last_error", "wait", "alive"),
    [(0, 87, None, False), (0, 5, None, True), (7, 0, 0x102, True), (7, 0, 0, False)],
    ids=["no such process", "another person's", "running", "ended, and still known to somebody"],
)
def test_windows_is_asked_for_a_process_without_a_signal(
    windows: None, monkeypatch: pytest.MonkeyPatch, handle: int, last_error: int, wait: int | None, alive: bool
) -> None:
    closed: list[object] = []
    kernel = SimpleNamespace(
        OpenProcess=lambda access, inherit, process: handle,
        GetLastError=lambda: last_error,
        WaitForSingleObject=lambda handle, milliseconds: wait,
        CloseHandle=closed.append,
    )
    monkeypatch.setattr(system, "_kernel32", lambda: kernel)
    monkeypatch.setattr(os, "kill", lambda process, signal: pytest.fail("a signal ends a process on Windows"))
    assert system.is_process_alive(4242) is alive
    assert len(closed) == bool(handle)


# --- files in use -----------------------------------------------------------------------------------------------------


def test_a_file_that_excel_holds_is_named_with_the_way_out(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "data.csv"
    target.write_bytes(b"old")

    def replace(source: Path, target: Path) -> None:
        raise _fault(5, str(source), str(target))

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(FileInUse) as refused, atomic_write(target) as draft:
        draft.write_bytes(b"new")
    assert refused.value.values["path"] == str(target)
    assert "Ciérrelo" in str(refused.value)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_read_only_file_is_not_said_to_be_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    (tmp_path / "t").write_bytes(b"")
    assert isinstance(storage.write_error(_fault(5, "draft", str(tmp_path / "t")), tmp_path), FolderUnwritable)


def test_an_antivirus_that_reads_the_new_file_is_waited_for(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [_fault(32, "draft"), _fault(5, "draft", "target")]
    really = os.replace

    def replace(source: Path, target: Path) -> None:
        if refusals:
            raise refusals.pop()
        really(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with atomic_write(tmp_path / "t.txt") as draft:
        draft.write_bytes(b"new")
    assert (tmp_path / "t.txt").read_bytes() == b"new"


def test_a_folder_that_cannot_be_replaced_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, draft = tmp_path / "candidate", tmp_path / "draft"
    for folder, content in ((old, b"old"), (draft, b"new")):
        folder.mkdir()
        (folder / "data.csv").write_bytes(content)
    really = os.rename

    def rename(source: Path, target: Path) -> None:
        if source == draft:
            raise _fault(32, str(source), str(target))
        really(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(FileInUse):
        replace_folder(draft, old)
    assert (old / "data.csv").read_bytes() == b"old"


def test_a_file_that_another_program_reads_alone_is_said_to_be_in_use(tmp_path: Path) -> None:
    with pytest.raises(FileInUse), storage.translate_read_errors(tmp_path / "t.csv"):
        raise _fault(32, str(tmp_path / "t.csv"))
    with pytest.raises(FileUnreadable), storage.translate_read_errors(tmp_path / "t.csv"):
        raise PermissionError(errno.EACCES, "")
