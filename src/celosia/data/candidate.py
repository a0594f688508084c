"""The candidate on the disk: written in the order of its published values, then read again as anybody would read it.

Knows Tables, the CSV writer and the reader. Ignores policies. Whose row each one is stands in a private file beside the
candidate, row by row; it never enters the candidate.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from celosia.data.counting.coded_rows import CodedRows
from celosia.data.counting.columns import Frequencies
from celosia.data.counting.written_file import count_file, fits_in_memory, read_header
from celosia.data.engines.base import Engine, RowWatcher, translate_engine_errors
from celosia.data.engines.memory import usable_memory
from celosia.data.engines.open import open_engine
from celosia.data.readers.ingest import ingest
from celosia.data.table import ORIGIN, Table
from celosia.data.writers.csv import write_csv, write_lines
from celosia.model.paths import COPY_WITH_PERSONS, DATA, ORDER
from celosia.storage import (
    PRIVATE_FILE,
    part_files,
    remove_folder,
    replace_file,
    set_mode,
    temporary_folder_beside,
    translate_write_errors,
)
from celosia.tuples.finer import TupleSource

PERSON = "celosia person"  # the private column beside the file's own; a blank keeps it apart from real names
Batches = Iterator[pa.RecordBatch]
_ReadTable = tuple[Table, tuple[str, ...], int, str]  # a table, and the file's own names, rows and digest
_AHEAD = 4  # batches whose lines are made before their turn


class CountableFile(TupleSource, Protocol):
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

    table: CountableFile
    names: tuple[str, ...]  # of the file itself
    rows: int
    digest: str
    person: str | None


def write_candidate(
    table: Table, published: Sequence[str], person: str | None, target: Path, watcher: RowWatcher
) -> Path | None:
    """Write data.csv into `target`; `watched` sees the rows of its positions go by, where rows know their origin.

    Where there is a person key, the path of the private order is returned.
    """
    engine, along = table.engine, () if person is None else (person,)
    write_ordered = getattr(engine, "write_ordered", None)
    if write_ordered is not None:
        rows = table.ordered_rows(published, along, origin=True, salt=_person_salt(engine))
        return cast("Path | None", write_ordered(rows, published, target, person is not None, watcher))
    coded_rows = table.coded_rows(published, along, origin=True) if engine.name == "DuckDB" else None
    with _private_order(target, person is not None) as (order, keep):
        if coded_rows is not None:
            lines = _file_lines(coded_rows, published, watcher if table.has_origin else None, keep)
            write_lines(lines, published, target / DATA)
            return order
        batches = table.ordered_batches(published, along=along, origin=True, salt=_person_salt(engine))
        batches = watcher.watch(batches) if table.has_origin else batches
        write_csv(
            _split_persons(batches, keep) if along else batches, published, target / DATA, neutralise_formulas=True
        )
        return order


@contextlib.contextmanager
def _private_order(target: Path, enabled: bool) -> Iterator[tuple[Path | None, Callable[[pa.Array], None]]]:
    """The private order beside a candidate, where one is wanted, and what adds the persons of the next rows to it."""
    if not enabled:
        yield None, lambda persons: None
        return
    order, schema = target / ORDER, pa.schema([pa.field("person", pa.string())])
    # Hardly any key comes twice in a piece: looking for those that do would cost more than it saves.
    with (
        translate_write_errors(target),
        pq.ParquetWriter(order, schema, use_dictionary=False, compression="none") as writer,
    ):
        yield order, lambda persons: writer.write_batch(pa.record_batch([persons.cast(pa.string())], schema=schema))
    set_mode(order, PRIVATE_FILE)


def _file_lines(
    rows: CodedRows, names: Sequence[str], watcher: RowWatcher | None, keep: Callable[[pa.Array], None]
) -> Iterator[memoryview]:
    """The lines of the file, made a few batches ahead on all processors; persons and watched rows go their own way."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        ahead: deque[Future[memoryview]] = deque()
        for batch in rows.batches():
            ahead.append(pool.submit(rows.lines, batch, names))
            if watcher is not None:
                watched_rows = batch.filter(pc.is_in(batch.column(batch.num_columns - 1), pa.array(watcher.positions)))
                columns = [*rows.texts(watched_rows), watched_rows.column(watched_rows.num_columns - 1)]
                deque(watcher.watch(iter([pa.record_batch(columns, names=[*names, ORIGIN])])), maxlen=0)
            if batch.num_columns > rows.beside + (watcher is not None):
                keep(batch.column(rows.beside))
            if len(ahead) > _AHEAD:
                yield ahead.popleft().result()
        for lines in ahead:
            yield lines.result()


@contextlib.contextmanager
def read_back(
    path: Path,
    scratch: Path,
    order: Path | None,
    names_asked: Sequence[str] | None,
    rows: int,
    engine: Engine | None = None,
) -> Iterator[ReadBack]:
    """A written file that answers for the columns asked about, or all, counted by the engine given or by DuckDB.

    Where the codes of some `rows` rows fit in memory they are counted as the file is read.
    """
    person = None if order is None else PERSON
    if release := getattr(engine, "release_memory", None):
        release()
    if engine is None or engine.name == "DuckDB":
        memory = usable_memory() if engine is None else engine.memory
        width = len((read_header(path) or ()) if names_asked is None else names_asked)
        if fits_in_memory(rows, width, order, memory) and (counted := count_file(path, names_asked, order)):
            yield ReadBack(counted, counted.names, counted.rows, counted.digest, person)
            return
    with contextlib.ExitStack() as stack:
        used = engine or stack.enter_context(contextlib.closing(open_engine(None, scratch)))
        stack.callback(_remove_copies, scratch)
        table, names, count, digest = _read_by_executors(path, scratch, order, used) or _read_as_copy(
            path, scratch, order, used
        )
        yield ReadBack(table, names, count, digest, person)


def _read_by_executors(path: Path, scratch: Path, order: Path | None, engine: Engine) -> _ReadTable | None:
    """The file read by the executors of an engine that has some, where they wrote it."""
    read_written = getattr(engine, "read_written", None)
    read_table = None if read_written is None else read_written(path, scratch, order)
    if read_table is None:
        return None
    rows, names, count, digest = read_table
    return Table(engine, rows, names if order is None else (*names, PERSON)), names, count, digest


def _read_as_copy(path: Path, scratch: Path, order: Path | None, engine: Engine) -> _ReadTable:
    """The file read as any other, into a private copy."""
    copy = scratch / "again.parquet"
    again = ingest(path, copy, format="csv", encoding="utf-8", delimiter=",", quote='"', header=True, decimal=".")
    names = again.names
    if order is not None:
        copy, names = join_persons(copy, order, scratch / COPY_WITH_PERSONS), (*names, PERSON)
    return Table(engine, engine.parquet(copy), names), again.names, again.source.rows, again.source.digest


def _remove_copies(scratch: Path) -> None:
    for copy in (scratch / "again.parquet", scratch / COPY_WITH_PERSONS):
        if copy.is_dir():
            remove_folder(copy)
        else:
            copy.unlink(missing_ok=True)


def persons_table(engine: Engine, order: Path) -> Table:
    """The private order as a table of one column."""
    return Table(engine, engine.parquet(order).rename(c0="person"), (PERSON,))


def join_persons(copy: Path, order: Path, target: Path) -> Path:
    """The read-back copy with the private person ordinals beside it, row by row; both may be folders of parts."""
    import duckdb

    from celosia.data.readers.delimited import private_connection

    rows, persons = (part_files(path) for path in (copy, order))
    if _row_count(rows) != _row_count(persons):
        raise ValueError  # file and order have not the same length
    width = len(pq.read_schema(rows[0]).names)
    row_paths, person_paths = (", ".join(_literal(part) for part in parts) for parts in (rows, persons))
    joined = (
        f"SELECT copied.*, whose.person AS c{width} FROM read_parquet([{row_paths}]) AS copied "
        f"POSITIONAL JOIN read_parquet([{person_paths}]) AS whose"
    )
    with (
        temporary_folder_beside(target) as scratch,
        translate_engine_errors("DuckDB", (duckdb.Error,), str(target.parent)),
    ):
        with private_connection(scratch) as connection:
            connection.execute(f"COPY ({joined}) TO {_literal(scratch / target.name)} (FORMAT parquet)")
        replace_file(scratch / target.name, target)
    return target


def _row_count(parts: Sequence[Path]) -> int:
    return sum(pq.read_metadata(part).num_rows for part in parts)


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _person_salt(engine: Engine) -> str | None:
    """A secret that nobody keeps: from other engines a person comes as a digest that is good for equality alone."""
    return None if engine.name == "DuckDB" else secrets.token_hex(32)


def _split_persons(batches: Batches, keep: Callable[[pa.Array], None]) -> Batches:
    """The published columns of each batch; its last column, the person, goes to the private file."""
    for batch in batches:
        keep(batch.column(batch.num_columns - 1))
        yield batch.select(range(batch.num_columns - 1))
