"""An outsider with every release learns nothing from what a run wrote, and something from what it should not have."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import duckdb
import pytest

from celosia.stats.attack import attack_stats
from celosia.stats.check import check_stats
from celosia.stats.run import run_stats
from tests.stats.small_stats import LATER, NOW, PERSONS, category, people, project, shown, table, write_personal

SECTOR = category("sector", ["A", "B", "C", "D"])


def sectors(**counts: int) -> list[dict[str, str]]:
    return people({(name,): count for name, count in counts.items()}, ["sector"])


@pytest.mark.requirement("Y22")
def test_releases_made_by_runs_tell_an_outsider_nothing(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=40, B=3, C=25, D=31), table("t", SECTOR, PERSONS))
    run_stats(home, now=NOW)
    write_personal(tmp_path, sectors(A=41, B=3, C=32, D=31))
    run_stats(home, now=LATER)
    found = attack_stats(home)
    assert len(found.releases) == 2
    assert found.compared > 0
    assert found.differences == 0
    assert found.findings == ()
    assert shown(home, "t__internal", "sector")["A"] is None


@pytest.mark.requirement("Y22")
def test_a_published_difference_of_one_person_is_found(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=40, C=25), table("t", SECTOR, PERSONS, margins='"none"'))
    run_stats(home, now=NOW)
    with contextlib.closing(duckdb.connect(home / "stats.duckdb")) as database:
        database.execute("UPDATE celosia_history SET until = 1")
        database.execute(
            "INSERT INTO celosia_history SELECT table_name, measure, cell, value + 1, 2, NULL, identity"
            " FROM celosia_history"
        )
        database.execute("INSERT INTO celosia_runs SELECT 2, started, facts FROM celosia_runs")
    found = attack_stats(home)
    assert (found.compared, found.differences) == (2, 2)
    told = {(one.table, one.kind, one.cell.get("sector")) for one in found.findings}
    cells = {("t__internal", "difference", "A"), ("t__internal", "difference", "C")}
    assert told == cells | {("t__internal", "derived", None)}  # the total, which is not shown, grew by two
    assert not found.holds
    assert "41" not in str(found.as_dict()["findings"])


@pytest.mark.requirement("Y21", "Y22")
def test_tables_declared_apart_are_read_together_by_check_and_attack(tmp_path: Path) -> None:
    counts = {("A", "x"): 12, ("A", "y"): 9, ("B", "x"): 3, ("B", "y"): 7, ("C", "x"): 8, ("C", "y"): 6}
    sex = category("sex", ["x", "y"])
    together = table("t", SECTOR, sex, PERSONS)
    apart = table("n", SECTOR, sex, PERSONS, margins='"none"', linked="false")
    home = project(tmp_path, people(counts, ["sector", "sex"]), together, apart)
    run_stats(home, now=NOW)
    assert not check_stats(home).holds
    found = attack_stats(home)
    assert ("recovered", {"sector": "B", "sex": "x"}) in [(one.kind, dict(one.cell)) for one in found.findings]


@pytest.mark.requirement("Y22", "Y27")
def test_what_stats_tells_of_a_run_holds_no_count_of_personal(tmp_path: Path) -> None:
    home = project(tmp_path, sectors(A=40, C=20), table("t", SECTOR, PERSONS))
    run_stats(home, now=NOW)
    write_personal(tmp_path, sectors(A=40, C=21))
    run_stats(home, now=LATER)
    with contextlib.closing(duckdb.connect(home / "stats.duckdb", read_only=True)) as database:
        told = [json.loads(facts) for (facts,) in database.execute("SELECT facts FROM celosia_runs").fetchall()]
    assert all(facts["cells_published"] >= 0 and "61" not in json.dumps(facts) for facts in told)
    assert not any({"rows_read", "suppressed_primary", "suppressed_secondary"} & facts.keys() for facts in told)
