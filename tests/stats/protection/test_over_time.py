"""Releases over time: a cell is the same whatever shows it, what was told stays told, and no run tells too much."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import duckdb
import pytest

from celosia.stats.attack import attack_stats
from celosia.stats.run import run_stats
from tests.stats.small_stats import (
    HEAD,
    LATER,
    NOW,
    PERSONS,
    category,
    everything,
    people,
    project,
    read,
    shown,
    table,
    write_personal,
)

SECTOR, SEX = category("sector", ["A", "B", "C", "D"]), category("sex", ["x", "y", "z"])
TWO_AUDIENCES = HEAD + "[audiences]\ninternal = 5\ngovernment = 10\n"
WAYS = {("A", "x"): 40, ("A", "y"): 30, ("B", "x"): 20, ("B", "y"): 10}
# Persons by sector and sex in two weeks. With the first release, no release of the second is safe.
FIRST = {
    ("A", "x"): 20, ("A", "y"): 12, ("A", "z"): 2, ("B", "x"): 4, ("B", "y"): 12, ("B", "z"): 12,
    ("C", "x"): 1, ("C", "y"): 5, ("C", "z"): 9, ("D", "x"): 2, ("D", "z"): 6,
}  # fmt: skip
SECOND = FIRST | {("A", "y"): 13, ("A", "z"): 5, ("D", "z"): 9}


def sectors(**counts: int) -> list[dict[str, str]]:
    return people({(name,): count for name, count in counts.items()}, ["sector"])


def both(counts: dict[tuple[str, str], int]) -> list[dict[str, str]]:
    return people(counts, ["sector", "sex"])


def cells(home: Path, name: str) -> dict[tuple[str | None, str | None], int | None]:
    return {(row["sector"], row["sex"]): row["persons"] for row in read(home, name)}


@pytest.mark.requirement("Y22")
@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        (table("t", SECTOR, SEX, PERSONS), table("renamed", SECTOR, SEX, PERSONS), "renamed__internal"),
        (table("t", SECTOR, SEX, PERSONS), table("t", SEX, SECTOR, PERSONS), "t__internal"),
        (
            table("t", SECTOR, SEX, PERSONS, audiences='["government"]'),
            table("t", SECTOR, SEX, PERSONS, audiences='["internal"]'),
            "t__internal",
        ),
        (
            table("t", SECTOR, SEX, PERSONS, audiences='["internal"]'),
            table("t", SECTOR, SEX, PERSONS, audiences='["government"]'),
            "t__government",
        ),
    ],
)
def test_a_cell_is_found_again_in_a_renamed_or_turned_table_and_for_other_readers(
    tmp_path: Path, first: str, second: str, name: str
) -> None:
    home = project(tmp_path, both(WAYS), first, head=TWO_AUDIENCES)
    run_stats(home, now=NOW)
    project(tmp_path, both(WAYS | {("B", "x"): 21}), second, head=TWO_AUDIENCES)
    run_stats(home, now=LATER)
    assert cells(home, name)["A", "y"] == 30
    assert cells(home, name)["B", "x"] is None
    assert cells(home, name)[None, None] is None
    assert attack_stats(home).holds


@pytest.mark.requirement("Y22")
def test_what_was_published_before_is_not_hidden_to_shield_another(tmp_path: Path) -> None:
    data = sectors(A=12, B=3, C=20, D=31)
    home = project(tmp_path, data, table("t", SECTOR, PERSONS, margins='"none"'))
    run_stats(home, now=NOW)
    before = shown(home, "t__internal", "sector")
    assert before == {"A": 12, "B": None, "C": 20, "D": 31}
    project(tmp_path, data, table("t", SECTOR, PERSONS))
    run_stats(home, now=LATER)
    assert shown(home, "t__internal", "sector") == before | {None: None}


@pytest.mark.requirement("Y22", "Y27")
def test_tables_that_would_tell_too_much_with_earlier_ones_stay_as_they_are(tmp_path: Path) -> None:
    home = project(tmp_path, both(FIRST), table("t", SECTOR, SEX, PERSONS))
    run_stats(home, now=NOW)
    before = everything(home)
    write_personal(tmp_path, both(SECOND))
    done = run_stats(home, now=LATER)
    assert [one.state for one in done.tables] == ["kept"]
    assert (done.facts()["kept"], done.facts()["tables"]) == (1, 0)
    assert everything(home) == before
    again = run_stats(home, now=LATER)
    assert again.tables == done.tables
    assert everything(home) == before
    journal = [json.loads(line) for line in (home / "journal.jsonl").read_text("utf-8").splitlines()]
    assert "kept" in json.dumps(journal[-1])


@pytest.mark.requirement("Y22")
def test_a_new_table_that_would_complete_a_dropped_one_is_left_out(tmp_path: Path) -> None:
    data = both({("A", "x"): 12, ("A", "y"): 9, ("B", "x"): 3, ("B", "y"): 7, ("C", "x"): 8, ("C", "y"): 6})
    home = project(tmp_path, data, table("t", SECTOR, SEX, PERSONS, margins='"none"'))
    run_stats(home, now=NOW)
    head = HEAD.replace('drop = ["full_name"]', 'drop = ["full_name", "sex"]')
    project(tmp_path, data, table("n", SECTOR, PERSONS), head=head)
    done = run_stats(home, now=LATER)
    assert [one.state for one in done.tables] == ["left_out"]
    assert "n__internal" not in everything(home)


@pytest.mark.requirement("Y22")
def test_a_history_of_before_is_read_and_extended(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=40, B=30), table("t", SECTOR, PERSONS))
    run_stats(home, now=NOW)
    with contextlib.closing(duckdb.connect(home / "stats.duckdb")) as database:
        database.execute("ALTER TABLE celosia_history DROP COLUMN identity")
    write_personal(tmp_path, sectors(A=41, B=30))
    run_stats(home, now=LATER)
    assert shown(home, "t__internal", "sector") == {"A": None, "B": 30, None: None}
