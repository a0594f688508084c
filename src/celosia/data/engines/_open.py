"""From the address of an engine to the engine. An address may hold a password, so no message repeats it."""

from __future__ import annotations

from pathlib import Path

from celosia.data.engines._base import Engine
from celosia.errors import UnknownEngine


def open_engine(spec: str | None = None, private: Path | None = None) -> Engine:
    """The engine at an address: duckdb, postgresql://…, spark, local[N], spark://… or yarn."""
    address = (spec or "duckdb").strip()
    if address == "duckdb":
        from celosia.data.engines.duckdb import DuckDBEngine

        return DuckDBEngine(spill=private)
    if address.startswith(("postgresql://", "postgres://")):
        from celosia.data.engines.postgres import PostgresEngine

        return PostgresEngine(address)
    if address == "spark" or address.startswith(("local[", "spark://", "yarn", "k8s://")):
        from celosia.data.engines.spark import SparkEngine

        return SparkEngine("local[*]" if address == "spark" else address, private)
    raise UnknownEngine()
