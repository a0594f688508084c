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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.engines._spark_tasks import Part, Slice, Told, WorkingPart
from celosia.data.files import (
    PRIVATE_FILE,
    content_digest,
    own_folder,
    private_folder,
    replacing,
    scratch_beside,
    writing_into,
)
from celosia.data.readers._canonical import refuse_types
from celosia.data.readers._names import kept_positions, settled
from celosia.data.writers._dialect import encoded_header
from celosia.errors import EmptyTable, SourceChanged
from celosia.model.sources import Ingested, Notice, ReadingChoices, Source

DATA, ORDER, PARTS = "data.csv", "order.parquet", "parts.json"
FORMAT = "celosia/parts/1"
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class ReadParts:
    """A written file read again by the executors: a folder of row-aligned Parquet parts."""

    copy: Path
    names: tuple[str, ...]
    rows: int
    digest: str


def attempts_folder(target: Path) -> Path:
    """A private place on the shared disk for what the tasks write, swept should this process be killed."""
    return own_folder(target)


def settled_parts(replies: pa.Table) -> tuple[list[Part], Iterator[pa.RecordBatch]]:
    """The parts the driver was told of, in the order of their rows, and the rows it asked to see."""
    parts: list[Part] = []
    samples: list[bytes] = []
    for reply in replies.to_pylist():
        facts = json.loads(reply["facts"])
        held = Told(facts["part"], facts["error"], tuple(facts["values"].items())).settled()
        parts.append(Part(**held))
        samples.append(reply["sample"])
    order = sorted(range(len(parts)), key=lambda i: parts[i].position)
    return [parts[i] for i in order if parts[i].rows], _batches(samples[i] for i in order if samples[i])


def _batches(streams: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
    for stream in streams:
        with pa.ipc.open_stream(pa.py_buffer(stream)) as reader:
            yield from reader


def joined_csv(parts: Sequence[Part], names: Sequence[str], path: Path) -> None:
    """The header and the parts one after another; how many bytes each has is kept in a private file beside."""
    header = encoded_header(names)
    with replacing(path) as draft, draft.open("wb") as sink:
        sink.write(header)
        for part in parts:
            with open(part.file, "rb") as lines:
                shutil.copyfileobj(lines, sink, _BLOCK)
    facts = {"format": FORMAT, "header": len(header), "parts": [[part.size, part.rows] for part in parts]}
    with replacing(path.with_name(PARTS)) as draft:
        draft.write_text(json.dumps(facts) + "\n", "utf-8")


def kept_order(parts: Sequence[Part], folder: Path) -> Path:
    """The private persons of each part, as a folder of parts in the order of the file."""
    private_folder(folder)
    with writing_into(folder):
        for position, part in enumerate(parts):
            os.replace(part.beside, part_path(folder, position))
        if not parts:
            pq.write_table(pa.table({"person": pa.array([], pa.string())}), part_path(folder, 0))
            part_path(folder, 0).chmod(PRIVATE_FILE)
    return folder


def part_path(folder: Path, position: int) -> Path:
    """Where a part of a folder stands; names sort as positions do."""
    return folder / f"part-{position:05d}.parquet"


def slices_of(path: Path, order: Path | None, target: Path) -> list[Slice] | None:
    """The parts a file was written in, as work for the executors; None where it was not, or has changed since."""
    facts = _facts(path)
    if facts is None or (order is not None and not order.is_dir()):
        return None
    start, found = int(facts["header"]), []
    for position, (size, _) in enumerate(facts["parts"]):
        beside = str(part_path(order, position)) if order is not None else ""
        found.append(Slice(str(path), facts["header"], start, size, str(part_path(target, position)), beside))
        start += size
    return found if found and start == path.stat().st_size else None


def _facts(path: Path) -> dict[str, Any] | None:
    try:
        facts = json.loads(path.with_name(PARTS).read_text("utf-8"))
        return facts if facts["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_slices(path: Path, slices: Sequence[Slice], each: Callable[..., list[Any]], task: Any) -> ReadParts:
    """Every slice read by an executor; refused unless what they read is the file as it stands on the disk."""
    target = private_folder(Path(slices[0].target).parent)
    read = each(task, slices)
    digest, found = _digests(path, slices)
    names = read[0][0]
    if found != [one[2] for one in read] or any(one[0] != names for one in read):
        raise SourceChanged(path=path.name)
    return ReadParts(target, tuple(names), sum(one[1] for one in read), digest)


def _digests(path: Path, slices: Sequence[Slice]) -> tuple[str, list[str]]:
    """The digest of the whole file and of each slice of it, in one pass."""
    whole, found = hashlib.sha256(), []
    with path.open("rb") as stream:
        whole.update(stream.read(slices[0].header))
        for part in slices:
            own, left = hashlib.sha256(), part.size
            while left and (block := stream.read(min(left, _BLOCK))):
                whole.update(block)
                own.update(block)
                left -= len(block)
            found.append(own.hexdigest())
        if stream.read(1):
            raise SourceChanged(path=path.name)
    return f"sha256:{whole.hexdigest()}", found


def copied_table(
    frame: Any, name: str, target: Path, dropped: tuple[str, ...], mapped: Callable[[Any, Any], pa.Table]
) -> Ingested:
    """A frame of Spark as a working copy in parts; what is no plain value is refused by column name."""
    from pyspark.sql.pandas.types import to_arrow_schema

    choices = ReadingChoices("spark", sheet=name, dropped=dropped)
    names, notices = settled(frame.columns, choices)
    kept = kept_positions(names, dropped)
    names = tuple(names[i] for i in kept)
    # Columns by position: their own names may hold a dot, or differ by case alone.
    plain = frame.toDF(*[f"c{i}" for i in range(len(frame.columns))]).select(*[f"c{i}" for i in kept])
    refuse_types(to_arrow_schema(plain.schema), names)
    with scratch_beside(target) as scratch:
        draft = private_folder(scratch / target.name)
        written, _ = settled_parts(mapped(plain, WorkingPart(str(scratch), names)))
        if not written:
            raise EmptyTable(table=name)
        with writing_into(target.parent):
            for position, part in enumerate(written):
                os.replace(part.file, part_path(draft, position))
            os.replace(draft, target)
    counted = {"blank_cells": sum(p.blanks for p in written), "null_cells": sum(p.nulls for p in written)}
    notices += (Notice.of("no_order"), *(Notice.of(key, count=count) for key, count in counted.items() if count))
    rows = sum(part.rows for part in written)
    source = Source(name, content_digest(target), rows, len(names), replace(choices, notes=notices))
    return Ingested(source, names)
