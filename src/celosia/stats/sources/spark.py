"""PERSONAL on Spark: a folder of Parquet files, each a table named after its file.

Knows Spark's type names. Ignores what is counted. Files are only read; what is kept stays in Spark's own memory and
in the private folder of the session.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from celosia.data.engines.base import translate_engine_errors
from celosia.data.engines.spark import SparkEngine
from celosia.stats.declaration.declaration import Personal
from celosia.stats.sources.connections import Expression, PersonalColumn, PersonalSource, unreadable

_FAULTS = (PySparkException, Py4JError, ConnectionError, EOFError)
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_PLAIN = {"string": "string", "boolean": "boolean", "date": "date", "timestamp_ntz": "timestamp(6)"}
MASTER = "CELOSIA_SPARK"  # environment variable: the address of a cluster; this machine when absent


class SparkSource(PersonalSource):
    """Parquet files as temporary views of a Spark session."""

    name, dialect, quote = "Spark", "pyspark", "`"

    def __init__(self, folder: Path, private: Path | None = None):
        super().__init__()
        self._engine = SparkEngine(os.environ.get(MASTER, "local[*]"), private)
        self._session = self._engine.session
        self._views: list[str] = []
        with translate_engine_errors(self.name, _FAULTS):
            for path in sorted(folder.iterdir()):
                if not path.name.startswith((".", "_")) and (path.is_dir() or path.suffix == ".parquet"):
                    self._session.read.parquet(str(path)).createOrReplaceTempView(self._quote(path.stem))
                    self._views.append(path.stem)

    def materialise(self, expression: Expression) -> Expression:
        """A cached view of the session."""
        name = self._fresh_name()
        with translate_engine_errors(self.name, _FAULTS):
            self._session.sql(self.sql(expression)).createOrReplaceTempView(name)
            self._session.catalog.cacheTable(name)
        return ibis.table(expression.schema(), name=name)

    def release(self, table: Expression) -> None:
        """Drop a cached view."""
        with translate_engine_errors(self.name, _FAULTS):
            self._session.catalog.uncacheTable(table.get_name())
            self._session.catalog.dropTempView(table.get_name())

    def close(self) -> None:
        """Drop the views, and end the session if it is ours."""
        with translate_engine_errors(self.name, _FAULTS):
            for name in self._views:
                self._session.catalog.dropTempView(name)
        self._engine.close()

    def _run(self, query: str, schema: pa.Schema) -> pa.Table:
        with translate_engine_errors(self.name, _FAULTS):
            return self._session.sql(query).toArrow().cast(schema)

    def _list_tables(self) -> Sequence[Sequence[Any]]:
        return [[name] for name in self._views]

    def _describe_columns(self, origin: str, personal: Personal) -> tuple[PersonalColumn, ...]:
        try:
            columns = self._session.sql(f"SELECT * FROM {origin} LIMIT 0").dtypes
        except _FAULTS as fault:
            raise unreadable(personal, fault) from None
        return tuple(_column(name, kind, self._quote(name)) for name, kind in columns)


def _column(name: str, kind: str, quoted: str) -> PersonalColumn:
    if kind in _PLAIN:
        return PersonalColumn(name, _PLAIN[kind], quoted)
    if kind in _WHOLE:
        return PersonalColumn(name, "int64", f"CAST({quoted} AS BIGINT)")
    if kind in ("float", "double"):
        return PersonalColumn(name, "float64", f"CAST({quoted} AS DOUBLE)")
    if kind.startswith("decimal"):
        return PersonalColumn(name, kind, quoted)
    if kind == "timestamp":  # an instant; the session's clock is UTC
        return PersonalColumn(name, "timestamp('UTC', 6)", f"CAST({quoted} AS TIMESTAMP_NTZ)")
    return PersonalColumn(name, "string", f"CAST({quoted} AS STRING)")
