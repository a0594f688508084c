"""Two releases of events and amounts: what one person added late in a closed month does not follow from both.

The outsider knows only what two runs published. For every sum they take what both show of it: a total less its shown
parts is the sum of the hidden ones, then and now.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from celosia.stats.attack import attack_stats
from celosia.stats.run import run_stats
from tests.stats.small_stats import LATER, NOW, PERSONS, ROWS, category, project, read, table, write_personal

MONTHS = ["m1", "m2", "m3", "m4", "m5"]
PAID = '[[tables.measures]]\nname = "paid"\nkind = "sum"\ncolumn = "amount"\n'
MONTH = category("month", MONTHS)
Row = Mapping[str, Any]
Shown = Mapping[str | None, Any]


def event(person: int, month: str, amount: int) -> Row:
    return {"user_id": f"u{person:04d}", "full_name": f"Persona {person}", "month": month, "amount": amount}


def events(rng: random.Random, months: list[str], first: int = 0) -> list[Row]:
    """Months of very different size, each person with one to four events in a month."""
    rows = []
    for month in months:
        for person in range(first, first + rng.choice([3, 4, 6, 9, 15, 25])):
            rows += [event(person, month, rng.randint(10, 99)) for _ in range(rng.randint(1, 4))]
    return rows


def releases(folder: Path, seed: int, late: list[Row], *measures: str) -> tuple[Path, list[list[Row]]]:
    """A project run before and after late events, with a new month in between; and what was shown each time."""
    rng = random.Random(seed)
    first = events(rng, MONTHS[:4])
    second = first + late + [event(person, "m5", 50) for person in range(300, 340)]
    tables = table("t", MONTH, PERSONS, *measures)
    without = "" if PAID in measures else '"amount", '
    from tests.stats.small_stats import HEAD

    head = HEAD.replace('drop = ["full_name"]', f'drop = [{without}"full_name"]')
    home = project(folder, first, tables, head=head)
    run_stats(home, now=NOW)
    before = read(home, "t__internal")
    write_personal(folder, second)
    run_stats(home, now=LATER)
    return home, [before, read(home, "t__internal")]


def learned(shown: list[list[Row]], measure: str) -> set[float]:
    """Changes of cells, or of the hidden rest of the total, that follow from two releases."""
    before, after = ({row["month"]: row[measure] for row in rows} for rows in shown)
    changes = {after[m] - before[m] for m in before if before[m] is not None and after.get(m) is not None}
    for unknown in _groups(before, after):
        then, now = _sum(before, unknown), _sum(after, unknown)
        if then is not None and now is not None:
            changes.add(now - then)
    return {round(change, 6) for change in changes if change}


def _groups(before: Shown, after: Shown) -> list[set[str | None]]:
    hidden = [{m for m, value in shown.items() if m is not None and value is None} for shown in (before, after)]
    return [hidden[0], hidden[1], hidden[0] | hidden[1]]


def _sum(shown: Shown, unknown: set[str | None]) -> Any:
    own = [shown.get(month, 0) for month in unknown]
    if None not in own:
        return sum(own)
    rest = [value for month, value in shown.items() if month is not None and month not in unknown]
    return None if shown[None] is None or None in rest else shown[None] - sum(rest)


def late_events(n: int, amount: int = 50) -> list[Row]:
    return [event(0, "m1", amount)] * n


@pytest.mark.requirement("Y22")
@pytest.mark.parametrize("seed", range(10))
def test_three_late_events_of_a_closed_month_do_not_follow(tmp_path: Path, seed: int) -> None:
    home, shown = releases(tmp_path, seed, late_events(3), ROWS)
    assert learned(shown, "events") & {3} == set()
    assert attack_stats(home).holds


@pytest.mark.requirement("Y22")
@pytest.mark.parametrize("seed", range(10))
def test_seven_late_events_of_one_person_do_not_follow(tmp_path: Path, seed: int) -> None:
    _, shown = releases(tmp_path, seed, late_events(7), ROWS)
    assert learned(shown, "events") & {7} == set()


@pytest.mark.requirement("Y22")
@pytest.mark.parametrize("seed", range(10))
def test_a_late_payment_does_not_follow(tmp_path: Path, seed: int) -> None:
    _, shown = releases(tmp_path, seed, late_events(1, 137), ROWS, PAID)
    assert learned(shown, "paid") & {137.0} == set()
