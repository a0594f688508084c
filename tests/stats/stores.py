"""The STATS databases that the tests write, each made empty."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from celosia.stats.store.target import StatsTarget

STORES = (
    pytest.param("duckdb", id="duckdb"),
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.postgres),
)
NAME = "usuarios__internal"


def emptied(kind: str, request: pytest.FixtureRequest) -> str:
    """The address of an empty STATS."""
    if kind != "postgres":
        return f"stats.{kind}"
    import psycopg

    url = str(request.getfixturevalue("postgres_url"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS stats CASCADE")
    return url


def rows(values: list[int | None], labels: list[str | None] | None = None) -> pa.Table:
    """A STATS table of one dimension."""
    words = labels or ["Asunción", "Central", None][: len(values)]
    states = ["suprimido" if value is None else "publicado" for value in values]
    return pa.table(
        {
            "region": pa.array(words, pa.string()),
            "persons": pa.array(values, pa.int64()),
            "mean": pa.array([None if v is None else v / 4 for v in values], pa.float64()),
            "estado": pa.array(states, pa.string()),
        }
    )


def everything(target: StatsTarget) -> dict[str, Any]:
    """All that STATS holds."""
    found = {name: sorted(map(str, target.read(name).to_pylist())) for name in target.tables()}
    return {"tables": found, "runs": target.runs(), "catalogue": target.catalogue(), "history": target.history(NAME)}
