"""SPSS files (.sav, .zsav) and Stata files (.dta): typed columns with labels of variables and of values.

Knows pyreadstat, and how each program declares missing codes: SPSS single codes and ranges, Stata the extended codes .a
to .z. Ignores everything else of the two programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from celosia import messages
from celosia.data.errors import DamagedFile
from celosia.data.readers.arrow import add_notices, write_texts
from celosia.data.readers.canonical import cell_text
from celosia.data.readers.head import Head, head_of_texts
from celosia.data.readers.names import select_columns
from celosia.data.readers.stream import Progress
from celosia.data.readers.working import WorkingDraft
from celosia.model.errors import MissingExtra
from celosia.model.sources import ColumnLabels, Notice, ReadingChoices
from celosia.storage import content_digest

_CHUNK = 50_000
Metadata = Any  # pyreadstat's container, which has no types
CodesOf = Callable[[Metadata, str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Program:
    """A statistical program: its name, the reader of its files, and the missing codes that a column declares."""

    name: str
    reader: str
    missing_codes: CodesOf


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> WorkingDraft:
    """Reads a labelled file into a working copy, in chunks."""
    reader = _reader(choices)
    with _damaged_as(path, choices):
        _, metadata = reader(str(path), metadataonly=True, user_missing=True, output_format="dict")
        raw = list(metadata.column_names)
        selected = select_columns(raw, choices)
        labels = {selected.all_names[i]: _labels(metadata, raw[i]) for i in selected.positions}
        labels = {name: column_labels for name, column_labels in labels.items() if column_labels != ColumnLabels()}
        columns = dict(zip((raw[i] for i in selected.positions), selected.names, strict=True))
        texts = _Chunks(path, reader, columns, labels, _PROGRAMS[choices.format].missing_codes).texts(
            metadata, progress
        )
        written = write_texts(selected.names, texts, selected.choices, draft, content_digest(path), labels, path.name)
        return replace(written, choices=add_notices(written.choices, *_missing_notice(labels)))


def head(path: Path, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of a labelled file."""
    with _damaged_as(path, choices):
        data, metadata = _reader(choices)(str(path), row_limit=rows, user_missing=True, output_format="dict")
    raw, types = list(metadata.column_names), metadata.readstat_variable_types
    columns = [_column(data[name], types.get(name) != "string").to_pylist() for name in raw]
    # The number of rows of the file is only known when all were read.
    return head_of_texts(raw, zip(*columns, strict=True), choices, path.name)


def _library() -> ModuleType:
    """pyreadstat, or the name of the part that is not installed."""
    try:
        import pyreadstat
    except ImportError:
        feature = messages.text("reading.features.statistical")
        raise MissingExtra(feature=feature, extra="office") from None
    return pyreadstat


def _reader(choices: ReadingChoices) -> Callable[..., Any]:
    reader: Callable[..., Any] = getattr(_library(), _PROGRAMS[choices.format].reader)
    return reader


@contextmanager
def _damaged_as(path: Path, choices: ReadingChoices) -> Iterator[None]:
    """Raises our own error for what the library says of a file: its words may quote cells."""
    library = _library()
    try:
        yield
    except (library.ReadstatError, library.PyreadstatError, UnicodeDecodeError, OverflowError):
        raise DamagedFile(path=str(path), format=_PROGRAMS[choices.format].name) from None


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
            data, chunk_metadata = self._chunk(start)
            size = max(map(len, data.values()), default=0)
            self._learn(chunk_metadata)
            if size:
                yield [_column(data[name], types.get(name) != "string") for name in self.columns]
            start += size
            if progress is not None:
                progress(start / max(metadata.number_rows or 0, start, 1))
            if size < _CHUNK:
                return

    def _chunk(self, start: int) -> tuple[dict[str, list[object]], Metadata]:
        selection = {"usecols": list(self.columns), "row_offset": start, "row_limit": _CHUNK}
        data, metadata = self.reader(str(self.path), **selection, user_missing=True, output_format="dict")
        return dict(data), metadata

    def _learn(self, metadata: Metadata) -> None:
        for own, name in self.columns.items():
            labels = self.labels.get(name, ColumnLabels())
            codes = tuple(dict.fromkeys((*labels.missing, *self.missing_codes(metadata, own))))
            if codes != labels.missing:
                self.labels[name] = replace(labels, missing=codes)


def _column(values: Sequence[object], numeric: bool) -> pa.Array:
    """A column as text; in a numeric one a letter is one of Stata's missing codes, written «.a»."""
    if numeric:
        values = [f".{value}" if isinstance(value, str) else value for value in values]
    return pa.array([cell_text(value) for value in values], pa.string())


def _labels(metadata: Metadata, name: str) -> ColumnLabels:
    label = metadata.column_names_to_labels.get(name) or ""
    numeric = metadata.readstat_variable_types.get(name) != "string"
    value_labels = metadata.variable_value_labels.get(name) or {}
    values = tuple((_code_text(code, numeric), str(text)) for code, text in value_labels.items())
    return ColumnLabels(label, values)


def _code_text(code: object, numeric: bool) -> str:
    """The code of a value label as the cells show it."""
    if numeric and isinstance(code, str):
        return f".{code}"
    return cell_text(float(code) if isinstance(code, int) else code) or ""


def _missing_notice(labels: dict[str, ColumnLabels]) -> tuple[Notice, ...]:
    declared = ", ".join(name for name, column_labels in labels.items() if column_labels.missing)
    return (Notice.of("user_missing", variables=declared),) if declared else ()


def _spss_missing_codes(metadata: Metadata, name: str) -> tuple[str, ...]:
    """Single missing codes, and those labelled codes that lie in a missing range."""
    labelled = (metadata.variable_value_labels.get(name) or {}).keys()
    codes: list[object] = []
    for span in metadata.missing_ranges.get(name, ()):
        low, high = (span["lo"], span["hi"]) if isinstance(span, dict) else (span, span)
        if low == high:
            codes.append(low)
        else:
            codes.extend(code for code in labelled if isinstance(code, int | float) and low <= code <= high)
    return tuple(dict.fromkeys(_code_text(code, numeric=False) for code in codes))


def _stata_missing_codes(metadata: Metadata, name: str) -> tuple[str, ...]:
    return tuple(f".{letter}" for letter in metadata.missing_user_values.get(name, ()))


_PROGRAMS = {
    "sav": _Program("SPSS", "read_sav", _spss_missing_codes),
    "dta": _Program("Stata", "read_dta", _stata_missing_codes),
}
