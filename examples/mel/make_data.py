"""An invented household survey for the MEL example: `encuesta.csv` and its dictionary."""

from __future__ import annotations

import shutil
from pathlib import Path

from celosia.demo.synthetic.files import write_raw_csv
from celosia.demo.synthetic.surveys import survey
from examples.walker import run_as_maker

ROWS, SEED = 3_000, 2024


def make_data(folder: Path, rows: int = ROWS) -> None:
    """Write the full base as the survey firm delivers it (`;`, latin-1, decimal comma) and its dictionary."""
    write_raw_csv(folder / "encuesta.csv", survey(rows, SEED).to_batches())
    shutil.copy(Path(__file__).with_name("diccionario.csv"), folder)


if __name__ == "__main__":
    run_as_maker(make_data)
