"""What Linux, macOS and Windows do differently: locks, flushing to the disk, processes, files that are in use.

Knows the calls of each system. Ignores what is written, locked or moved, and why. On Windows a file that a program
holds open can be neither replaced nor removed, a handle must be writable to be flushed, a folder cannot be flushed at
all, and a lock that is refused is not waited for. On macOS `fsync` leaves what was written in the memory of the disk,
and the name of the machine is that of the network it is in.
Source: Microsoft, «Win32 API»: LockFileEx, FlushFileBuffers, MoveFileExW, OpenProcess; Python, `msvcrt`; Apple,
fcntl(2), fsync(2), gethostuuid(3).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import shutil
import sys
import time
from pathlib import Path
from typing import Any

WINDOWS = sys.platform == "win32"
MACOS = sys.platform == "darwin"

_LOCK_PAUSE = 0.05  # seconds between two attempts to get a lock that Windows refused
_MOVE_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds; an antivirus reads a new file for about so long
_ACCESS_DENIED, _SHARING_VIOLATION, _LOCK_VIOLATION, _INVALID_PARAMETER = 5, 32, 33, 87
# What disks of a network and of other systems answer where a folder is to be flushed, or the memory of the disk.
_CANNOT_FLUSH = frozenset((errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.ENOTTY))
_FULL_FLUSH = 51  # F_FULLFSYNC
_READ, _SHARED, _EXISTING, _NO_HANDLE = 0x80000000, 7, 3, ctypes.c_void_p(-1).value
_QUERY_PROCESS, _SYNCHRONIZE, _STILL_RUNNING = 0x1000, 0x100000, 0x102


def lock_handle(handle: int) -> None:
    """Lock an open file for this handle alone, waiting as long as it takes."""
    if not WINDOWS:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
        return
    import msvcrt

    while True:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError as fault:
            # Windows says EACCES, and Wine no number at all.
            if fault.errno in (errno.EBADF, errno.EINVAL):
                raise
            time.sleep(_LOCK_PAUSE)
        else:
            return


def flush_to_disk(path: Path) -> None:
    """Make sure that a file, and on POSIX a folder, is on the disk."""
    if WINDOWS and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        flush_handle(handle)
    except OSError as fault:
        if not (path.is_dir() and fault.errno in _CANNOT_FLUSH):
            raise
    finally:
        os.close(handle)


def flush_handle(handle: int) -> None:
    """Have what was written through a handle on the disk itself, not in its memory."""
    if MACOS:
        import fcntl

        try:
            fcntl.fcntl(handle, _FULL_FLUSH)
            return
        except OSError as fault:
            if fault.errno not in _CANNOT_FLUSH:
                raise
    os.fsync(handle)


def machine_name() -> str:
    """What this machine is called as long as it lives."""
    return (_host_identifier() if MACOS else "") or platform.node()


def _host_identifier() -> str:
    """The number that macOS gave to this machine; empty where it gave none."""
    identifier, patience = ctypes.create_string_buffer(16), (ctypes.c_long * 2)(1, 0)
    with contextlib.suppress(AttributeError):
        if ctypes.CDLL(None).gethostuuid(identifier, patience) == 0:
            return identifier.raw.hex()
    return ""


def is_process_alive(process: int) -> bool:
    """Whether a process of this machine is running; yes where the system does not say."""
    if WINDOWS:
        return _is_alive_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _is_alive_on_windows(process: int) -> bool:
    # `os.kill` would end it there, whatever the signal.
    kernel = _kernel32()
    handle = kernel.OpenProcess(_QUERY_PROCESS | _SYNCHRONIZE, False, process & 0xFFFFFFFF)
    if not handle:
        return bool(kernel.GetLastError() != _INVALID_PARAMETER)
    try:
        return bool(kernel.WaitForSingleObject(ctypes.c_void_p(handle), 0) == _STILL_RUNNING)
    finally:
        kernel.CloseHandle(ctypes.c_void_p(handle))


def _is_locked_by_program(path: str) -> bool:
    """Whether a program keeps a file to itself: `open` gives no reason where Windows refuses it."""
    kernel = _kernel32()
    handle = kernel.CreateFileW(path, _READ, _SHARED, None, _EXISTING, 0, None)
    if handle in (None, _NO_HANDLE):
        return kernel.GetLastError() in (_SHARING_VIOLATION, _LOCK_VIOLATION)
    kernel.CloseHandle(ctypes.c_void_p(handle))
    return False


def _kernel32() -> Any:
    library = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    library.OpenProcess.restype = library.CreateFileW.restype = ctypes.c_void_p
    return library


def move(source: Path, target: Path) -> None:
    """Give a file its final name, over a former one, or a folder a name that is free.

    On Windows an antivirus or an indexer holds a new file for a moment: it is waited for.
    """
    rename = os.rename if source.is_dir() else os.replace
    for pause in _MOVE_PAUSES if WINDOWS else ():
        try:
            return rename(source, target)
        except PermissionError:
            time.sleep(pause)
    return rename(source, target)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all it holds, as far as the system lets; what an antivirus reads is waited for."""
    for pause in _MOVE_PAUSES if WINDOWS else ():
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(pause)
    shutil.rmtree(folder, ignore_errors=True)


def path_in_use(fault: OSError) -> str:
    """The file that a system refused to change because a program has it open; empty for any other refusal."""
    number, names = getattr(fault, "winerror", None), (fault.filename2, fault.filename)
    path = next((os.fsdecode(name) for name in names if isinstance(name, str | bytes)), "")
    if number in (_SHARING_VIOLATION, _LOCK_VIOLATION):
        return path
    if WINDOWS and number is None and fault.errno == errno.EACCES and _is_locked_by_program(path):
        return path
    # What Windows answers to a move over a file in use, or of a folder with one; a read-only file is another matter.
    is_move = number == _ACCESS_DENIED and fault.filename2 is not None
    return path if is_move and (not os.path.exists(path) or os.access(path, os.W_OK)) else ""
