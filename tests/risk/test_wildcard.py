"""The reading in which an empty cell may be any value, against pairs of rows and sdcMicro's figures."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.reports.measures import Undefined
from celosia.risk.classes import compatible_rows
from tests.risk import slow_measures as slow
from tests.risk.rows import Row, measured, tuples_of

rows_with_gaps = st.lists(
    st.tuples(st.sampled_from(["a", "b", ""]), st.sampled_from(["1", "2", ""]), st.sampled_from(["x", "*", ""])),
    min_size=1,
    max_size=30,
)


def compatible(rows: list[Row]) -> list[int]:
    """Compatible rows of each row through the compressed table."""
    table = tuples_of(rows, [f"q{i}" for i in range(len(rows[0]))])
    found = compatible_rows(table.codes, table.vocabularies, table.rows)
    values = [tuple(v[c] for v, c in zip(table.vocabularies, code, strict=True)) for code in table.codes]
    by_tuple = dict(zip(values, found.tolist(), strict=True))
    return [by_tuple[row] for row in rows]


@given(rows_with_gaps)
def test_compatible_rows_equal_a_comparison_of_every_pair(rows: list[Row]) -> None:
    assert compatible(rows) == slow.compatible_rows(rows)


@given(rows_with_gaps)
def test_the_wildcard_report_counts_rows_by_what_they_may_be_confused_with(rows: list[Row]) -> None:
    counts = slow.compatible_rows(rows)
    report = measured(rows, missing="wildcard")
    assert report.k == min(counts)
    assert report.unique_rows == counts.count(1)
    assert report.rows_below == {n: sum(count < n for count in counts) for n in (2, 3, 5, 10)}
    assert report.classes == len(set(rows))
    assert report.as_dict()["reading"]["missing"] == "wildcard"


@given(rows_with_gaps)
def test_a_wildcard_never_makes_a_row_more_exposed(rows: list[Row]) -> None:
    own, wildcard = measured(rows), measured(rows, missing="wildcard")
    assert own.k is not None
    assert wildcard.k is not None
    assert wildcard.k >= own.k
    assert wildcard.unique_rows <= own.unique_rows


def test_without_empty_cells_both_readings_agree() -> None:
    rows = [("a", "1"), ("a", "1"), ("b", "*")]
    own, wildcard = measured(rows).as_dict(), measured(rows, missing="wildcard").as_dict()
    del own["reading"], wildcard["reading"]
    assert own == wildcard


def test_all_missing_rows_are_compatible_with_everyone() -> None:
    assert compatible([("", ""), ("a", "1"), ("b", "2")]) == [3, 2, 2]


def test_k_in_persons_is_undefined_under_the_wildcard_and_says_so() -> None:
    report = measured([("a",), ("",)], persons=["p", "q"], missing="wildcard")
    assert (report.k, report.k_persons, report.persons) == (2, None, 2)
    assert report.undefined == {"k_persons": Undefined.WILDCARD}


def _columns(path: Path, names: list[str]) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [tuple(row[name] for name in names) for row in csv.DictReader(lines)]


@pytest.mark.shared
def test_sdcmicro_agrees_row_by_row_on_its_test_data(shared: Path) -> None:
    folder = shared / "reference" / "sdcmicro"
    rows = _columns(folder / "data" / "testdata_na.csv", ["urbrur", "roof", "walls", "water", "sex"])
    expected = _columns(folder / "rows" / "fc_testdata_na_K5_alpha1.csv", ["fk"])
    assert compatible(rows) == [int(fk) for (fk,) in expected]
    report = measured(rows, missing="wildcard")
    assert [report.rows_below[n] for n in (2, 3, 5)] == [1, 1, 2]


@pytest.mark.shared
def test_sdcmicro_agrees_on_the_classes_of_complete_data(shared: Path) -> None:
    folder = shared / "reference" / "sdcmicro" / "data"
    rows = _columns(folder / "testdata_w2.csv", ["urbrur", "roof", "walls", "water", "sex"])
    report = measured(rows)
    assert report.classes == 93
    assert [report.rows_below[n] for n in (2, 3, 5)] == [12, 24, 79]


@pytest.mark.shared
def test_sdcmicro_agrees_on_distinct_and_entropy_diversity(shared: Path) -> None:
    folder = shared / "reference" / "sdcmicro"
    names = ["urbrur", "roof", "walls", "water", "sex"]
    rows = _columns(folder / "data" / "testdata.csv", names)
    values = _columns(folder / "data" / "testdata.csv", ["hhcivil"])
    columns = ["hhcivil_Distinct_Ldiversity", "hhcivil_Entropy_Ldiversity"]
    expected = _columns(folder / "rows" / "ldiv_testdata_K5_hhcivil.csv", columns)
    classes: dict[Row, list[str]] = {}
    for row, (value,) in zip(rows, values, strict=True):
        classes.setdefault(row, []).append(value)
    for row, (distinct, entropy) in dict(zip(rows, expected, strict=True)).items():
        figures = measured([row] * len(classes[row]), classes[row]).sensitive["S"].figures
        assert figures["l"] == int(distinct)
        assert figures["entropy_l"] == pytest.approx(float(entropy), abs=1e-6)
