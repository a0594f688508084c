"""Cells counted inside the database: distinct persons in every set, the same on every engine, against plain sets."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from celosia.stats.counting.count import count, counting
from celosia.stats.declaration.declaration import Measure, Personal
from celosia.stats.errors import AmountsUnreadable, LevelLabelsRepeat, PersonalColumnMissing, PersonKeyMissing
from celosia.stats.sources.connections import open_source
from tests.stats.personal_rows import (
    ENGINES,
    EVENTS,
    NAMES,
    Row,
    counted,
    events,
    labels,
    personal,
    plainly,
    stats_table,
    write,
)

FIXED = [
    Row(
        f"u{i % 11}",
        ("ñandutí", "oficio", "Ñ")[i % 3],
        f"2024-0{1 + i % 4}",
        "<18" if i % 11 < 4 else "18+",
        i * 7 - 20,
    )
    for i in range(60)
]
SUM = Measure("total", "sum", "amount", dominance=(3, 80))


@pytest.fixture(params=ENGINES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest) -> str:
    if kind == "spark":
        request.getfixturevalue("spark_engine")
    return (
        str(request.getfixturevalue({"postgres": "postgres_url", "icu": "icu_url"}[kind]))
        if kind in ("postgres", "icu")
        else ""
    )


@pytest.mark.requirement("Y15", "Y19")
def test_every_cell_and_margin_counts_distinct_persons(kind: str, url: str, tmp_path: Path) -> None:
    with personal(kind, tmp_path, url, FIXED) as source:
        assert counted(count(source, EVENTS, stats_table(), labels(source))) == plainly(FIXED)


@pytest.mark.requirement("Y15")
def test_twenty_events_of_two_users_are_two_persons(kind: str, url: str, tmp_path: Path) -> None:
    rows = [Row(f"u{i % 2}", "oficio", "2024-01", "18+") for i in range(20)]
    with personal(kind, tmp_path, url, rows) as source:
        cells = count(source, EVENTS, stats_table(), labels(source))
    assert set(cells.persons.tolist()) == {2}
    assert set(cells.rows.tolist()) == {20}


@pytest.mark.requirement("Y17")
def test_merging_counts_persons_again(kind: str, url: str, tmp_path: Path) -> None:
    rows = [Row(f"a{i}", "A", "2024-01", "18+") for i in range(12)]
    rows += [Row(f"b{i}", "B", "2024-01", "18+") for i in range(3)] + [
        Row(f"b{i}", "C", "2024-01", "18+") for i in range(4)
    ]
    merge = {"sector": (("B", "C"), "Otros")}
    with (
        personal(kind, tmp_path, url, rows) as source,
        counting(source, EVENTS, stats_table(), labels(source)) as found,
    ):
        assert found.persons({"sector": ("B", "C")}) == 4  # 3 and 4 are 4: the same persons
        assert found.persons({"sector": ("B", "C"), "month": ("2024-02",)}) == 0
        cells = counted(found.cells(merge=merge))
    assert cells["Otros", None, None] == (4, 7)
    assert cells["A", "2024-01", "18+"] == (12, 12)
    assert cells[None, None, None] == (16, 19)
    assert ("B", None, None) not in cells


@pytest.mark.requirement("Y23")
def test_sums_come_with_the_largest_contributions_of_one_person(kind: str, url: str, tmp_path: Path) -> None:
    with (
        personal(kind, tmp_path, url, FIXED) as source,
        counting(source, EVENTS, stats_table(measures=(SUM,)), labels(source)) as found,
    ):
        cells, scale = found.cells(), found.scale["total"]
    for cell in range(len(cells.persons)):
        shares: dict[str, int] = {}
        for row in FIXED:
            if _inside(row, cells.labels(cell)):
                shares[row.user_id] = shares.get(row.user_id, 0) + (row.amount or 0)
        assert cells.sums["total"][cell] == scale * sum(shares.values())
        assert cells.sums["total:persons"][cell] == len(shares)
        first = sorted((abs(value) for value in shares.values()), reverse=True)[:3]
        assert cells.largest["total"][cell].tolist() == [scale * value for value in (*first, 0, 0)][:3]


def _inside(row: Row, cell: Sequence[str | None]) -> bool:
    return all(label is None or getattr(row, name) == label for name, label in zip(NAMES, cell, strict=True))


def test_persons_without_an_amount_are_not_behind_a_mean(tmp_path: Path) -> None:
    rows = [Row(f"u{i}", "oficio", "2024-01", "18+", None if i < 3 else 10) for i in range(8)]
    with personal("sqlite", tmp_path, "", rows) as source:
        cells = count(source, EVENTS, stats_table(measures=(Measure("media", "mean", "amount"),)), labels(source))
    assert set(cells.sums["media:persons"].tolist()) == {5}
    assert set(cells.sums["media:rows"].tolist()) == {5}
    assert set(cells.persons.tolist()) == {8}


def test_margins_that_links_need_are_counted_and_not_offered(tmp_path: Path) -> None:
    table = stats_table(margins=(("sector",),))
    with personal("duckdb", tmp_path, "", FIXED) as source:
        cells = count(source, EVENTS, table, labels(source), links=[("month",)])
    offered = {cells.labels(i): bool(cells.offered[i]) for i in range(len(cells.persons))}
    assert offered["oficio", None, None]
    assert not offered[None, "2024-01", None]
    assert not offered[None, None, None]  # the grand total is always counted
    assert (None, None, "18+") not in offered


def test_a_tree_is_counted_at_every_level(kind: str, url: str, tmp_path: Path) -> None:
    with personal(kind, tmp_path, url, FIXED) as source:
        relation = source.relation(EVENTS)
        quarter = (relation["month"] < "2024-03").ifelse("inicio", "fin")
        chosen = labels(source, ("month", "sector")) | {"month": [quarter, relation["month"]]}
        cells = count(source, EVENTS, stats_table(("month", "sector")), chosen)
    months = cells.dimensions[0]
    assert months.labels == ("fin", "inicio", "2024-01", "2024-02", "2024-03", "2024-04")
    assert months.parent == (-1, -1, 1, 1, 0, 0)
    halves = {row: "inicio" if row.month < "2024-03" else "fin" for row in FIXED}
    persons = {row.user_id for row in FIXED if halves[row] == "fin" and row.sector == "Ñ"}
    assert counted(cells)["fin", "Ñ"][0] == len(persons)
    assert counted(cells)["2024-04", "Ñ"] == plainly(FIXED, ("month", "sector"))["2024-04", "Ñ"]


def test_who_states_nothing_is_told_once_though_there_are_levels(tmp_path: Path) -> None:
    with personal("duckdb", tmp_path, "", FIXED) as source:
        relation = source.relation(EVENTS)
        fine = (relation["month"] == "2024-04").ifelse("(sin dato)", relation["month"])
        coarse = (relation["month"] == "2024-04").ifelse("(sin dato)", "conocido")
        chosen = labels(source, ("month", "sector")) | {"month": [coarse, fine]}
        cells = count(source, EVENTS, stats_table(("month", "sector"), measures=(SUM,)), chosen)
    assert cells.dimensions[0].labels == ("(sin dato)", "conocido", "2024-01", "2024-02", "2024-03")
    assert cells.dimensions[0].parent == (-1, -1, 1, 1, 1)
    plain = plainly(FIXED, ("month", "sector"))
    assert counted(cells)["(sin dato)", "Ñ"] == plain["2024-04", "Ñ"]
    assert counted(cells)["2024-01", "Ñ"] == plain["2024-01", "Ñ"]


def test_two_categories_of_a_tree_may_not_share_a_label(tmp_path: Path) -> None:
    with personal("duckdb", tmp_path, "", FIXED) as source:
        relation = source.relation(EVENTS)
        chosen = {"month": [(relation["month"] < "2024-03").ifelse("2024-01", "fin"), relation["month"]]}
        with pytest.raises(LevelLabelsRepeat):
            count(source, EVENTS, stats_table(("month",)), chosen)


def test_an_empty_table_has_no_cell(tmp_path: Path) -> None:
    for kind in ("duckdb", "sqlite"):
        with personal(kind, tmp_path, "", []) as source:
            cells = count(source, EVENTS, stats_table(measures=(SUM,)), labels(source))
        assert len(cells.persons) == 0
        assert cells.codes.shape == (0, 3)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows=events())
@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_counts_are_those_of_plain_sets(kind: str, rows: list[Row], tmp_path: Path) -> None:
    with personal(kind, tmp_path, "", rows) as source:
        assert counted(count(source, EVENTS, stats_table(), labels(source))) == plainly(rows)


@pytest.mark.postgres
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows=events())
def test_counts_in_postgres_are_those_of_plain_sets(rows: list[Row], tmp_path: Path, postgres_url: str) -> None:
    with personal("postgres", tmp_path, postgres_url, rows) as source:
        assert counted(count(source, EVENTS, stats_table(), labels(source))) == plainly(rows)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows=events())
def test_a_merge_gives_what_relabelled_rows_would(rows: list[Row], tmp_path: Path) -> None:
    gone = ("Ñ", "b")
    relabelled = [Row(r.user_id, "Otros" if r.sector in gone else r.sector, r.month, r.age) for r in rows]
    with personal("duckdb", tmp_path, "", rows) as source:
        cells = count(source, EVENTS, stats_table(), labels(source), merge={"sector": (gone, "Otros")})
    assert counted(cells) == plainly(relabelled)


def test_rows_without_a_person_key_stop_the_job(tmp_path: Path) -> None:
    rows = [*FIXED, Row(None, "oficio", "2024-01", "18+")]  # type: ignore[arg-type]
    with personal("sqlite", tmp_path, "", rows) as source, pytest.raises(PersonKeyMissing) as refused:
        count(source, EVENTS, stats_table(), labels(source))
    assert refused.value.values == {"personal": "events", "rows": 1}


@pytest.mark.requirement("Y27")
def test_an_amount_that_is_no_number_is_counted_and_never_shown(tmp_path: Path) -> None:
    rows = [*FIXED, Row("u1", "oficio", "2024-01", "18+", "4.123.456")]  # type: ignore[arg-type]
    with personal("sqlite", tmp_path, "", rows) as source, pytest.raises(AmountsUnreadable) as refused:
        count(source, EVENTS, stats_table(measures=(SUM,)), labels(source))
    assert refused.value.values["rows"] == 1
    assert "4.123.456" not in str(refused.value)


def test_a_column_that_left_the_database_is_named(tmp_path: Path) -> None:
    with personal("duckdb", tmp_path, "", FIXED) as source, pytest.raises(PersonalColumnMissing) as refused:
        count(source, Personal("events", "persona", table="events"), stats_table(), labels(source))
    assert refused.value.values["columns"] == "persona"


def test_nothing_but_frequencies_leaves_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source(write("duckdb", tmp_path, "", FIXED), tmp_path)
    fetched = []
    original = source.fetch
    monkeypatch.setattr(source, "fetch", lambda expression: fetched.append(original(expression)) or fetched[-1])
    count(source, EVENTS, stats_table(measures=(SUM,)), labels(source))
    source.close()
    persons = {row.user_id for row in FIXED}
    cells = itertools.chain.from_iterable(column.to_pylist() for table in fetched for column in table.columns)
    assert persons.isdisjoint(str(cell) for cell in cells)
