"""What SPSS and Stata files share: chunks of typed columns with labels of variables and of values.

Knows pyreadstat. Ignores which of the two programs wrote the file, except for how it marks missing codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from celosia import messages
from celosia.data.readers._arrow import write_texts
from celosia.data.readers._digest import file_digest
from celosia.data.readers._names import kept_positions, settled
from celosia.data.readers._scalars import cell_text
from celosia.data.readers._stream import Progress
from celosia.data.readers._working import Draft
from celosia.errors import DamagedFile, MissingExtra
from celosia.model.sources import ColumnLabels, Notice, ReadingChoices

_CHUNK = 50_000
Metadata = Any  # pyreadstat's container, which has no types
CodesOf = Callable[[Metadata, str], tuple[str, ...]]


def library() -> ModuleType:
    """pyreadstat, or the name of the part that is not installed."""
    try:
        import pyreadstat
    except ImportError:
        feature = messages.text("reading.features.statistical")
        raise MissingExtra(feature=feature, extra="office") from None
    return pyreadstat


def read_labelled(
    path: Path,
    choices: ReadingChoices,
    draft: Path,
    progress: Progress | None,
    reader: Callable[..., Any],
    missing_codes: CodesOf,
    program: str,
) -> Draft:
    """Reads a labelled file into a working copy, in chunks."""
    errors = (library().ReadstatError, library().PyreadstatError, UnicodeDecodeError, OverflowError)
    try:
        _, metadata = reader(str(path), metadataonly=True, user_missing=True, output_format="dict")
        raw = list(metadata.column_names)
        names, notices = settled(raw, choices)
        kept = kept_positions(names, choices.dropped)
        columns = [raw[i] for i in kept]
        labels = {names[i]: _labels(metadata, raw[i], missing_codes(metadata, raw[i])) for i in kept}
        labels = {name: held for name, held in labels.items() if held != ColumnLabels()}
        noted = replace(choices, notes=choices.notes + notices + _missing_notice(labels))
        chunks = _chunks(path, reader, columns, metadata, progress)
        kept_names = tuple(names[i] for i in kept)
        return write_texts(kept_names, chunks, noted, draft, file_digest(path), labels, path.name)
    except errors:
        raise DamagedFile(path=str(path), format=program) from None


def _chunks(
    path: Path, reader: Callable[..., Any], columns: Sequence[str], metadata: Metadata, progress: Progress | None
) -> Iterator[list[pa.Array]]:
    total = metadata.number_rows or 0
    letters = {name for name in columns if metadata.readstat_variable_types.get(name) != "string"}
    start = 0
    while True:
        data, _ = reader(
            str(path),
            usecols=list(columns),
            row_offset=start,
            row_limit=_CHUNK,
            user_missing=True,
            output_format="dict",
        )
        size = len(data[columns[0]]) if data else 0
        if size:
            yield [_column(data[name], name in letters) for name in columns]
        start += size
        if progress is not None:
            progress(start / max(total, start, 1))
        if size < _CHUNK:
            return


def _column(values: Sequence[object], numeric: bool) -> pa.Array:
    """A column as text; in a numeric one a letter is one of Stata's missing codes, written «.a»."""
    if numeric:
        values = [f".{value}" if isinstance(value, str) else value for value in values]
    return pa.array([cell_text(value) for value in values], pa.string())


def _labels(metadata: Metadata, name: str, missing: tuple[str, ...]) -> ColumnLabels:
    label = metadata.column_names_to_labels.get(name) or ""
    numeric = metadata.readstat_variable_types.get(name) != "string"
    held = metadata.variable_value_labels.get(name) or {}
    values = tuple((code_text(code, numeric), str(text)) for code, text in held.items())
    return ColumnLabels(label, values, missing)


def code_text(code: object, numeric: bool) -> str:
    """The code of a value label as the cells show it."""
    if numeric and isinstance(code, str):
        return f".{code}"
    return cell_text(float(code) if isinstance(code, int) else code) or ""


def _missing_notice(labels: dict[str, ColumnLabels]) -> tuple[Notice, ...]:
    declared = ", ".join(name for name, held in labels.items() if held.missing)
    return (Notice.of("user_missing", variables=declared),) if declared else ()
