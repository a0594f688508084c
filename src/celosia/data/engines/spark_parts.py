"""Rows written and read by the executors, put together by the driver.

Knows files on the disk that driver and executors share, and where each task's bytes stand in the whole file. Ignores
what the rows mean. The driver moves bytes and counts; it parses nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.engines.spark_tasks import Slice, TaskOutcome, WorkingPart, WrittenPart
from celosia.data.errors import EmptyTable, SourceChanged
from celosia.data.readers.arrow import add_notices
from celosia.data.readers.canonical import refuse_types
from celosia.data.readers.names import select_columns
from celosia.data.writers.dialect import encode_header
from celosia.model.paths import PARTS
from celosia.model.sources import Ingested, Notice, ReadingChoices, Source
from celosia.storage import (
    PRIVATE_FILE,
    atomic_write,
    content_digest,
    make_private_folder,
    set_mode,
    temporary_folder_beside,
    translate_write_errors,
)

FORMAT = "celosia/parts/1"
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class ReadParts:
    """A written file read again by the executors: a folder of row-aligned Parquet parts."""

    copy: Path
    names: tuple[str, ...]
    rows: int
    digest: str


def collect_parts(replies: pa.Table) -> tuple[list[WrittenPart], Iterator[pa.RecordBatch]]:
    """The parts reported to the driver, in the order of their rows, and the rows it asked for."""
    parts: list[WrittenPart] = []
    samples: list[bytes] = []
    for reply in replies.to_pylist():
        facts = json.loads(reply["facts"])
        fields = TaskOutcome(facts["part"], facts["error"], tuple(facts["values"].items())).unwrap()
        parts.append(WrittenPart(**fields))
        samples.append(reply["sample"])
    order = sorted(range(len(parts)), key=lambda i: parts[i].position)
    return [parts[i] for i in order if parts[i].rows], _batches(samples[i] for i in order if samples[i])


def _batches(streams: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
    for stream in streams:
        with pa.ipc.open_stream(pa.py_buffer(stream)) as reader:
            yield from reader


def join_csv(parts: Sequence[WrittenPart], names: Sequence[str], path: Path) -> None:
    """The header and the parts one after another; how many bytes each has is kept in a private file beside."""
    header = encode_header(names)
    with atomic_write(path) as draft, draft.open("wb") as sink:
        sink.write(header)
        for part in parts:
            with open(part.file, "rb") as lines:
                shutil.copyfileobj(lines, sink, _BLOCK)
    facts = {"format": FORMAT, "header": len(header), "parts": [[part.size, part.rows] for part in parts]}
    with atomic_write(path.with_name(PARTS)) as draft:
        draft.write_text(json.dumps(facts) + "\n", "utf-8", newline="\n")


def move_order(parts: Sequence[WrittenPart], folder: Path) -> Path:
    """The private persons of each part, as a folder of parts in the order of the file."""
    make_private_folder(folder)
    with translate_write_errors(folder):
        for position, part in enumerate(parts):
            os.replace(part.beside, part_path(folder, position))
        if not parts:
            pq.write_table(pa.table({"person": pa.array([], pa.string())}), part_path(folder, 0))
            set_mode(part_path(folder, 0), PRIVATE_FILE)
    return folder


def part_path(folder: Path, position: int) -> Path:
    """Where a part of a folder stands; names sort as positions do."""
    return folder / f"part-{position:05d}.parquet"


def slices_of(path: Path, order: Path | None, target: Path) -> list[Slice] | None:
    """The parts a file was written in, as work for the executors; None where it was not, or has changed since."""
    facts = _facts(path)
    if facts is None or (order is not None and not order.is_dir()):
        return None
    start, slices = int(facts["header"]), []
    for position, (size, _) in enumerate(facts["parts"]):
        beside = str(part_path(order, position)) if order is not None else ""
        slices.append(Slice(str(path), facts["header"], start, size, str(part_path(target, position)), beside))
        start += size
    return slices if slices and start == path.stat().st_size else None


def _facts(path: Path) -> dict[str, Any] | None:
    try:
        facts = json.loads(path.with_name(PARTS).read_text("utf-8"))
        return facts if facts["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_slices(path: Path, slices: Sequence[Slice], each: Callable[..., list[Any]], task: Any) -> ReadParts:
    """Every slice read by an executor; refused unless what they read is the file as it stands on the disk."""
    target = make_private_folder(Path(slices[0].target).parent)
    read = each(task, slices)
    digest, digests = _digests(path, slices)
    names = read[0][0]
    if digests != [reply[2] for reply in read] or any(reply[0] != names for reply in read):
        raise SourceChanged(path=path.name)
    return ReadParts(target, tuple(names), sum(reply[1] for reply in read), digest)


def _digests(path: Path, slices: Sequence[Slice]) -> tuple[str, list[str]]:
    """The digest of the whole file and of each slice of it, in one pass."""
    whole, digests = hashlib.sha256(), []
    with path.open("rb") as stream:
        whole.update(stream.read(slices[0].header))
        for part in slices:
            own, left = hashlib.sha256(), part.size
            while left and (block := stream.read(min(left, _BLOCK))):
                whole.update(block)
                own.update(block)
                left -= len(block)
            digests.append(own.hexdigest())
        if stream.read(1):
            raise SourceChanged(path=path.name)
    return f"sha256:{whole.hexdigest()}", digests


def copy_table_parts(
    frame: Any, name: str, target: Path, dropped: tuple[str, ...], run_task: Callable[[Any, Any], pa.Table]
) -> Ingested:
    """A frame of Spark as a working copy in parts; what is no plain value is refused by column name."""
    from pyspark.sql.pandas.types import to_arrow_schema

    choices = ReadingChoices("spark", sheet=name, dropped=dropped)
    selected = select_columns(frame.columns, choices)
    names = selected.names
    # Columns by position: their own names may hold a dot, or differ by case alone.
    plain = frame.toDF(*[f"c{i}" for i in range(len(frame.columns))]).select(*[f"c{i}" for i in selected.positions])
    refuse_types(to_arrow_schema(plain.schema), names)
    with temporary_folder_beside(target) as scratch:
        draft = make_private_folder(scratch / target.name)
        written, _ = collect_parts(run_task(plain, WorkingPart(str(scratch), names)))
        if not written:
            raise EmptyTable(table=name)
        with translate_write_errors(target.parent):
            for position, part in enumerate(written):
                os.replace(part.file, part_path(draft, position))
            os.replace(draft, target)
    counted = {"blank_cells": sum(p.blanks for p in written), "null_cells": sum(p.nulls for p in written)}
    notices = Notice.of("no_order"), *(Notice.of(key, count=count) for key, count in counted.items() if count)
    rows = sum(part.rows for part in written)
    source = Source(name, content_digest(target), rows, len(names), add_notices(selected.choices, *notices))
    return Ingested(source, names)
