"""Noise really moves numbers, and gives back mean and variance exactly when asked to."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from celosia.errors import CelosiaError
from celosia.model.errors import RepeatedVariable
from celosia.model.value_errors import WrongParameter
from celosia.techniques._moments import lower_root
from celosia.techniques.errors import (
    NoSpread,
    NotNumeric,
    NumbersTooLarge,
    OutsideBounds,
    PartlyMissing,
    TechniqueRefuses,
)
from celosia.techniques.noise import reflect
from tests.techniques.trials import cells, keeps_to_its_seed, numbers, rows, table, treated

KINDS = ("uncorrelated", "correlated", "multiplicative")
AMOUNTS = st.integers(-(10**6), 10**6).map(str) | st.decimals(-1000, 1000, places=2).map(str)
COLUMNS = st.lists(AMOUNTS | st.just(""), min_size=3, max_size=30)
INCOMES = table(
    income=["1200", "350.5", "", "980", "15000", "420", "*", "777", "2100", "640"],
    rent=["300", "110", "90", "250", "2000", "150", "80", "200", "500", "170"],
    region=["A", "A", "A", "A", "A", "B", "B", "B", "B", "B"],
)


def moments(values: list[float]) -> tuple[Fraction, Fraction]:
    """Mean and variance in exact arithmetic."""
    exact = [Fraction(value) for value in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    return mean, sum(((value - mean) ** 2 for value in exact), Fraction(0)) / (len(exact) - 1)


def covariance(one: list[float], other: list[float]) -> float:
    x, y = [Fraction(value) for value in one], [Fraction(value) for value in other]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return float(sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / (len(x) - 1))


def spreads(column: list[str]) -> bool:
    return len([cell for cell in column if cell]) >= 3 and len({float(cell) for cell in column if cell}) > 1


@pytest.mark.requirement("A20")
@given(COLUMNS, st.sampled_from(KINDS), st.sampled_from(["0.01", "0.1", "1"]), st.binary(max_size=4))
def test_restored_noise_keeps_mean_and_variance(column: list[str], kind: str, level: str, seed: bytes) -> None:
    assume(spreads(column))
    before = table(v=column)
    after = treated(before, "noise", seed, columns=["v"], kind=kind, level=level, restore=True)
    (mean, variance), (new_mean, new_variance) = moments(numbers(before, "v")), moments(numbers(after, "v"))
    assert abs(new_mean - mean) <= 1e-9 * math.sqrt(variance)
    assert abs(new_variance - variance) <= 1e-9 * variance
    assert after.change.preserved[:3] == ("missing", "mean", "variance")


@pytest.mark.requirement("A20")
@given(st.lists(st.tuples(*[st.integers(-1000, 1000)] * 2), min_size=4, max_size=25), st.binary(max_size=4))
def test_restored_correlated_noise_keeps_the_covariance_matrix(pairs: list[tuple[int, int]], seed: bytes) -> None:
    x, y = ([str(pair[i]) for pair in pairs] for i in (0, 1))
    assume(spreads(x) and spreads(y))
    total = [str(a + b) for a, b in pairs]  # a column that follows from the others
    before = table(x=x, y=y, total=total, lone=[""] * len(x))
    assume(spreads(total))
    names = ["x", "y", "total"]
    after = treated(before, "noise", seed, columns=names, kind="correlated", level="0.3", restore=True)
    for one in names:
        for other in names:
            was = covariance(numbers(before, one), numbers(before, other))
            limit = 1e-9 * math.sqrt(moments(numbers(before, one))[1] * moments(numbers(before, other))[1])
            assert abs(covariance(numbers(after, one), numbers(after, other)) - was) <= limit
    for a, b, whole in zip(*(numbers(after, name) for name in names), strict=True):
        assert a + b == pytest.approx(whole, abs=1e-6)


def test_restoring_within_strata_keeps_mean_and_variance_of_each() -> None:
    after = treated(INCOMES, "noise", columns=["rent"], strata=["region"], restore=True)
    for region in ("A", "B"):
        was, now = (
            [float(v) for v, r in zip(cells(t, "rent"), cells(t, "region"), strict=True) if r == region]
            for t in (INCOMES, after.table)
        )
        assert moments(now)[0] == pytest.approx(moments(was)[0], rel=1e-9)
        assert moments(now)[1] == pytest.approx(moments(was)[1], rel=1e-9)


@pytest.mark.requirement("A20")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("restore", [False, True])
def test_every_kind_changes_every_number_and_nothing_else(kind: str, restore: bool) -> None:
    names = ["rent"] if restore and kind == "correlated" else ["income", "rent"]
    after = treated(INCOMES, "noise", columns=names, kind=kind, restore=restore)
    for name in names:
        for old, new in zip(cells(INCOMES, name), cells(after, name), strict=True):
            assert (new == old) if old in ("", "*") else float(new) != float(old)
    assert after.table.column("region").equals(INCOMES.column("region"))
    assert after.change.cells_touched["rent"] == 10


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_and_the_order_of_the_rows_does_not(kind: str) -> None:
    assert keeps_to_its_seed(INCOMES, "noise", columns=["income", "rent"], kind=kind)
    assert keeps_to_its_seed(INCOMES, "noise", columns=["rent"], kind=kind, restore=True, strata=["region"])


@pytest.mark.requirement("A20")
def test_uncorrelated_noise_has_the_spread_asked_for() -> None:
    column = [str(i % 97) for i in range(20_000)]
    after = treated(table(id=[str(i) for i in range(20_000)], v=column), "noise", columns=["v"], level="0.5")
    noise = np.array(numbers(after, "v")) - np.array(column, float)
    assert noise.std() / np.array(column, float).std() == pytest.approx(0.5, abs=0.01)  # 3 s.e. = 0.0075
    assert abs(noise.mean()) < 3 * noise.std() / math.sqrt(20_000)


@pytest.mark.requirement("A20")
def test_correlated_noise_goes_together_as_the_columns_do() -> None:
    x = np.arange(20_000) % 101
    y = 3 * x + np.arange(20_000) % 7
    before = table(id=[str(i) for i in range(20_000)], x=x.astype(str).tolist(), y=y.astype(str).tolist())
    after = treated(before, "noise", columns=["x", "y"], kind="correlated", level="0.5")
    noise = np.array(numbers(after, "x")) - x, np.array(numbers(after, "y")) - y
    assert np.corrcoef(*noise)[0, 1] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=0.001)
    assert noise[1].std() / y.std() == pytest.approx(0.5, abs=0.01)


def test_partly_missing_rows_get_noise_in_the_cells_they_have() -> None:
    after = treated(INCOMES, "noise", columns=["income", "rent"], kind="correlated")
    assert [a != b for a, b in zip(cells(INCOMES, "rent"), cells(after, "rent"), strict=True)] == [True] * 10


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=20), st.sampled_from(["0.5", "3"]))
def test_multiplicative_noise_keeps_the_sign_and_zero(values: list[int], level: str) -> None:
    assume(any(values))
    after = treated(table(v=[str(v) for v in values]), "noise", columns=["v"], kind="multiplicative", level=level)
    assert [np.sign(new) for new in numbers(after, "v")] == [np.sign(old) for old in values]


@given(st.lists(st.integers(0, 10), min_size=3, max_size=30), st.sampled_from(["0.1", "1", "20"]), st.booleans())
def test_bounds_hold_whatever_the_noise(values: list[int], level: str, whole: bool) -> None:
    assume(len(set(values)) > 1)
    more: dict[str, Any] = {"minimum": "-0.5", "maximum": "10.5", "whole": whole, "level": level}
    try:
        after = treated(table(v=[str(v) for v in values]), "noise", columns=["v"], **more)
    except TechniqueRefuses:  # all noise was rounded away
        assert whole
        return
    found = numbers(after, "v")
    assert all(0 <= v <= 10 and v == int(v) for v in found) if whole else all(-0.5 <= v <= 10.5 for v in found)


def test_a_number_comes_back_from_a_bound_by_what_it_passed() -> None:
    values = np.array([-3.0, 4.0, 12.0, 25.0, -11.0])
    assert reflect(values, 0.0, 10.0).tolist() == [3.0, 4.0, 8.0, 5.0, 9.0]
    assert reflect(values, 0.0, np.inf).tolist() == [3.0, 4.0, 12.0, 25.0, 11.0]
    assert reflect(values, -np.inf, 10.0).tolist() == [-3.0, 4.0, 8.0, -5.0, -11.0]


def test_published_numbers_have_the_decimals_asked_for() -> None:
    after = treated(INCOMES, "noise", columns=["rent"], decimals=1)
    assert all(len(cell.partition(".")[2]) <= 1 for cell in cells(after, "rent"))
    assert all("." not in cell for cell in cells(treated(INCOMES, "noise", columns=["rent"], whole=True), "rent"))


def test_a_decimal_comma_stays_one() -> None:
    after = treated(table(v=["1,5", "2,75", "9", "99"]), "noise", columns=["v"], decimal=",", unknown=["99"])
    assert cells(after, "v")[3] == "99"
    assert all("," in cell and "." not in cell for cell in cells(after, "v")[:3])


@pytest.mark.requirement("A20")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"minimum": 0}, "sin límites"),
        ({"maximum": 10**6}, "sin límites"),
        ({"whole": True}, "sin redondeo"),
        ({"decimals": 0}, "sin redondeo"),
        ({"decimals": 2}, "sin redondeo"),
    ],
)
def test_restoring_is_refused_with_bounds_and_rounding(more: dict[str, Any], words: str) -> None:
    with pytest.raises(WrongParameter, match=words):
        treated(INCOMES, "noise", columns=["rent"], restore=True, **more)


@pytest.mark.requirement("A20")
@pytest.mark.parametrize("kind", KINDS)
def test_restoring_is_refused_for_one_row_two_numbers_and_a_constant_column(kind: str) -> None:
    step = {"columns": ["v"], "kind": kind, "restore": True}
    with pytest.raises(TechniqueRefuses, match="una sola fila"):
        treated(table(v=["5"]), "noise", **step)
    with pytest.raises(NoSpread, match="menos de 3 números"):
        treated(table(v=["5", "6", ""]), "noise", **step)
    with pytest.raises(NoSpread, match="todos iguales"):
        treated(table(v=["5", "5.0", "5", "5"]), "noise", **step)


def test_a_small_spread_far_from_zero_is_not_said_to_be_restored() -> None:
    far = [str(10**14 + i * i) for i in range(5)]
    with pytest.raises(TechniqueRefuses, match="1e-9"):
        treated(table(v=far), "noise", columns=["v"], level=1, restore=True)


@pytest.mark.parametrize("kind", ["uncorrelated", "correlated"])
def test_noise_that_would_be_none_is_refused(kind: str) -> None:
    with pytest.raises(NoSpread):
        treated(table(v=["7", "7", "7"]), "noise", columns=["v"], kind=kind)
    with pytest.raises(NoSpread) as caught:
        treated(table(v=["7", "8", "9"], s=["a", "a", "b"]), "noise", columns=["v"], kind=kind, strata=["s"])
    assert caught.value.values["groups"] == 1
    with pytest.raises(TechniqueRefuses, match="ninguna celda"):
        treated(table(v=["7", "8", "9"]), "noise", columns=["v"], kind=kind, level="0.001", whole=True)
    with pytest.raises(TechniqueRefuses, match="ninguna celda"):
        treated(table(v=["0", "0"]), "noise", columns=["v"], kind="multiplicative")


def test_no_rows_and_only_missing_cells_are_accepted() -> None:
    for kind in KINDS:
        for column in ([], ["", "", ""]):
            after = treated(table(v=column), "noise", columns=["v"], kind=kind, restore=True)
            assert cells(after, "v") == column


@pytest.mark.parametrize(
    ("column", "more", "error", "count"),
    [
        (["1", "perico", "3", "palotes"], {}, NotNumeric, 2),
        (["1", "1e308", "-1e308", "2"], {}, NumbersTooLarge, 2),
        (["1", "1e308", "-1e308", "2"], {"kind": "correlated", "restore": True}, NumbersTooLarge, 2),
        (["-1", "5", "12", "13"], {"minimum": 0, "maximum": 11}, OutsideBounds, 3),
    ],
)
def test_bad_cells_are_refused_with_their_count(
    column: list[str], more: dict[str, Any], error: type[CelosiaError], count: int
) -> None:
    with pytest.raises(error) as caught:
        treated(table(v=column), "noise", columns=["v"], **more)
    assert caught.value.values["rows"] == count
    assert not any(cell in str(caught.value) for cell in ("perico", "palotes", "1e308", "13"))


def test_restoring_covariances_is_refused_where_rows_lack_a_column() -> None:
    with pytest.raises(PartlyMissing) as caught:
        treated(INCOMES, "noise", columns=["income", "rent"], kind="correlated", restore=True)
    assert caught.value.values["rows"] == 2


@pytest.mark.parametrize(
    "more",
    [
        {"level": 0},
        {"level": -1},
        {"minimum": 5, "maximum": 5},
        {"minimum": "0.2", "maximum": "0.8", "whole": True},
        {"whole": True, "decimals": 2},
        {"columns": []},
    ],
)
def test_settings_that_do_not_fit_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(WrongParameter):
        treated(INCOMES, "noise", **{"columns": ["rent"], **more})


def test_a_column_cannot_be_its_own_stratum() -> None:
    with pytest.raises(RepeatedVariable):
        treated(INCOMES, "noise", columns=["rent"], strata=["rent"])


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=1, max_size=6))
def test_the_lower_root_gives_back_its_matrix(factors: list[list[int]]) -> None:
    matrix = np.array(factors, float).T @ np.array(factors, float)
    root, independent = lower_root(matrix)
    assert np.allclose(root @ root.T, matrix, atol=1e-7 * max(matrix.max(), 1))
    assert len(independent) == np.linalg.matrix_rank(matrix)


def test_identical_rows_share_a_multiset_of_results() -> None:
    before = table(v=["1", "1", "2", "2", "3"], w=["a", "a", "b", "b", "c"])
    shuffled = before.take([4, 2, 0, 3, 1])
    step = {"columns": ["v"]}
    assert rows(treated(before, "noise", **step).table) == rows(treated(shuffled, "noise", **step).table)


@pytest.mark.parametrize("kind", ["uncorrelated", "correlated", "multiplicative"])
def test_noise_that_no_number_can_hold_is_refused(kind):
    before = table(x=["1", "2", "1e149"], y=["3", "1", "2"])
    with pytest.raises(NumbersTooLarge):
        treated(before, "noise", columns=["x", "y"], kind=kind, level=1000)
    with pytest.raises(WrongParameter, match="1000"):
        treated(before, "noise", columns=["y"], kind=kind, level=10**400)
