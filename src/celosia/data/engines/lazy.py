"""A DuckDB that is opened when it is first needed; without a private folder it writes nothing anywhere."""

from __future__ import annotations

from pathlib import Path

from celosia.data.engines.base import Engine
from celosia.data.engines.memory import usable_memory


class LazyEngine:
    """How much memory the work may take, and the engine once something asks for it."""

    def __init__(self, memory: int | None = None, private: Path | None = None):
        self.memory = memory or usable_memory()
        self._private = private
        self._opened: Engine | None = None

    def open(self) -> Engine:
        """The engine, opened the first time."""
        if self._opened is None:
            # Loads Ibis, which most of what is asked does without.
            from celosia.data.engines.duckdb import DuckDBEngine

            self._opened = DuckDBEngine(self._private, memory=self.memory, on_disk=self._private is not None)
        return self._opened

    def close(self) -> None:
        """Give back what was opened."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
