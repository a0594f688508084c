"""How much memory the machine has, and a limit that ends this process instead of the machine.

Knows the calls of each system. Ignores what the memory is for. POSIX limits the data of a process; Windows does so by a
«job» that the process joins; macOS counts neither, and says nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path
from typing import Any

from celosia import system

_EXTENDED_LIMITS, _PROCESS_MEMORY = 9, 0x100


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("physical", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 6),
    )


class _JobLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("times", ctypes.c_int64 * 2),
        ("flags", ctypes.c_uint32),
        ("working_set", ctypes.c_size_t * 2),
        ("processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("classes", ctypes.c_uint32 * 2),
        ("transfers", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peaks", ctypes.c_size_t * 2),
    )


def machine_memory() -> int | None:
    """Bytes of memory of the machine; None where the system does not say."""
    if system.WINDOWS:
        status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
        return int(status.physical) if _kernel32().GlobalMemoryStatusEx(ctypes.byref(status)) else None
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def limit_memory(share: float) -> None:
    """Let this process fill at most a share of the machine's memory, and be the first that a full machine ends."""
    memory = machine_memory()
    if memory is not None:
        _limit_data(int(share * memory))
    if not system.WINDOWS:
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_bytes(b"1000")


def _limit_data(most: int) -> None:
    if system.WINDOWS:
        _join_limited_job(most)
        return
    import resource

    with contextlib.suppress(OSError, ValueError, AttributeError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _join_limited_job(most: int) -> bool:
    """Put this process into a job of its own whose processes may not take more."""
    kernel = _kernel32()
    limits = _JobLimits(flags=_PROCESS_MEMORY, process_memory=most)
    job = ctypes.c_void_p(kernel.CreateJobObjectW(None, None))
    kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
    return bool(kernel.AssignProcessToJobObject(job, ctypes.c_void_p(-1)))


def _kernel32() -> Any:
    library = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    library.CreateJobObjectW.restype = ctypes.c_void_p
    return library
