"""The engines a Table can run on: DuckDB by default, PostgreSQL and Spark where the data live."""

from celosia.data.engines._base import Engine, guarded
from celosia.data.engines._memory import usable_memory, within
from celosia.data.engines._open import engine_kind, open_engine

__all__ = ["Engine", "engine_kind", "guarded", "open_engine", "usable_memory", "within"]
