"""Random rounding: always a multiple of the base, and right on average because its probabilities are."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.value_errors import WrongParameter
from celosia.techniques.errors import NotNumeric, TooManyDigits
from celosia.techniques.round import scaled_base, split_by_base
from tests.techniques.trials import cells, keeps_to_its_seed, table, treated

NUMBERS = st.decimals(-(10**9), 10**9, places=4) | st.integers(-(10**12), 10**12).map(Decimal)
BASES = st.sampled_from(["3", "5", "10", "0.1", "0.25", "2.5", "7", "100", "0.003", "1"]).map(Decimal)


def two_choices(value: Decimal, base: Decimal) -> tuple[Fraction, Fraction, Fraction]:
    """The multiples of the base below and above a number, and the probability of the one above."""
    exact, step = Fraction(value), Fraction(base)
    low = exact // step * step
    return (low, low, Fraction(0)) if low == exact else (low, low + step, (exact - low) / step)


@pytest.mark.requirement("A22")
@given(NUMBERS, BASES)
def test_the_expectation_of_the_two_choices_is_the_number_itself(value: Decimal, base: Decimal) -> None:
    low, high, chance = two_choices(value, base)
    assert low <= Fraction(value) <= high
    assert 0 <= chance < 1
    assert low % Fraction(base) == high % Fraction(base) == 0
    assert low * (1 - chance) + high * chance == Fraction(value)


@pytest.mark.requirement("A22")
@given(st.lists(NUMBERS, min_size=1, max_size=20), BASES)
def test_cells_are_drawn_with_exactly_these_probabilities(values: list[Decimal], base: Decimal) -> None:
    step, places = scaled_base(base)
    split = split_by_base(pa.array([f"{v:f}" for v in values], pa.large_string()), step, places)
    unit = Fraction(1, 10**places)
    for i, value in enumerate(values):
        low, high, chance = two_choices(value, base)
        below, up = int(split.below[i]) * unit, Fraction(float(split.chance[i]))
        sign = -1 if split.negative[i] else 1
        choices = {sign * below: 1 - up, sign * (below + step * unit): up}
        expected = {low: 1 - chance, high: chance} if chance else {low: Fraction(1)}
        for multiple, probability in expected.items():
            assert abs(choices[multiple] - probability) < Fraction(1, 2**50)
        if not chance:
            assert split.chance[i] == 0


@pytest.mark.requirement("A22")
@given(st.lists(NUMBERS.map(lambda v: f"{v:f}") | st.just(""), max_size=20), BASES, st.binary(max_size=4))
def test_every_result_is_one_of_the_two_multiples_next_to_the_number(
    column: list[str], base: Decimal, seed: bytes
) -> None:
    after = treated(table(v=column), "round", seed, columns=["v"], base=str(base))
    for old, new in zip(column, cells(after, "v"), strict=True):
        if old == "":
            assert new == ""
        else:
            low, high, _ = two_choices(Decimal(old), base)
            assert Fraction(new) in (low, high)
            assert new == f"{Decimal(new).normalize() + 0:f}"


@pytest.mark.requirement("A22")
@pytest.mark.parametrize("base", [3, 5, 10])
def test_the_mean_error_over_ten_thousand_draws_is_below_three_standard_errors(base: int) -> None:
    before = table(id=[str(i) for i in range(10_000)], v=["-7"] * 5_000 + ["101"] * 5_000)
    after = cells(treated(before, "round", columns=["v"], base=base), "v")
    error = np.array(after, float) - np.array(cells(before, "v"), float)
    assert abs(error.mean()) < 3 * error.std() / 100
    assert Counter(error != 0)[False] == 0


def test_decimal_bases_are_exact_text() -> None:
    column = ["0.3", "0.30000000000000004", "1", "-0.25", "-0.04", "2.95", "1e-1", "1.5E+2", ".75", "5.", "+7"]
    found = {
        tuple(cells(treated(table(v=column), "round", bytes([i]), columns=["v"], base="0.1"), "v")) for i in range(60)
    }
    seen = [sorted({result[i] for result in found}) for i in range(len(column))]
    assert seen[0] == ["0.3"]
    assert seen[1] == ["0.3"]  # up to 0.4 with probability 4e-16
    assert seen[2:] == [
        ["1"], ["-0.2", "-0.3"], ["-0.1", "0"], ["2.9", "3"], ["0.1"], ["150"], ["0.7", "0.8"], ["5"], ["7"],
    ]  # fmt: skip


def test_a_decimal_comma_stays_one_and_special_cells_stay() -> None:
    column = ["1,26", "", "**", "99", "2"]
    after = cells(treated(table(v=column), "round", columns=["v"], base="0.25", decimal=",", unknown=["99"]), "v")
    assert after[0] in ("1,25", "1,5")
    assert after[1:] == ["", "**", "99", "2"]


def test_multiples_of_the_base_stay_and_are_counted() -> None:
    after = treated(table(v=["5", "-10", "0", "7"]), "round", columns=["v"], base=5)
    assert cells(after, "v")[:3] == ["5", "-10", "0"]
    assert after.change.notes["cells_already_multiples"] == {"v": 3}


def test_the_seed_decides_and_the_order_of_the_rows_does_not() -> None:
    before = table(v=[str(i) for i in range(40)], w=[str(i / 8) for i in range(40)])
    assert keeps_to_its_seed(before, "round", columns=["v", "w"], base=5)


@pytest.mark.parametrize("column", [[], ["7"], ["", ""]])
def test_no_rows_one_row_and_only_missing_cells_are_accepted(column: list[str]) -> None:
    after = cells(treated(table(v=column), "round", columns=["v"], base=5), "v")
    assert after in ([], ["5"], ["10"], ["", ""])
    assert len(after) == len(column)


@pytest.mark.requirement("A22")
def test_text_is_refused_with_its_count() -> None:
    with pytest.raises(NotNumeric, match="2 filas"):
        treated(table(v=["1", "perico", "palotes"]), "round", columns=["v"], base=5)


@pytest.mark.requirement("A22")
@pytest.mark.parametrize("base", [0, -5, "-0.1", "5e3", "abc", None, 10**18, "0.0000000000000000001"])
def test_a_base_that_is_no_positive_number_of_a_few_digits_is_refused(base: Any) -> None:
    with pytest.raises(WrongParameter):
        treated(table(v=["1"]), "round", columns=["v"], base=base)


def test_numbers_with_too_many_digits_are_refused_with_their_count() -> None:
    column = ["1e308", "-1234567890123456789", "999999999999999999", "1e-308", "12345678901234567.25"]
    with pytest.raises(TooManyDigits, match="hasta 18 dígitos, y 2 filas"):
        treated(table(v=column), "round", columns=["v"], base=10)
    with pytest.raises(TooManyDigits, match="y 4 filas"):
        treated(table(v=column), "round", columns=["v"], base="0.01")
    edge = cells(treated(table(v=["999999999999999999"]), "round", columns=["v"], base="999999999999999998"), "v")
    assert edge[0] in ("999999999999999998", "1999999999999999996")
