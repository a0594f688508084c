"""A STATS folder to practise on: an invented PERSONAL, the tables of the YAPÓ rules, and one institution left unplaced.

Knows the files that come with the room (`tour/`). Whoever takes the tour meets the stop that an unknown value causes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from celosia.data.files import private_folder
from celosia.data.synthetic import personal_database
from celosia.errors import AlreadyExists
from celosia.pipeline import mark_tour, private_corner, project_place, proposed_name
from celosia.stats._project import Place

Progress = Callable[[str, float], None] | None
_DECLARED = Path(__file__).with_name("tour")
_USERS, _SEED = 3_000, 2024


def tour_stats(root: Place, name: str | None = None, *, report: Progress = None) -> Path:
    """Make the practice folder of the YAPÓ rules under a root: whole or not at all."""
    place = Path(root)
    folder = project_place(place, name or proposed_name(place, "demo-yapo"))
    if folder.exists():
        raise AlreadyExists(path=str(folder))
    scratch = private_corner(place)
    try:
        draft = scratch / "stats"
        shutil.copytree(_DECLARED, draft)
        _write_personal(private_folder(draft / "private") / "personal.duckdb")
        mark_tour(draft, "yapo")
        os.rename(draft, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _write_personal(path: Path) -> None:
    import duckdb

    with contextlib.closing(duckdb.connect(path)) as database:
        for name, rows in personal_database(_USERS, _SEED).items():
            database.register("rows", rows)
            database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM rows')
            database.unregister("rows")
