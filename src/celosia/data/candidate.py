"""The candidate on the disk: written in the order of its published values, then read again as anybody would read it.

Knows Tables, the CSV writer and the reader. Ignores policies. Whose row each one is stands in a private file beside the
candidate, row by row; it never enters the candidate.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from celosia.data._coded import CodedRows
from celosia.data._counted import counted_file, fits, header_of
from celosia.data._frequencies import Frequencies
from celosia.data.engines import Engine, guarded, open_engine
from celosia.data.engines._memory import usable_memory
from celosia.data.files import PRIVATE_FILE, parts_of, put_in_place, scratch_beside, writing_into
from celosia.data.readers import ingest
from celosia.data.table import ORIGIN, Table
from celosia.data.writers import write_csv, write_lines
from celosia.tuples import Counted

PERSON = "celosia person"  # the private column beside the file's own; a blank keeps it apart from real names
DATA, ORDER = "data.csv", "order.parquet"
Batches = Iterator[pa.RecordBatch]
_Found = tuple[Table, tuple[str, ...], int, str]  # a table, and the file's own names, rows and digest
_AHEAD = 4  # batches whose lines are made before their turn


class Watching(Protocol):
    """Somebody who keeps a few published rows, told by the rows of the source they were."""

    positions: NDArray[np.int64]

    def passing(self, batches: Batches) -> Batches:
        """Look at batches whose last column is the row of the source; give them back without it."""


class Answering(Counted, Protocol):
    """What can say which values a file holds and which combinations of them occur."""

    def count_rows(self) -> int:
        """Number of rows."""

    def distinct_counts(self, names: Sequence[str] | None = None) -> dict[str, int]:
        """Number of distinct values of each column."""

    def frequencies(self, name: str, about: int | None = None, distinct: int | None = None) -> Frequencies:
        """Rows behind each value, or behind a sample of them."""


@dataclass(frozen=True, slots=True)
class ReadBack:
    """A written file as it was read again; with the private order, one column more says whose row each one is."""

    table: Answering
    names: tuple[str, ...]  # of the file itself
    rows: int
    digest: str
    person: str | None


def write_candidate(
    table: Table, published: Sequence[str], person: str | None, target: Path, watched: Watching
) -> Path | None:
    """Write data.csv into `target`; `watched` sees the rows of its positions go by, where rows know their origin.

    Where there is a person key, the path of the private order is returned.
    """
    engine, along = table.engine, () if person is None else (person,)
    spread = getattr(engine, "write_ordered", None)
    if spread is not None:
        rows = table.ordered(published, along, origin=True, veil=_veil(engine))
        return cast("Path | None", spread(rows, published, target, person is not None, watched))
    coded = table.coded(published, along, origin=True) if engine.name == "DuckDB" else None
    with _order_beside(target, person is not None) as (order, keep):
        if coded is not None:
            lines = _lines(coded, published, watched if table.traced else None, keep)
            write_lines(lines, published, target / DATA)
            return order
        batches = table.ordered_batches(published, along=along, origin=True, veil=_veil(engine))
        batches = watched.passing(batches) if table.traced else batches
        write_csv(_parted(batches, keep) if along else batches, published, target / DATA, neutralise_formulas=True)
        return order


@contextlib.contextmanager
def _order_beside(target: Path, wanted: bool) -> Iterator[tuple[Path | None, Callable[[pa.Array], None]]]:
    """The private order beside a candidate, where one is wanted, and what adds the persons of the next rows to it."""
    if not wanted:
        yield None, lambda persons: None
        return
    order, schema = target / ORDER, pa.schema([pa.field("person", pa.string())])
    # Hardly any key comes twice in a piece: looking for those that do would cost more than it saves.
    with writing_into(target), pq.ParquetWriter(order, schema, use_dictionary=False, compression="none") as writer:
        yield order, lambda persons: writer.write_batch(pa.record_batch([persons.cast(pa.string())], schema=schema))
    order.chmod(PRIVATE_FILE)


def _lines(
    rows: CodedRows, names: Sequence[str], watched: Watching | None, keep: Callable[[pa.Array], None]
) -> Iterator[memoryview]:
    """The lines of the file, made a few batches ahead on all processors; persons and watched rows go their own way."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        ahead: deque[Future[memoryview]] = deque()
        for batch in rows.batches():
            ahead.append(pool.submit(rows.lines, batch, names))
            if watched is not None:
                few = batch.filter(pc.is_in(batch.column(batch.num_columns - 1), pa.array(watched.positions)))
                columns = [*rows.texts(few), few.column(few.num_columns - 1)]
                deque(watched.passing(iter([pa.record_batch(columns, names=[*names, ORIGIN])])), maxlen=0)
            if batch.num_columns > rows.beside + (watched is not None):
                keep(batch.column(rows.beside))
            if len(ahead) > _AHEAD:
                yield ahead.popleft().result()
        for made in ahead:
            yield made.result()


@contextlib.contextmanager
def read_back(
    path: Path, scratch: Path, order: Path | None, asked: Sequence[str] | None, rows: int, engine: Engine | None = None
) -> Iterator[ReadBack]:
    """A written file that answers for the columns asked about, or all, counted by the engine given or by DuckDB.

    Where the codes of some `rows` rows fit in memory they are counted as the file is read.
    """
    person = None if order is None else PERSON
    if rest := getattr(engine, "rest", None):
        rest()
    if engine is None or engine.name == "DuckDB":
        memory = usable_memory() if engine is None else engine.memory
        width = len((header_of(path) or ()) if asked is None else asked)
        if fits(rows, width, order, memory) and (found := counted_file(path, asked, order)):
            yield ReadBack(found, found.names, found.rows, found.digest, person)
            return
    with contextlib.ExitStack() as stack:
        used = engine or stack.enter_context(contextlib.closing(open_engine(None, scratch)))
        stack.callback(_removed, scratch)
        table, names, count, digest = _spread_back(path, scratch, order, used) or _copied_back(
            path, scratch, order, used
        )
        yield ReadBack(table, names, count, digest, person)


def _spread_back(path: Path, scratch: Path, order: Path | None, engine: Engine) -> _Found | None:
    """The file read by the executors of an engine that has some, where they wrote it."""
    spread = getattr(engine, "read_written", None)
    found = None if spread is None else spread(path, scratch, order)
    if found is None:
        return None
    rows, names, count, digest = found
    return Table(engine, rows, names if order is None else (*names, PERSON)), names, count, digest


def _copied_back(path: Path, scratch: Path, order: Path | None, engine: Engine) -> _Found:
    """The file read as any other, into a private copy."""
    copy = scratch / "again.parquet"
    again = ingest(path, copy, format="csv", encoding="utf-8", delimiter=",", quote='"', header=True, decimal=".")
    names = again.names
    if order is not None:
        copy, names = with_persons(copy, order, scratch / "persons.parquet"), (*names, PERSON)
    return Table(engine, engine.parquet(copy), names), again.names, again.source.rows, again.source.digest


def _removed(scratch: Path) -> None:
    for spare in (scratch / "again.parquet", scratch / "persons.parquet"):
        if spare.is_dir():
            shutil.rmtree(spare, ignore_errors=True)
        else:
            spare.unlink(missing_ok=True)


def persons_of(engine: Engine, order: Path) -> Table:
    """The private order as a table of one column."""
    return Table(engine, engine.parquet(order).rename(c0="person"), (PERSON,))


def with_persons(copy: Path, order: Path, target: Path) -> Path:
    """The read-back copy with the private person ordinals beside it, row by row; both may be folders of parts."""
    import duckdb

    from celosia.data.readers.delimited import private_connection

    rows, persons = (parts_of(path) for path in (copy, order))
    if _count(rows) != _count(persons):
        raise ValueError  # file and order have not the same length
    width = len(pq.read_schema(rows[0]).names)
    listed, order_listed = (", ".join(_literal(part) for part in parts) for parts in (rows, persons))
    joined = (
        f"SELECT copied.*, whose.person AS c{width} FROM read_parquet([{listed}]) AS copied "
        f"POSITIONAL JOIN read_parquet([{order_listed}]) AS whose"
    )
    with scratch_beside(target) as scratch, guarded("DuckDB", (duckdb.Error,), str(target.parent)):
        with private_connection(scratch) as connection:
            connection.execute(f"COPY ({joined}) TO {_literal(scratch / target.name)} (FORMAT parquet)")
        put_in_place(scratch / target.name, target)
    return target


def _count(parts: Sequence[Path]) -> int:
    return sum(pq.read_metadata(part).num_rows for part in parts)


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _veil(engine: Engine) -> str | None:
    """A secret that nobody keeps: from other engines a person comes as a digest that is good for equality alone."""
    return None if engine.name == "DuckDB" else secrets.token_hex(32)


def _parted(batches: Batches, keep: Callable[[pa.Array], None]) -> Batches:
    """The published columns of each batch; its last column, the person, goes to the private file."""
    for batch in batches:
        keep(batch.column(batch.num_columns - 1))
        yield batch.select(range(batch.num_columns - 1))
