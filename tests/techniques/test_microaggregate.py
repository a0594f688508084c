"""Microaggregation: groups of k, totals kept, no row that can be told apart; the published figures of the CASC sets."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.changes import StepChange
from celosia.model.value_errors import WrongParameter
from celosia.techniques import apply_to_frame
from celosia.techniques.errors import (
    GroupLargerThanTable,
    NotNumeric,
    PatternsTooSmall,
    StrataTooSmall,
    TechniqueRefuses,
)

Rows = list[tuple[str, ...]]


def frame(**columns: Sequence[object]) -> pa.Table:
    """A table of text."""
    texts = {name: [str(cell) for cell in cells] for name, cells in columns.items()}
    return pa.table({name: pa.array(cells, pa.large_string()) for name, cells in texts.items()})


def treated(table: pa.Table, *columns: str, **settings: Any) -> tuple[pa.Table, StepChange]:
    """The table after the step, and its report."""
    step = {"technique": "microaggregate", "columns": list(columns), **settings}
    found = apply_to_frame(table, step, b"")
    return found.table, found.change


def vectors(table: pa.Table, names: Sequence[str]) -> Rows:
    """Rows of some columns."""
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def random_frame(rows: int, columns: int, seed: int = 1) -> pa.Table:
    """Skewed numbers with two decimals."""
    drawn = np.round(np.random.default_rng(seed).lognormal(3, 1, (rows, columns)), 2)
    return frame(**{f"v{place}": drawn[:, place].tolist() for place in range(columns)})


@pytest.mark.requirement("A19")
def test_salaries_are_published_as_means_of_three() -> None:
    table = frame(salary=[1000, 100, 200, 300, 1100, 1200])
    after, change = treated(table, "salary")
    assert after.column("salary").to_pylist() == ["1100", "200", "200", "200", "1100", "1100"]
    assert change.preserved == ("total",)
    assert (change.notes["groups"], change.notes["smallest_group"], change.notes["largest_group"]) == (2, 3, 3)


@pytest.mark.requirement("A19")
def test_groups_of_two_are_refused_unless_written() -> None:
    table = frame(salary=[1, 2, 10, 11])
    with pytest.raises(WrongParameter, match="ATENEA"):
        treated(table, "salary", k=2)
    after, _ = treated(table, "salary", k=2, small_groups=True)
    assert after.column("salary").to_pylist() == ["1.5", "1.5", "10.5", "10.5"]


CASC = {"CASCrefmicrodata": (5.692, 9.088, 14.156), "Tarragona": (16.933, 22.462, 33.193), "EIA": (0.483, 1.667, 3.840)}


@pytest.mark.requirement("A19")
@pytest.mark.parametrize("name", CASC)
def test_the_loss_of_mdav_is_the_published_one(name: str, shared: Path) -> None:
    table = pa.csv.read_csv(shared / "reference" / "sdcmicro" / "data" / f"{name}.csv")
    table = table.cast(pa.schema([(column, pa.large_string()) for column in table.column_names]))
    columns = [c for c in table.column_names if name != "EIA" or c not in ("UTILNAME", "STATE", "YEAR", "MONTH")]
    lost = [100 * treated(table, *columns, k=k)[1].notes["information_loss"] for k in (3, 5, 10)]
    assert [round(share, 3) for share in lost] == list(CASC[name])


CELL = st.one_of(st.just(""), st.just("*"), st.just("99"), st.integers(-5, 5).map(str), st.floats(-1e6, 1e6).map(repr))


@st.composite
def patchy_tables(draw: st.DrawFn) -> pa.Table:
    """Two strata of rows with missing, masked and unknown cells here and there."""
    rows = draw(st.integers(6, 40))
    cells = {name: draw(st.lists(CELL, min_size=rows, max_size=rows)) for name in ("a", "b")}
    return frame(**cells, area=draw(st.lists(st.sampled_from("NS"), min_size=rows, max_size=rows)))


def holds_number(cell: str) -> bool:
    """Whether a cell is neither missing, masked nor unknown."""
    return cell not in ("", "*", "99")


@pytest.mark.requirement("A19")
@given(patchy_tables(), st.sampled_from(("mean", "median", "mode")), st.sampled_from((("a",), ("a", "b"))))
def test_every_published_vector_repeats_k_times_in_its_stratum(
    table: pa.Table, aggregate: str, columns: tuple[str, ...]
) -> None:
    settings = {"strata": ["area"], "sparse": "mask", "unknown": ["99"], "aggregate": aggregate}
    try:
        after, _ = treated(table, *columns, **settings)
    except StrataTooSmall:
        return
    published = Counter(vectors(after, (*columns, "area")))
    assert all(n >= 3 for row, n in published.items() if any(holds_number(cell) for cell in row[:-1]))
    for name in columns:
        pairs = zip(table.column(name).to_pylist(), after.column(name).to_pylist(), strict=True)
        assert all(new == old for old, new in pairs if not holds_number(old))


@pytest.mark.requirement("A19")
@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(0, 1, allow_subnormal=False)), min_size=3, max_size=60),
    st.integers(3, 7),
)
def test_means_keep_the_totals(rows: list[tuple[float, float]], k: int) -> None:
    if len(rows) < k:
        return
    before = frame(a=[repr(a) for a, _ in rows], b=[repr(b) for _, b in rows])
    after, _ = treated(before, "a", "b", k=k)
    for name, numbers in zip("ab", zip(*rows, strict=True), strict=True):
        published = [float(cell) for cell in after.column(name).to_pylist()]
        size = math.fsum(abs(number) for number in numbers)
        assert math.fsum(published) == pytest.approx(math.fsum(numbers), rel=1e-9, abs=1e-9 * size + 1e-300)


def test_groups_never_cross_strata() -> None:
    table = frame(v=[1, 2, 3, 1, 2, 30], area=["N", "S", "N", "S", "N", "S"])
    after, _ = treated(table, "v", strata=["area"])
    assert after.column("v").to_pylist() == ["2", "11", "2", "11", "2", "11"]


def test_median_and_mode_take_the_place_of_the_mean() -> None:
    table = frame(v=[1, 1, 4, 10])
    assert treated(table, "v", aggregate="median")[0].column("v").to_pylist() == ["2.5"] * 4
    after, change = treated(table, "v", aggregate="mode")
    assert after.column("v").to_pylist() == ["1"] * 4
    assert change.preserved == ()


def test_decimals_round_what_is_published_and_make_no_promise_of_totals() -> None:
    after, change = treated(frame(v=["1,0", "1,0", "2,0"]), "v", decimals=2, decimal=",")
    assert after.column("v").to_pylist() == ["1,33"] * 3
    assert change.preserved == ()


@pytest.mark.parametrize("decimals", [None, 2])
def test_the_largest_numbers_do_not_overflow(decimals: int | None) -> None:
    table = frame(a=["1e308"] * 3 + ["-1e308"] * 3, b=[1, 2, 3, 4, 5, 6])
    after, change = treated(table, "a", "b", decimals=decimals)
    assert {float(cell) for cell in after.column("a").to_pylist()} == {1e308, -1e308}
    assert 0 <= change.notes["information_loss"] < 1


def test_constant_columns_weigh_nothing() -> None:
    table = frame(a=[0.1] * 6, b=[1, 2, 3, 11, 12, 13])
    after, _ = treated(table, "a", "b")
    assert vectors(after, ("a", "b")) == [("0.1", "2")] * 3 + [("0.1", "12")] * 3
    assert treated(table, "a")[1].notes["information_loss"] == 0.0


def test_columns_without_any_number_stay_as_they_are() -> None:
    table = frame(a=["", "*", "", ""], b=["", "", "*", ""])
    assert treated(table, "a", "b")[0].equals(table)


def test_bad_tables_are_refused_with_the_count_and_the_way_out() -> None:
    with pytest.raises(NotNumeric, match="2 filas"):
        treated(frame(v=[1, 2, "mucho", "1e999"]), "v")
    with pytest.raises(GroupLargerThanTable, match="2 con números"):
        treated(frame(v=[1, 2, ""]), "v")
    with pytest.raises(StrataTooSmall, match="2 estratos"):
        treated(frame(v=range(7), area=list("AAABBCC")), "v", strata=["area"])
    with pytest.raises(PatternsTooSmall, match=r"1 filas.*mask"):
        treated(frame(a=[1, 2, 3, ""], b=[1, 2, 3, 4]), "a", "b")


@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_and_one_row_are_refused(rows: int) -> None:
    with pytest.raises(TechniqueRefuses):
        treated(frame(v=range(rows)), "v")


@pytest.mark.parametrize(
    "settings",
    [{"columns": []}, {"columns": ["v0", "v0"]}, {"columns": ["v0"], "strata": ["v0"]}, {"block": 5}, {"k": 1}],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(WrongParameter):
        apply_to_frame(random_frame(9, 1), {"technique": "microaggregate", "columns": ["v0"], **settings}, b"")


def test_rows_of_a_sparse_kind_are_masked_when_asked() -> None:
    table = frame(a=[1, 2, 3, ""], b=[1, 2, 3, 4])
    after, change = treated(table, "a", "b", sparse="mask")
    assert vectors(after, ("a", "b")) == [("2", "2")] * 3 + [("", "*")]
    assert (change.notes["rows_masked"], change.preserved) == (1, ())


def test_when_every_row_is_of_a_sparse_kind_all_are_masked() -> None:
    after, _ = treated(frame(a=[1, "", "", 4], b=["", 2, 3, ""]), "a", "b", sparse="mask")
    assert vectors(after, ("a", "b")) == [("*", ""), ("", "*"), ("", "*"), ("*", "")]


def test_blocks_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_frame(60_000, 3)
    found = []
    for threads in (1, 5):
        monkeypatch.setattr(os, "cpu_count", lambda threads=threads: threads)
        after, change = treated(table, "v0", "v1", "v2", block=1000)
        found.append(after)
    assert change.notes["blocks"] == 64
    assert found[0].equals(found[1])


def test_the_order_of_the_rows_does_not_change_what_is_published() -> None:
    table = frame(a=[x % 7 for x in range(50)], b=[x % 3 for x in range(50)])
    shuffled = np.random.default_rng(4).permutation(50)
    after, _ = treated(table, "a", "b", k=4)
    other, _ = treated(table.take(pa.array(shuffled)), "a", "b", k=4)
    assert Counter(vectors(after, ("a", "b"))) == Counter(vectors(other, ("a", "b")))


def test_blocks_lose_little_more_than_the_whole_table() -> None:
    table = random_frame(6000, 3)
    whole = treated(table, "v0", "v1", "v2")[1].notes
    blocks = treated(table, "v0", "v1", "v2", block=1500)[1].notes
    assert (whole["blocks"], blocks["blocks"]) == (1, 4)
    assert whole["information_loss"] < blocks["information_loss"] < 2 * whole["information_loss"]


@pytest.mark.requirement("A19")
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30), st.integers(0, 30)), min_size=6, max_size=40),
    st.booleans(),
)
def test_no_group_is_made_of_the_rows_of_fewer_than_k_persons(rows: list[tuple[int, int, int]], several: bool) -> None:
    names = ("x", "y") if several else ("x",)
    who, x, y = zip(*rows, strict=True)
    before = frame(who=[f"p{person}" if person else "" for person in who], x=x, y=y)
    if len(set(who) - {0}) < 3:
        with pytest.raises(GroupLargerThanTable, match="personas"):
            treated(before, *names, k=3, person="who")
        return
    after, change = treated(before, *names, k=3, person="who")
    behind: dict[tuple[str, ...], set[str]] = {}
    for person, *vector in vectors(after, ("who", *names)):
        behind.setdefault(tuple(vector), set()).update({person} - {""})
    assert min(map(len, behind.values())) >= 3
    assert change.notes["fewest_persons_in_a_group"] >= 3
    assert after.column("who").equals(before.column("who"))
    for name in names:
        totals = [math.fsum(float(cell) for cell in of.column(name).to_pylist()) for of in (before, after)]
        assert totals[1] == pytest.approx(totals[0], rel=1e-9)


def test_a_stratum_with_the_rows_of_too_few_persons_is_refused() -> None:
    before = frame(who="aaaabcd", s="1111222", x="1234567")
    with pytest.raises(StrataTooSmall, match=r"3 personas.*1 estratos"):
        treated(before, "x", strata=["s"], k=3, person="who")
    assert treated(before, "x", k=3, person="who")[1].notes["groups"] == 1
