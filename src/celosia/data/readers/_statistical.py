"""What SPSS and Stata files share: chunks of typed columns with labels of variables and of values.

Knows pyreadstat. Ignores which of the two programs wrote the file, except for how it marks missing codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from celosia import messages
from celosia.data.readers._arrow import with_notice, write_texts
from celosia.data.readers._digest import file_digest
from celosia.data.readers._head import Head, head_of_texts
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
        kept_names = tuple(names[i] for i in kept)
        labels = {names[i]: _labels(metadata, raw[i]) for i in kept}
        labels = {name: held for name, held in labels.items() if held != ColumnLabels()}
        chunks = _Chunks(path, reader, dict(zip(columns, kept_names, strict=True)), labels, missing_codes)
        noted = replace(choices, notes=choices.notes + notices)
        texts = chunks.texts(metadata, progress)
        written = write_texts(kept_names, texts, noted, draft, file_digest(path), labels, path.name)
        return replace(written, choices=with_notice(written.choices, *_missing_notice(labels)))
    except errors:
        raise DamagedFile(path=str(path), format=program) from None


def head_labelled(path: Path, choices: ReadingChoices, rows: int, reader: Callable[..., Any], program: str) -> Head:
    """The first rows of a labelled file."""
    errors = (library().ReadstatError, library().PyreadstatError, UnicodeDecodeError, OverflowError)
    try:
        data, metadata = reader(str(path), row_limit=rows, user_missing=True, output_format="dict")
    except errors:
        raise DamagedFile(path=str(path), format=program) from None
    raw, types = list(metadata.column_names), metadata.readstat_variable_types
    columns = [_column(data[name], types.get(name) != "string").to_pylist() for name in raw]
    # the file's number of rows is only known when all were read
    return head_of_texts(raw, zip(*columns, strict=True), choices, path.name)


@dataclass(frozen=True, slots=True)
class _Chunks:
    """The rows of a file in chunks; the missing codes in use are learnt on the way, for only the rows tell."""

    path: Path
    reader: Callable[..., Any]
    columns: dict[str, str]  # name in the file: name of ours
    labels: dict[str, ColumnLabels]
    missing_codes: CodesOf

    def texts(self, metadata: Metadata, progress: Progress | None) -> Iterator[list[pa.Array]]:
        """Chunks of text columns."""
        types = metadata.readstat_variable_types
        start = 0
        while True:
            data, found = self._chunk(start)
            size = max(map(len, data.values()), default=0)
            self._learn(found)
            if size:
                yield [_column(data[name], types.get(name) != "string") for name in self.columns]
            start += size
            if progress is not None:
                progress(start / max(metadata.number_rows or 0, start, 1))
            if size < _CHUNK:
                return

    def _chunk(self, start: int) -> tuple[dict[str, list[object]], Metadata]:
        wanted = {"usecols": list(self.columns), "row_offset": start, "row_limit": _CHUNK}
        data, found = self.reader(str(self.path), **wanted, user_missing=True, output_format="dict")
        return dict(data), found

    def _learn(self, found: Metadata) -> None:
        for own, name in self.columns.items():
            held = self.labels.get(name, ColumnLabels())
            codes = tuple(dict.fromkeys((*held.missing, *self.missing_codes(found, own))))
            if codes != held.missing:
                self.labels[name] = replace(held, missing=codes)


def _column(values: Sequence[object], numeric: bool) -> pa.Array:
    """A column as text; in a numeric one a letter is one of Stata's missing codes, written «.a»."""
    if numeric:
        values = [f".{value}" if isinstance(value, str) else value for value in values]
    return pa.array([cell_text(value) for value in values], pa.string())


def _labels(metadata: Metadata, name: str) -> ColumnLabels:
    label = metadata.column_names_to_labels.get(name) or ""
    numeric = metadata.readstat_variable_types.get(name) != "string"
    held = metadata.variable_value_labels.get(name) or {}
    values = tuple((code_text(code, numeric), str(text)) for code, text in held.items())
    return ColumnLabels(label, values)


def code_text(code: object, numeric: bool) -> str:
    """The code of a value label as the cells show it."""
    if numeric and isinstance(code, str):
        return f".{code}"
    return cell_text(float(code) if isinstance(code, int) else code) or ""


def _missing_notice(labels: dict[str, ColumnLabels]) -> tuple[Notice, ...]:
    declared = ", ".join(name for name, held in labels.items() if held.missing)
    return (Notice.of("user_missing", variables=declared),) if declared else ()
