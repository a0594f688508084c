"""anjana's k-anonymity on a CSV with its hierarchies. Used by the bench of quality."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.peers import run_peer


def anjana_result(
    path: Path, hierarchies: Mapping[str, Path], k: int, percent: float, *, timeout: float = 600
) -> dict[str, Any] | None:
    """anjana's levels, kept rows, smallest class and seconds, or None where it does not end in time."""
    files = {name: str(file) for name, file in hierarchies.items()}
    job = {
        "path": str(path),
        "separator": ";",
        "quasi": list(hierarchies),
        "hierarchies": files,
        "k": k,
        "percent": percent,
    }
    return run_peer("anjana", job, timeout)
