"""pycanon in an environment of its own, made on demand: its pins fit nobody else's.

Standard library only. Used by the bench of measures and by the test that compares figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = REPOSITORY / ".venvs" / "pycanon"
VERSION = "1.3.6"
_RUNNER = Path(__file__).with_name("pycanon_run.py")
_SAYS_VERSION = "from importlib.metadata import version; print(version('pycanon'))"


class PeerUnavailable(RuntimeError):
    """The environment could not be made here."""


def peer_python(folder: Path = FOLDER) -> Path:
    """The Python of pycanon's environment, made if it is not there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if _installed(python) == VERSION:
        return python
    try:
        venv.create(folder, with_pip=True, clear=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"pycanon=={VERSION}"]
        subprocess.run([python, *install], check=True, capture_output=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as failure:
        raise PeerUnavailable(f"pycanon {VERSION} cannot be installed here ({type(failure).__name__})") from None
    return python


def _installed(python: Path) -> str:
    if not python.exists():
        return ""
    asked = subprocess.run([python, "-c", _SAYS_VERSION], capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def peer_figures(
    path: Path,
    quasi: Sequence[str],
    sensitive: str,
    *,
    numeric: bool = False,
    shuffle: int | None = None,
    timeout: float = 600,
) -> dict[str, Any] | None:
    """pycanon's nine figures and its seconds, or None where it does not end in time."""
    job = {"path": str(path), "quasi": list(quasi), "sensitive": sensitive, "numeric": numeric, "shuffle": shuffle}
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            [peer_python(), _RUNNER],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=True,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return None
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    sys.stdout.write(f"{peer_python()}\n")
