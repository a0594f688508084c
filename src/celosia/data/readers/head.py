"""The first rows of any source, read as `ingest` would read them, without reading the rest.

Knows which reader takes which format. Ignores the formats themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Unpack

import pyarrow as pa

from celosia import messages
from celosia.data.readers.canonical import WHITESPACE, canonical_text, refusal_kind
from celosia.data.readers.folder import first_part
from celosia.data.readers.ingest import READERS, resolve_source, source_name
from celosia.data.readers.names import no_rows_error, select_columns
from celosia.data.sniffing import Overrides
from celosia.model.sources import ReadingChoices
from celosia.model.values import MISSING

_WITH_TABLES = frozenset(("xlsx", "xls", "ods", "sqlite", "duckdb", "postgresql"))


@dataclass(frozen=True, slots=True)
class Head:
    """The first rows of a source, every cell as text; `total` is the number of all rows where the source tells it."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    choices: ReadingChoices
    total: int | None = None
    tables: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)  # columns that must be left out, and what they hold
    source: str = ""


def read_head(source: str | Path, rows: int, **overrides: Unpack[Overrides]) -> Head:
    """The first rows of a source; what is wrong with them is said as `ingest` would say it."""
    location, choices = resolve_source(source, None, overrides)
    file = first_part(location) if isinstance(location, Path) and location.is_dir() else location
    result: Head = _reader(choices.format).head(file, choices, rows)
    return replace(result, source=source_name(location, result.choices))


def list_tables(source: str | Path, **overrides: Unpack[Overrides]) -> tuple[str, ...]:
    """Sheets of a workbook or tables of a database; nothing where a source is one table."""
    location, choices = resolve_source(source, None, overrides)
    if choices.format not in _WITH_TABLES:
        return ()
    names: Sequence[str] = _reader(choices.format).tables(location)
    return tuple(names)


def _reader(format: str) -> ModuleType:
    return import_module(f"celosia.data.readers.{READERS[format]}")


def head_of_texts(
    raw: Sequence[str],
    rows: Iterable[Sequence[str | None]],
    choices: ReadingChoices,
    source_name: str,
    kinds: Sequence[str] = (),
    **more: object,
) -> Head:
    """A head from rows of texts with all columns of the source; those left out are left out here.

    `kinds` says why a column will be refused, where one will.
    """
    selected = select_columns(raw, choices)
    cells = tuple(tuple(_cell(row[i]) for i in selected.positions) for row in rows)
    if not cells:
        raise no_rows_error(choices, source_name)
    refused = {
        selected.all_names[i]: messages.text(f"reading.kinds.{kind}")
        for i, kind in enumerate(kinds)
        if kind and i in selected.positions
    }
    return Head(selected.names, cells, selected.choices, refused=refused, **more)  # type: ignore[arg-type]


def head_of_batches(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    rows: int,
    choices: ReadingChoices,
    source_name: str,
    **more: object,
) -> Head:
    """A head from the first batch of an Arrow stream, typed as it comes; what is no plain value is left blank."""
    kinds = [refusal_kind(field.type) for field in schema]
    texts: list[Sequence[str | None]] = []
    for batch in islice(batches, 1):
        part = batch.slice(0, rows)
        columns = [_texts(part.column(i), kind) for i, kind in enumerate(kinds)]
        texts = list(zip(*columns, strict=True))
    return head_of_texts(schema.names, texts, choices, source_name, kinds, **more)


def _texts(column: pa.Array, kind: str) -> list[str | None]:
    return [None] * len(column) if kind else canonical_text(column).to_pylist()


def _cell(text: str | None) -> str:
    """A cell as the working copy keeps it: without null characters, blanks only as missing."""
    plain = (text or MISSING).replace("\x00", "")
    return plain if plain.strip(WHITESPACE) else MISSING
