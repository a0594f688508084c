"""Cell suppression in both readings of a masked cell, judged by hand and against the true minimum of tiny tables."""

from __future__ import annotations

import csv
import itertools
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.errors import NothingChosen
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria import DistinctL, KAnonymity
from celosia.solver.cell_table import sets_by_cost
from celosia.solver.cells import CellSuppression, suppress_cells
from celosia.solver.errors import CriterionNotForWildcard
from celosia.solver.published import ClassCounter
from celosia.tuples.table import Persons, Tuples
from tests.solver import arx_adult
from tests.solver.plain_rows import PlainTable, Row, criteria, tables, texts

EMPTY = {"", "*"}
KEYS = ("urbrur", "roof", "walls", "water", "sex")


def published_rows(suppression: CellSuppression, table: PlainTable) -> list[Row]:
    """What is published for each row."""
    published = texts(suppression.codes, suppression.vocabularies)
    return [published[at] for at in table.tuple_of_row(table.counter().quasi)]


def importance_for(data: st.DataObject, width: int) -> list[float]:
    return [data.draw(st.integers(1, 8)) / 2 for _ in range(width)]


def compatible(first: Row, second: Row) -> bool:
    return all(a == b or a in EMPTY or b in EMPTY for a, b in zip(first, second, strict=True))


def least_compatible(rows: list[Row]) -> int:
    """The smallest number of rows compatible with a row, pair by pair."""
    return min(sum(compatible(row, other) for other in rows) for row in rows)


# --- laws ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("X6")
@given(tables(), criteria(), st.data())
def test_in_its_own_reading_every_class_passes_when_counted_by_hand(table: PlainTable, asked, data) -> None:
    suppression = suppress_cells(table.counter(), asked, importance_for(data, table.width))
    if suppression is None:
        everything_masked = [("*",) * table.width] * len(table.rows)
        assert table.failing_rows(everything_masked, asked) > 0
        return
    published = published_rows(suppression, table)
    assert table.failing_rows(published, asked) == suppression.failing_rows == 0
    assert suppression.classes == len(set(published))
    assert suppression.fully_masked_rows == sum(set(text) == {"*"} for text in published)


@given(tables(), st.integers(1, 6), st.data())
def test_in_the_wildcard_reading_every_row_has_k_compatible_rows(table: PlainTable, k: int, data) -> None:
    asked = (KAnonymity(k=k, unit="rows"),)
    suppression = suppress_cells(table.counter(), asked, importance_for(data, table.width), "wildcard")
    assert (suppression is None) == (len(table.rows) < k)
    if suppression is not None:
        published = published_rows(suppression, table)
        assert least_compatible(published) >= k
        assert suppression.failing_rows == table.failing_rows(published, asked)


@given(tables(), st.sampled_from(["own", "wildcard"]), st.data())
def test_cells_are_kept_or_starred_and_each_star_is_counted_once(table: PlainTable, reading, data) -> None:
    importance = importance_for(data, table.width)
    suppression = suppress_cells(table.counter(), (KAnonymity(k=2, unit="rows"),), importance, reading)
    if suppression is None:
        return
    pairs = list(zip(table.rows, published_rows(suppression, table), strict=True))
    assert all(after in (before, "*") for row, text in pairs for before, after in zip(row, text, strict=True))
    new = [sum(row[v] != text[v] for row, text in pairs) for v in range(table.width)]
    assert suppression.by_variable == tuple(new)
    assert suppression.cells == sum(new)
    assert suppression.weighted == pytest.approx(sum(n * w for n, w in zip(new, importance, strict=True)))
    assert suppression.rows_touched == sum(row != text for row, text in pairs)


@given(tables(), st.sampled_from(["own", "wildcard"]), st.data())
def test_the_order_of_the_rows_changes_nothing(table: PlainTable, reading, data) -> None:
    importance = importance_for(data, table.width)
    turned = PlainTable(table.rows[::-1], table.values[::-1], table.persons[::-1], table.keyed)
    asked = (KAnonymity(k=3, unit="rows"),)
    first, second = (suppress_cells(rows.counter(), asked, importance, reading) for rows in (table, turned))
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert first.masked.tolist() == second.masked.tolist()


@given(tables(most_rows=14), criteria(), st.data())
def test_no_single_variable_of_a_class_could_be_shown_again(table: PlainTable, asked, data) -> None:
    """A class that is constant in a masked variable would be masked for nothing, unless showing it breaks another."""
    suppression = suppress_cells(table.counter(), asked, importance_for(data, table.width))
    if suppression is None:
        return
    published = published_rows(suppression, table)
    for text in set(published):
        inside = [at for at, other in enumerate(published) if other == text]
        for v in range(table.width):
            values = {table.rows[at][v] for at in inside}
            if text[v] == "*" and values != {"*"} and len(values) == 1:
                shown = list(published)
                for at in inside:
                    shown[at] = (*text[:v], table.rows[at][v], *text[v + 1 :])
                assert table.failing_rows(shown, asked) > 0


# --- small cases --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("importance", "shown"), [([9, 1], 0), ([1, 9], 1)])
@pytest.mark.parametrize("reading", ["own", "wildcard"])
def test_the_less_important_variable_is_masked(importance: list[float], shown: int, reading) -> None:
    rows = [("M", "1"), ("M", "1"), ("H", "1"), ("M", "2"), ("H", "2")]
    table = PlainTable(rows, ["x"] * 5, list(range(5)))
    suppression = suppress_cells(table.counter(), (KAnonymity(k=2),), importance, reading)
    assert suppression is not None
    assert suppression.by_variable[shown] == 0
    assert suppression.by_variable[1 - shown] > 0


def test_nothing_is_masked_where_nothing_fails() -> None:
    table = PlainTable([("a", "1")] * 3 + [("b", "2")] * 4, ["x"] * 7, list(range(7)))
    for reading in ("own", "wildcard"):
        suppression = suppress_cells(table.counter(), (KAnonymity(k=3),), [1, 1], reading)
        assert suppression is not None
        assert (suppression.cells, suppression.rows_touched, suppression.classes, suppression.failing_rows) == (
            0,
            0,
            2,
            0,
        )


def test_persons_are_counted_when_they_are_known() -> None:
    rows = [("a",)] * 3 + [("b",)] * 3
    table = PlainTable(rows, ["x"] * 6, [0, 0, 0, 1, 2, 3], keyed=True)
    in_rows = suppress_cells(table.counter(), (KAnonymity(k=3, unit="rows"),), [1])
    in_persons = suppress_cells(table.counter(), (KAnonymity(k=3),), [1])
    assert in_rows is not None
    assert in_rows.cells == 0
    assert in_persons is not None
    assert in_persons.cells == 6


def test_the_wildcard_reading_says_how_many_rows_stay_below_k() -> None:
    rows = [("a", "1")] * 3 + [("a", "2")]
    table = PlainTable(rows, ["x"] * 4, list(range(4)))
    wild = suppress_cells(table.counter(), (KAnonymity(k=3),), [2, 1], "wildcard")
    own = suppress_cells(table.counter(), (KAnonymity(k=3),), [2, 1])
    assert wild is not None
    assert own is not None
    assert (wild.by_variable, wild.failing_rows) == ((0, 1), 1)
    assert (own.by_variable, own.failing_rows) == ((0, 4), 0)


def test_no_row_is_masked_whole_only_to_serve_the_others() -> None:
    rows = [(a, b, "x") for a in "123456" for b in "12"]
    table = PlainTable(rows, ["x"] * 12, list(range(12)))
    suppression = suppress_cells(table.counter(), (KAnonymity(k=2),), [1, 1, 1], "wildcard")
    assert suppression is not None
    assert suppression.fully_masked_rows == 0
    assert suppression.masked.sum(axis=1).max() == 1


@pytest.mark.parametrize("reading", ["own", "wildcard"])
@pytest.mark.parametrize("keyed", [False, True])
def test_an_empty_table_needs_no_mask(reading, keyed: bool) -> None:
    nothing = np.zeros(0, np.int64)
    persons = Persons(0, nothing, nothing, nothing) if keyed else None
    quasi = Tuples(("q0", "q1"), ((), ()), np.zeros((0, 2), np.int32), nothing, persons)
    suppression = suppress_cells(ClassCounter(quasi, {}), (KAnonymity(k=5, unit="rows"),), [1, 1], reading)
    assert suppression is not None
    assert (suppression.cells, suppression.masked.shape) == (0, (0, 2))


@pytest.mark.parametrize("reading", ["own", "wildcard"])
def test_fewer_rows_than_k_have_no_answer(reading) -> None:
    table = PlainTable([("a",), ("b",)], ["x", "y"], [0, 1])
    assert suppress_cells(table.counter(), (KAnonymity(k=3),), [1], reading) is None


def test_the_wildcard_reading_refuses_what_it_cannot_count() -> None:
    table = PlainTable([("a",), ("b",)], ["x", "y"], [0, 1], keyed=True)
    for criterion, name in ((DistinctL(variable="s", l=2), "distinct_l"), (KAnonymity(k=2), "k")):
        with pytest.raises(CriterionNotForWildcard, match=f"«{name}».*«own»"):
            suppress_cells(table.counter(), (criterion,), [1], "wildcard")


@pytest.mark.parametrize("importance", [[1], [1, 0], [1, -2], [1, float("nan")], [1, 1e9]])
def test_importance_is_one_sensible_number_for_each_variable(importance: list[float]) -> None:
    table = PlainTable([("a", "b")], ["x"], [0])
    with pytest.raises(ValueOutOfRange):
        suppress_cells(table.counter(), (KAnonymity(k=1),), importance)


def test_unknown_readings_and_no_variables_are_refused() -> None:
    table = PlainTable([("a",)], ["x"], [0])
    with pytest.raises(ValueOutOfRange, match="own, wildcard"):
        suppress_cells(table.counter(), (), [1], "both")  # type: ignore[arg-type]
    none = Tuples((), (), np.zeros((1, 0), np.int32), np.ones(1, np.int64))
    with pytest.raises(NothingChosen):
        suppress_cells(ClassCounter(none, {}), (), [])


@pytest.mark.parametrize("reading", ["own", "wildcard"])
def test_twenty_variables_of_a_hundred_values_are_masked_soundly(reading) -> None:
    rng = np.random.default_rng(20)
    seen = rng.integers(0, 100, (6, 20))
    picked = np.repeat(np.arange(6), [3, 3, 3, 1, 1, 1])
    rows = [tuple(f"{value:02d}" for value in seen[at]) for at in picked]
    rows[-1] = (*rows[0][:18], "99", "98")
    rows[-2] = ("", *rows[-2][1:19], "*")
    table = PlainTable(rows, ["x"] * 12, list(range(12)))
    suppression = suppress_cells(table.counter(), (KAnonymity(k=3, unit="rows"),), [1.0] * 20, reading)
    assert suppression is not None
    published = published_rows(suppression, table)
    assert suppression.failing_rows == table.failing_rows(published, (KAnonymity(k=3, unit="rows"),))
    assert least_compatible(published) >= 3
    assert reading == "wildcard" or suppression.failing_rows == 0


@pytest.mark.parametrize("width", [1, 3, 18])
def test_sets_of_variables_come_cheapest_first_and_the_full_set_last(width: int) -> None:
    weights = np.random.default_rng(width).integers(1, 50, width)
    sets = sets_by_cost(weights)
    costs = (sets @ weights).tolist()
    assert costs == sorted(costs)
    assert sets[0].sum() == 0
    assert sets[-1].sum() == width
    assert len(np.unique(sets, axis=0)) == len(sets)
    every = np.sort(np.array(list(_all_bits(width))) @ weights)
    assert costs[:60_000] == every[:60_000].tolist()


def _all_bits(width: int) -> Iterator[tuple[int, ...]]:
    return itertools.product((0, 1), repeat=width)


# --- how far from the least number of cells -----------------------------------------------------------


def tiny(seed: int) -> tuple[Tuples, int, list[float]]:
    """At most five tuples of three variables, a k and an importance."""
    rng = np.random.default_rng(seed)
    width, count = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    codes = np.unique(rng.integers(0, 3, (count, width)), axis=0).astype(np.int32)
    rows, k = rng.integers(1, 4, len(codes)), int(rng.integers(2, 5))
    names = tuple(f"q{v}" for v in range(width))
    return Tuples(names, (("a", "b", "c"),) * width, codes, rows), k, [float(x) for x in rng.integers(1, 4, width)]


def least_cost(quasi: Tuples, k: int, importance: list[float], reading: str) -> float | None:
    """The true minimum: every mask of the table, cheapest first, until one holds."""
    plain, rows = texts(quasi.codes, quasi.vocabularies), quasi.rows.tolist()
    prices = {
        mask: sum(w for w, bit in zip(importance, mask, strict=True) if bit) for mask in _all_bits(len(importance))
    }
    masks = itertools.product(prices, repeat=len(rows))
    priced = [(sum(n * prices[mask] for n, mask in zip(rows, choice, strict=True)), choice) for choice in masks]
    for cost, choice in sorted(priced):
        published = [
            tuple("*" if bit else cell for bit, cell in zip(mask, text, strict=True))
            for mask, text in zip(choice, plain, strict=True)
        ]
        if _holds(published, rows, k, reading):
            return cost
    return None


def _holds(published: list[Row], rows: list[int], k: int, reading: str) -> bool:
    if reading == "own":
        sizes: Counter[Row] = Counter()
        for text, count in zip(published, rows, strict=True):
            sizes[text] += count
        return min(sizes.values()) >= k
    each = (sum(n for other, n in zip(published, rows, strict=True) if compatible(text, other)) for text in published)
    return min(each) >= k


def distances(reading, seeds: range) -> list[float]:
    """Found ÷ least weighted cells, where there is an answer."""
    ratios = []
    for seed in seeds:
        quasi, k, importance = tiny(seed)
        suppression = suppress_cells(ClassCounter(quasi, {}), (KAnonymity(k=k),), importance, reading)
        least = least_cost(quasi, k, importance, reading)
        assert (suppression is None) == (least is None)
        if suppression is not None and least is not None:
            ratios.append(suppression.weighted / least if least else 1 + suppression.weighted)
    return ratios


def test_on_tiny_tables_the_own_reading_is_nearly_always_the_least() -> None:
    ratios = distances("own", range(100))
    assert len(ratios) > 90
    assert min(ratios) >= 1
    assert max(ratios) < 1.35
    assert sum(ratio == 1 for ratio in ratios) >= 0.95 * len(ratios)


def test_on_tiny_tables_the_wildcard_reading_is_mostly_the_least() -> None:
    """The true minimum may mask a row whole only to serve the others, which is not done here."""
    ratios = distances("wildcard", range(100))
    assert min(ratios) >= 1
    assert max(ratios) <= 3
    assert sum(ratio == 1 for ratio in ratios) >= 0.8 * len(ratios)


# --- reference figures --------------------------------------------------------------------------------


@cache
def survey(folder: Path) -> PlainTable:
    """The test survey of the reference, five key variables."""
    with (folder / "reference" / "sdcmicro" / "data" / "testdata.csv").open(encoding="utf-8", newline="") as file:
        rows = [tuple(row[name] for name in KEYS) for row in csv.DictReader(file)]
    return PlainTable(rows, ["x"] * len(rows), list(range(len(rows))))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("case", "wildcard_cells", "own_cells"), [("ls_testdata_K5_k3", 20, 58), ("ls_testdata_K5_k3_imp", 17, 50)]
)
def test_fewer_cells_than_the_reference_for_the_same_keys(
    case: str, wildcard_cells: int, own_cells: int, shared: Path
) -> None:
    """Figures may fall when the method improves; the reference's total is the limit that binds."""
    known = json.loads((shared / "reference" / "sdcmicro" / "cases.json").read_text("utf-8"))["cases"]
    reference = next(entry["output"] for entry in known if entry["id"] == case)
    importance = [6 - rank for rank in reference["importance"]]  # there 1 is kept first
    table, asked = survey(shared), (KAnonymity(k=3),)
    wild = suppress_cells(table.counter(), asked, importance, "wildcard")
    own = suppress_cells(table.counter(), asked, importance)
    assert wild is not None
    assert own is not None
    counts = Counter(published_rows(wild, table))
    assert min(sum(n for other, n in counts.items() if compatible(text, other)) for text in counts) >= 3
    assert wild.cells <= min(reference["total"], wildcard_cells)
    assert wild.failing_rows == table.failing_rows(published_rows(wild, table), asked) > 0
    assert own.cells <= own_cells
    assert table.failing_rows(published_rows(own, table), asked) == 0


@pytest.mark.shared
def test_adult_with_nine_variables_is_masked_soundly(shared: Path) -> None:
    folder = shared / "reference" / "arx" / "adult"
    quasi = arx_adult.problem_of(folder, arx_adult.cases(folder)[0]).quasi
    suppression = suppress_cells(ClassCounter(quasi, {}), (KAnonymity(k=5),), [1.0] * 9)
    assert suppression is not None
    sizes: Counter[Row] = Counter()
    for text, count in zip(texts(suppression.codes, suppression.vocabularies), quasi.rows.tolist(), strict=True):
        sizes[text] += count
    assert min(sizes.values()) >= 5
    assert suppression.cells <= 37_247
