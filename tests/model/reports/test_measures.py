"""The report's file format: exactly the keys promised, and the same report after reading it back."""

from __future__ import annotations

import json

from celosia.model.reports.measures import MEASURE_FORMAT
from tests.risk.rows import measured

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


def test_no_value_of_a_cell_is_in_the_report() -> None:
    report = measured([("PLANTADO-Q",)] * 2, ["PLANTADO-S", "OTRO"], persons=["PLANTADO-P"] * 2)
    assert "PLANTADO" not in json.dumps(report.as_dict()) + repr(report)
