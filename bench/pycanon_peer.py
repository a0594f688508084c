"""pycanon's nine measures on a CSV. Used by the bench of measures and by the test that compares figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peers import run_peer


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
    return run_peer("pycanon", job, timeout)
