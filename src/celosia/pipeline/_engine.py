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

from celosia.data.engines import Engine, engine_kind, open_engine, within
from celosia.data.readers import ingest
from celosia.data.sniffing import is_database_address
from celosia.errors import AddressUnclear, CatalogueNeedsSpark, DataElsewhere, EngineAddressUnset, ValueOutOfRange
from celosia.model.place import DATABASE, InPlace
from celosia.model.project import ENGINE, memory_bytes
from celosia.model.sources import Ingested
from celosia.pipeline._addresses import is_address, resolved_source
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import Project

POSTGRESQL = "postgresql"
CATALOGUE = "table:"


def project_engine(project: Project, engine: str | None = None, memory: str | None = None) -> Engine:
    """The engine of a project, or the one asked for this once."""
    place = project.in_place
    address = engine_address(engine or project.config.engine, place)
    return open_engine(address, project.private, asked_memory(memory or project.config.memory))


def source_engine(private: Path, engine: str | None = None, memory: str | None = None) -> Engine:
    """The engine on which a source without a project is counted."""
    return open_engine(engine_address(engine or ENGINE), private, asked_memory(memory or ""))


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


def in_place_of(source: Any, engine: str | None) -> InPlaceAddress | None:
    """The database that is both the source and the engine; None where the source is to be copied."""
    if not (isinstance(source, str) and is_address(source) and engine and engine_kind(engine) == POSTGRESQL):
        return None
    named = source.removeprefix("env:").strip() if source.startswith("env:") else DATABASE
    return InPlaceAddress(str(resolved_source(source)), named)


def asked_memory(text: str) -> int | None:
    """An amount of memory in bytes; None where nobody named one."""
    if not text:
        return None
    found = memory_bytes(text)
    if found is None:
        raise ValueOutOfRange(parameter="memory", given=text, allowed="≥ 256MB (512MB, 4GB, 16GiB, …)")
    return found


def shared_reading(engine: Engine) -> dict[str, Any]:
    """How the parts of a source are read by many at once, where the engine has somebody to do it."""
    each = getattr(engine, "each", None)
    return {} if each is None else {"each": each}


def copied(engine: Engine, source: Any, target: Path, report: Progress, reading: Mapping[str, Any]) -> Ingested:
    """The working copy of a source; a table of Spark's catalogue is copied by those who can reach it."""
    if not is_catalogue_table(source):
        with within(engine.memory):
            return ingest(source, target, progress=stage(report, "read"), **shared_reading(engine), **reading)
    table, copy_table = source.removeprefix(CATALOGUE), getattr(engine, "copy_table", None)
    if copy_table is None:
        raise CatalogueNeedsSpark(table=table)
    read: Ingested = copy_table(table, target, reading.get("drop") or ())
    return read


def is_catalogue_table(source: Any) -> bool:
    """Whether a source is a table of Spark's catalogue: `table:NAME`."""
    return isinstance(source, str) and source.startswith(CATALOGUE)


def kept_engine(spec: str | None) -> str:
    """What celosia.toml may say of the engine a project was made with: its kind, and where a cluster is."""
    if spec is None:
        return ENGINE
    return POSTGRESQL if engine_kind(spec) == POSTGRESQL else spec.strip()


def _address_in(variable: str) -> str:
    found = os.environ.get(variable, "").strip()
    if not found:
        raise EngineAddressUnset(variable=variable)
    if not is_database_address(found):
        raise AddressUnclear()
    return found
