"""Rank swapping keeps every value and no value travels farther than its window."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from celosia.kernels.pairs import pair_up
from celosia.model.value_errors import WrongParameter
from celosia.techniques.errors import NotNumeric, TechniqueRefuses
from celosia.techniques.rank_swap import window_sizes
from tests.techniques.trials import cells, keeps_to_its_seed, rows, table, treated

AMOUNTS = st.lists(st.integers(0, 20).map(str) | st.sampled_from(["", "*"]), min_size=2, max_size=30)
PEOPLE = table(wage=[str(i * i) for i in range(20)], age=[str(20 + i) for i in range(20)], zone=["a"] * 12 + ["b"] * 8)


def nearest_ranks(column: list[str], old: str, new: str) -> int:
    """Fewest ranks between two values of a column, ties in the best order."""
    ordered = sorted(float(cell) for cell in column if cell.strip("*"))
    places = [[i for i, value in enumerate(ordered) if value == float(cell)] for cell in (old, new)]
    return min(abs(a - b) for a in places[0] for b in places[1])


@pytest.mark.requirement("A21")
@given(AMOUNTS, st.sampled_from(["0.5", "5", "20", "100"]), st.binary(max_size=4))
def test_values_are_kept_and_travel_no_farther_than_the_window(column: list[str], percent: str, seed: bytes) -> None:
    after = cells(treated(table(v=column), "rank_swap", seed, columns=["v"], percent=percent), "v")
    assert Counter(after) == Counter(column)
    count = sum(1 for cell in column if cell.strip("*"))
    window = max(1, int(Decimal(percent) * count / 100))
    for old, new in zip(column, after, strict=True):
        assert (new == old) if old in ("", "*") else nearest_ranks(column, old, new) <= window


@pytest.mark.requirement("A21")
def test_a_percentage_is_a_percentage_and_not_a_fraction() -> None:
    assert window_sizes(np.array([1000, 10, 0]), Decimal(5)).tolist() == [50, 1, 1]
    assert window_sizes(np.array([1000]), Decimal("0.5")).tolist() == [5]
    column = [str(i) for i in range(1000)]
    after = treated(table(v=column), "rank_swap", columns=["v"], percent=5)
    travelled = [abs(int(a) - int(b)) for a, b in zip(column, cells(after, "v"), strict=True)]
    assert 25 < max(travelled) <= 50
    assert after.change.notes["window"] == {"v": 50}


def test_pairs_exchange_their_values() -> None:
    column = [str(i) for i in range(200)]
    after = cells(treated(table(v=column), "rank_swap", columns=["v"], percent=10), "v")
    given_to = dict(zip(column, after, strict=True))
    assert all(given_to[given_to[value]] == value for value in column)


def test_values_stay_within_their_stratum() -> None:
    after = treated(PEOPLE, "rank_swap", columns=["wage"], percent=50, strata=["zone"])
    assert rows(after.table.select(["wage", "zone"])) == rows(PEOPLE.select(["wage", "zone"]))
    assert after.change.notes["cells_moved"]["wage"] + after.change.notes["cells_without_partner"]["wage"] == 20


def test_a_narrow_window_loses_less_rank_correlation_than_a_wide_one() -> None:
    column = [str(i) for i in range(500)]
    before = table(v=column, w=column)
    lost = [
        treated(before, "rank_swap", columns=["v"], percent=percent, compare=["w"]).change.notes["association"]["v"][
            "w"
        ]
        for percent in (2, 60)
    ]
    assert 0 < lost[0]["lost"] < 0.01 < lost[1]["lost"]


def slow_pairs(visit, free, low, start, end, high, draw, wanted):  # type: ignore[no-untyped-def]
    """The same pairs, by listing the free places every time."""
    partner = [-1] * len(free)
    for i in visit:
        if sum(p >= 0 for p in partner) >= wanted or not free[i] or partner[i] >= 0:
            continue
        near = [*range(low[i], start[i]), *range(end[i], high[i])]
        possible = [j for j in near if free[j] and partner[j] < 0 and j != i]
        if possible:
            j = possible[int(draw[i] * len(possible))]
            partner[i], partner[j] = j, i
    return partner


@given(st.data(), st.integers(1, 25))
def test_the_kernel_agrees_with_the_slow_way(data: st.DataObject, count: int) -> None:
    def column(most: int) -> np.ndarray:
        return np.array(data.draw(st.lists(st.integers(0, most), min_size=count, max_size=count)), np.int64)

    edges = np.sort(np.array([column(count) for _ in range(4)]), axis=0)
    visit = np.array(data.draw(st.permutations(range(count))), np.int64)
    free, draw = column(1).astype(bool), column(99) / 100
    wanted = data.draw(st.integers(0, count))
    arguments = (visit, free, edges[0], edges[1], edges[2], edges[3], draw, wanted)
    assert pair_up(*arguments).tolist() == slow_pairs(*arguments)


def test_every_partner_in_the_window_is_as_likely() -> None:
    draw = np.random.default_rng(1).random((4000, 10))
    low, high = np.arange(1, 11), np.minimum(np.arange(1, 11) + 5, 10)
    chosen = [pair_up(np.arange(10), np.ones(10, bool), low, high, high, high, one, 10)[0] for one in draw]
    assert sorted(set(chosen)) == [1, 2, 3, 4, 5]
    assert stats.chisquare(list(Counter(chosen).values())).pvalue > 0.001


def test_the_seed_decides_and_the_order_of_the_rows_does_not() -> None:
    assert keeps_to_its_seed(PEOPLE, "rank_swap", columns=["wage", "age"], percent=30, strata=["zone"])


def test_cells_travel_as_they_are_written() -> None:
    after = treated(table(v=["1.50", "+2", "3e0", "9"]), "rank_swap", columns=["v"], percent=50)
    assert sorted(cells(after, "v")) == sorted(["1.50", "+2", "3e0", "9"])


def test_no_rows_and_only_missing_cells_are_accepted_and_one_row_is_not() -> None:
    for column in ([], ["", ""]):
        assert cells(treated(table(v=column), "rank_swap", columns=["v"], percent=5), "v") == column
    with pytest.raises(TechniqueRefuses, match="una sola fila"):
        treated(table(v=["1"]), "rank_swap", columns=["v"], percent=5)


@pytest.mark.parametrize("percent", [0, -5, "100.5"])
def test_a_percentage_outside_its_range_is_refused(percent: object) -> None:
    with pytest.raises(WrongParameter, match="se escribe 5"):
        treated(PEOPLE, "rank_swap", columns=["wage"], percent=percent)


def test_text_is_refused_with_its_count() -> None:
    with pytest.raises(NotNumeric) as caught:
        treated(table(v=["1", "uno", "dos"]), "rank_swap", columns=["v"], percent=5)
    assert caught.value.values["rows"] == 2
