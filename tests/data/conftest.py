"""What the tests of data share: a file from bytes, the rows of a working copy, the address of PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from celosia.data.readers.ingest import ingest
from celosia.model.sources import Ingested

Read = Callable[..., tuple[Ingested, list[tuple[str, ...]]]]


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of the bytes given."""

    def write(data: bytes | str, name: str = "personas.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Ingests a source and gives the account of it and its rows."""
    folder = tmp_path / "private"
    folder.mkdir()

    def run(source: object, **choices: object) -> tuple[Ingested, list[tuple[str, ...]]]:
        result = ingest(source, folder / "working.parquet", **choices)  # type: ignore[arg-type]
        table = pq.read_table(folder / "working.parquet")
        assert table.column_names == [f"c{i}" for i in range(len(result.names))]
        assert all(column.null_count == 0 for column in table.columns)
        assert [path.name for path in folder.iterdir()] == ["working.parquet"]
        return result, list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    return run


@pytest.fixture(scope="session")
def postgres(postgres_url: str) -> str:
    """The address of the PostgreSQL that all tests share."""
    return postgres_url
