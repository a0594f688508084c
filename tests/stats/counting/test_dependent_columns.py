"""Tables from two columns of which one follows from the other: what one shows gives back nothing the other hides.

The judge is an outsider of `tests.tables.checker`: they know which region every district is in, read all tables
together and eliminate over rational numbers.
"""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pytest

from celosia.stats.attack import attack_stats
from celosia.stats.check import check_stats
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
    table,
    write_personal,
)
from tests.tables.checker import recovered

Counts = Mapping[tuple[str, str, str], int]
REGION_OF = {f"D{number}": f"R{(number + 2) // 3}" for number in range(1, 10)}
DISTRICT, REGION = category("district", list(REGION_OF)), category("region", ["R1", "R2", "R3"])
SEX = category("sex", ["m", "f"])
BY_DISTRICT = table("by_district", DISTRICT, SEX, PERSONS)
BY_REGION = table("by_region", REGION, SEX, PERSONS)
INNER = (
    table("by_district", DISTRICT, SEX, PERSONS, margins='"none"'),
    table("by_region", REGION, SEX, PERSONS, margins='"none"'),
)


def counts_of(seed: int) -> Counts:
    rng = random.Random(seed)
    return {
        (district, region, sex): rng.choice([0, 0, 1, 2, 3, 4, 6, 9, 14, 30])
        for district, region in REGION_OF.items()
        for sex in "mf"
    }


def rows_of(counts: Counts) -> list[dict[str, str]]:
    return people(counts, ["district", "region", "sex"])


def seen(home: Path) -> dict[tuple[str | None, str | None], int | None]:
    """Both tables as one: places (a district lies in its region) by sex."""
    return {
        (row.get("district") or row.get("region"), row["sex"]): row["persons"]
        for rows in everything(home).values()
        for row in rows
    }


def small_recovered(home: Path, counts: Counts) -> set[tuple[str | None, str | None]]:
    cells = seen(home)
    full = {(region, sex): None for region in ("R1", "R2", "R3") for sex in ("m", "f", None)} | {
        (None, sex): None for sex in ("m", "f", None)
    }
    truth = {
        key: sum(n for (d, r, s), n in counts.items() if key[0] in (None, d, r) and key[1] in (None, s))
        for key in (*full, *cells)
    }
    return {key for key in recovered({**full, **cells}, REGION_OF) if 0 < truth[key] < 5}


@pytest.mark.requirement("Y21")
def test_a_region_does_not_give_back_the_district_that_is_hidden(tmp_path: Path) -> None:
    counts = {("D1", "R1", "m"): 30, ("D2", "R1", "m"): 3, ("D1", "R1", "f"): 12, ("D2", "R1", "f"): 9}
    counts |= {("D4", "R2", "m"): 40, ("D5", "R2", "m"): 21, ("D4", "R2", "f"): 11, ("D5", "R2", "f"): 17}
    home = project(tmp_path, rows_of(counts), *INNER)
    run_stats(home, now=NOW)
    assert seen(home)["D2", "m"] is None
    assert small_recovered(home, counts) == set()
    assert check_stats(home).holds
    assert attack_stats(home).holds


@pytest.mark.slow
@pytest.mark.requirement("Y21")
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("tables", [(BY_DISTRICT, BY_REGION), INNER], ids=["margins", "inner"])
def test_no_small_cell_follows_from_two_columns_together(tmp_path: Path, seed: int, tables: tuple[str, str]) -> None:
    counts = {key: n for key, n in counts_of(seed).items() if n}
    home = project(tmp_path, rows_of(counts), *tables)
    run_stats(home, now=NOW)
    assert small_recovered(home, counts) == set()


@pytest.mark.requirement("Y21")
def test_a_mistyped_region_does_not_hide_the_dependency(tmp_path: Path) -> None:
    counts = {("D1", "R1", "m"): 30, ("D2", "R1", "m"): 3, ("D4", "R2", "m"): 40, ("D5", "R2", "m"): 21}
    wrong = {("D5", "R1", "f"): 1}
    home = project(tmp_path, rows_of(counts | wrong), *INNER)
    run_stats(home, now=NOW)
    cells = seen(home)
    assert cells["D2", "m"] is None
    assert cells["D1", "m"] is None or cells["R1", "m"] is None


@pytest.mark.requirement("Y21")
@pytest.mark.parametrize("margins", ["all", "none"])
def test_check_and_attack_see_that_a_region_gives_a_district_back(tmp_path: Path, margins: str) -> None:
    counts = {("D1", "R1", "m"): 30, ("D2", "R1", "m"): 3, ("D1", "R1", "f"): 12, ("D2", "R1", "f"): 9}
    counts |= {("D4", "R2", "m"): 40, ("D5", "R2", "m"): 4, ("D4", "R2", "f"): 11, ("D5", "R2", "f"): 17}
    tables = [table(name, dimension, SEX, PERSONS, margins=f'"{margins}"') for name, dimension in
              (("by_district", DISTRICT), ("by_region", REGION))]  # fmt: skip
    home = project(tmp_path, rows_of(counts), *tables)
    run_stats(home, now=NOW)
    show_all_but(home, counts, {("D2", "m"), ("D5", "m")})
    assert small_recovered(home, counts) == {("D2", "m"), ("D5", "m")}
    failing = {outcome.rule for outcome in check_stats(home).rules.failing}
    assert "recoverable" in failing
    assert any(finding.cell.get("district") == "D2" for finding in attack_stats(home).findings)


@pytest.mark.requirement("Y21", "Y22")
def test_a_region_published_later_does_not_give_back_a_district(tmp_path: Path) -> None:
    counts = {("D1", "R1", "m"): 30, ("D2", "R1", "m"): 3, ("D4", "R2", "m"): 40, ("D5", "R2", "m"): 21}
    head_tables = INNER
    home = project(tmp_path, rows_of(counts), head_tables[0], head=_head(drop="region"))
    run_stats(home, now=NOW)
    project(tmp_path, rows_of(counts), *head_tables)
    write_personal(tmp_path, rows_of(counts))
    run_stats(home, now=LATER)
    assert small_recovered(home, counts) == set()


def _head(drop: str) -> str:
    return HEAD.replace('drop = ["full_name"]', f'drop = ["full_name", "{drop}"]')


def show_all_but(home: Path, counts: Counts, hidden: set[tuple[str, str]]) -> None:
    """STATS and its history as a program without the defence would have written them."""
    with contextlib.closing(duckdb.connect(home / "stats.duckdb")) as database:
        for name, column, at in (("by_district", "district", 0), ("by_region", "region", 1)):
            for place in {key[at] for key in counts} | {None}:
                for sex in ("m", "f", None):
                    if (place, sex) in hidden:
                        continue
                    value = sum(n for key, n in counts.items() if place in (None, key[at]) and sex in (None, key[2]))
                    where = f"{column} IS NOT DISTINCT FROM ? AND sex IS NOT DISTINCT FROM ?"
                    sql = f"UPDATE {name}__internal SET persons = {value}, estado = 'publicado' WHERE {where}"
                    database.execute(sql, [place, sex])
        lines = database.execute("SELECT table_name, cell, identity FROM celosia_history").fetchall()
        for name, cell, _ in lines:
            place, sex = json.loads(cell)
            at = 0 if name.startswith("by_district") else 1
            if (place, sex) in hidden:
                continue
            value = sum(n for key, n in counts.items() if place in (None, key[at]) and sex in (None, key[2]))
            database.execute("UPDATE celosia_history SET value = ? WHERE table_name = ? AND cell = ?",
                             [value, name, cell])  # fmt: skip
