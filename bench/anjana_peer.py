"""anjana in an environment of its own, made on demand: its pins fit nobody else's.

Standard library only. Used by the bench of quality.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.pycanon_peer import PeerUnavailable  # the same word for the same trouble

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = REPOSITORY / ".venvs" / "anjana"
VERSION = "1.2.3"
_RUNNER = Path(__file__).with_name("anjana_run.py")
_SAYS_VERSION = "from importlib.metadata import version; print(version('anjana'))"


def anjana_python(folder: Path = FOLDER) -> Path:
    """The Python of anjana's environment, made if it is not there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if _installed(python) == VERSION:
        return python
    try:
        venv.create(folder, with_pip=True, clear=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"anjana=={VERSION}"]
        subprocess.run([python, *install], check=True, capture_output=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as failure:
        raise PeerUnavailable(f"anjana {VERSION} cannot be installed here ({type(failure).__name__})") from None
    return python


def _installed(python: Path) -> str:
    if not python.exists():
        return ""
    asked = subprocess.run([python, "-c", _SAYS_VERSION], capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def anjana_result(
    path: Path, hierarchies: Mapping[str, Path], k: int, percent: float, *, timeout: float = 600
) -> dict[str, Any] | None:
    """anjana's levels, kept rows, smallest class and seconds, or None where it does not end in time."""
    quasi: Sequence[str] = list(hierarchies)
    files = {name: str(file) for name, file in hierarchies.items()}
    job = {"path": str(path), "separator": ";", "quasi": quasi, "hierarchies": files, "k": k, "percent": percent}
    try:
        done = subprocess.run(
            [anjana_python(), _RUNNER],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=True,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
    except subprocess.TimeoutExpired:
        return None
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    sys.stdout.write(f"{anjana_python()}\n")
