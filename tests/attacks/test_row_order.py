"""A file sorted by a value that it blurs is seen; one sorted by what it shows, or not at all, is not."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.attacks.attack_input import View
from celosia.attacks.row_order import ordered_rows

CHANCE = np.random.Generator(np.random.Philox(11))
AGES = np.sort(CHANCE.integers(0, 80, 400))
SEX = CHANCE.choice(["M", "F"], 400).tolist()
PLACE = CHANCE.choice(["05302", "05303", "13101", "08101"], 400).tolist()


def view(**columns: list[str]) -> View:
    labels, codes = [], []
    for cells in columns.values():
        found, code = np.unique(np.array(cells, dtype=object), return_inverse=True)
        labels.append(tuple(found.tolist()))
        codes.append(code)
    return View(tuple(columns), tuple(labels), np.stack(codes, axis=1).astype(np.int64))


def bands(ages: np.ndarray) -> list[str]:
    return [f"{age // 10 * 10} a {age // 10 * 10 + 9}" for age in ages.tolist()]


def quarters(months: np.ndarray) -> list[str]:
    return [f"2024-Q{(month + 2) // 3}" for month in months.tolist()]


@pytest.mark.parametrize("turn", [1, -1])
def test_a_file_in_the_order_of_a_blurred_age_is_seen(turn: int) -> None:
    (found,) = ordered_rows(view(sexo=SEX, edad=bands(AGES[::turn]), comuna=PLACE))
    assert (found.kind, found.columns, found.persons, found.severity) == ("ordered_rows", ("edad",), 400, "low")


def test_a_file_in_the_order_of_a_dropped_date_is_seen_by_its_quarter() -> None:
    months = np.sort(CHANCE.integers(1, 13, 400))
    assert [one.columns for one in ordered_rows(view(trimestre=quarters(months), sexo=SEX, comuna=PLACE))] == [
        ("trimestre",)
    ]


def test_with_the_original_only_the_real_order_counts() -> None:
    published = view(edad=bands(AGES), comuna=PLACE)
    (found,) = ordered_rows(published, view(edad=[str(age) for age in AGES], comuna=PLACE))
    assert found.severity == "medium"
    mixed = [str(age // 10 * 10 + inside) for age, inside in zip(AGES, CHANCE.integers(0, 10, 400), strict=True)]
    assert ordered_rows(published, view(edad=mixed, comuna=PLACE)) == ()


def test_rows_in_chance_order_tell_nothing() -> None:
    assert ordered_rows(view(sexo=SEX, edad=bands(CHANCE.permutation(AGES)), comuna=PLACE)) == ()


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0), (2, 1, 0)])
def test_a_file_sorted_by_what_it_shows_tells_nothing_more(order: tuple[int, ...]) -> None:
    rows = list(zip(bands(AGES), SEX, PLACE, strict=True))
    rows.sort(key=lambda row: [row[place] for place in order])
    edad, sexo, comuna = (list(column) for column in zip(*rows, strict=True))
    assert ordered_rows(view(edad=edad, sexo=sexo, comuna=comuna)) == ()


@pytest.mark.parametrize("rows", [0, 1, 2, 5])
def test_a_few_rows_have_no_order(rows: int) -> None:
    assert ordered_rows(view(edad=bands(AGES)[:rows], sexo=SEX[:rows])) == ()
