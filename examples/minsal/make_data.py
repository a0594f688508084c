"""Invented hospital discharges for the MINSAL example: `egresos.csv` and its dictionary, in the folder given."""

from __future__ import annotations

import shutil
from pathlib import Path

from celosia.demo.synthetic.discharges import write_discharges
from examples.walker import run_as_maker

ROWS, SEED = 3_000, 2024


def make_data(folder: Path, rows: int = ROWS) -> None:
    """Write the raw file as a hospital would (`;`, latin-1) and the dictionary that comes with it."""
    write_discharges(folder / "egresos.csv", rows, SEED)
    shutil.copy(Path(__file__).with_name("diccionario.csv"), folder)


if __name__ == "__main__":
    run_as_maker(make_data)
