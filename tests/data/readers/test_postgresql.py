"""Tables of PostgreSQL are streamed as text; the password of the address is in no word of ours."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from celosia.data.errors import ChooseTable, EmptyTable, EngineFault, EngineUnreachable, UnsupportedColumn
from celosia.data.readers.head import read_head
from celosia.data.readers.ingest import ingest
from celosia.model.errors import MissingExtra
from tests.data.readers.planted import NAME, refused

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def database(postgres: str) -> Iterator[str]:
    """A database with a table of many types, one in another schema and one that is refused."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE personas (rut text, comuna char(5), n int, x float8, f date, t timestamp, z timestamptz, "
            'b boolean, m numeric(10, 2), "Con ""comillas""" text)'
        )
        connection.execute(
            "INSERT INTO personas VALUES ('1-9', '05302', 7, 2.0, '2024-03-04', '2024-03-04', "
            "'2024-03-04 05:00:00+00', true, 1.5, E'a\"b,c\\nd'), "
            "(NULL, '  ', NULL, 0.1, NULL, '2024-03-04 05:06:07.8', NULL, NULL, NULL, '')"
        )
        connection.execute("CREATE TABLE vacia (rut text)")
        connection.execute("CREATE SCHEMA otra; CREATE TABLE otra.ficha AS SELECT '{}'::jsonb AS j")
        connection.execute(f"CREATE VIEW mala AS SELECT ('{NAME}' || n)::int AS n FROM personas")
    yield postgres
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP VIEW mala; DROP TABLE personas, vacia; DROP SCHEMA otra CASCADE")


def test_a_table_is_read_in_canonical_text(database: str, read: Callable) -> None:
    result, rows = read(database, table="personas")
    assert result.names[-1] == 'Con "comillas"'
    assert rows == [
        ("1-9", "05302", "7", "2", "2024-03-04", "2024-03-04", "2024-03-04T05:00:00Z", "true", "1.50", 'a"b,c\nd'),
        ("", "", "", "0.1", "", "2024-03-04T05:06:07.8", "", "", "", ""),
    ]
    assert (result.source.name, result.source.choices.format) == ("personas", "postgresql")
    assert [note.key for note in result.notices] == []


def test_its_digest_is_that_of_the_same_cells_anywhere(database: str, read: Callable) -> None:
    import pyarrow as pa

    first = read(database, table="personas", drop=["x", "f", "t", "z", "b", "m", 'Con "comillas"'])[0]
    same = pa.table({"rut": ["1-9", None], "comuna": ["05302", ""], "n": [7, None]})
    assert first.source.digest == read(same)[0].source.digest


def test_other_kinds_of_column_are_refused_by_name(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    call = lambda: ingest(database, tmp_path / "w", table="otra.ficha")  # noqa: E731
    assert refused(UnsupportedColumn, call, caplog, tmp_path).values["variable"] == "j"
    error = refused(ChooseTable, lambda: ingest(database, tmp_path / "w"), caplog, tmp_path)
    assert "personas" in str(error.values["known"])


def test_a_table_without_rows_is_called_a_table(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for call in (
        lambda: ingest(database, tmp_path / "w", table="vacia"),
        lambda: read_head(database, 5, table="vacia"),
    ):
        error = refused(EmptyTable, call, caplog, tmp_path)
        assert str(error).startswith("La tabla «vacia»")


def test_what_the_server_says_of_a_cell_is_not_repeated(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refused(EngineFault, lambda: ingest(database, tmp_path / "w", table="mala"), caplog, tmp_path)


def test_the_password_is_in_no_message(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    address = "postgresql://ana:secretísimo@127.0.0.1:1/base"
    error = refused(EngineUnreachable, lambda: ingest(address, tmp_path / "w", table="t"), caplog, tmp_path)
    assert "secret" not in str(error) + repr(error) + caplog.text
    assert error.__suppress_context__
    shown = "".join(traceback.format_exception(error))
    assert "psycopg.OperationalError" not in shown


def test_without_the_driver_the_part_names_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    call = lambda: ingest("postgresql://x/y", tmp_path / "w", table="t")  # noqa: E731
    assert refused(MissingExtra, call, caplog, tmp_path).values["extra"] == "postgres"
