"""The report's file format: exactly the keys promised, and the same report after reading it back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.errors import UnknownFormat
from celosia.model.reports.measures import MEASURE_FORMAT, measure_report_from_dict
from tests.risk.rows import Row, measured

TABLE_KEYS = ["format", "rows", "persons", "classes", "k", "k_persons", "unique_rows", "rows_below", "sensitive"]
SENSITIVE_KEYS = [
    *("l", "l_without_empty", "entropy_l", "recursive_c", "t_equal", "t_ordered"),
    *("alpha", "beta_basic", "beta_enhanced", "delta"),
]


def test_the_json_starts_with_the_promised_keys_and_adds_only_named_objects() -> None:
    report = measured([("a",), ("a",), ("*",)], ["X", "Y", "Y"]).as_dict()
    assert list(report)[: len(TABLE_KEYS)] == TABLE_KEYS
    assert report["format"] == MEASURE_FORMAT == "celosia/measure/1"
    assert report["rows_below"] == {"2": 0, "3": 2, "5": 2, "10": 2}
    assert (report["persons"], report["k_persons"]) == (None, None)
    assert all(isinstance(extra, dict) for key, extra in report.items() if key not in TABLE_KEYS)
    sensitive = report["sensitive"]["S"]
    assert list(sensitive)[: len(SENSITIVE_KEYS)] == SENSITIVE_KEYS
    assert all(isinstance(extra, dict) for key, extra in sensitive.items() if key not in SENSITIVE_KEYS)


@given(
    st.lists(st.tuples(st.tuples(st.sampled_from(["a", "", "*"])), st.sampled_from(["1", "2", "*", ""])), max_size=9)
)
def test_a_report_read_back_is_the_same_report(rows: list[tuple[Row, str]]) -> None:
    report = measured([row for row, _ in rows], [value for _, value in rows], persons=["p"] * len(rows))
    text = json.dumps(report.as_dict(), allow_nan=False)
    assert measure_report_from_dict(json.loads(text)) == report


def test_a_report_of_another_version_is_refused_by_name() -> None:
    with pytest.raises(UnknownFormat) as refused:
        measure_report_from_dict({"format": "celosia/measure/2"}, "informe.json")
    assert "celosia/measure/2" in str(refused.value)


def test_no_value_of_a_cell_is_in_the_report() -> None:
    report = measured([("PLANTADO-Q",)] * 2, ["PLANTADO-S", "OTRO"], persons=["PLANTADO-P"] * 2)
    assert "PLANTADO" not in json.dumps(report.as_dict()) + repr(report)
