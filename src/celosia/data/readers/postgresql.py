"""A table or view of a PostgreSQL database, streamed as text by COPY in a read-only session.

Knows psycopg and PostgreSQL's catalogue. Ignores queries: a table is chosen by name.
The address may hold a password: it is in no error, name or note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia import messages
from celosia.data._postgres_text import TABLES, TypedColumn
from celosia.data.errors import EmptyTable, EngineFault, EngineUnreachable
from celosia.data.readers.arrow import add_notices
from celosia.data.readers.canonical import unsupported_column
from celosia.data.readers.delimited import copy_text
from celosia.data.readers.head import Head, head_of_texts
from celosia.data.readers.names import choose_table, select_columns, tables_by_name
from celosia.data.readers.stream import Progress
from celosia.data.readers.working import WorkingDraft, working_digest
from celosia.model.errors import MissingExtra
from celosia.model.sources import Notice, ReadingChoices
from celosia.storage import translate_write_errors

if TYPE_CHECKING:
    import psycopg

_ENGINE = "PostgreSQL"
_CONNECTING = 10  # seconds, unless the address says otherwise
_SESSION = "SET datestyle = 'ISO'; SET timezone = 'UTC'; SET client_encoding = 'UTF8'; SET extra_float_digits = 1"
_PATIENCE = "SET statement_timeout = '20s'"  # a view may be slow, and somebody waits for a preview
_COLUMNS = """
SELECT a.attname, t.typname, t.typcategory FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


def read(address: str, choices: ReadingChoices, draft: Path, progress: Progress | None) -> WorkingDraft:
    """Reads a table of a database into a working copy."""
    with _open_database(address) as connection:
        return _read_table(connection, choices, draft, progress)


def head(address: str, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of a table of a database; what is no plain value is left blank."""
    with _open_database(address) as connection:
        connection.execute(_PATIENCE)
        known = _tables_by_name(connection)
        choices = choose_table(_ENGINE, list(known), choices)
        columns = [TypedColumn(*row) for row in connection.execute(_COLUMNS, (known[choices.sheet],))]
        chosen = ", ".join("NULL" if column.refusal() else column.as_text() for column in columns)
        cells = connection.execute(f"SELECT {chosen} FROM {known[choices.sheet]} LIMIT {rows:d}".encode()).fetchall()
    names, kinds = [column.name for column in columns], [column.refusal() for column in columns]
    return head_of_texts(names, cells, choices, choices.sheet, kinds, tables=tuple(known))


def tables(address: str) -> tuple[str, ...]:
    """The tables and views that may be read."""
    with _open_database(address) as connection:
        return tuple(_tables_by_name(connection))


@contextmanager
def _open_database(address: str) -> Iterator[psycopg.Connection[Any]]:
    import_driver()
    import psycopg

    connection = _connect(address)
    try:
        with connection:
            yield connection
    except psycopg.Error as fault:
        raise EngineFault(engine=_ENGINE, kind=type(fault).__name__) from None


def import_driver() -> None:
    """Refuses by name when the driver is not installed."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        feature = messages.text("reading.features.postgresql")
        raise MissingExtra(feature=feature, extra="postgres") from None


def _connect(address: str) -> psycopg.Connection[Any]:
    import psycopg

    try:
        settings = psycopg.conninfo.conninfo_to_dict(address)
        connection = psycopg.connect(address, connect_timeout=settings.get("connect_timeout", _CONNECTING))
        connection.read_only = True
        connection.execute(_SESSION)
    except psycopg.Error:
        raise EngineUnreachable(engine=_ENGINE) from None
    return connection


def _read_table(
    connection: psycopg.Connection[Any], choices: ReadingChoices, draft: Path, progress: Progress | None
) -> WorkingDraft:
    known = _tables_by_name(connection)
    choices = choose_table(_ENGINE, list(known), choices)
    columns = [TypedColumn(*row) for row in connection.execute(_COLUMNS, (known[choices.sheet],))]
    selected = select_columns([column.name for column in columns], choices)
    columns = [columns[i] for i in selected.positions]
    for name, column in zip(selected.names, columns, strict=True):
        if column.refusal():
            raise unsupported_column(name, column.refusal())
    text = draft.parent / "table.csv"
    _stream(connection, known[choices.sheet], columns, text)
    rows, blanks = copy_text(Path(choices.sheet), text, selected.names, draft, progress)
    text.unlink()
    if rows == 0:
        raise EmptyTable(table=choices.sheet)
    notices = (Notice.of("blank_cells", count=blanks),) if blanks else ()
    digest = working_digest(draft, selected.names)
    return WorkingDraft(selected.names, rows, digest, add_notices(selected.choices, *notices))


def _tables_by_name(connection: psycopg.Connection[Any]) -> dict[str, str]:
    return tables_by_name(connection.execute(TABLES), plain="public")


def _stream(connection: psycopg.Connection[Any], table: str, columns: Sequence[TypedColumn], target: Path) -> None:
    chosen = ", ".join(column.as_text() for column in columns)
    statement = f"COPY (SELECT {chosen} FROM {table}) TO STDOUT (FORMAT csv)"
    with (
        translate_write_errors(target.parent.parent),
        target.open("wb") as sink,
        connection.cursor() as cursor,
        cursor.copy(statement.encode()) as rows,
    ):
        for block in rows:
            sink.write(block)
