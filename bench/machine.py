"""What a reader must know of the machine behind a run, and nothing that says whose machine it is.

Knows cores, memory, versions and how busy it was. Never a host name, a user or a path.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

LIBRARIES = ("duckdb", "ibis-framework", "pyarrow", "numpy", "numba", "scipy", "pyspark", "psycopg")
REPOSITORY = Path(__file__).resolve().parents[1]
ALIKE = 0.2  # how much of the memory may differ between machines taken for alike


def machine_facts() -> dict[str, Any]:
    """Facts of this machine."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "python": platform.python_version(),
        "libraries": {name: found for name in LIBRARIES if (found := _version(name))},
    }


def busy(seconds: float = 1.0) -> float:
    """The share of the processors in use now: asked while no bench runs, it is what others use."""
    return round(float(psutil.cpu_percent(interval=seconds)) / 100, 2)


def comparable(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether ratios of two machines may be held side by side: the same kind of system, cores, memory and Python."""
    same = all(one[fact] == other[fact] for fact in ("system", "architecture", "cores"))
    python = [facts["python"].split(".")[:2] for facts in (one, other)]
    memory = sorted(facts["memory_gb"] for facts in (one, other))
    return same and python[0] == python[1] and memory[0] >= memory[1] * (1 - ALIKE)


def commit() -> str:
    """The short id of what is measured; a plus where the tree holds more than that."""
    try:
        short = _git("rev-parse", "--short=10", "HEAD")
        return short + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    """The model's name where the system tells it."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text(errors="replace").splitlines() if cpus.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
