"""The whole run on small PERSONAL databases: threshold, merges, audiences, complements, over time, journal, faults."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from celosia.errors import CelosiaError
from celosia.stats.errors import (
    AuditUnfinished,
    ColumnWithoutRule,
    RoundingBelowK,
    ScanRefuses,
    StatsTableUnknown,
    TargetIsSource,
    TitleTellsHidden,
)
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
    shown,
    table,
    write_personal,
)

SECTOR = category("sector", ["A", "B", "C"])
REGION = category("region", ["N", "S"])
BOTH = {"audiences": '["internal", "government"]'}
NONE = {"margins": '"none"'}


def sectors(**counts: int) -> list[dict[str, str]]:
    return people({(name,): count for name, count in counts.items()}, ["sector"])


@pytest.mark.requirement("Y15")
def test_twenty_events_of_two_users_are_two_persons_and_suppressed(tmp_path: Path) -> None:
    rows = people({("A",): 2}, ["sector"], each=10) + people({("B",): 0}, ["sector"])
    rows += [row | {"user_id": "v" + row["user_id"]} for row in sectors(B=8)]
    home = project(tmp_path, rows, table("t", SECTOR, PERSONS, ROWS, **NONE))
    run_stats(home, now=NOW)
    assert {row["sector"]: (row["persons"], row["events"], row["estado"]) for row in read(home, "t__internal")} == {
        "A": (None, None, "suprimido"),
        "B": (8, 8, "publicado"),
    }


@pytest.mark.requirement("Y16", "Y18", "Y20")
def test_the_same_table_differs_by_audience_as_the_policy_says(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=4, B=5, C=9), table("t", SECTOR, PERSONS, **BOTH, **NONE))
    run_stats(home, now=NOW)
    assert shown(home, "t__internal", "sector") == {"A": None, "B": 5, "C": 9}
    assert shown(home, "t__government", "sector") == {"A": None, "B": None, "C": None}
    write_personal(tmp_path, sectors(A=4, B=5, C=19))
    home = project(tmp_path, sectors(A=10, B=15, C=29), table("u", SECTOR, PERSONS, **BOTH, **NONE))
    run_stats(home, now=NOW)
    assert shown(home, "u__government", "sector") == {"A": 10, "B": 15, "C": 29}


@pytest.mark.requirement("Y18")
def test_an_audience_that_nobody_named_gets_the_strictest_k(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=9, B=10), table("t", SECTOR, PERSONS, audiences='["sponsors"]', **NONE))
    done = run_stats(home, now=NOW)
    assert [one.k for one in done.tables] == [10]
    assert shown(home, "t__sponsors", "sector") == {"A": None, "B": 10}


@pytest.mark.requirement("Y21")
def test_a_small_cell_is_not_left_alone_beside_its_total(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=12, B=3), table("t", SECTOR, PERSONS))
    run_stats(home, now=NOW)
    found = shown(home, "t__internal", "sector")
    assert found["B"] is None
    assert [found["A"], found[None]].count(None) >= 1


@pytest.mark.requirement("Y17")
def test_small_categories_become_otros_once_it_reaches_k(tmp_path: Path) -> None:
    settings = {"action": '"merge"', "others": '"sector"'}
    home = project(tmp_path, sectors(A=12, B=3, C=4), table("t", SECTOR, PERSONS, **settings))
    run_stats(home, now=NOW)
    assert shown(home, "t__internal", "sector") == {"A": 12, "Otros": 7, None: 19}


@pytest.mark.requirement("Y17")
def test_three_and_four_people_may_be_four_so_otros_is_counted_anew(tmp_path: Path) -> None:
    rows = sectors(A=12, C=4)
    same = [row | {"sector": "B"} for row in rows if row["sector"] == "C"][:3]
    settings = {"action": '"merge"', "others": '"sector"'}
    home = project(tmp_path, rows + same, table("t", SECTOR, PERSONS, **settings, **NONE))
    run_stats(home, now=NOW)
    assert shown(home, "t__internal", "sector") == {"A": None, "B": None, "C": None}


@pytest.mark.requirement("Y17")
def test_where_only_otros_would_be_left_everything_is_hidden(tmp_path: Path) -> None:
    settings = {"action": '"merge"', "others": '"sector"'}
    home = project(tmp_path, sectors(A=12, B=3), table("t", SECTOR, PERSONS, **settings, **NONE))
    run_stats(home, now=NOW)
    assert shown(home, "t__internal", "sector") == {"A": None, "B": None}


@pytest.mark.requirement("Y21")
def test_a_cell_hidden_in_one_table_is_hidden_in_the_table_it_is_linked_with(tmp_path: Path) -> None:
    counts = {("A", "N"): 3, ("A", "S"): 9, ("B", "N"): 12, ("B", "S"): 11, ("C", "N"): 8, ("C", "S"): 14}
    rows = people(counts, ["sector", "region"])
    home = project(tmp_path, rows, table("t", SECTOR, REGION, PERSONS), table("u", SECTOR, PERSONS))
    run_stats(home, now=NOW)
    wide = {row["sector"]: row["persons"] for row in read(home, "t__internal") if row["region"] is None}
    assert wide == shown(home, "u__internal", "sector")


@pytest.mark.requirement("Y28")
def test_a_second_run_gives_the_same_tables(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=12, B=3, C=7), table("t", SECTOR, PERSONS, **BOTH))
    run_stats(home, now=NOW)
    first = everything(home)
    run_stats(home, now=LATER)
    assert everything(home) == first
    assert len(first) == 2


@pytest.mark.requirement("Y22")
def test_a_cell_that_changed_by_fewer_than_k_is_withheld_and_one_that_did_not_is_shown(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=12, B=20, C=30), table("t", SECTOR, PERSONS, **NONE))
    run_stats(home, now=NOW)
    write_personal(tmp_path, sectors(A=13, B=20, C=36))
    done = run_stats(home, now=LATER)
    assert shown(home, "t__internal", "sector") == {"A": None, "B": 20, "C": 36}
    assert done.tables[0].reasons == {"over_time": 1}
    write_personal(tmp_path, sectors(A=12, B=20, C=36))
    run_stats(home, now=LATER)
    assert shown(home, "t__internal", "sector") == {"A": 12, "B": 20, "C": 36}


@pytest.mark.requirement("Y02")
def test_a_column_without_a_rule_stops_the_run_by_its_name(tmp_path: Path) -> None:
    rows = [row | {"salary": "1"} for row in sectors(A=12)]
    home = project(tmp_path, rows, table("t", SECTOR, PERSONS))
    with pytest.raises(ColumnWithoutRule) as stopped:
        run_stats(home, now=NOW)
    assert "salary" in str(stopped.value)


@pytest.mark.requirement("Y27")
def test_the_journal_tells_counts_and_never_a_value(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=12, B=3), table("t", SECTOR, PERSONS, **NONE))
    run_stats(home, now=NOW)
    write_personal(tmp_path, [*sectors(A=12), {"user_id": "x", "full_name": "y", "sector": "4.123.456"}])
    with pytest.raises(CelosiaError) as stopped:
        run_stats(home, now=LATER)
    text = (home / "journal.jsonl").read_text("utf-8")
    good, bad = [json.loads(line) for line in text.splitlines()]
    assert good["facts"]["rows_read"] == {"people": 15}
    assert (good["facts"]["rows_written"], good["facts"]["suppressed_primary"]) == (2, 1)
    assert bad["facts"]["errors"] == {"t.sector": 1}
    assert "4.123.456" not in text
    assert "4.123.456" not in str(stopped.value)
    assert shown(home, "t__internal", "sector") == {"A": 12, "B": None}


@pytest.mark.requirement("Y20")
def test_a_percentage_is_made_from_published_cells_only(tmp_path: Path) -> None:
    share = '[[tables.measures]]\nname = "share"\nkind = "percent"\nof = "total"\n'
    home = project(tmp_path, sectors(A=20, B=3, C=17), table("t", SECTOR, PERSONS, share))
    run_stats(home, now=NOW)
    rows = {row["sector"]: row for row in read(home, "t__internal")}
    assert rows["B"]["share"] is None
    for row in rows.values():
        both = row["persons"] is not None and rows[None]["persons"] is not None
        assert row["share"] == (pytest.approx(100 * row["persons"] / 40) if both else None)


def test_neither_may_the_title_of_them_all(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=12, B=3), table("t", SECTOR, PERSONS, **NONE))
    file = home / "stats.toml"
    told = re.sub(r'^title = ".*"$', 'title = "Somos 3"', file.read_text("utf-8"), count=1, flags=re.MULTILINE)
    file.write_text(told, "utf-8")
    with pytest.raises(TitleTellsHidden):
        run_stats(home, now=NOW)


def test_a_declared_category_that_never_occurs_is_scanned_too(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=12, B=13), table("t", SECTOR, PERSONS, **NONE))
    file = home / "stats.toml"
    file.write_text(file.read_text("utf-8").replace("'B'", "'B', 'CI 4.123.456'", 1), "utf-8")
    with pytest.raises(ScanRefuses):
        run_stats(home, now=NOW)


@pytest.mark.requirement("Y20")
def test_a_title_may_not_tell_a_hidden_value(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=12, B=3), table("t", SECTOR, PERSONS, title='"Los 3 de B"', **NONE))
    with pytest.raises(TitleTellsHidden):
        run_stats(home, now=NOW)
    assert everything(home) == {}


@pytest.mark.requirement("Y23")
def test_a_sum_that_one_person_dominates_is_hidden(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [row | {"pay": 100.0} for row in sectors(A=10, B=10)]
    rows[0]["pay"] = 90_000.0
    total = '[[tables.measures]]\nname = "pay"\nkind = "sum"\ncolumn = "pay"\n'
    home = project(tmp_path, rows, table("t", SECTOR, PERSONS, total, **NONE))
    run_stats(home, now=NOW)
    assert shown(home, "t__internal", "sector", "pay") == {"A": None, "B": 1000.0}


def test_rounding_blurs_every_count_and_repeats_itself(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=12, B=3, C=8), table("t", SECTOR, PERSONS, method='"round"', base="5"))
    run_stats(home, now=NOW)
    first = shown(home, "t__internal", "sector")
    assert all(
        value % 5 == 0 and abs(value - true) < 5 for value, true in zip(first.values(), [12, 3, 8, 23], strict=True)
    )
    run_stats(home, now=LATER)
    assert shown(home, "t__internal", "sector") == first


def test_a_base_below_k_is_refused(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=12), table("t", SECTOR, PERSONS, method='"round"', base="3"))
    with pytest.raises(RoundingBelowK):
        run_stats(home, now=NOW)


def test_a_table_that_is_not_declared_is_told_with_those_that_are(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=12), table("t", SECTOR, PERSONS))
    with pytest.raises(StatsTableUnknown) as unknown:
        run_stats(home, tables=["x"], now=NOW)
    assert "t" in str(unknown.value)


def test_a_run_of_some_tables_keeps_the_others_and_their_catalogue(tmp_path: Path) -> None:
    rows = people({("A", "N"): 12, ("B", "S"): 9}, ["sector", "region"])
    tables = (table("t", SECTOR, PERSONS, linked="false"), table("u", REGION, PERSONS, linked="false"))
    home = project(tmp_path, rows, *tables, head=HEAD)
    run_stats(home, now=NOW)
    done = run_stats(home, tables=["u"], now=LATER)
    assert [one.table for one in done.tables] == ["u__internal"]
    assert set(everything(home)) == {"t__internal", "u__internal"}


@pytest.mark.requirement("Y21")
def test_four_people_in_four_categories_are_not_told_by_the_zeros_beside_them(tmp_path: Path) -> None:
    names = ["A", "B", "C", "D", "E"]
    counts = {(name, "N"): 1 for name in names[:4]} | {(name, "S"): 20 for name in names}
    rows = people(counts, ["sector", "region"])
    home = project(tmp_path, rows, table("t", category("sector", names), REGION, PERSONS))
    run_stats(home, now=NOW)
    north = {row["sector"]: row["persons"] for row in read(home, "t__internal") if row["region"] == "N"}
    assert set(north.values()) == {None}
    assert "E" in north


@pytest.mark.requirement("Y22")
def test_what_totals_tell_of_hidden_cells_together_does_not_change_by_fewer_than_k(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=20, B=30, C=40), table("t", SECTOR, PERSONS))
    run_stats(home, now=NOW)
    write_personal(tmp_path, sectors(A=22, B=30, C=47))
    run_stats(home, now=LATER)
    found = shown(home, "t__internal", "sector")
    before = {"A": 20, "B": 30, "C": 40, None: 90}
    assert found["A"] is None
    told = {name: value - before[name] for name, value in found.items() if value is not None}
    if None in told:
        rest = told[None] - sum(change for name, change in told.items() if name is not None)
        assert not 0 < abs(rest) < 5


@pytest.mark.requirement("Y21", "Y28")
def test_time_that_runs_out_publishes_nothing_and_says_what_to_do(tmp_path: Path) -> None:
    three, names = table("t", SECTOR, REGION, category("sex", ["F", "M"]), PERSONS), ["sector", "region", "sex"]
    sizes = [3, 9, 12, 11, 8, 14, 7, 4, 16, 10, 2, 13]  # three ways: what is safe cannot be seen without solving
    counts = dict(zip(product("ABC", "NS", "FM"), sizes, strict=True))
    home = project(tmp_path, people(counts, names), three)
    run_stats(home, now=NOW)
    before = everything(home)
    write_personal(tmp_path, people({key: count + 40 * (count > 4) for key, count in counts.items()}, names))
    with pytest.raises(AuditUnfinished) as stopped:
        run_stats(home, budget_seconds=0, now=LATER)
    assert stopped.value.exit_code == 1
    assert stopped.value.values["tables"] == "t__internal"
    assert "--budget" in str(stopped.value)
    assert everything(home) == before
    last = json.loads((home / "journal.jsonl").read_text("utf-8").splitlines()[-1])
    assert last["facts"]["error"] == "audit_unfinished"
    run_stats(home, now=LATER)
    assert everything(home) != before


@pytest.mark.requirement("Y01")
def test_stats_is_not_written_into_the_file_of_personal(tmp_path: Path) -> None:
    home = project(
        tmp_path, sectors(A=12), table("t", SECTOR, PERSONS), head=HEAD.replace("stats.duckdb", "../personal.duckdb")
    )
    with pytest.raises(TargetIsSource):
        run_stats(home, now=NOW)
