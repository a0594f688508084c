"""The folder of a STATS project: its stats.toml, its private folder and its journal.

Knows files. Ignores databases.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from celosia.data.files import private_folder, replacing
from celosia.errors import NotStats
from celosia.model.stats import STATS_FILE, StatsConfig, stats_from
from celosia.pipeline import read_toml

Place = str | Path
_KEY_BYTES = 32


def read_config(folder: Path) -> StatsConfig:
    """What the folder's stats.toml declares."""
    path = folder / STATS_FILE
    if not path.is_file():
        raise NotStats(path=str(folder))
    return stats_from(read_toml(path), str(path))


def journal_path(folder: Path) -> Path:
    """The journal of the project."""
    return folder / "journal.jsonl"


def private(folder: Path) -> Path:
    """The folder that never leaves the house, made if absent."""
    return private_folder(folder / "private")


def rounding_key(folder: Path) -> bytes:
    """The secret that fixes how each cell is rounded: made once, then kept, so that a repeated run rounds alike."""
    path = private(folder) / "rounding.key"
    if not path.exists():
        with replacing(path) as draft:
            draft.write_bytes(secrets.token_bytes(_KEY_BYTES))
    return path.read_bytes()
