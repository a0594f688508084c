"""What Linux, macOS and Windows do differently: locks, flushing to the disk, processes, files that are in use.

Knows the calls of each system. Ignores what is written, locked or moved, and why. On Windows a file that a program
holds open can be neither replaced nor removed, a handle must be writable to be flushed, a folder cannot be flushed at
all, and a lock that is refused is not waited for.
Source: Microsoft, «Win32 API»: LockFileEx, FlushFileBuffers, MoveFileExW, OpenProcess; Python, `msvcrt`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import time
from pathlib import Path
from typing import Any

WINDOWS = sys.platform == "win32"

_LOCK_PAUSE = 0.05  # seconds between two attempts to get a lock that Windows refused
_MOVE_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds; an antivirus reads a new file for about so long
_ACCESS_DENIED, _SHARING_VIOLATION, _LOCK_VIOLATION, _INVALID_PARAMETER = 5, 32, 33, 87
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
        os.fsync(handle)
    finally:
        os.close(handle)


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


def _kernel32() -> Any:
    library = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    library.OpenProcess.restype = ctypes.c_void_p
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


def path_in_use(fault: OSError) -> str:
    """The file that a system refused to change because a program has it open; empty for any other refusal."""
    number, names = getattr(fault, "winerror", None), (fault.filename2, fault.filename)
    path = next((os.fsdecode(name) for name in names if isinstance(name, str | bytes)), "")
    if number in (_SHARING_VIOLATION, _LOCK_VIOLATION):
        return path
    # What Windows answers to a move over a file in use, or of a folder with one; a read-only file is another matter.
    is_move = number == _ACCESS_DENIED and fault.filename2 is not None
    return path if is_move and (not os.path.exists(path) or os.access(path, os.W_OK)) else ""
