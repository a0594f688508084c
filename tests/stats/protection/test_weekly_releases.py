"""Two weekly releases of a real register: no cell that changed by fewer than k deaths shows what it changed to."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from celosia.stats.attack import attack_stats
from celosia.stats.run import run_stats
from tests.stats.small_stats import LATER, NOW, PERSONS, category, people, project, read, table, write_personal

COLUMNS = ("comuna", "genero", "edad")
K = 5
Cells = Mapping[tuple[str, ...], int]


def cells_of(path: Path) -> Cells:
    """Deaths by comuna, sex and age band, counted in plain Python."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return Counter((row["comuna_código"], row["género"], row["edad"]) for row in rows)


def shown(home: Path) -> Cells:
    """What STATS shows."""
    rows = read(home, "t__internal")
    return {tuple(row[name] for name in COLUMNS): row["persons"] for row in rows if row["persons"] is not None}


def changed_little(first: Cells, second: Cells) -> list[int]:
    """By how much the cells changed that both weeks may show and whose change is below k."""
    differences = [second[cell] - count for cell, count in first.items() if count >= K and second.get(cell, 0) >= K]
    return [difference for difference in differences if 0 < abs(difference) < K]


@pytest.mark.slow
@pytest.mark.requirement("Y22")
def test_no_cell_shows_a_small_change_between_two_weeks(shared: Path, tmp_path: Path) -> None:
    weeks = [cells_of(shared / "data" / f"cl_deis_covid_deaths_2020-{day}.csv") for day in ("07-30", "08-06")]
    differences = changed_little(*weeks)
    assert (len(differences), sum(abs(one) == 1 for one in differences)) == (308, 221)

    # Ten comunas of Santiago: looking through all that the whole country's table would tell takes most of an hour.
    first, second = ({cell: n for cell, n in week.items() if cell[0].startswith("1312")} for week in weeks)
    labels = [sorted({cell[at] for cell in (*first, *second)}) for at in range(len(COLUMNS))]
    dimensions = [category(name, values) for name, values in zip(COLUMNS, labels, strict=True)]
    home = project(tmp_path, people(first, COLUMNS), table("t", *dimensions, PERSONS, margins='"none"'))
    run_stats(home, now=NOW)
    before = shown(home)
    assert before == {cell: count for cell, count in first.items() if count >= K}

    write_personal(tmp_path, people(second, COLUMNS))
    run_stats(home, now=LATER)
    after = shown(home)
    changed = {cell for cell in before if second[cell] >= K and 0 < abs(second[cell] - first[cell]) < K}
    assert len(changed) == len(changed_little(first, second)) == 62
    assert all(after.get(cell, first[cell]) == first[cell] for cell in changed)  # withheld, or as it was
    assert all(value in (first[cell], second[cell]) for cell, value in after.items())
    assert attack_stats(home).holds
