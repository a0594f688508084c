"""Listings of folders that another process changes meanwhile: what is removed during the listing is left out."""

from __future__ import annotations

import os
from pathlib import Path


def paths_under(folder: Path) -> list[Path]:
    """Everything below a folder; `Path.rglob` would fail at a subfolder removed since it was listed."""
    return sorted(Path(place, name) for place, folders, files in os.walk(folder) for name in (*folders, *files))


def files_under(folder: Path) -> list[Path]:
    """Its files only."""
    return [path for path in paths_under(folder) if path.is_file()]
