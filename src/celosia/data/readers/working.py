"""The private working copy: columns c0…cn, all text, no NULL, rows in source order; one Parquet file or parts of it.

Knows Parquet and the names kept in its metadata. Ignores where rows come from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.readers.canonical import canonical_cells, unsupported_column
from celosia.data.writers.dialect import encode_header, encode_rows
from celosia.model.errors import UnknownFormat
from celosia.model.sources import WORKING_FORMAT, WORKING_KEY, ColumnLabels, Notice, ReadingChoices
from celosia.storage import part_files, translate_write_errors

if TYPE_CHECKING:
    from celosia.proposals.facts import ColumnFacts

_JSON_SAMPLE = 1000
_BATCH = 65_536
Labels = Mapping[str, ColumnLabels]


@dataclass(frozen=True, slots=True)
class WorkingDraft:
    """What a reader says of the working copy it wrote."""

    names: tuple[str, ...]
    rows: int
    digest: str
    choices: ReadingChoices
    labels: Labels = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WrittenCounts:
    """What was counted while writing."""

    rows: int
    blank_cells: int
    null_cells: int
    digest: str  # of the canonical text; empty when nobody asked

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices about what was counted."""
        counted = {"blank_cells": self.blank_cells, "null_cells": self.null_cells}
        return tuple(Notice.of(key, count=count) for key, count in counted.items() if count)


def metadata_text(names: Sequence[str], labels: Labels) -> str:
    """Names and labels as the working copy keeps them."""
    kept_labels = {name: asdict(labels[name]) for name in names if name in labels}
    return json.dumps({"format": WORKING_FORMAT, "names": list(names), "labels": kept_labels}, ensure_ascii=False)


def working_names(path: Path) -> tuple[str, ...]:
    """The user's column names of a working copy."""
    return tuple(_metadata(path)["names"])


def working_labels(path: Path) -> dict[str, ColumnLabels]:
    """Labels that the source itself carried, of a working copy."""
    return {
        name: ColumnLabels(
            label=label["label"],
            values=tuple((code, text) for code, text in label["values"]),
            missing=tuple(label["missing"]),
        )
        for name, label in _metadata(path)["labels"].items()
    }


def _metadata(path: Path) -> dict[str, dict[str, dict]]:
    try:
        metadata = json.loads((pq.read_metadata(part_files(path)[0]).metadata or {})[WORKING_KEY])
        format_found = metadata["format"]
    except (KeyError, IndexError, TypeError, ValueError, pa.ArrowException, OSError):
        metadata, format_found = {}, "?"
    if format_found != WORKING_FORMAT:
        raise UnknownFormat(path=str(path), found=str(format_found), expected=WORKING_FORMAT)
    return metadata


def write_working(
    path: Path, names: Sequence[str], batches: Iterable[Sequence[pa.Array]], labels: Labels, with_digest: bool
) -> WrittenCounts:
    """Writes batches of text columns; counts blanks, and digests the canonical text if asked to."""
    inside = [f"c{i}" for i in range(len(names))]
    schema = pa.schema([pa.field(name, pa.string(), nullable=False) for name in inside])
    digest = hashlib.sha256(encode_header(names))
    rows = blanks = nulls = 0
    with translate_write_errors(path.parent.parent), pq.ParquetWriter(path, schema) as writer:
        for columns in batches:
            cells, blank, stripped = _canonical_columns(columns)
            batch = pa.record_batch(cells, schema=schema)
            if with_digest:
                digest.update(encode_rows(batch))
            writer.write_batch(batch)
            rows, blanks, nulls = rows + batch.num_rows, blanks + blank, nulls + stripped
        writer.add_key_value_metadata({WORKING_KEY.decode(): metadata_text(names, labels)})
    return WrittenCounts(rows, blanks, nulls, f"sha256:{digest.hexdigest()}" if with_digest else "")


def working_digest(path: Path, names: Sequence[str]) -> str:
    """Digest of the canonical text of a working copy."""
    digest = hashlib.sha256(encode_header(names))
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_BATCH):
            digest.update(encode_rows(batch))
    return f"sha256:{digest.hexdigest()}"


def _canonical_columns(columns: Sequence[pa.Array]) -> tuple[list[pa.StringArray], int, int]:
    cells, blanks, nulls = zip(*(canonical_cells(column) for column in columns), strict=True)
    return list(cells), sum(blanks), sum(nulls)


def refuse_json(path: Path, names: Sequence[str]) -> None:
    """Refuses columns whose texts are JSON objects or lists, judged on rows from three places of the copy."""
    filled = [0] * len(names)
    json_like = [0] * len(names)
    for batch in _sample_batches(path):
        for position, column in enumerate(batch.columns):
            texts = [text for text in column.to_pylist() if text]
            filled[position] += len(texts)
            json_like[position] += sum(map(_is_json, texts))
    for name, count, json_count in zip(names, filled, json_like, strict=True):
        if 2 * json_count > count:
            raise unsupported_column(name, "json")


def refuse_json_texts(columns: Iterable[ColumnFacts]) -> None:
    """The same on the distinct values of the columns, for a source of which there is no copy."""
    for column in columns:
        rows = [(text, int(count)) for text, count in zip(column.values, column.counts, strict=True) if text]
        if 2 * sum(count for text, count in rows if _is_json(text)) > sum(count for _, count in rows):
            raise unsupported_column(column.name, "json")


def _sample_batches(path: Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        groups = file.num_row_groups
        for group in sorted({0, groups // 2, groups - 1} & set(range(groups))):
            yield next(file.iter_batches(batch_size=_JSON_SAMPLE, row_groups=[group]))


def _is_json(text: str) -> bool:
    start, end = text.lstrip()[:1], text.rstrip()[-1:]
    if start + end not in ("{}", "[]"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
