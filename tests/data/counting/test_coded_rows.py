"""A release written from numbers has the bytes that texts give; counted from its bytes, it says what it holds."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celosia.data import table as tables
from celosia.data.candidate import PERSON, join_persons, read_back, write_candidate
from celosia.data.counting import coded_rows as _coded
from celosia.data.counting import written_file as _counted
from celosia.data.counting.written_file import CountedFile, count_file, fits_in_memory
from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.errors import NullCharacter
from celosia.data.readers.canonical import WHITESPACE
from celosia.data.table import ORIGIN, Table
from celosia.data.writers.csv import write_csv
from celosia.model.errors import UnknownVariable
from celosia.tuples.table import Tuples, person_counts
from tests.data.engines.plain_rows import TRICKY, Plain

NASTY = (*TRICKY, "=1+1", "+56 9", "-5", "-a", "@x", "\tx", "\ufeffa", 'di "x"', "a,b", " a", "a\u2003", "12%", "+3")
QUICK = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
cells = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


class Watched:
    """Keeps the rows of the positions it was given."""

    def __init__(self, positions: Sequence[int]):
        self.positions = np.array(positions, np.int64)
        self.kept: dict[int, tuple[str, ...]] = {}

    def watch(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if row[-1] in self.positions:
                    self.kept[row[-1]] = row[: batch.num_columns - 1]
            yield batch.select(range(batch.num_columns - 1))


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDBEngine]:
    opened = DuckDBEngine(threads=2)
    yield opened
    opened.close()


@st.composite
def releases(draw: st.DrawFn) -> tuple[Plain, int, list[list[int]], list[tuple[str, ...]]]:
    """Rows; how many of their columns are recoded; the new code of each distinct combination, and its texts."""
    width = draw(st.integers(1, 5))
    pool = draw(st.lists(cells, min_size=1, max_size=8))
    rows = draw(st.lists(st.tuples(*[st.sampled_from(pool)] * width), min_size=1, max_size=30))
    recoded = draw(st.integers(0, width))
    vocabularies = [tuple(draw(st.lists(cells, min_size=1, max_size=3))) for _ in range(recoded)]
    distinct = len({row[:recoded] for row in rows})
    codes = [draw(st.lists(st.integers(0, len(v) - 1), min_size=distinct, max_size=distinct)) for v in vocabularies]
    return Plain(tuple(f"v{i}" for i in range(width)), tuple(rows)), recoded, codes, vocabularies


def made(engine: DuckDBEngine, release: tuple) -> Table:
    plain, recoded, codes, vocabularies = release
    columns = {f"c{i}": pa.array([row[i] for row in plain.rows]) for i in range(len(plain.names))}
    traced = pa.table(columns | {ORIGIN: pa.array(np.arange(len(plain.rows)))})
    table = Table(engine, engine.upload(traced), plain.names)
    if not recoded:
        return table
    tuples = table.tuples(plain.names[:recoded])
    masks = {plain.names[-1]: tuples.rows > 1} if recoded < len(plain.names) else {}
    return table.recode(tuples, [np.array(one) for one in codes], vocabularies, masks)


def written_as_text(table: Table, names: Sequence[str], folder: Path) -> bytes:
    write_csv(table.ordered_batches(names), names, folder / "text.csv", neutralise_formulas=True)
    return (folder / "text.csv").read_bytes()


def cells_of(path: Path) -> list[tuple[str, ...]]:
    """The records of a file, read by Python alone; blanks alone are missing, as for every reader."""
    with path.open(encoding="utf-8", newline="") as stream:
        records = list(csv.reader(stream))[1:]
    return [tuple(cell if cell.strip(WHITESPACE) else "" for cell in record) for record in records]


def assert_same_tuples(found: Tuples, expected: Tuples) -> None:
    assert (found.names, found.vocabularies) == (expected.names, expected.vocabularies)
    assert np.array_equal(found.codes, expected.codes)
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(person_counts(found), person_counts(expected))


@pytest.mark.requirement("M36")
@QUICK
@given(releases(), st.randoms(use_true_random=False))
def test_numbers_give_the_bytes_that_texts_give(engine, tmp_path, release, random) -> None:
    table = made(engine, release)
    names = list(table.names)
    random.shuffle(names)
    write_candidate(table, names, None, tmp_path, Watched([]))
    assert (tmp_path / "data.csv").read_bytes() == written_as_text(table, names, tmp_path)


@pytest.mark.parametrize(("limit", "small"), [("MOST_TEXTS", 1), ("_KEY_BITS", 3), ("_TABLE_BITS", 0)])
@QUICK
@given(release=releases())
def test_bytes_are_the_same_where_texts_are_many_or_numbers_short(engine, tmp_path, limit, small, release) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables if limit == "MOST_TEXTS" else _coded, limit, small)
        table = made(engine, release)
        write_candidate(table, table.names, None, tmp_path, Watched([]))
    assert (tmp_path / "data.csv").read_bytes() == written_as_text(table, table.names, tmp_path)


@QUICK
@given(releases())
def test_rows_that_are_watched_are_those_of_their_origin(engine, tmp_path, release) -> None:
    table, watched = made(engine, release), Watched([0, 7, 29])
    write_candidate(table, table.names, None, tmp_path, watched)
    rows = table.rows_of_origin(watched.positions)
    expected = {row[-1]: row[:-1] for row in zip(*(c.to_pylist() for c in rows.columns), strict=True)}
    assert watched.kept == expected


@QUICK
@given(releases())
def test_the_private_order_says_whose_row_each_one_is(engine, tmp_path, release) -> None:
    table = made(engine, release)
    *published, person = table.names if len(table.names) > 1 else (*table.names, table.names[0])
    order = write_candidate(table, published, person, tmp_path, Watched([]))
    assert order is not None
    with read_back(tmp_path / "data.csv", tmp_path, order, published, 1, engine) as again:
        found = again.table.tuples(published, again.person)
    persons = [text for batch in table.ordered_batches(published, along=(person,)) for text in batch[-1].to_pylist()]
    shown = cells_of(tmp_path / "data.csv")
    assert found.n_rows == len(release[0].rows) == len(shown)
    assert person_counts(found).sum() == len(set(zip(shown, persons, strict=True)))


@pytest.mark.requirement("M36")
@pytest.mark.parametrize("many", [0, 10**9])
@QUICK
@given(release=releases())
def test_a_file_counted_from_its_bytes_says_what_the_reader_of_any_csv_says(engine, tmp_path, many, release) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_counted, "_MANY", many)  # numbered by the kernel, or by sorting
        assert_counted_as_read(engine, tmp_path, release)


def assert_counted_as_read(engine: DuckDBEngine, tmp_path: Path, release: tuple) -> None:
    table = made(engine, release)
    names, order = table.names, tmp_path / "order.parquet"
    write_candidate(table, names, None, tmp_path, Watched([]))
    pq.write_table(pa.table({"person": [str(i % 4) for i in range(len(release[0].rows))]}), order)
    counted = count_file(tmp_path / "data.csv", None, order)
    assert isinstance(counted, CountedFile)
    with read_back(tmp_path / "data.csv", tmp_path, order, names, 10**12, engine) as again:
        assert isinstance(again.table, Table)
        assert (counted.names, counted.rows, counted.digest) == (again.names, again.rows, again.digest)
        for chosen in (names, names[:1]):
            assert_same_tuples(counted.tuples(chosen, PERSON), again.table.tuples(chosen, PERSON))
            assert_same_tuples(counted.tuples(chosen), again.table.tuples(chosen))
        assert (counted.count_rows(), counted.distinct_counts()) == (
            again.table.count_rows(), again.table.distinct_counts(names)
        )  # fmt: skip
        for name, about in ((name, about) for name in names for about in (None, 2)):
            ours, theirs = counted.frequencies(name, about), again.table.frequencies(name, about)
            assert (ours.values.to_pylist(), ours.counts.tolist()) == (
                theirs.values.to_pylist(),
                theirs.counts.tolist(),
            )
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "order.parquet"}


def test_a_nul_character_is_refused_by_the_name_of_its_column(engine, tmp_path) -> None:
    table = Plain(("a", "b"), (("1", "x"), ("2", "y\0"), ("3", "\0"))).on(engine)
    with pytest.raises(NullCharacter) as refused:
        write_candidate(table, ("a", "b"), None, tmp_path, Watched([]))
    assert (refused.value.values["variable"], refused.value.values["count"]) == ("b", 2)
    assert not (tmp_path / "data.csv").exists()


def test_a_nul_character_is_refused_in_a_column_with_too_many_texts_for_codes(engine, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tables, "MOST_TEXTS", 1)
    table = Plain(("a", "b"), (("1", "x"), ("2", "y\0"))).on(engine)
    with pytest.raises(NullCharacter) as refused:
        write_candidate(table, ("a", "b"), None, tmp_path, Watched([]))
    assert refused.value.values["variable"] == "b"


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2,3\n",
        "a,b\n1\n",
        "\ufeffa,b\n1,2\n",
        "a,b\n",
        "a,a\n1,2\n",
        "a,b\n1,\udcff\n",
        "a,b\n1,\0\n",
        "a ,b\n1,2\n",
    ],
    ids=["wide", "narrow", "mark", "no rows", "repeated", "not UTF-8", "NUL", "blank in a name"],
)
def test_what_our_writer_never_writes_is_left_to_the_reader_of_any_csv(tmp_path, text: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert count_file(path, ["a"], None) is None


def test_a_column_that_the_file_lacks_is_an_error_by_name(engine, tmp_path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n", "utf-8")
    with read_back(path, tmp_path, None, ["c"], 1, engine) as again, pytest.raises(UnknownVariable):
        again.table.tuples(["c"])


@pytest.mark.parametrize("rows", [10, 10**12], ids=["counted", "copied"])
def test_an_order_of_another_length_is_refused(engine, tmp_path, rows: int) -> None:
    path, order = tmp_path / "data.csv", tmp_path / "order.parquet"
    path.write_text("a,b\n1,2\n", "utf-8")
    pq.write_table(pa.table({"person": ["x", "y"]}), order)
    with pytest.raises(ValueError), read_back(path, tmp_path, order, ["a"], rows, engine):
        pass


def test_persons_of_an_order_in_parts_stand_beside_their_rows(tmp_path) -> None:
    copy, order = tmp_path / "copy.parquet", tmp_path / "order.parquet"
    pq.write_table(pa.table({"c0": ["a", "b", "c", "d"]}), copy)
    order.mkdir()
    pq.write_table(pa.table({"person": ["1", "2", "3"]}), order / "part-00000.parquet")
    pq.write_table(pa.table({"person": ["4"]}), order / "part-00001.parquet")
    joined = pq.read_table(join_persons(copy, order, tmp_path / "it's.parquet"))
    assert joined.to_pydict() == {"c0": ["a", "b", "c", "d"], "c1": ["1", "2", "3", "4"]}


def test_what_does_not_fit_in_memory_is_not_counted_row_by_row(tmp_path) -> None:
    memory = 4 * 10**9
    assert fits_in_memory(10_000_000, 6, None, memory)
    assert not fits_in_memory(50_000_000, 5, None, memory)
    order = tmp_path / "order.parquet"
    with order.open("wb") as stream:
        stream.truncate(10_000_000 * 14)  # keys like 12345678-9
    assert fits_in_memory(10_000_000, 6, order, memory)
    assert not fits_in_memory(50_000_000, 6, order, memory)
    with order.open("wb") as stream:
        stream.truncate(10_000_000 * 68)  # keys of 64 letters
    assert not fits_in_memory(10_000_000, 6, order, memory)
