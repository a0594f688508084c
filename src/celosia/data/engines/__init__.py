"""The engines a Table can run on: DuckDB by default, PostgreSQL and Spark where the data live."""

from celosia.data.engines._base import Engine, guarded
from celosia.data.engines._open import open_engine

__all__ = ["Engine", "guarded", "open_engine"]
