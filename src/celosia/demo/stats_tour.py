"""A STATS folder to practise on: an invented PERSONAL, the tables of the YAPÓ rules, and one institution left unplaced.

Knows the files that come with the package (`stats_tour_files/`). The tour shows the stop that an unknown value
causes.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path

from celosia.demo.synthetic.personal import personal_database
from celosia.demo.tour import mark_tour
from celosia.model.paths import ProjectPaths
from celosia.stats.project import PathArg
from celosia.storage import AlreadyExists, make_private_folder, move, private_tempdir, remove_folder
from celosia.workbench.projects import project_place, proposed_name

Progress = Callable[[str, float], None] | None
_TOUR_FILES = Path(__file__).with_name("stats_tour_files")
_USERS, _SEED = 3_000, 2024


def tour_stats(root: PathArg, name: str | None = None, *, report: Progress = None) -> Path:
    """Make the practice folder of the YAPÓ rules under a root: whole or not at all."""
    folder_root = Path(root)
    folder = project_place(folder_root, name or proposed_name(folder_root, "demo-yapo"))
    if folder.exists():
        raise AlreadyExists(path=str(folder))
    scratch = private_tempdir(folder_root)
    try:
        draft = scratch / "stats"
        shutil.copytree(_TOUR_FILES, draft)
        _write_personal(make_private_folder(ProjectPaths(draft).private) / "personal.duckdb")
        mark_tour(draft, "yapo")
        move(draft, folder)
    finally:
        remove_folder(scratch)
    return folder


def _write_personal(path: Path) -> None:
    import duckdb

    with contextlib.closing(duckdb.connect(path)) as database:
        for name, rows in personal_database(_USERS, _SEED).items():
            database.register("rows", rows)
            database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM rows')
            database.unregister("rows")
