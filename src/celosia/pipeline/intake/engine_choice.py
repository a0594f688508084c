"""Where counting happens: from what the project or the command says to an open engine.

Knows addresses, `env:NAME` and how much memory may be used. What it opens may need a password: the address is read at
once and never kept or shown; a project's files hold only the kind of engine, or an address without a password.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from celosia.data.engines.base import Engine
from celosia.data.engines.lazy import LazyEngine
from celosia.data.engines.memory import memory_budget
from celosia.data.engines.open import engine_kind, open_engine
from celosia.data.readers.ingest import ingest
from celosia.data.sniffing import is_database_address
from celosia.model.place import DATABASE, InPlace
from celosia.model.project import ENGINE, memory_bytes
from celosia.model.sources import Ingested
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.intake.errors import AddressUnclear, CatalogueNeedsSpark, DataElsewhere, EngineAddressUnset
from celosia.pipeline.intake.source_address import is_address, resolved_source
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.progress import Progress, stage_progress

POSTGRESQL = "postgresql"
CATALOGUE = "table:"


def project_engine(project: Project, engine: str | None = None, memory: str | None = None) -> Engine | LazyEngine:
    """The engine of a project, or the one asked for this once; DuckDB is opened when it is first needed."""
    address = engine_address(engine or project.config.engine, project.in_place)
    private, limit = project.paths.private, memory_limit(memory or project.config.memory)
    return LazyEngine(limit, private) if address == ENGINE else open_engine(address, private, limit)


def source_engine(private: Path, engine: str | None = None, memory: str | None = None) -> Engine:
    """The engine on which a source without a project is counted."""
    return open_engine(engine_address(engine or ENGINE), private, memory_limit(memory or ""))


def engine_address(spec: str, place: InPlace | None = None) -> str:
    """The address that a setting stands for; rows that stay in PostgreSQL are counted nowhere else."""
    kind = engine_kind(spec)
    if kind != POSTGRESQL:
        if place is not None:
            raise DataElsewhere(table=place.table)
        return spec.strip()
    if spec.strip() == POSTGRESQL:
        return _address_in(place.variable if place is not None else DATABASE)
    return str(resolved_source(spec.strip()))


@dataclass(frozen=True, slots=True)
class InPlaceAddress:
    """A database whose rows are to stay there: its address, read now, and the variable that will hold it later."""

    address: str = field(repr=False)
    variable: str


def database_in_place(source: Any, engine: str | None) -> InPlaceAddress | None:
    """The database that is both the source and the engine; None where the source is to be copied."""
    if not (isinstance(source, str) and is_address(source) and engine and engine_kind(engine) == POSTGRESQL):
        return None
    named = source.removeprefix("env:").strip() if source.startswith("env:") else DATABASE
    return InPlaceAddress(str(resolved_source(source)), named)


def memory_limit(text: str) -> int | None:
    """An amount of memory in bytes; None where nobody named one."""
    if not text:
        return None
    size = memory_bytes(text)
    if size is None:
        raise ValueOutOfRange(parameter="memory", given=text, allowed="≥ 256MB (512MB, 4GB, 16GiB, …)")
    return size


def shared_reading(engine: Engine) -> dict[str, Any]:
    """How the parts of a source are read by many at once, where the engine has somebody to do it."""
    each = getattr(engine, "each", None)
    return {} if each is None else {"each": each}


def copy_source(engine: Engine, source: Any, target: Path, report: Progress, reading: Mapping[str, Any]) -> Ingested:
    """The working copy of a source; a table of Spark's catalogue is copied by those who can reach it."""
    if not is_catalogue_table(source):
        with memory_budget(engine.memory):
            return ingest(source, target, progress=stage_progress(report, "read"), **shared_reading(engine), **reading)
    table, copy_table = source.removeprefix(CATALOGUE), getattr(engine, "copy_table", None)
    if copy_table is None:
        raise CatalogueNeedsSpark(table=table)
    read: Ingested = copy_table(table, target, reading.get("drop") or ())
    return read


def is_catalogue_table(source: Any) -> bool:
    """Whether a source is a table of Spark's catalogue: `table:NAME`."""
    return isinstance(source, str) and source.startswith(CATALOGUE)


def engine_setting(spec: str | None) -> str:
    """What celosia.toml may say of the engine a project was made with: its kind, and where a cluster is."""
    if spec is None:
        return ENGINE
    return POSTGRESQL if engine_kind(spec) == POSTGRESQL else spec.strip()


def _address_in(variable: str) -> str:
    address = os.environ.get(variable, "").strip()
    if not address:
        raise EngineAddressUnset(variable=variable)
    if not is_database_address(address):
        raise AddressUnclear()
    return address
