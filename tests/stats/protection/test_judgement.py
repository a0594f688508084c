"""What `run` wrote `check` does not refuse: one judgement, over tables of events in which a person has several rows."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from celosia.dossier.stats import failing_cell_lines
from celosia.stats.check import check_stats
from celosia.stats.run import run_stats
from tests.stats.small_stats import HEAD, NOW, PERSONS, ROWS, category, people, project, table

PAID = '[[tables.measures]]\nname = "paid"\nkind = "sum"\ncolumn = "amount"\n'
WITHOUT_AMOUNT = HEAD.replace('drop = ["full_name"]', 'drop = ["full_name", "amount"]')


def event_rows(rng: random.Random, labels: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """People with one to four events each: their district stays, half of the time their screen changes."""
    rows = []
    for person in range(rng.choice([40, 80, 150])):
        usual = {name: rng.choice(words) for name, words in labels.items()}
        for _ in range(rng.randint(1, 4)):
            screen = usual["screen"] if rng.random() < 0.5 else rng.choice(labels["screen"])
            identity = {"user_id": f"u{person:04d}", "full_name": f"Persona {person}"}
            rows.append({**identity, **usual, "screen": screen, "amount": rng.randint(10, 99)})
    return rows


def event_project(folder: Path, seed: int, *measures: str, **settings: str) -> Path:
    rng = random.Random(seed)
    labels = {name: [f"{name}{number}" for number in range(rng.randint(2, 5))] for name in ("district", "screen")}
    rows = event_rows(rng, labels)
    dimensions = [category(name, words) for name, words in labels.items()]
    head = HEAD if PAID in measures else WITHOUT_AMOUNT
    return project(folder, rows, table("t", *dimensions, PERSONS, *measures, **settings), head=head)


@pytest.mark.requirement("Y21")
@pytest.mark.parametrize("seed", [22, 25])
def test_rows_of_a_complement_do_not_follow_where_check_would_see_it(tmp_path: Path, seed: int) -> None:
    home = event_project(tmp_path, seed, ROWS)
    run_stats(home, now=NOW)
    assert check_stats(home).tables[0].cells == ()


@pytest.mark.slow
@pytest.mark.requirement("Y21")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("settings", [{}, {"width": "3"}], ids=["two values", "four values"])
def test_check_finds_nothing_in_tables_of_events_and_amounts(
    tmp_path: Path, seed: int, settings: dict[str, str]
) -> None:
    home = event_project(tmp_path, seed, ROWS, PAID, **settings)
    run_stats(home, now=NOW)
    assert check_stats(home).tables[0].cells == ()


@pytest.mark.requirement("Y21")
def test_a_cell_that_fails_is_named_with_the_way_out(tmp_path: Path) -> None:
    counts = {("A", "x"): 12, ("A", "y"): 9, ("B", "x"): 3, ("B", "y"): 7, ("C", "x"): 8, ("C", "y"): 6}
    sector, sex = category("sector", ["A", "B", "C"]), category("sex", ["x", "y"])
    together = table("t", sector, sex, PERSONS)
    apart = table("n", sector, sex, PERSONS, margins='"none"', linked="false")
    home = project(tmp_path, people(counts, ["sector", "sex"]), together, apart)
    run_stats(home, now=NOW)
    checked = check_stats(home)
    cells = [(cell.kind, cell.measure, dict(cell.cell)) for found in checked.tables for cell in found.cells]
    assert ("recovered", "persons", {"sector": "B", "sex": "x"}) in cells
    lines = failing_cell_lines(checked.tables, 20)
    assert any("sector = B, sex = x" in line for line in lines)
    assert "linked = false" in lines[-1]
    assert not any(" 3" in line for line in lines)
