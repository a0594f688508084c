"""The engines over the servers of the test session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from celosia.data.engines.base import Engine
from celosia.data.engines.duckdb import DuckDBEngine

ENGINES = (
    pytest.param("duckdb", id="duckdb"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.postgres),
    pytest.param("icu", id="icu", marks=pytest.mark.postgres),
    pytest.param("spark", id="spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")]),
)


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine in turn."""
    if request.param == "spark":
        yield request.getfixturevalue("spark_engine")
        return
    if request.param == "duckdb":
        opened: Engine = DuckDBEngine(threads=2)
    else:
        from celosia.data.engines.postgres import PostgresEngine

        url = "postgres_url" if request.param == "postgres" else "icu_url"
        opened = PostgresEngine(request.getfixturevalue(url))
    yield opened
    opened.close()
