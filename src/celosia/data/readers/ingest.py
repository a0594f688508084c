"""From any source to the private working copy, read once.

Knows which reader takes which format. Ignores the formats themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol, Unpack, cast

from celosia.data.readers.archive import refuse_endless_list
from celosia.data.readers.folder import Each, first_part, read_folder
from celosia.data.readers.stream import Progress
from celosia.data.readers.working import WorkingDraft, refuse_json
from celosia.data.sniffing import Overrides, apply_overrides, is_database_address, sniff
from celosia.model.paths import WORKING_COPY
from celosia.model.sources import Ingested, ReadingChoices, Source
from celosia.storage import replace_file, temporary_folder_beside, translate_read_errors

READERS = {
    "csv": "delimited",
    "parquet": "parquet",
    "xlsx": "workbook",
    "xls": "workbook",
    "ods": "workbook",
    "sav": "statistical",
    "dta": "statistical",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "frame": "frame",
}


class ArrowStream(Protocol):
    """A table of pandas, Polars, Arrow or anything else that gives an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def ingest(
    source: str | Path | ArrowStream,
    target: Path,
    choices: ReadingChoices | None = None,
    progress: Progress | None = None,
    each: Each | None = None,
    **overrides: Unpack[Overrides],
) -> Ingested:
    """Reads a source once and puts its working copy at `target`, whole or not at all.

    The copy of a folder of parts is a folder too; `each` may spread their reading.
    """
    location, chosen = resolve_source(source, choices, overrides)
    if isinstance(location, Path) and location.is_dir():
        return read_folder(location, target, chosen, ingest, progress, each)
    with temporary_folder_beside(target) as scratch:
        draft = scratch / WORKING_COPY
        result = _reader(chosen.format)(location, chosen, draft, progress)
        refuse_json(draft, result.names)
        replace_file(draft, target)
    name = source_name(location, result.choices)
    read = Source(name, result.digest, result.rows, len(result.names), result.choices)
    return Ingested(read, result.names, dict(result.labels))


def resolve_source(
    source: str | Path | ArrowStream, choices: ReadingChoices | None, overrides: Overrides
) -> tuple[object, ReadingChoices]:
    """What the reader is given, and how it is to be read."""
    if not isinstance(source, str | Path):
        start = choices or ReadingChoices(format="frame")
        return source, apply_overrides(start, **overrides)
    if is_database_address(source):
        start = choices or ReadingChoices(format="postgresql")
        return source, apply_overrides(start, **overrides)
    path = Path(source)
    if path.is_dir():
        return path, apply_overrides(choices, **overrides) if choices else sniff(first_part(path), **overrides)
    with translate_read_errors(path), path.open("rb") as stream:
        refuse_endless_list(path, stream)  # before anything asks what kind of archive it is
    return path, apply_overrides(choices, **overrides) if choices else sniff(path, **overrides)


def _reader(format: str) -> Callable[[object, ReadingChoices, Path, Progress | None], WorkingDraft]:
    """The reader of a format, imported only when it is needed."""
    module = import_module(f"celosia.data.readers.{READERS[format]}")
    return cast(Callable[[object, ReadingChoices, Path, Progress | None], WorkingDraft], module.read)


def source_name(location: object, choices: ReadingChoices) -> str:
    """The name of a source without folder, user or password."""
    if isinstance(location, Path):
        return location.name
    return choices.sheet or choices.format


__all__ = ["ArrowStream", "ingest"]
