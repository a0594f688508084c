"""Atomic writes, locks and private folders: a process killed at any moment leaves the old state or the new one.

Knows temporary folders, private modes and what a full disk looks like. Ignores what is written.
Temporary folders are made beside the target (same disk, so that the last move is atomic), with mode 0700, and are named
after the process, so that the remains of a killed process can be told from what another process is using.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from celosia import system
from celosia.errors import BadInput, CelosiaError
from celosia.system import access


class FileMissing(BadInput, fields="path"):
    """There is no file at that path."""


class FileUnreadable(BadInput, fields="path"):
    """The file exists but may not be read."""


class FolderGiven(FileUnreadable, fields="path"):
    """A folder stands where a file was expected."""


class FolderUnwritable(BadInput, fields="path"):
    """The folder may not be written."""


class DiskFull(BadInput, fields="path"):
    """There is no room left to write; nothing was kept."""


class FileInUse(BadInput, fields="path"):
    """Another program has the file open, and this system lets nobody change it meanwhile."""


class AlreadyExists(BadInput, fields="path"):
    """Something is there that would be overwritten."""


PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
SCRATCH_PREFIX, SPILL_PREFIX = ".celosia-", "celosia-"
_FULL_DISK_NUMBERS = frozenset((errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG))
_FULL_DISK_WORDS = ("no space left", "disk quota", "file too large", "max_temp_directory_size", "disk full")


def make_private_folder(path: Path) -> Path:
    """Make the folder and its parents if absent, readable by its owner only; returns it."""
    with translate_write_errors(path):
        path.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        set_mode(path, PRIVATE_FOLDER)
    return path


def set_mode(path: Path, mode: int) -> None:
    """Give a file or folder its mode: its owner's alone, or open; by access lists where modes mean nothing."""
    with translate_write_errors(path):
        access.set_mode(path, mode)


def is_private(path: Path) -> bool:
    """Whether the disk keeps others out of a file or folder: some disks and shares cannot."""
    with translate_read_errors(path):
        return access.is_private(path)


@contextlib.contextmanager
def translate_write_errors(path: Path) -> Iterator[None]:
    """Raise our own errors for what the system reports while writing near `path`."""
    try:
        yield
    except OSError as fault:
        raise write_error(fault, path) from None


def write_error(fault: OSError, path: Path) -> CelosiaError:
    """Our error for a system's refusal to write."""
    if path_in_use := system.path_in_use(fault):
        return FileInUse(path=lasting_path(Path(path_in_use)))
    full = fault.errno in _FULL_DISK_NUMBERS or means_full_disk(str(fault))
    return (DiskFull if full else FolderUnwritable)(path=lasting_path(path))


def lasting_path(path: Path) -> str:
    """The path to name in a message: without our temporary folders, which are gone by then, and never `.` alone."""
    lasting_parts = Path(*itertools.takewhile(lambda part: not part.startswith(SCRATCH_PREFIX), path.parts))
    # The working folder may have been removed.
    with contextlib.suppress(OSError):
        return str(lasting_parts if lasting_parts.parts else lasting_parts.absolute())
    return str(lasting_parts)


def means_full_disk(words: str) -> bool:
    """Whether the message of an engine, which carries no error number, reports a full disk."""
    lower = words.lower()
    return any(word in lower for word in _FULL_DISK_WORDS)


@contextlib.contextmanager
def translate_read_errors(path: Path) -> Iterator[None]:
    """Raise our own errors for what the system reports while opening and reading `path`."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise FileMissing(path=str(path)) from None
    except OSError as fault:
        if system.path_in_use(fault):
            raise FileInUse(path=str(path)) from None
        error = FolderGiven if path.is_dir() else FileUnreadable
        raise error(path=str(path)) from None


def private_tempdir(parent: Path, prefix: str = SCRATCH_PREFIX) -> Path:
    """Make a private folder named after this process; first remove those that dead processes left beside it."""
    remove_abandoned_folders(parent, prefix)
    with translate_write_errors(parent):
        folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-{_host()}-", dir=parent))
        if system.WINDOWS:  # elsewhere it was made so
            set_mode(folder, PRIVATE_FOLDER)
        return folder


def _host() -> str:
    """This machine in eight characters: processes of another machine on a shared disk cannot be checked."""
    return f"{zlib.crc32(system.machine_name().encode()):08x}"


@contextlib.contextmanager
def temporary_folder_beside(target: Path) -> Iterator[Path]:
    """A private folder on the target's disk, removed with all it holds."""
    folder = private_tempdir(target.parent)
    try:
        yield folder
    finally:
        remove_folder(folder)


@contextlib.contextmanager
def atomic_write(target: Path, mode: int = PRIVATE_FILE) -> Iterator[Path]:
    """A path to write; when the block ends well it becomes `target` in one step, else nothing remains."""
    with temporary_folder_beside(target) as folder:
        draft = folder / target.name
        with translate_write_errors(target.parent):
            os.close(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_EXCL, mode))
            yield draft
            replace_file(draft, target, mode)


def replace_file(draft: Path, target: Path, mode: int = PRIVATE_FILE) -> None:
    """Move a finished file to its name, after it is safely on the disk."""
    with translate_write_errors(target.parent):
        set_mode(draft, mode)
        sync(draft)
        move(draft, target)
        if system.WINDOWS and mode != PRIVATE_FILE:
            set_mode(target, mode)  # open as the folder that it lies in now
        sync(target.parent)


def replace_folder(draft: Path, target: Path) -> None:
    """Replace a folder by its new version; a kill in between leaves one of them whole."""
    old = target.with_name(f".{target.name}.old")
    remove_folder(old)
    if target.exists():
        move(target, old)
    try:
        move(draft, target)
    except CelosiaError:
        if old.exists():
            move(old, target)
        raise
    remove_folder(old)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all it holds, as far as the system lets."""
    system.remove_folder(folder)


def move(source: Path, target: Path) -> None:
    """Give a finished folder, or a file over a former one, its name in one step."""
    with translate_write_errors(target.parent):
        system.move(source, target)


@contextlib.contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold a lock file that one process has at a time; a process that dies releases it."""
    with translate_write_errors(path.parent):
        handle = os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE_FILE)
    try:
        system.lock_handle(handle)
        yield
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Make sure that a file or folder is on the disk."""
    system.flush_to_disk(path)


def flush_handle(handle: int) -> None:
    """Make sure that what was written through a handle is on the disk."""
    system.flush_handle(handle)


def sqlite_address(path: Path, mode: str) -> str:
    r"""The address by which SQLite opens a file: without a host, which it would refuse in `\\server\share`."""
    return f"file:{quote(os.fsencode(path.resolve()))}?mode={mode}"


def part_files(path: Path) -> list[Path]:
    """The files of a copy: itself, or the parts of a folder in the order of their names, which is that of the rows."""
    return sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]


def content_digest(path: Path) -> str:
    """sha256 of a file; of a copy in parts, the digest of the digests of its parts in order."""
    if path.is_dir():
        return combine_digests([content_digest(part) for part in part_files(path)])
    with translate_read_errors(path), path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def combine_digests(digests: Sequence[str]) -> str:
    """The digest of a table in parts: of the digests of its parts, in order."""
    lines = "".join(f"{digest}\n" for digest in digests)
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


def remove_abandoned_folders(folder: Path, prefix: str = SCRATCH_PREFIX) -> int:
    """Remove the temporary folders of dead processes of this machine; returns how many."""
    pattern = re.compile(rf"{re.escape(prefix)}(\d+)-{_host()}-\w+")
    try:
        candidates = [(path, pattern.fullmatch(path.name)) for path in folder.iterdir()]
    except OSError:
        # A folder that cannot be listed is not ours; writing into it reports what is wrong.
        return 0
    named = [(path, int(name[1])) for path, name in candidates if name and path.is_dir()]
    abandoned = [path for path, process in named if not system.is_process_alive(process)]
    for path in abandoned:
        shutil.rmtree(path, ignore_errors=True)
    return len(abandoned)
