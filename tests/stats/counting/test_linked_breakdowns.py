"""Linked tables that cut one column differently: what one shows gives back nothing that another hides.

The judge is `tests.tables.checker`, which shares no code with the protection: it reads the union of all tables that a
reader sees, knows which category lies in which, and eliminates over rational numbers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celosia.stats.attack import attack_stats
from celosia.stats.check import check_stats
from celosia.stats.counting.cell_sets import Tree
from celosia.stats.counting.linked_breakdowns import MARK
from celosia.stats.errors import CutsCross
from celosia.stats.run import run_stats
from tests.stats.small_stats import (
    HEAD,
    LATER,
    NOW,
    PERSONS,
    ROWS,
    category,
    everything,
    people,
    project,
    read,
    table,
)
from tests.tables.checker import recovered

NONE = {"margins": '"none"'}
BOTH = {"audiences": '["internal", "government"]'}
REGION = category("region", ["N", "S"])
SLOW_MACHINES = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def dimension(name: str, column: str, rule: str, **told: str) -> str:
    lines = "".join(f"{key} = {value}\n" for key, value in told.items())
    return f'[[tables.dimensions]]\nname = "{name}"\ncolumn = "{column}"\nrule = "{rule}"\n{lines}'


def period(by: str) -> str:
    return dimension(by, "day", "period", by=f'"{by}"')


MONTH, QUARTER, YEAR = period("month"), period("quarter"), period("year")


def in_months(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    return dated(people({(f"{month}-15",): count for month, count in counts.items()}, ["day"]))


def dated(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "day": date.fromisoformat(row["day"])} for row in rows]


def seen(home: Path, names: Sequence[str], order: Sequence[str]) -> dict[tuple[str | None, ...], int | None]:
    """The union of tables as a reader has it: what one of them shows is known; `order` are groups of dimensions."""
    cells: dict[tuple[str | None, ...], int | None] = {}
    for name in names:
        for row in read(home, name):
            key = tuple(next((row[d] for d in group.split() if row.get(d)), None) for group in order)
            if cells.get(key) is None:
                cells[key] = row["persons"]
    return cells


def month_above(months: Sequence[str]) -> dict[str, str]:
    return {month: month[:4] for month in months}


@pytest.mark.requirement("Y21")
def test_a_year_does_not_give_back_the_month_that_is_hidden(tmp_path: Path) -> None:
    months = {"2023-01": 9, "2023-02": 12, "2024-01": 3, "2024-02": 20, "2024-03": 11}
    tables = table("by_month", MONTH, PERSONS, **NONE), table("by_year", YEAR, PERSONS, **NONE)
    home = project(tmp_path, in_months(months), *tables)
    run_stats(home, now=NOW)
    cells = seen(home, ["by_month__internal", "by_year__internal"], ["month year"])
    assert cells["2024-01",] is None
    assert recovered(cells, month_above(list(months))) == set()
    assert sum(value is None for value in cells.values()) == 2
    assert not any(str(row["month"]).startswith(MARK) for row in read(home, "by_month__internal"))
    assert check_stats(home).holds
    assert attack_stats(home).holds


@pytest.mark.requirement("Y21")
def test_a_small_year_hides_what_would_add_up_to_it(tmp_path: Path) -> None:
    months = {"2023-01": 2, "2023-02": 1, "2024-01": 9, "2024-02": 20, "2025-01": 11}
    tables = table("by_month", MONTH, PERSONS), table("by_year", YEAR, PERSONS)
    home = project(tmp_path, in_months(months), *tables, head=HEAD)
    run_stats(home, now=NOW)
    cells = seen(home, ["by_month__internal", "by_year__internal"], ["month year"])
    hidden = {key for key, value in cells.items() if value is None}
    assert {("2023-01",), ("2023-02",), ("2023",)} < hidden
    assert recovered(cells, month_above(list(months))) == set()


LEVELS = st.dictionaries(
    st.tuples(st.sampled_from(["2023", "2024"]), st.integers(1, 7), st.sampled_from("NS")),
    st.sampled_from([1, 2, 3, 4, 5, 7, 12, 20]),
    min_size=6,
    max_size=20,
)


@pytest.mark.slow
@pytest.mark.requirement("Y21")
@given(LEVELS)
@SLOW_MACHINES
def test_month_quarter_and_year_together_give_back_nothing(
    tmp_path_factory: pytest.TempPathFactory, counts: dict[tuple[str, int, str], int]
) -> None:
    rows = dated(people({(f"{y}-{m:02d}-15", r): n for (y, m, r), n in counts.items()}, ["day", "region"]))
    tables = (
        table("m", MONTH, REGION, PERSONS, margins='[["month"]]'),
        table("q", QUARTER, PERSONS, **NONE),
        table("y", YEAR, REGION, PERSONS, **BOTH),
    )
    home = project(tmp_path_factory.mktemp("levels"), rows, *tables)
    run_stats(home, now=NOW)
    names = ["m__internal", "q__internal", "y__internal", "y__government"]
    cells = seen(home, names, ["month quarter year", "region"])
    above = {f"{y}-{m:02d}": f"{y}-Q{(m + 2) // 3}" for y, m, _ in counts}
    above |= {quarter: quarter[:4] for quarter in above.values()}
    assert_nothing_small_follows(with_common_margins(cells, above), cells, above, counts)


def with_common_margins(
    cells: Mapping[tuple[str | None, ...], int | None], above: Mapping[str, str]
) -> dict[tuple[str | None, ...], int | None]:
    """The cells with all that lie above them, which nobody shows but everybody may add up."""
    full, todo = dict(cells), list(cells)
    while todo:
        key = todo.pop()
        for at, label in enumerate(key):
            if label is not None:
                whole = (*key[:at], above.get(label), *key[at + 1 :])
                if whole not in full:
                    full[whole] = None
                    todo.append(whole)
    return full


def assert_nothing_small_follows(
    full: Mapping[Any, int | None], cells: Mapping[Any, int | None], above: Mapping[str, str], counts: Mapping[Any, int]
) -> None:
    def inside(label: str | None, asked: str | None) -> bool:
        return asked is None or label == asked or (label in above and inside(above[str(label)], asked))

    for key in recovered(full, above) & cells.keys():
        true = sum(n for (y, m, r), n in counts.items() if inside(f"{y}-{m:02d}", key[0]) and key[1] in (None, r))
        assert true >= 5


@pytest.mark.requirement("Y21")
def test_narrow_and_wide_bands_of_age_are_one_tree(tmp_path: Path) -> None:
    rows = people({(str(age),): n for age, n in {21: 3, 26: 30, 31: 8, 36: 14, 44: 2, 47: 40}.items()}, ["age"])
    narrow = dimension("five", "age", "age", at='"2024-12-31"', bands="[20, 25, 30, 35, 40, 45]")
    wide = dimension("ten", "age", "age", at='"2024-12-31"', bands="[20, 30, 40]")
    home = project(tmp_path, rows, table("n", narrow, PERSONS, **NONE), table("w", wide, PERSONS, **NONE))
    run_stats(home, now=NOW)
    cells = seen(home, ["n__internal", "w__internal"], ["five ten"])
    above = {"20-24": "20-29", "25-29": "20-29", "30-34": "30-39", "35-39": "30-39", "40-44": "40+", "45+": "40+"}
    assert cells["20-24",] is None
    assert cells["40-44",] is None
    assert recovered(cells, above) == set()


@pytest.mark.requirement("Y21")
def test_a_zone_that_took_the_name_of_its_region_is_not_the_region(tmp_path: Path) -> None:
    home = tmp_path / "stats"
    (home / "maps").mkdir(parents=True)
    (home / "maps" / "zones.csv").write_text("value,category\nz1,A\nz2,A\nz3,A\nz4,B\nz5,B\n", "utf-8")
    rows = people({("z1",): 30, ("z2",): 3, ("z3",): 4, ("z4",): 40, ("z5",): 25}, ["zone"])
    head = HEAD + '[maps.zones]\nfile = "maps/zones.csv"\n'
    fine = dimension("zone", "zone", "zone", map='"zones"', minimum="20")
    coarse = dimension("place", "zone", "map", map='"zones"')
    project(tmp_path, rows, table("f", fine, PERSONS, **NONE), table("c", coarse, PERSONS, **NONE), head=head)
    run_stats(home, now=NOW)
    zones = {row["zone"]: row["persons"] for row in read(home, "f__internal")}
    places = {row["place"]: row["persons"] for row in read(home, "c__internal")}
    assert zones == {"A": 7, "z1": 30, "z4": 40, "z5": 25}
    assert places == {"A": 37, "B": 65}
    assert check_stats(home).holds


@pytest.mark.requirement("Y21")
def test_cuts_that_cross_stop_the_job_and_name_tables_and_column(tmp_path: Path) -> None:
    rows = people({(str(age),): 9 for age in range(18, 40)}, ["age"])
    one = dimension("one", "age", "age", at='"2024-12-31"', bands="[18, 25, 35]")
    other = dimension("other", "age", "age", at='"2024-12-31"', bands="[20, 30]")
    home = project(tmp_path, rows, table("here", one, PERSONS), table("there", other, PERSONS))
    with pytest.raises(CutsCross) as stopped:
        run_stats(home, now=NOW)
    assert stopped.value.values == {"column": "age", "tables": "here, there"}
    assert everything(home) == {}
    apart = table("here", one, PERSONS), table("there", other, PERSONS, linked="false")
    run_stats(project(tmp_path, rows, *apart), now=NOW)


@pytest.mark.requirement("Y17", "Y21")
@pytest.mark.parametrize("margins", ["all", "none"])
def test_otros_of_each_audience_and_the_categories_it_holds_are_linked(tmp_path: Path, margins: str) -> None:
    counts = {("A", "N"): 3, ("B", "S"): 4, ("C", "N"): 9, ("F", "S"): 9}
    counts |= {("D", "N"): 30, ("D", "S"): 25, ("E", "N"): 18, ("E", "S"): 40}
    sector = category("sector", list("ABCDEF"))
    settings = {"action": '"merge"', "others": '"sector"', "margins": f'"{margins}"', **BOTH}
    rows = people(counts, ["sector", "region"])
    home = project(tmp_path, rows, table("t", sector, REGION, PERSONS, **settings))
    run_stats(home, now=NOW)
    internal = {(row["sector"], row["region"]): row["persons"] for row in read(home, "t__internal")}
    government = {(row["sector"], row["region"]): row["persons"] for row in read(home, "t__government")}
    inner = {(("Otros 5" if s == "Otros" else s), r): n for (s, r), n in internal.items()}
    outer = {(("Otros 10" if s == "Otros" else s), r): n for (s, r), n in government.items()}
    assert inner["Otros 5", "N"] is None
    assert ("Otros 10", "N") in outer
    cells = {**outer, **{key: value for key, value in inner.items() if outer.get(key) is None}}
    above = {"A": "Otros 5", "B": "Otros 5", "Otros 5": "Otros 10", "C": "Otros 10", "F": "Otros 10"}
    truth = {"Otros 5": "AB", "Otros 10": "ABCF"}
    for sector_name, region in recovered(with_common_margins(cells, above), above) & cells.keys():
        members = truth.get(str(sector_name), sector_name)
        true = sum(n for (s, r), n in counts.items() if (members is None or s in members) and region in (None, r))
        assert true >= 5


@pytest.mark.requirement("Y18", "Y21")
@pytest.mark.parametrize("small", [3, 6])
def test_a_third_table_linked_to_one_audience_only_tells_an_internal_reader_nothing_below_five(
    tmp_path: Path, small: int
) -> None:
    counts = {("A", "N", "x"): small, ("A", "S", "x"): 14, ("B", "N", "y"): 4, ("B", "S", "x"): 22, ("C", "N", "y"): 9}
    counts |= {("C", "S", "y"): 30, ("A", "N", "y"): 8, ("B", "N", "x"): 2}
    sector, kind = category("sector", ["A", "B", "C"]), category("kind", ["x", "y"])
    rows = people(counts, ["sector", "region", "kind"])
    home = project(
        tmp_path, rows,
        table("both", sector, REGION, PERSONS, **BOTH),
        table("inside", sector, kind, PERSONS),
        table("outside", REGION, kind, PERSONS, audiences='["government"]'),
    )  # fmt: skip
    run_stats(home, now=NOW)
    names = ["both__internal", "both__government", "inside__internal", "outside__government"]
    cells = seen(home, names, ["sector", "region", "kind"])
    for key in recovered(with_common_margins(cells, {}), {}) & cells.keys():
        inside = [all(a in (None, b) for a, b in zip(key, line, strict=True)) for line in counts]
        assert sum(n for n, mine in zip(counts.values(), inside, strict=True) if mine) >= 5
    hidden = [key for key, value in cells.items() if value is None]
    assert ("B", "N", None) in hidden or counts["B", "N", "y"] + counts["B", "N", "x"] >= 5
    assert ("B", None, "y") in hidden
    assert check_stats(home).holds


@pytest.mark.requirement("Y15", "Y21")
def test_people_of_several_months_are_counted_once_in_their_year(tmp_path: Path) -> None:
    first = in_months({"2024-01": 12, "2024-02": 7, "2023-05": 9})
    again = [row | {"day": date(2024, 2, 20)} for row in first if row["day"] == date(2024, 1, 15)][:6]
    home = project(tmp_path, first + again, table("m", MONTH, PERSONS, ROWS, **NONE), table("y", YEAR, PERSONS, **NONE))
    run_stats(home, now=NOW)
    assert {row["year"]: row["persons"] for row in read(home, "y__internal")} == {"2023": 9, "2024": 19}
    assert {row["month"]: row["persons"] for row in read(home, "m__internal")}["2024-02"] == 13
    assert check_stats(home).holds
    run_stats(home, full=False, now=LATER)
    assert {row["year"]: row["persons"] for row in read(home, "y__internal")} == {"2023": 9, "2024": 19}


@pytest.mark.requirement("Y21")
def test_the_check_sees_that_a_year_gives_a_month_back(tmp_path: Path) -> None:
    months = {"2024-01": 3, "2024-02": 20, "2024-03": 11}
    home = project(tmp_path, in_months(months), table("m", MONTH, PERSONS, **NONE), table("y", YEAR, PERSONS, **NONE))
    run_stats(home, now=NOW)
    with contextlib.closing(duckdb.connect(home / "stats.duckdb")) as database:
        for month, count in list(months.items())[1:]:
            database.execute(f"UPDATE m__internal SET persons = {count}, estado = 'publicado' WHERE month = '{month}'")
        database.execute("UPDATE y__internal SET persons = 34, estado = 'publicado'")
    found = check_stats(home)
    assert "recoverable" in {one.rule for one in found.rules.failing}


def test_a_category_put_above_that_holds_a_single_one_is_left_out() -> None:
    words = [{0: f"{MARK}0 2023", 1: f"{MARK}0 2024"}, {0: "2023-05", 1: "2024-01", 2: "2024-02"}]
    tree = Tree(words, [(0, 0), (1, 1), (1, 2)], (False, True)).dimension("t", "month")
    assert tree.labels == (f"{MARK}0 2024", "2023-05", "2024-01", "2024-02")
    assert tree.parent == (-1, -1, 0, 0)
