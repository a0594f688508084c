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
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from celosia import messages
from celosia.data.errors import SourceChanged
from celosia.data.readers.canonical import canonical_cells, canonical_text, slice_batch
from celosia.data.readers.working import metadata_text
from celosia.data.writers.dialect import as_text, encode_rows, neutralise_batch, refuse_null_characters
from celosia.errors import CelosiaError
from celosia.model.paths import COPY_WITH_PERSONS
from celosia.model.sources import WORKING_KEY
from celosia.storage import PRIVATE_FILE, temporary_folder_beside, write_error

Batches = Iterator[pa.RecordBatch]
_BATCH = 65_536
REPLY = "facts string, sample binary"
_REPLY = pa.schema([("facts", pa.string()), ("sample", pa.binary())])


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What a task gives back: its result, or the error that stopped it, by name and fields."""

    result: Any = None
    error: str = ""  # module:name
    values: tuple[tuple[str, Any], ...] = ()

    def unwrap(self) -> Any:
        """The result; the error is raised here as it was there."""
        if self.error:
            raise pkgutil.resolve_name(self.error)(**dict(self.values))
        return self.result


@dataclass(frozen=True, slots=True)
class ReportingTask:
    """A task whose errors come back as data."""

    task: Callable[[Any], Any]
    language: str = field(default_factory=messages.language)  # of the driver: columns without a name get one in it

    def __call__(self, item: Any) -> TaskOutcome:
        """The outcome for one item."""
        messages.use(self.language)
        try:
            return TaskOutcome(self.task(item))
        except CelosiaError as error:
            return TaskOutcome(None, f"{type(error).__module__}:{type(error).__name__}", tuple(error.values.items()))


@dataclass(frozen=True, slots=True)
class WrittenPart:
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
        return _reply(lambda: self._write_part(batches))

    def _write_part(self, batches: Batches) -> tuple[WrittenPart, bytes]:
        position, name = _attempt(self.folder)
        beside, rows, seen = (f"{name}.parquet" if self.person else ""), 0, _WatchedRows(self.positions)
        with _open_private(name) as sink, _persons(beside) as persons:
            for batch in batches:
                self._write(seen.watch(batch), sink, persons)
                rows += batch.num_rows
            size = sink.tell()
        return WrittenPart(position, rows, size, name, beside), seen.serialise()

    def _write(self, batch: pa.RecordBatch, sink: IO[bytes], persons: pq.ParquetWriter | None) -> None:
        width = len(self.names)
        if persons is not None:
            persons.write_batch(pa.record_batch([batch.column(width).cast(pa.string())], names=["person"]))
        text = as_text(batch.select(range(width)))
        refuse_null_characters(text, self.names)
        sink.write(encode_rows(neutralise_batch(text)))


@dataclass(frozen=True, slots=True)
class WorkingPart:
    """Writes one task's rows of a catalogue table as a part of the working copy, every cell as canonical text."""

    folder: str
    names: tuple[str, ...]

    def __call__(self, batches: Batches) -> Batches:
        """The task's facts."""
        return _reply(lambda: self._write_part(batches))

    def _write_part(self, batches: Batches) -> tuple[WrittenPart, bytes]:
        position, name = _attempt(self.folder)
        schema = pa.schema([pa.field(f"c{i}", pa.string(), nullable=False) for i in range(len(self.names))])
        rows = blanks = nulls = 0
        with _translate_errors(name), pq.ParquetWriter(name, schema) as writer:
            os.chmod(name, PRIVATE_FILE)
            for piece in (piece for batch in batches for piece in slice_batch(batch)):
                cells = [canonical_cells(canonical_text(column)) for column in piece.columns]
                writer.write_batch(pa.record_batch([text for text, _, _ in cells], schema=schema))
                rows += piece.num_rows
                blanks, nulls = blanks + sum(b for _, b, _ in cells), nulls + sum(n for _, _, n in cells)
            writer.add_key_value_metadata({WORKING_KEY.decode(): metadata_text(self.names, {})})
        return WrittenPart(position, rows, 0, name, "", blanks, nulls), b""


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
    from celosia.data.readers.ingest import ingest

    target = Path(part.target)
    with temporary_folder_beside(target) as scratch:
        text, copy = scratch / "slice.csv", scratch / "slice.parquet"
        digest = _copy_slice(part, text)
        choices = {"format": "csv", "encoding": "utf-8", "delimiter": ",", "quote": '"', "header": True, "decimal": "."}
        read = ingest(text, copy, **choices)  # type: ignore[arg-type]
        if part.order:
            copy = _join_persons(copy, Path(part.order), scratch / COPY_WITH_PERSONS)
        os.replace(copy, target)
    return read.names, read.source.rows, digest


def _join_persons(copy: Path, order: Path, target: Path) -> Path:
    """The rows read with the person of each in one column more; they must be as many."""
    with pq.ParquetFile(copy) as rows, pq.ParquetFile(order) as persons:
        if rows.metadata.num_rows != persons.metadata.num_rows:
            raise SourceChanged(path=order.parent.name)
        names = [f"c{i}" for i in range(len(rows.schema_arrow.names) + 1)]
        schema = pa.schema([pa.field(name, pa.string()) for name in names])
        with _translate_errors(str(target)), pq.ParquetWriter(target, schema) as writer:
            pairs = zip(rows.iter_batches(_BATCH), persons.iter_batches(_BATCH), strict=True)
            for cells, whose in pairs:
                columns = [*cells.columns, whose.column(0)]
                writer.write_batch(pa.record_batch([column.cast(pa.string()) for column in columns], schema=schema))
    return target


def _copy_slice(part: Slice, text: Path) -> str:
    """Copies the header and the lines; lines that do not end where they should are refused."""
    with _translate_errors(str(text)), open(part.file, "rb") as source, _open_private(str(text)) as sink:
        sink.write(source.read(part.header))
        source.seek(part.start)
        digest, left, quotes, last = hashlib.sha256(), part.size, 0, b""
        while left and (block := source.read(min(left, 1 << 22))):
            sink.write(block)
            digest.update(block)
            left, quotes, last = left - len(block), quotes + block.count(b'"'), block[-1:]
    # Whole records have an even number of quotes and end with a line end: so does the next slice begin with one.
    if left or quotes % 2 or last != b"\n":
        raise SourceChanged(path=Path(part.file).name)
    return digest.hexdigest()


def check_executor(token: tuple[str, str]) -> tuple[str, bool]:
    """What the driver asks at the beginning: which celosia is here, can it read, is the folder shared?"""
    import celosia.data.readers.delimited  # noqa: F401

    path, content = token
    try:
        return version("celosia"), Path(path).read_text("utf-8") == content
    except OSError:
        return version("celosia"), False


class _WatchedRows:
    """Keeps the rows of some positions of the source as they pass."""

    def __init__(self, positions: Sequence[int] | None):
        self._positions = None if positions is None else pa.array(positions, pa.int64())
        self._kept: list[pa.RecordBatch] = []

    def watch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._positions is not None:
            few = batch.filter(pc.is_in(batch.column(batch.num_columns - 1), self._positions))
            if few.num_rows:
                self._kept.append(few)
        return batch

    def serialise(self) -> bytes:
        if not self._kept:
            return b""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self._kept[0].schema) as writer:
            for batch in self._kept:
                writer.write_batch(batch)
        return bytes(sink.getvalue())


def _reply(task: Callable[[], tuple[WrittenPart, bytes]]) -> Batches:
    outcome = ReportingTask(lambda _: task())(None)
    part, sample = outcome.result or (None, b"")
    facts = {"part": part and asdict(part), "error": outcome.error, "values": dict(outcome.values)}
    yield pa.record_batch([[json.dumps(facts)], [sample]], schema=_REPLY)


def _attempt(folder: str) -> tuple[int, str]:
    """The place of this task's rows among all, and a name that no other attempt takes."""
    from pyspark import TaskContext

    context = TaskContext.get()
    position, attempt = (context.partitionId(), context.taskAttemptId()) if context is not None else (0, 0)
    return position, os.path.join(folder, f"attempt-{position:05d}-{attempt}")


@contextlib.contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    """What the system or Arrow says while a file is written, as our own error."""
    try:
        yield
    except OSError as fault:
        raise write_error(fault, Path(name).parent) from None


@contextlib.contextmanager
def _open_private(name: str) -> Iterator[IO[bytes]]:
    """A fresh file to write that only its owner reads."""
    with (
        _translate_errors(name),
        os.fdopen(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_EXCL, PRIVATE_FILE), "wb") as sink,
    ):
        yield sink


@contextlib.contextmanager
def _persons(name: str) -> Iterator[pq.ParquetWriter | None]:
    """A writer for the private persons, where they are asked for."""
    if not name:
        yield None
        return
    with _translate_errors(name), pq.ParquetWriter(name, pa.schema([("person", pa.string())])) as writer:
        os.chmod(name, PRIVATE_FILE)
        yield writer
