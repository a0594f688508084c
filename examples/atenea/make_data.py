"""Invented requests for study grants for the ATENEA example: `solicitudes.csv` and its dictionary."""

from __future__ import annotations

import shutil
from pathlib import Path

from celosia.demo.synthetic.files import write_raw_csv
from celosia.demo.synthetic.surveys import education_requests
from examples.walker import run_as_maker

ROWS, SEED = 2_000, 2024


def make_data(folder: Path, rows: int = ROWS) -> None:
    """Write the raw file as the agency keeps it (`;`, latin-1) and the dictionary that comes with it."""
    write_raw_csv(folder / "solicitudes.csv", education_requests(rows, SEED).to_batches())
    shutil.copy(Path(__file__).with_name("diccionario.csv"), folder)


if __name__ == "__main__":
    run_as_maker(make_data)
