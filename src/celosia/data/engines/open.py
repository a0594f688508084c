"""From the address of an engine to the engine. An address may hold a password, so no message repeats it."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from celosia.data.engines.base import Engine
from celosia.data.errors import UnknownEngine

_HERE = re.compile(r"local\[(\*|[1-9][0-9]*)(,[1-9][0-9]*)?\]")  # Spark on this machine: threads, and trials of a task


def open_engine(spec: str | None = None, private: Path | None = None, memory: int | None = None) -> Engine:
    """The engine at an address: duckdb, postgresql://…, spark, local[N], spark://… or yarn.

    Its files go to the private folder; `memory` is what it and the counts it gives may take here, in bytes.
    """
    address = (spec or "duckdb").strip()
    if address == "duckdb":
        from celosia.data.engines.duckdb import DuckDBEngine

        return DuckDBEngine(spill=private, memory=memory)
    if address.startswith(("postgresql://", "postgres://")):
        from celosia.data.engines.postgres import PostgresEngine

        with contextlib.ExitStack() as on_error:
            server = PostgresEngine(address, private, memory)
            on_error.callback(server.close)
            server.text_encoding()
            on_error.pop_all()
        return server
    if is_spark(address):
        from celosia.data.engines.spark import SparkEngine

        return SparkEngine("local[*]" if address == "spark" else address, private, memory)
    raise UnknownEngine()


def engine_kind(spec: str) -> str:
    """duckdb, postgresql or spark: all that may be said of an address."""
    address = spec.strip()
    if address == "duckdb":
        return "duckdb"
    if address.startswith(("postgresql", "postgres://", "env:")):
        return "postgresql"
    if is_spark(address):
        return "spark"
    raise UnknownEngine()


def is_spark(address: str) -> bool:
    """Whether an address is one of Spark's; a number of threads that is none is nobody's address."""
    known = address == "spark" or address.startswith(("spark://", "yarn", "k8s://"))
    return known or _HERE.fullmatch(address) is not None
