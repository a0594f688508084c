"""The same steps, source and seed give the same bytes on every engine."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.engines import Engine
from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.table import Table
from celosia.data.writers import write_csv
from celosia.model.sources import ReadingChoices, Source
from celosia.model.variables import Variable
from celosia.pipeline._open import Opened
from celosia.pipeline._steps import StepPlace, one_step

NAMES = ("Edad", "EDAD", "comuna", "ingreso", "hogar")
STEPS = (
    {"technique": "select", "keep": {"EDAD": ["ñandú", "Ñandú", "zeta", ""]}},
    {"technique": "intervals", "columns": ["Edad"], "width": 10, "end": 120},
    {"technique": "mask", "columns": ["comuna"], "keep": 3, "width": 5},
    {"technique": "microaggregate", "columns": ["ingreso"], "k": 3},
    {"technique": "noise", "columns": ["ingreso"], "level": "0.1"},
    {"technique": "swap", "columns": ["comuna"], "strata": ["EDAD"]},
    {"technique": "renumber", "columns": ["hogar"]},
)


def rows() -> dict[str, list[str]]:
    words = ("zeta", "ñandú", "Ñandú", "", "otro")
    return {
        "c0": [str(18 + (i * 7) % 60) for i in range(120)],
        "c1": [words[i % 5] for i in range(120)],
        "c2": [("05302", "5301", "13101")[i % 3] for i in range(120)],
        "c3": ["" if i % 17 == 0 else str(1000 + (i * i) % 977) for i in range(120)],
        "c4": [f"h{i // 3}" for i in range(120)],
    }


def after_steps(engine: Engine, folder: Path) -> bytes:
    """The file that the steps leave, in the order of its values."""
    (folder / "scratch").mkdir(parents=True)
    source = folder / "source.parquet"
    pq.write_table(pa.table(rows()), source)
    found = Opened(
        Table(engine, engine.parquet(source), NAMES),
        Source("x", "sha256:0", 120, 5, ReadingChoices(format="csv")),
        tuple(Variable(name) for name in NAMES),
        None,
        folder,
    )
    for number, step in enumerate(STEPS):
        place = StepPlace(folder, folder / "scratch", str(number), b"the same seed", fresh=True)
        found, _ = one_step(found, step, place)
    write_csv(found.table.ordered_batches(found.table.names), found.table.names, folder / "out.csv")
    return (folder / "out.csv").read_bytes()


def test_steps_give_the_same_bytes_whatever_the_engine(engine: Engine, tmp_path: Path) -> None:
    with contextlib.closing(DuckDBEngine(threads=1)) as other:
        expected = after_steps(other, tmp_path / "one")
    assert expected.count(b"\n") > 90
    assert after_steps(engine, tmp_path / "two") == expected
