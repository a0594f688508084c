"""What the laws on small tables are tried with: an engine, and hierarchies in files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from celosia.data.engines.duckdb import DuckDBEngine
from tests.projects.search_tables import write_hierarchies


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDBEngine]:
    opened = DuckDBEngine()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("hierarchies")
    write_hierarchies(made)
    return made
