"""What the executors do: our own reader and writer on their share of the rows.

Knows Arrow batches, our CSV dialect and files on the disk that driver and executors share. Ignores Spark, but for
the number of the task. An executor may be lost and its task run again, or twice at once: each attempt writes under a
name of its own, and only what the driver is told of counts. Errors travel as data, so that no foreign words do.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from celosia import errors, messages
from celosia.data.files import PRIVATE_FILE, scratch_beside, write_error
from celosia.data.readers._canonical import settled_cells, slices, text_of
from celosia.data.readers._working import metadata_text
from celosia.data.writers._dialect import as_text, encoded_rows, neutralised, refuse_null_characters
from celosia.errors import CelosiaError
from celosia.model.sources import WORKING_KEY

Batches = Iterator[pa.RecordBatch]
_BATCH = 65_536
REPLY = "facts string, sample binary"
_REPLY = pa.schema([("facts", pa.string()), ("sample", pa.binary())])


@dataclass(frozen=True, slots=True)
class Told:
    """What a task gives back: its result, or the error that stopped it, by name and fields."""

    result: Any = None
    error: str = ""
    values: tuple[tuple[str, Any], ...] = ()

    def settled(self) -> Any:
        """The result; the error is raised here as it was there."""
        if self.error:
            raise getattr(errors, self.error)(**dict(self.values))
        return self.result


@dataclass(frozen=True, slots=True)
class Telling:
    """A task whose errors come back as data."""

    task: Callable[[Any], Any]
    language: str = field(default_factory=messages.language)  # of the driver: columns without a name get one in it

    def __call__(self, item: Any) -> Told:
        """The outcome for one item."""
        messages.use(self.language)
        try:
            return Told(self.task(item))
        except CelosiaError as error:
            return Told(None, type(error).__name__, tuple(error.values.items()))


@dataclass(frozen=True, slots=True)
class Part:
    """One task's share of a written table."""

    position: int
    rows: int
    size: int  # bytes of text
    file: str
    beside: str = ""  # the file of the persons, where there is one
    blanks: int = 0
    nulls: int = 0


@dataclass(frozen=True, slots=True)
class CsvPart:
    """Writes one task's rows as lines of our CSV; the private person goes to a file beside, row by row."""

    folder: str
    names: tuple[str, ...]
    person: bool
    positions: tuple[int, ...] | None  # rows of the source that the driver wants to see; the last column says which

    def __call__(self, batches: Batches) -> Batches:
        """The task's facts and the rows of the positions."""
        return _told(lambda: self._written(batches))

    def _written(self, batches: Batches) -> tuple[Part, bytes]:
        position, name = _attempt(self.folder)
        beside, rows, seen = (f"{name}.parquet" if self.person else ""), 0, _Seen(self.positions)
        with _private(name) as sink, _persons(beside) as persons:
            for batch in batches:
                self._write(seen.passing(batch), sink, persons)
                rows += batch.num_rows
            size = sink.tell()
        return Part(position, rows, size, name, beside), seen.kept()

    def _write(self, batch: pa.RecordBatch, sink: IO[bytes], persons: pq.ParquetWriter | None) -> None:
        width = len(self.names)
        if persons is not None:
            persons.write_batch(pa.record_batch([batch.column(width).cast(pa.string())], names=["person"]))
        text = as_text(batch.select(range(width)))
        refuse_null_characters(text, self.names)
        sink.write(encoded_rows(neutralised(text)))


@dataclass(frozen=True, slots=True)
class WorkingPart:
    """Writes one task's rows of a catalogue table as a part of the working copy, every cell as canonical text."""

    folder: str
    names: tuple[str, ...]

    def __call__(self, batches: Batches) -> Batches:
        """The task's facts."""
        return _told(lambda: self._written(batches))

    def _written(self, batches: Batches) -> tuple[Part, bytes]:
        position, name = _attempt(self.folder)
        schema = pa.schema([pa.field(f"c{i}", pa.string(), nullable=False) for i in range(len(self.names))])
        rows = blanks = nulls = 0
        with _guarded(name), pq.ParquetWriter(name, schema) as writer:
            os.chmod(name, PRIVATE_FILE)
            for piece in (piece for batch in batches for piece in slices(batch)):
                cells = [settled_cells(text_of(column)) for column in piece.columns]
                writer.write_batch(pa.record_batch([text for text, _, _ in cells], schema=schema))
                rows += piece.num_rows
                blanks, nulls = blanks + sum(b for _, b, _ in cells), nulls + sum(n for _, _, n in cells)
            writer.add_key_value_metadata({WORKING_KEY.decode(): metadata_text(self.names, {})})
        return Part(position, rows, 0, name, "", blanks, nulls), b""


@dataclass(frozen=True, slots=True)
class Slice:
    """A run of whole lines of a written file, and where its rows are to stand."""

    file: str
    header: int  # bytes
    start: int
    size: int
    target: str
    order: str = ""  # the persons of these rows


def read_slice(part: Slice) -> tuple[tuple[str, ...], int, str]:
    """Reads lines of a written file with our own reader; their names, rows and the digest of their bytes."""
    from celosia.data.readers._ingest import ingest

    target = Path(part.target)
    with scratch_beside(target) as scratch:
        text, copy = scratch / "slice.csv", scratch / "slice.parquet"
        digest = _cut(part, text)
        choices = {"format": "csv", "encoding": "utf-8", "delimiter": ",", "quote": '"', "header": True, "decimal": "."}
        read = ingest(text, copy, **choices)  # type: ignore[arg-type]
        if part.order:
            copy = _beside(copy, Path(part.order), scratch / "persons.parquet")
        os.replace(copy, target)
    return read.names, read.source.rows, digest


def _beside(copy: Path, order: Path, target: Path) -> Path:
    """The rows read with the person of each in one column more; they must be as many."""
    with pq.ParquetFile(copy) as rows, pq.ParquetFile(order) as persons:
        if rows.metadata.num_rows != persons.metadata.num_rows:
            raise errors.SourceChanged(path=order.parent.name)
        names = [f"c{i}" for i in range(len(rows.schema_arrow.names) + 1)]
        schema = pa.schema([pa.field(name, pa.string()) for name in names])
        with _guarded(str(target)), pq.ParquetWriter(target, schema) as writer:
            pairs = zip(rows.iter_batches(_BATCH), persons.iter_batches(_BATCH), strict=True)
            for cells, whose in pairs:
                columns = [*cells.columns, whose.column(0)]
                writer.write_batch(pa.record_batch([one.cast(pa.string()) for one in columns], schema=schema))
    return target


def _cut(part: Slice, text: Path) -> str:
    """Copies the header and the lines; lines that do not end where they should are refused."""
    with _guarded(str(text)), open(part.file, "rb") as source, _private(str(text)) as sink:
        sink.write(source.read(part.header))
        source.seek(part.start)
        digest, left, quotes, last = hashlib.sha256(), part.size, 0, b""
        while left and (block := source.read(min(left, 1 << 22))):
            sink.write(block)
            digest.update(block)
            left, quotes, last = left - len(block), quotes + block.count(b'"'), block[-1:]
    # Whole records have an even number of quotes and end with a line end: so does the next slice begin with one.
    if left or quotes % 2 or last != b"\n":
        raise errors.SourceChanged(path=Path(part.file).name)
    return digest.hexdigest()


def able(token: tuple[str, str]) -> tuple[str, bool]:
    """What the driver asks at the beginning: which celosia is here, can it read, is the folder shared?"""
    import celosia.data.readers.delimited  # noqa: F401

    path, content = token
    try:
        return version("celosia"), Path(path).read_text("utf-8") == content
    except OSError:
        return version("celosia"), False


class _Seen:
    """Keeps the rows of some positions of the source as they pass."""

    def __init__(self, positions: Sequence[int] | None):
        self._positions = None if positions is None else pa.array(positions, pa.int64())
        self._kept: list[pa.RecordBatch] = []

    def passing(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._positions is not None:
            few = batch.filter(pc.is_in(batch.column(batch.num_columns - 1), self._positions))
            if few.num_rows:
                self._kept.append(few)
        return batch

    def kept(self) -> bytes:
        if not self._kept:
            return b""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self._kept[0].schema) as writer:
            for batch in self._kept:
                writer.write_batch(batch)
        return bytes(sink.getvalue())


def _told(task: Callable[[], tuple[Part, bytes]]) -> Batches:
    told = Telling(lambda _: task())(None)
    part, sample = told.result or (None, b"")
    facts = {"part": part and asdict(part), "error": told.error, "values": dict(told.values)}
    yield pa.record_batch([[json.dumps(facts)], [sample]], schema=_REPLY)


def _attempt(folder: str) -> tuple[int, str]:
    """The place of this task's rows among all, and a name that no other attempt takes."""
    from pyspark import TaskContext

    context = TaskContext.get()
    position, attempt = (context.partitionId(), context.taskAttemptId()) if context is not None else (0, 0)
    return position, os.path.join(folder, f"attempt-{position:05d}-{attempt}")


@contextlib.contextmanager
def _guarded(name: str) -> Iterator[None]:
    """What the system or Arrow says while a file is written, as our own error."""
    try:
        yield
    except OSError as fault:
        raise write_error(fault, Path(name).parent) from None


@contextlib.contextmanager
def _private(name: str) -> Iterator[IO[bytes]]:
    """A fresh file to write that only its owner reads."""
    with _guarded(name), os.fdopen(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_EXCL, PRIVATE_FILE), "wb") as sink:
        yield sink


@contextlib.contextmanager
def _persons(name: str) -> Iterator[pq.ParquetWriter | None]:
    """A writer for the private persons, where they are asked for."""
    if not name:
        yield None
        return
    with _guarded(name), pq.ParquetWriter(name, pa.schema([("person", pa.string())])) as writer:
        os.chmod(name, PRIVATE_FILE)
        yield writer
