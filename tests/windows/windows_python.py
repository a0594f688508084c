"""The Python for Windows that `scripts/windows-python` made, and the paths by which it knows our files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = Path(os.environ.get("CELOSIA_WINDOWS", REPOSITORY / "build" / "windows")) / "python"
_LONGEST = 1500  # seconds of one command on a busy machine


def windows_path(path: Path) -> str:
    """The path as Windows writes it: Wine shows the whole disk as drive Z."""
    return "Z:" + str(path).replace("/", "\\")


def on_windows(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Windows' Python in a folder, without a terminal."""
    return subprocess.run(
        [str(PYTHON), *words],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="cp1252",
        errors="replace",
        timeout=_LONGEST,
        check=False,
    )
