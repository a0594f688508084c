"""The candidate on the disk: written in the order of its published values, then read again as anybody would read it.

Knows Tables, the CSV writer and the reader. Ignores policies. Whose row each one is stands in a private file beside the
candidate, row by row; it never enters the candidate.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.engines import Engine, open_engine
from celosia.data.files import PRIVATE_FILE, writing_into
from celosia.data.readers import ingest
from celosia.data.table import Table
from celosia.data.writers import write_csv

PERSON = "celosia person"  # the private column beside the file's own; a blank keeps it apart from real names
DATA, ORDER = "data.csv", "order.parquet"
Batches = Iterator[pa.RecordBatch]
_BATCH = 100_000


@dataclass(frozen=True, slots=True)
class ReadBack:
    """A written file as it was read again; with the private order, one column more says whose row each one is."""

    table: Table
    names: tuple[str, ...]  # of the file itself
    rows: int
    digest: str
    person: str | None


def write_candidate(
    table: Table, published: Sequence[str], person: str | None, target: Path, passing: Callable[[Batches], Batches]
) -> Path | None:
    """Write data.csv into `target`; `passing` sees the batches go by and takes off their last column, the origin.

    Where there is a person key, the path of the private order is returned.
    """
    along = () if person is None else (person,)
    batches = passing(table.ordered_batches(published, along=along, origin=True))
    if person is None:
        write_csv(batches, published, target / DATA, neutralise_formulas=True)
        return None
    order = target / ORDER
    schema = pa.schema([pa.field("person", pa.string())])
    with writing_into(target), pq.ParquetWriter(order, schema) as writer:
        write_csv(_parted(batches, writer, schema), published, target / DATA, neutralise_formulas=True)
    order.chmod(PRIVATE_FILE)
    return order


@contextlib.contextmanager
def read_back(path: Path, scratch: Path, order: Path | None, engine: Engine | None = None) -> Iterator[ReadBack]:
    """A written file as a table, counted by the engine given or by DuckDB."""
    copy = scratch / "again.parquet"
    again = ingest(path, copy, format="csv", encoding="utf-8", delimiter=",", quote='"', header=True, decimal=".")
    names = again.names
    if order is not None:
        copy, names = with_persons(copy, order, scratch / "persons.parquet"), (*names, PERSON)
    with contextlib.ExitStack() as stack:
        used = engine or stack.enter_context(contextlib.closing(open_engine(None, scratch)))
        table = Table(used, used.parquet(copy), names)
        yield ReadBack(table, again.names, again.source.rows, again.source.digest, PERSON if order else None)
    for spare in ("again.parquet", "persons.parquet"):
        (scratch / spare).unlink(missing_ok=True)


def with_persons(copy: Path, order: Path, target: Path) -> Path:
    """The read-back copy with the private person ordinals beside it, row by row."""
    read, persons = pq.ParquetFile(copy), pq.ParquetFile(order)
    width = len(read.schema_arrow.names)
    schema = pa.schema([*read.schema_arrow.remove_metadata(), pa.field(f"c{width}", pa.string())])
    with pq.ParquetWriter(target, schema) as writer:
        batches = zip(read.iter_batches(_BATCH), persons.iter_batches(_BATCH), strict=True)
        for rows, whose in batches:
            cells = [*rows.columns, whose.column(0)]
            writer.write_batch(pa.record_batch([c.cast(pa.string()) for c in cells], schema=schema))
    return target


def _parted(batches: Batches, writer: pq.ParquetWriter, schema: pa.Schema) -> Batches:
    """The published columns of each batch; its last column, the person, goes to the private file."""
    for batch in batches:
        writer.write_batch(pa.record_batch([batch.column(batch.num_columns - 1).cast(pa.string())], schema=schema))
        yield batch.select(range(batch.num_columns - 1))
