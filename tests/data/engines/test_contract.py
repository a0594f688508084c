"""Every operation of a Table gives the plain answer, on every engine and on every table."""

from __future__ import annotations

import hashlib
import json
import struct
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings

from celosia.data.engines.base import Engine
from celosia.data.errors import EngineFault
from celosia.data.table import ORIGIN, Table
from celosia.tuples.errors import TooManyTuples
from celosia.tuples.finer import tuples_with_each
from celosia.tuples.table import Tuples, person_counts, project
from tests.data.engines.plain_rows import FIXED, Plain, plain_tables, same_rows, streamed

BUDGET = {"DuckDB": 15, "PostgreSQL": 10, "Spark": 1}
Law = Callable[[Table, Plain], None]


def rows_are_counted(table: Table, plain: Plain) -> None:
    assert table.count_rows() == len(plain.rows)


def selected_columns_keep_their_values_and_order(table: Table, plain: Plain) -> None:
    names = plain.names[::-1]
    chosen = table.select(names)
    assert chosen.names == names
    assert same_rows(streamed(chosen.batches()), plain.over(names))


def batches_hold_every_row_once(table: Table, plain: Plain) -> None:
    batches = list(table.batches(batch_rows=5))
    assert all(batch.num_rows <= 5 for batch in batches)
    assert same_rows(streamed(batches), plain.rows)


def declared_markers_become_missing(table: Table, plain: Plain) -> None:
    name = plain.names[0]
    markers = sorted(set(plain.column(name)))[::2]
    marked = table.with_missing({name: markers})
    expected = [("" if row[0] in markers else row[0], *row[1:]) for row in plain.rows]
    assert same_rows(streamed(marked.batches()), expected)


def rows_with_a_value_are_found(table: Table, plain: Plain) -> None:
    name = plain.names[-1]
    wanted = [*sorted(set(plain.column(name)))[1::2], "a value that is not there"]
    expected = [row for row in plain.rows if row[-1] in wanted]
    assert same_rows(streamed(table.where(name, wanted).batches()), expected)


def distinct_values_are_counted(table: Table, plain: Plain) -> None:
    assert table.distinct_counts() == {name: len(set(plain.column(name))) for name in plain.names}


def distinct_combinations_are_counted(table: Table, plain: Plain) -> None:
    assert table.distinct_together(plain.names) == len(set(plain.rows))


def frequencies_come_in_code_point_order(table: Table, plain: Plain) -> None:
    found = table.frequencies(plain.names[0])
    expected = sorted(Counter(plain.column(plain.names[0])).items())
    assert list(zip(found.values.to_pylist(), found.counts.tolist(), strict=True)) == expected


def a_sample_of_frequencies_holds_masked_and_frequent_values(table: Table, plain: Plain) -> None:
    found = table.frequencies(plain.names[0], about=3)
    values = sorted(Counter(plain.column(plain.names[0])).items())
    total, rows = len(values), len(plain.rows)
    expected = [
        (value, count)
        for value, count in values
        if total <= 3 or leading_bits(value) < 3 * 2**64 // total or not value.strip("*") or count * 3 > rows
    ]
    assert list(zip(found.values.to_pylist(), found.counts.tolist(), strict=True)) == expected


def tuples_are_the_distinct_combinations(table: Table, plain: Plain) -> None:
    found = table.tuples(plain.names)
    assert [tuple(v) for v in found.vocabularies] == [tuple(sorted(set(plain.column(n)))) for n in plain.names]
    assert dict(zip(combinations(found), found.rows.tolist(), strict=True)) == dict(Counter(plain.rows))
    assert combinations(found) == sorted(combinations(found))


def persons_are_counted_once_per_tuple(table: Table, plain: Plain) -> None:
    names, key = plain.names[:3], plain.names[-1]
    found = table.tuples(names, person=key)
    behind = behind_each(plain, names, key)
    assert person_counts(found).tolist() == [len(behind[t]) for t in combinations(found)]
    assert found.persons is not None
    assert found.persons.total == len(set(plain.column(key)))


def incidence_is_numbered_by_values_alone(table: Table, plain: Plain) -> None:
    names, key = plain.names[:2], plain.names[-1]
    found = table.tuples(names, person=key)
    behind = behind_each(plain, names, key)
    spread = Counter(person for persons in behind.values() for person in persons)
    order, rows = combinations(found), Counter(plain.column(key))
    places = {p: [i for i, t in enumerate(order) if p in behind[t]] for p, n in spread.items() if n > 1}
    two, more = ([p for p in sorted(places) if (rows[p] > 2) == many] for many in (False, True))
    ordinals = {p: i for i, p in enumerate([*sorted(two, key=lambda p: places[p]), *more])}
    pairs = sorted((i, ordinals[p]) for p, held in places.items() for i in held)
    assert found.persons is not None
    assert list(zip(found.persons.tuple_index.tolist(), found.persons.ordinal.tolist(), strict=True)) == pairs
    assert found.persons.settled.tolist() == [sum(spread[p] == 1 for p in behind[t]) for t in order]


def projecting_equals_counting_again(table: Table, plain: Plain) -> None:
    wide, narrow = plain.names[:3], plain.names[:1]
    projected, _ = project(table.tuples(wide, person=plain.names[-1]), narrow)
    direct = table.tuples(narrow, person=plain.names[-1])
    assert combinations(projected) == combinations(direct)
    assert projected.rows.tolist() == direct.rows.tolist()
    assert person_counts(projected).tolist() == person_counts(direct).tolist()


def tuples_with_others_are_those_counted_one_by_one(table: Table, plain: Plain) -> None:
    narrow, each, key = plain.names[:1], plain.names[1:-1], plain.names[-1]
    for together in (False, True):
        found, finer = tuples_with_each(table, narrow, each, key, together=together)
        assert finer.keys() == set(each)
        same_as_one_by_one(table, found, finer, key)


def same_as_one_by_one(table: Table, found: Tuples, finer: dict[str, Tuples], key: str) -> None:
    direct = {name: table.tuples((*found.names, name), key) for name in finer} | {"": table.tuples(found.names, key)}
    for name, other in direct.items():
        one = finer.get(name, found)
        assert (one.names, one.vocabularies, combinations(one)) == (
            other.names,
            other.vocabularies,
            combinations(other),
        )
        assert one.rows.tolist() == other.rows.tolist()
        assert person_counts(one).tolist() == person_counts(other).tolist()
        assert one.persons is not None
        assert other.persons is not None
        assert (one.persons.total, one.persons.settled.tolist()) == (
            other.persons.total,
            other.persons.settled.tolist(),
        )


def mapped_values_are_replaced_and_others_stay(table: Table, plain: Plain) -> None:
    name = plain.names[0]
    mapping = {value: f"{value}'→\\" for value in sorted(set(plain.column(name)))[::2]} | {"absent": "never"}
    expected = [(mapping.get(row[0], row[0]), *row[1:]) for row in plain.rows]
    assert same_rows(streamed(table.map_values(name, mapping).batches()), expected)


def replaced_values_are_counted_and_joined_again(table: Table, plain: Plain) -> None:
    if len(plain.names) < 2:
        return
    first, second, key = plain.names[0], plain.names[1], plain.names[-1]
    maps = [{value: min(set(plain.column(name))) for value in set(plain.column(name))} for name in (first, second)]
    changed = table.map_values(first, maps[0]).map_values(second, maps[1])
    found = changed.tuples((first, second), key)
    assert found.rows.tolist() == ([len(plain.rows)] if plain.rows else [])
    persons = 1 if second == key else len(set(plain.column(key)))
    assert person_counts(found).tolist() == ([persons] if plain.rows else [])
    if plain.rows:
        pairs = sorted({(row[0], row[-1]) for row in plain.rows})
        given = {first: pa.array([one for one, _ in pairs]), key: pa.array([other for _, other in pairs])}
        joined = table.with_values(given, {first: pa.array(["x"] * len(pairs))}, {name: name for name in plain.names})
        assert joined.map_values(first, {"x": "y"}).tuples((first,)).vocabularies == (("y",),)


def rows_are_ordered_by_code_point(table: Table, plain: Plain) -> None:
    assert streamed(table.ordered_batches(batch_rows=4)) == sorted(plain.rows)
    fewer = plain.names[::-1][:2]
    assert streamed(table.ordered_batches(fewer)) == sorted(plain.over(fewer))


def recoded_rows_come_in_the_order_of_what_is_published(table: Table, plain: Plain) -> None:
    names = plain.names[-2:]
    published = recode_all(table.tuples(names), table)
    expected = [(*row[: -len(names)], *(shortened(v) for v in row[-len(names) :])) for row in plain.rows]
    by_rank = sorted(expected, key=lambda row: (row[-len(names) :], row[: -len(names)]))
    assert streamed(published.ordered_batches()) == by_rank


def masked_and_dropped_tuples_take_other_columns_and_rows_along(table: Table, plain: Plain) -> None:
    name, other = plain.names[0], plain.names[-1]
    tuples = table.tuples([name])
    even = np.arange(len(tuples.rows)) % 2 == 0
    hidden = {value for value, marked in zip(tuples.vocabularies[0], even, strict=True) if marked}
    masks = {} if name == other else {other: even}
    kept = table.recode(tuples, [tuples.codes[:, 0]], tuples.vocabularies, masks)
    starred = [(*row[:-1], "*") if row[0] in hidden and masks else row for row in plain.rows]
    assert sorted(streamed(kept.batches())) == sorted(starred)
    dropped = table.recode(tuples, [tuples.codes[:, 0]], tuples.vocabularies, None, even)
    assert sorted(streamed(dropped.batches())) == sorted(row for row in plain.rows if row[0] not in hidden)


def columns_that_come_along_stand_last_and_do_not_order(table: Table, plain: Plain) -> None:
    first, other = plain.names[0], plain.names[-1]
    found = streamed(table.ordered_batches([first], along=[other]))
    assert [row[0] for row in found] == sorted(plain.column(first))
    assert sorted(found) == sorted((row[0], row[-1]) for row in plain.rows)


def what_comes_along_veiled_is_equal_where_the_values_are(table: Table, plain: Plain) -> None:
    first, other = plain.names[0], plain.names[-1]
    found = streamed(table.ordered_batches([first], along=[other], salt="secreto ñ"))
    veiled = [(row[0], hashlib.sha256(("secreto ñ" + row[-1]).encode()).hexdigest()) for row in plain.rows]
    assert sorted(found) == sorted(veiled)


def repeated_values_are_counted_by_how_often(table: Table, plain: Plain) -> None:
    name = plain.names[-1]
    assert table.multiplicities(name) == dict(Counter(Counter(plain.column(name)).values()))


def a_fingerprint_stands_for_names_and_rows_in_any_order(table: Table, plain: Plain) -> None:
    assert table.fingerprint() == plain_fingerprint(plain)
    assert table.fingerprint() == plain_fingerprint(Plain(plain.names, plain.rows[::-1]))


def plain_fingerprint(plain: Plain) -> str:
    sums = [0] * 8
    for row in plain.rows:
        line = ",".join(cell.replace("\\", "\\\\").replace(",", "\\,") for cell in row)
        for place, piece in enumerate(struct.unpack(">8I", hashlib.sha256(line.encode()).digest())):
            sums[place] += piece
    told = json.dumps([list(plain.names), len(plain.rows), sums], separators=(",", ":"))
    return "rows-sha256:" + hashlib.sha256(told.encode()).hexdigest()


def numbers_are_read_and_the_rest_is_counted(table: Table, plain: Plain) -> None:
    column = plain.column(plain.names[0])
    found = table.numbers(plain.names[0], unknown=["99999"])
    expected = Counter(float(v) for v in column if v in NUMBERS)
    readable = dict(zip(found.values.tolist(), found.rows.tolist(), strict=True))
    assert {k: n for k, n in readable.items() if k in expected} == expected
    assert found.missing == column.count("")
    assert found.unknown == column.count("99999")
    assert found.masked == sum(bool(v) and set(v) == {"*"} for v in column)
    assert sum(readable.values()) + found.missing + found.masked + found.unknown + found.unreadable == len(column)


LAWS: tuple[Law, ...] = (
    rows_are_counted,
    selected_columns_keep_their_values_and_order,
    batches_hold_every_row_once,
    declared_markers_become_missing,
    rows_with_a_value_are_found,
    distinct_values_are_counted,
    distinct_combinations_are_counted,
    frequencies_come_in_code_point_order,
    a_sample_of_frequencies_holds_masked_and_frequent_values,
    tuples_are_the_distinct_combinations,
    persons_are_counted_once_per_tuple,
    incidence_is_numbered_by_values_alone,
    projecting_equals_counting_again,
    tuples_with_others_are_those_counted_one_by_one,
    mapped_values_are_replaced_and_others_stay,
    replaced_values_are_counted_and_joined_again,
    rows_are_ordered_by_code_point,
    recoded_rows_come_in_the_order_of_what_is_published,
    masked_and_dropped_tuples_take_other_columns_and_rows_along,
    columns_that_come_along_stand_last_and_do_not_order,
    numbers_are_read_and_the_rest_is_counted,
    what_comes_along_veiled_is_equal_where_the_values_are,
    repeated_values_are_counted_by_how_often,
    a_fingerprint_stands_for_names_and_rows_in_any_order,
)
SPARK_LAWS = (  # a query there takes half a second whatever its size: those that meet every kind of query
    incidence_is_numbered_by_values_alone,
    rows_with_a_value_are_found,
    recoded_rows_come_in_the_order_of_what_is_published,
    masked_and_dropped_tuples_take_other_columns_and_rows_along,
    a_sample_of_frequencies_holds_masked_and_frequent_values,
    what_comes_along_veiled_is_equal_where_the_values_are,
    a_fingerprint_stands_for_names_and_rows_in_any_order,
)
NUMBERS = {"05302", "5302", "5302 ", " 5302", "1e3", "-0", "1.5", "0", "00"}


def combinations(tuples: Tuples) -> list[tuple[str, ...]]:
    return [tuple(v[c] for v, c in zip(tuples.vocabularies, row, strict=True)) for row in tuples.codes.tolist()]


def leading_bits(text: str) -> int:
    """What chooses a value for a sample."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:16], 16)


def behind_each(plain: Plain, names: tuple[str, ...], key: str) -> dict[tuple[str, ...], set[str]]:
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for combination, person in zip(plain.over(names), plain.column(key), strict=True):
        found[combination].add(person)
    return found


def shortened(value: str) -> str:
    """A many-to-one recoding whose texts are not in the order of the originals."""
    return value[::-1][:1] or "*"


def recode_all(tuples: Tuples, table: Table) -> Table:
    vocabularies = [tuple(dict.fromkeys(shortened(t) for t in texts)) or ("*",) for texts in tuples.vocabularies]
    codes = [
        np.array([vocabularies[i].index(shortened(texts[c])) for c in tuples.codes[:, i]], np.int32)
        for i, texts in enumerate(tuples.vocabularies)
    ]
    return table.recode(tuples, codes, vocabularies)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_on_any_table(engine: Engine, law: Law) -> None:
    @settings(max_examples=BUDGET[engine.name], deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(plain_tables())
    @example(FIXED["values engines confuse"])
    def check(plain: Plain) -> None:
        law(plain.on(engine), plain)

    check()


@pytest.mark.parametrize("kind", [name for name in FIXED if name != "values engines confuse"])
def test_on_extreme_tables(engine: Engine, kind: str) -> None:
    plain = FIXED[kind]
    table = plain.on(engine)
    for law in LAWS if engine.name != "Spark" else SPARK_LAWS:
        law(table, plain)


def test_a_working_copy_is_read_as_it_was_written(engine: Engine, tmp_path: Path) -> None:
    plain = FIXED["values engines confuse"]
    path = tmp_path / "it's a copy.parquet"
    pq.write_table(pa.table({f"c{i}": plain.column(name) for i, name in enumerate(plain.names)}), path)
    table = Table(engine, engine.parquet(path), plain.names)
    assert streamed(table.ordered_batches()) == sorted(plain.rows)


def test_a_forgotten_table_is_gone_and_others_stay(engine: Engine) -> None:
    kept, gone = (engine.upload(pa.table({"c0": ["a"]})) for _ in range(2))
    engine.forget(gone)
    assert engine.fetch(kept).num_rows == 1
    with pytest.raises(EngineFault):
        engine.fetch(gone)


def test_a_working_copy_in_parts_is_read_in_the_order_of_their_names(engine: Engine, tmp_path: Path) -> None:
    rows = FIXED["values engines confuse"].rows
    folder = tmp_path / "it's a copy.parquet"
    folder.mkdir()
    for number, start in ((1, 40), (0, 0)):
        cells = rows[start : start + 40] if number == 0 else rows[start:]
        pq.write_table(
            pa.table({f"c{i}": [row[i] for row in cells] for i in range(3)}), folder / f"part-0000{number}.parquet"
        )
    (folder / "_SUCCESS").touch()
    table = Table(engine, engine.parquet(folder), ("a", "b", "c"))
    assert sorted(streamed(table.batches())) == sorted(rows)
    traced = Table(engine, engine.numbered_parquet(folder, ORIGIN), ("a", "b", "c"))
    found = traced.rows_of_origin(np.array([0, 39, 40, len(rows) - 1]))
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        (*rows[place], place) for place in (0, 39, 40, len(rows) - 1)
    ]


def test_combinations_that_do_not_fit_are_refused_with_the_way_out(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = FIXED["64 columns"]
    table = plain.on(engine)
    monkeypatch.setattr(engine, "memory", 2 * (32 + 40 * 2) * 3)
    assert len(table.tuples(("v1", "v2")).rows) == 3
    monkeypatch.setattr(engine, "memory", 2 * (32 + 40 * 2) * 2)
    with pytest.raises(TooManyTuples) as refused:
        table.tuples(("v0", "v1"))
    assert refused.value.values == {"columns": 2, "most": 2, "largest": "v1 (3), v0 (1)"}
