"""Primary rules decide in whole numbers which cells may not be shown."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.model.reports.tables import Reason
from celosia.tables.cells import ALL, CellTable, Dimension
from celosia.tables.primary import (
    below_threshold,
    combine_rules,
    empty_cells,
    exceeds_dominance,
    few_for_a_mean,
    full_cells,
    within_p_percent,
)


@pytest.mark.requirement("Y16")
@pytest.mark.parametrize(("k", "hidden"), [(5, [0, 1, 1, 0, 0, 0]), (10, [0, 1, 1, 1, 1, 0])])
def test_four_is_hidden_and_five_shown_at_k_5_nine_hidden_and_ten_shown_at_k_10(k: int, hidden: list[int]) -> None:
    flags, reason = below_threshold(np.array([0, 1, 4, 5, 9, 10]), k)
    assert flags.tolist() == [bool(flag) for flag in hidden]
    assert reason is Reason.THRESHOLD


@pytest.mark.requirement("Y23")
def test_a_mean_needs_k_persons_with_a_value() -> None:
    assert few_for_a_mean(np.array([0, 4, 5]), 5)[0].tolist() == [False, True, False]


@pytest.mark.requirement("Y23")
def test_dominance_is_more_than_the_share_and_not_the_share_itself() -> None:
    largest = np.array([[50, 20], [51, 20], [30, 20]])
    flags, reason = exceeds_dominance(np.array([100, 100, 100]), largest, 2, 70)
    assert flags.tolist() == [False, True, False]
    assert reason is Reason.DOMINANCE


@pytest.mark.requirement("Y23")
def test_p_percent_leaves_a_tenth_of_the_largest_to_the_others() -> None:
    largest = np.array([[100, 50], [100, 50], [100, 0]])
    flags, reason = within_p_percent(np.array([160, 159, 100]), largest, 10)
    assert flags.tolist() == [False, True, True]  # 10 remain, 9 remain, alone
    assert reason is Reason.P_PERCENT


def test_p_percent_of_an_empty_cell_is_silent() -> None:
    assert within_p_percent(np.array([0]), np.array([[0, 0]]), 10)[0].tolist() == [False]


def test_the_whole_numbers_do_not_round() -> None:
    huge = 2**53 + 1  # no floating number holds it
    flags, _ = exceeds_dominance(np.array([10 * huge]), np.array([[7 * huge]]), 1, 70)
    assert flags.tolist() == [False]


def _table(cells: dict[tuple[int, int], int], columns: int = 2) -> CellTable:
    codes = np.array(list(cells), np.int32)
    persons = np.array(list(cells.values()), np.int64)
    dimensions = (Dimension.flat("a", ("x", "y")), Dimension.flat("b", tuple("pqr"[:columns])))
    return CellTable(dimensions, codes, persons, persons, {}, np.ones(len(codes), bool))


def test_a_group_that_stands_in_one_category_is_full() -> None:
    cells = {(0, 0): 9, (1, 0): 4, (1, 1): 6, (0, ALL): 9, (1, ALL): 10, (ALL, 0): 13, (ALL, 1): 6, (ALL, ALL): 19}
    flags, reason = full_cells(_table(cells))
    assert [key for key, flag in zip(cells, flags, strict=True) if flag] == [(0, 0), (1, 1)]
    assert reason is Reason.FULL


def test_a_single_possible_category_tells_nothing() -> None:
    cells = {(0, 0): 9, (1, 0): 4, (0, ALL): 9, (1, ALL): 4, (ALL, 0): 13, (ALL, ALL): 13}
    assert not full_cells(_table(cells, columns=1))[0].any()


def test_the_first_rule_names_the_reason() -> None:
    persons = np.array([0, 3, 8])
    flags, reasons = combine_rules([below_threshold(persons, 5), few_for_a_mean(persons, 5), empty_cells(persons)], 3)
    assert flags.tolist() == [True, True, False]
    assert reasons.tolist() == [Reason.ZERO, Reason.THRESHOLD, None]
