"""Writing files so that a process killed at any moment leaves the old state or the new one.

Knows temporary siblings, private modes and what a full disk looks like. Ignores what is written.
Scratch folders stand beside the target (same disk, so that the last move is atomic), mode 0700, named after
the process, so that what a killed process left can be told from what another one is using.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import platform
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from celosia.errors import CelosiaError, DiskFull, FileMissing, FileUnreadable, FolderGiven, FolderUnwritable

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
SCRATCH, SPILL = ".celosia-", "celosia-"
_FULL = frozenset((errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG))
_FULL_WORDS = ("no space left", "disk quota", "file too large", "max_temp_directory_size", "disk full")


def private_folder(path: Path) -> Path:
    """The folder, made with its parents if absent, readable by its owner only."""
    with writing_into(path):
        path.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        path.chmod(PRIVATE_FOLDER)
    return path


@contextlib.contextmanager
def writing_into(path: Path) -> Iterator[None]:
    """Turns what the system says while writing near `path` into our own errors."""
    try:
        yield
    except OSError as fault:
        raise write_error(fault, path) from None


def write_error(fault: OSError, path: Path) -> CelosiaError:
    """Our error for a system's refusal to write."""
    place = lasting_place(path)
    return DiskFull(path=place) if fault.errno in _FULL or sounds_full(str(fault)) else FolderUnwritable(path=place)


def lasting_place(path: Path) -> str:
    """What a person can look for: our scratch folders are gone by then, and `.` says nothing."""
    kept = Path(*itertools.takewhile(lambda part: not part.startswith(SCRATCH), path.parts))
    with contextlib.suppress(OSError):  # the working folder may have vanished
        return str(kept if kept.parts else kept.absolute())
    return str(kept)


def sounds_full(words: str) -> bool:
    """Whether a foreign message speaks of a full disk; engines give no error number."""
    lower = words.lower()
    return any(word in lower for word in _FULL_WORDS)


@contextlib.contextmanager
def reading_from(path: Path) -> Iterator[None]:
    """Turns what the system says while opening and reading `path` into our own errors."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise FileMissing(path=str(path)) from None
    except OSError:
        error = FolderGiven if path.is_dir() else FileUnreadable
        raise error(path=str(path)) from None


def own_folder(parent: Path, prefix: str = SCRATCH) -> Path:
    """A private folder named after this process; those that dead processes left beside it are swept first."""
    remove_abandoned(parent, prefix)
    with writing_into(parent):
        return Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-{_host()}-", dir=parent))  # mode 0700


def _host() -> str:
    """This machine in eight characters: on a shared disk, another one's processes cannot be asked whether they live."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


@contextlib.contextmanager
def scratch_beside(target: Path) -> Iterator[Path]:
    """A private folder on the target's disk, removed with all it holds."""
    folder = own_folder(target.parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def replacing(target: Path, mode: int = PRIVATE_FILE) -> Iterator[Path]:
    """A path to write; when the block ends well it becomes `target` in one step, else nothing remains."""
    with scratch_beside(target) as folder:
        draft = folder / target.name
        with writing_into(target.parent):
            os.close(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_EXCL, mode))
            yield draft
            put_in_place(draft, target, mode)


def put_in_place(draft: Path, target: Path, mode: int = PRIVATE_FILE) -> None:
    """Moves a finished file to its name, after it is safely on the disk."""
    with writing_into(target.parent):
        draft.chmod(mode)
        _sync(draft)
        os.replace(draft, target)
        if os.name == "posix":  # elsewhere a folder cannot be opened, and the move is enough
            _sync(target.parent)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a lock file: of all processes that ask for it, one at a time goes on. A process that dies lets go of it."""
    with writing_into(path.parent):
        handle = os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE_FILE)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    if os.name == "posix":
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
        return
    import msvcrt

    msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def parts_of(path: Path) -> list[Path]:
    """The files of a copy: itself, or the parts of a folder in the order of their names, which is that of the rows."""
    return sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]


def content_digest(path: Path) -> str:
    """sha256 of a file; of a copy in parts, the digest of the digests of its parts in order."""
    if path.is_dir():
        return digest_of_parts([content_digest(part) for part in parts_of(path)])
    with reading_from(path), path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def digest_of_parts(digests: Sequence[str]) -> str:
    """The digest of a table in parts: of the digests of its parts, in order."""
    lines = "".join(f"{one}\n" for one in digests)
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


def remove_abandoned(folder: Path, prefix: str = SCRATCH) -> int:
    """Removes folders that processes of this machine left and that no longer live; says how many."""
    named = re.compile(rf"{re.escape(prefix)}(\d+)-{_host()}-\w+")
    try:
        found = [(path, named.fullmatch(path.name)) for path in folder.iterdir()]
    except OSError:  # a folder that cannot be listed is not ours to sweep; writing into it says what is wrong
        return 0
    left = [path for path, name in found if name and path.is_dir() and not _alive(int(name[1]))]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)


def _alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere signal 0 is not a question
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
