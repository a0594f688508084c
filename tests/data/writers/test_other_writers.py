"""Parquet, Excel, SPSS and Stata files say the same after reading, labels included."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia.data.errors import NumberExpected, UnwritableNames
from celosia.data.readers.ingest import ingest
from celosia.data.writers.parquet import write_parquet
from celosia.data.writers.statistical import write_dta, write_sav
from celosia.data.writers.xlsx import write_xlsx
from celosia.model.sources import ColumnLabels

NAMES = ("comuna", "sexo", "glosa")
ROWS = [("05302", "1", "=HOY()"), ("", "2", 'di "no", ñandú\n'), ("*", "", "http://x.cl")]
BATCHES = [pa.record_batch([pa.array(c, pa.string()) for c in zip(*ROWS, strict=True)], names=["c0", "c1", "c2"])]
LABELS = {"sexo": ColumnLabels("Sexo de la persona", (("1", "Hombre"), ("2", "Mujer")))}


def _read_back(path: Path) -> tuple[object, list[tuple[str, ...]]]:
    target = path.parent / "w.parquet"
    result = ingest(path, target)
    columns = pq.read_table(target).columns
    return result, list(zip(*(column.to_pylist() for column in columns), strict=True))


@pytest.mark.parametrize(
    ("write", "suffix"), [(write_parquet, "parquet"), (write_xlsx, "xlsx"), (write_sav, "sav"), (write_dta, "dta")]
)
def test_cells_come_back_as_they_were(tmp_path: Path, write: Callable[..., int], suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    assert write(BATCHES, NAMES, path, labels=LABELS) == 3
    result, rows = _read_back(path)
    assert result.names == NAMES
    assert rows == ROWS


@pytest.mark.parametrize(("write", "suffix"), [(write_sav, "sav"), (write_dta, "dta")])
def test_labels_of_variables_and_values_come_back(tmp_path: Path, write: Callable[..., int], suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    write(BATCHES, NAMES, path, labels=LABELS, numeric=["sexo"])
    result, rows = _read_back(path)
    assert result.labels == LABELS
    assert rows == ROWS


def test_a_text_column_cannot_be_written_as_numbers(tmp_path: Path) -> None:
    with pytest.raises(NumberExpected) as caught:
        write_sav(BATCHES, NAMES, tmp_path / "t.sav", numeric=["glosa"])
    assert caught.value.values == {"variable": "glosa", "count": 3}
    assert list(tmp_path.iterdir()) == []


def test_names_a_format_cannot_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnwritableNames) as refused:
        write_dta(BATCHES, ("a b", "c", "d"), tmp_path / "t.dta")
    assert refused.value.values == {"path": "t.dta"}  # a release is assembled in a folder that nobody sees
    assert list(tmp_path.iterdir()) == []


def test_parquet_keeps_the_label_of_a_column(tmp_path: Path) -> None:
    write_parquet(BATCHES, NAMES, tmp_path / "t.parquet", labels=LABELS)
    assert pq.read_schema(tmp_path / "t.parquet").field("sexo").metadata == {b"label": b"Sexo de la persona"}


@pytest.mark.parametrize("write", [write_sav, write_dta])
def test_a_name_that_does_not_fit_is_said(tmp_path: Path, write: Callable[..., int]) -> None:
    with pytest.raises(UnwritableNames):
        write([BATCHES[0].select(["c0"])], ["PERTENENCIA_DEL_ESTABLECIMIENTO_" * 3], tmp_path / "t")
    assert list(tmp_path.iterdir()) == []


FULL = """
import resource, signal, sys
from pathlib import Path
import pyarrow as pa
from celosia.data.writers.parquet import write_parquet
from celosia.data.writers.statistical import write_dta, write_sav
from celosia.data.writers.xlsx import write_xlsx
from celosia.storage import DiskFull
batch = pa.record_batch([pa.array([f"{i:0200}" for i in range(5000)])] * 2, names=["c0", "c1"])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    globals()[sys.argv[1]]([batch], ["a", "b"], Path(sys.argv[2]))
except DiskFull as error:
    print(error.code)
"""


@pytest.mark.parametrize("most", [0, 4096, 20_000])
@pytest.mark.parametrize("write", ["write_parquet", "write_xlsx", "write_sav", "write_dta"])
def test_a_full_disk_leaves_no_cut_file(tmp_path: Path, write: str, most: int) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FULL, write, str(tmp_path / "t"), str(most)], capture_output=True, text=True, timeout=120
    )
    assert (ended.stdout, ended.stderr) == ("disk_full\n", "")
    assert list(tmp_path.iterdir()) == []
