"""A week passes in the PERSONAL database of the YAPÓ example: `python -m examples.yapo.week FOLDER`."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import duckdb

WEEK = """
INSERT INTO events SELECT user_id, event_type, screen, created_at, updated_at + INTERVAL 7 DAY FROM events
WHERE user_id > 'u000002900';
DELETE FROM events WHERE user_id IN ('u000000003', 'u000000004');
UPDATE users SET city = 'Asunción' WHERE user_id IN ('u000000007', 'u000000008', 'u000000012');
"""


def a_week_passes(folder: Path) -> None:
    """Late, corrected and deleted rows in PERSONAL."""
    with contextlib.closing(duckdb.connect(folder / "personal.duckdb")) as database:
        database.execute(WEEK)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Uso: python -m examples.yapo.week CARPETA")
    a_week_passes(Path(sys.argv[1]))
