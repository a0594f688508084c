"""Random swapping keeps every value and moves every chosen record."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from celosia.model.errors import RepeatedVariable
from celosia.model.value_errors import WrongParameter
from celosia.techniques import Draws
from celosia.techniques._association import association, cramer_v, spearman
from celosia.techniques.errors import TechniqueRefuses
from celosia.techniques.swap import chosen_sizes, circle
from tests.techniques.trials import cells, keeps_to_its_seed, rows, table, treated

PEOPLE = table(
    age=[str(20 + i) for i in range(12)],
    wage=[str(100 * i) for i in range(12)],
    sex=list("mfmfmfmfmfmf"),
    zone=list("aaaaaabbbbbb"),
)
VALUES = st.sampled_from(["", "*", "1", "2", "x"])
FRAMES = st.lists(st.tuples(VALUES, VALUES, st.sampled_from("ab")), min_size=2, max_size=25)


def frame(lines: list[tuple[str, str, str]]) -> pa.Table:
    first, second, third = (list(column) for column in zip(*lines, strict=True))
    return table(u=first, v=second, s=third)


@pytest.mark.requirement("A21")
@given(FRAMES, st.booleans(), st.sampled_from(["0.1", "0.5", "1"]), st.binary(max_size=4))
def test_swapping_keeps_the_values_of_every_stratum(
    lines: list[tuple[str, str, str]], together: bool, share: str, seed: bytes
) -> None:
    before = frame(lines)
    after = treated(before, "swap", seed, columns=["u", "v"], strata=["s"], together=together, share=share).table
    for name in ("u", "v"):
        assert rows(after.select([name, "s"])) == rows(before.select([name, "s"]))
    if together:
        assert rows(after) == rows(before)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.sampled_from(["0.3", "1"]), st.binary(max_size=4))
def test_chosen_records_all_take_the_value_of_another_of_their_stratum(
    strata: list[int], share: str, seed: bytes
) -> None:
    stratum = np.unique(strata, return_inverse=True)[1].reshape(-1)
    chosen = chosen_sizes(np.bincount(stratum), Decimal(share))
    source = circle(Draws(seed).raw(len(stratum)), stratum, chosen)
    assert sorted(source.tolist()) == list(range(len(stratum)))
    assert (stratum[source] == stratum).all()
    moved = Counter(stratum[source != np.arange(len(source))].tolist())
    assert [moved[s] for s in range(len(chosen))] == chosen.tolist()


def test_every_circle_is_as_likely_as_any_other() -> None:
    seen = Counter(
        tuple(circle(Draws(str(i).encode()).raw(4), np.zeros(4, np.int64), np.array([4])).tolist()) for i in range(3000)
    )
    assert len(seen) == 6  # (4 - 1)! circles of four
    assert stats.chisquare(list(seen.values())).pvalue > 0.001


@pytest.mark.requirement("A21")
def test_nobody_keeps_his_value_when_all_values_differ() -> None:
    after = treated(PEOPLE, "swap", columns=["wage"])
    assert all(a != b for a, b in zip(cells(PEOPLE, "wage"), cells(after, "wage"), strict=True))
    assert after.change.notes["rows_moved"] == after.change.rows_touched == 12


def test_columns_travel_together_or_apart() -> None:
    pairs = rows(PEOPLE.select(["age", "wage"]))
    assert rows(treated(PEOPLE, "swap", columns=["age", "wage"]).table.select(["age", "wage"])) == pairs
    apart = treated(PEOPLE, "swap", columns=["age", "wage"], together=False)
    assert rows(apart.table.select(["age", "wage"])) != pairs


def test_a_share_of_the_rows_moves() -> None:
    after = treated(PEOPLE, "swap", columns=["wage"], share="0.25")
    assert after.change.rows_touched == 3
    assert treated(PEOPLE, "swap", columns=["wage"], share="0.01").change.rows_touched == 2


def test_records_alone_in_their_stratum_are_counted() -> None:
    after = treated(table(v=["1", "2", "3"], s=["a", "a", "b"]), "swap", columns=["v"], strata=["s"])
    assert after.change.notes["rows_alone"] == 1
    assert cells(after, "v") == ["2", "1", "3"]


@pytest.mark.requirement("A21")
def test_the_rank_correlation_lost_with_each_other_variable_is_reported() -> None:
    after = treated(PEOPLE, "swap", columns=["wage"], compare=["age", "sex"])
    told = after.change.notes["association"]["wage"]
    ages, wages = (np.array(cells(after, name), float) for name in ("age", "wage"))
    assert told["age"]["measure"] == "spearman"
    assert told["age"]["before"] == pytest.approx(1)
    assert told["age"]["after"] == pytest.approx(stats.spearmanr(ages, wages).statistic)
    assert told["age"]["lost"] == pytest.approx(1 - abs(told["age"]["after"]))
    assert told["sex"]["measure"] == "cramer_v"


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=2, max_size=40))
def test_rank_correlation_agrees_with_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, float).T
    found = spearman(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_cramers_v_agrees_with_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs).T
    found = cramer_v(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found is None
    else:
        counts = stats.contingency.crosstab(x, y).count
        assert found == pytest.approx(stats.contingency.association(counts, correction=False), abs=1e-7)


def test_codes_with_leading_zeros_are_no_numbers() -> None:
    communes = pa.array(["05302", "05302", "13101", "13101"], pa.large_string())
    regions = pa.array(["5", "5", "13", "13"], pa.large_string())
    assert association(communes, regions, {}) == ("cramer_v", pytest.approx(1))
    assert association(regions, regions, {}) == ("spearman", pytest.approx(1))


def test_the_seed_decides_and_the_order_of_the_rows_does_not() -> None:
    assert keeps_to_its_seed(PEOPLE, "swap", columns=["age", "wage"], together=False, strata=["zone"])
    assert keeps_to_its_seed(PEOPLE, "swap", columns=["wage"], share="0.5", compare=["age"])


def test_no_rows_and_only_missing_cells_are_accepted_and_one_row_is_not() -> None:
    assert cells(treated(table(v=[]), "swap", columns=["v"], compare=["v"]), "v") == []
    assert cells(treated(table(v=["", ""]), "swap", columns=["v"]), "v") == ["", ""]
    with pytest.raises(TechniqueRefuses, match="una sola fila"):
        treated(table(v=["1"]), "swap", columns=["v"])


@pytest.mark.parametrize("share", ["0", "-0.5", "1.5"])
def test_a_share_outside_its_range_is_refused(share: str) -> None:
    with pytest.raises(WrongParameter, match="hasta 1"):
        treated(PEOPLE, "swap", columns=["wage"], share=share)


def test_a_column_cannot_be_swapped_within_itself() -> None:
    with pytest.raises(RepeatedVariable):
        treated(PEOPLE, "swap", columns=["wage"], strata=["wage"])
