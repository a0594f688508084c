"""What Windows does otherwise, tried on every system: here its answers are played, under Windows they are its own."""

from __future__ import annotations

import errno
import os
import plistlib
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from celosia import messages, storage, system
from celosia.storage import FileInUse, FileUnreadable, FolderUnwritable, atomic_write, exclusive_lock, replace_folder
from celosia.system import access, memory

SET_MODE = access.set_mode


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the calls that are made on Windows."""
    if not system.WINDOWS:
        monkeypatch.setattr(access, "set_mode", lambda path, mode: path.chmod(mode))
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


@pytest.fixture
def macos(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Take the calls that are made on macOS; the commands that reach the disk."""
    commands: list[int] = []
    monkeypatch.setattr(system, "MACOS", True)
    monkeypatch.setattr(system, "WINDOWS", False)
    monkeypatch.setitem(sys.modules, "fcntl", SimpleNamespace(fcntl=lambda handle, command: commands.append(command)))
    return commands


def test_macos_is_asked_for_the_disk_itself_and_not_for_its_memory(
    macos: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: pytest.fail("fsync stops at the memory of the disk there"))
    (tmp_path / "t.txt").write_bytes(b"x")
    storage.sync(tmp_path / "t.txt")
    assert macos == [51]


def test_a_disk_of_a_network_that_knows_no_full_flush_is_flushed_as_it_can(
    macos: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int, command: int) -> None:
        raise OSError(errno.ENOTSUP, "")

    flushed: list[int] = []
    monkeypatch.setitem(sys.modules, "fcntl", SimpleNamespace(fcntl=refuse))
    monkeypatch.setattr(os, "fsync", flushed.append)
    (tmp_path / "t.txt").write_bytes(b"x")
    storage.sync(tmp_path / "t.txt")
    assert len(flushed) == 1


def test_a_folder_that_a_disk_cannot_flush_is_left_and_a_file_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int) -> None:
        raise OSError(errno.EINVAL, "")

    monkeypatch.setattr(os, "fsync", refuse)
    storage.sync(tmp_path)
    (tmp_path / "t.txt").write_bytes(b"x")
    with pytest.raises(OSError, match=str(errno.EINVAL)):
        storage.sync(tmp_path / "t.txt")


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


def test_what_a_dead_process_left_is_swept_after_the_network_named_the_machine_anew(
    macos: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "_host_identifier", lambda: "0f")
    monkeypatch.setattr(system, "is_process_alive", lambda process: False)
    monkeypatch.setattr("platform.node", lambda: "MacBook.local")
    left = storage.private_tempdir(tmp_path)
    monkeypatch.setattr("platform.node", lambda: "MacBook.ministerio.example")
    assert storage.remove_abandoned_folders(tmp_path) == 1
    assert not left.exists()


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


def test_personal_data_that_an_antivirus_holds_go_a_moment_later(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, tries, really = tmp_path / "data.csv", [0], shutil.rmtree

    def remove(folder: Path, ignore_errors: bool = False) -> None:
        tries[0] += 1
        if tries[0] > 1:
            really(folder, ignore_errors=ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", remove)
    with atomic_write(target) as draft:
        draft.write_bytes(b"new")
    assert list(tmp_path.iterdir()) == [target]


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


@pytest.mark.parametrize(("last_error", "error"), [(32, FileInUse), (5, FileUnreadable)], ids=["held", "forbidden"])
def test_windows_is_asked_why_a_file_cannot_be_opened(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last_error: int, error: type[Exception]
) -> None:
    kernel = SimpleNamespace(CreateFileW=lambda *_: system._NO_HANDLE, GetLastError=lambda: last_error)
    monkeypatch.setattr(system, "_kernel32", lambda: kernel)
    with pytest.raises(error), storage.translate_read_errors(tmp_path / "t.csv"):
        raise PermissionError(errno.EACCES, "", str(tmp_path / "t.csv"))


def test_a_file_that_another_program_reads_alone_is_said_to_be_in_use(tmp_path: Path) -> None:
    with pytest.raises(FileInUse), storage.translate_read_errors(tmp_path / "t.csv"):
        raise _fault(32, str(tmp_path / "t.csv"))
    with pytest.raises(FileUnreadable), storage.translate_read_errors(tmp_path / "t.csv"):
        raise PermissionError(errno.EACCES, "")


# --- who may read -----------------------------------------------------------------------------------------------------


def test_a_private_folder_is_private_by_what_the_disk_says(tmp_path: Path) -> None:
    folder = storage.make_private_folder(tmp_path / "private")
    assert storage.is_private(folder)
    with atomic_write(tmp_path / "key") as draft:
        draft.write_bytes(b"x")
    assert storage.is_private(tmp_path / "key")


@pytest.mark.parametrize("disk_has_lists", [True, False], ids=["NTFS", "FAT"])
def test_windows_gets_an_access_list_in_place_of_a_mode(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk_has_lists: bool
) -> None:
    closed: set[Path] = set()
    system_alone, everybody = "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;S-1-5-21-7)", "D:AI(A;OICIID;0x1200a9;;;WD)"
    monkeypatch.setattr(access, "set_mode", SET_MODE)
    monkeypatch.setattr(access, "_own_name", lambda: "S-1-5-21-7")
    monkeypatch.setattr(access, "_identifier", lambda name: {"SY": "S-1-5-18", "WD": "S-1-1-0"}.get(name, name))
    monkeypatch.setattr(access, "_close_to_others", lambda path: closed.add(path) if disk_has_lists else None)
    monkeypatch.setattr(access, "_open_as_above", closed.discard)
    monkeypatch.setattr(access, "_access", lambda path: system_alone if path in closed else everybody)
    assert not storage.is_private(tmp_path)
    folder = storage.make_private_folder(tmp_path / "private")
    assert storage.is_private(folder) is disk_has_lists
    storage.set_mode(folder, 0o755)
    assert not storage.is_private(folder)
    monkeypatch.setattr(access, "_access", lambda path: "")
    assert not storage.is_private(folder)


# --- memory -----------------------------------------------------------------------------------------------------------


def test_the_machine_says_how_much_memory_it_has() -> None:
    size = memory.machine_memory()
    assert size is not None
    assert size > 10**8


def test_a_worker_on_windows_joins_a_job_with_a_limit(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[tuple[int, int]] = []

    def tell(status: object) -> int:
        status._obj.physical = 8 * 10**9  # type: ignore[attr-defined]
        return 1

    def limit(job: object, kind: int, values: object, size: int) -> int:
        limits.append((values._obj.flags, values._obj.process_memory))  # type: ignore[attr-defined]
        assert size == 144
        return 1

    kernel = SimpleNamespace(
        GlobalMemoryStatusEx=tell,
        CreateJobObjectW=lambda security, name: 7,
        SetInformationJobObject=limit,
        AssignProcessToJobObject=lambda job, process: 1,
    )
    monkeypatch.setattr(memory, "_kernel32", lambda: kernel)
    memory.limit_memory(0.5)
    assert limits == [(0x100, 4 * 10**9)]


# --- language ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "language"), [(0x0409, "en"), (0x080A, "es"), (0x340A, "es"), (0x0416, "es"), (0, "es")]
)
def test_the_language_is_that_of_windows_unless_the_environment_asks(
    monkeypatch: pytest.MonkeyPatch, number: int, language: str
) -> None:
    monkeypatch.setattr(messages, "_windows_language", lambda: number)
    assert messages.preferred_language() == language
    monkeypatch.setenv("CELOSIA_LANG", "en")
    assert messages.preferred_language() == "en"


@pytest.mark.parametrize(
    ("settings", "language"),
    [
        ({"AppleLanguages": ["en-CL", "es"]}, "en"),
        ({"AppleLanguages": ["es-419"]}, "es"),
        ({"AppleLanguages": []}, "es"),
    ],
    ids=["English", "Spanish", "none"],
)
def test_a_double_click_on_macos_gets_the_language_of_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, list[str]], language: str
) -> None:
    for name in ("CELOSIA_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "Library" / "Preferences" / ".GlobalPreferences.plist"
    place.parent.mkdir(parents=True)
    place.write_bytes(plistlib.dumps(settings, fmt=plistlib.FMT_BINARY))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(messages, "_windows_language", lambda: 0)
    with monkeypatch.context() as macos:
        macos.setattr(sys, "platform", "darwin")
        assert messages.preferred_language() == language
