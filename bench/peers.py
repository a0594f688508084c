"""Other people's tools, each in an environment of its own that `make` lays out: their pins fit nobody else's.

Standard library only. Made by make and never here, so that two processes cannot lay out the same folder at once.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]


class PeerUnavailable(RuntimeError):
    """The environment is not there."""


def peer_python(name: str) -> Path:
    """The Python of a peer's environment."""
    folder = REPOSITORY / ".venvs" / name
    if not (folder / ".stamp").exists():
        raise PeerUnavailable(f"{name} is not installed: make .venvs/{name}/.stamp")
    return folder / "bin" / "python"


def run_peer(name: str, job: Mapping[str, Any], timeout: float) -> dict[str, Any] | None:
    """What the peer's runner answers to a job, or None where it does not end in time."""
    runner = Path(__file__).with_name(f"{name}_run.py")
    try:
        done = subprocess.run(
            [peer_python(name), runner],
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
