"""Measures of real public files against figures counted elsewhere."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.risk.rows import measured


@pytest.mark.shared
@pytest.mark.requirement("M09")
def test_the_deis_deaths_have_12_913_classes_and_a_third_of_the_rows_alone(shared: Path) -> None:
    with (shared / "data" / "cl_deis_deaths_2024_release2.csv").open(encoding="utf-8-sig", newline="") as lines:
        table = list(csv.DictReader(lines))
    quasi = [(row["Sexo"], row["Edad"], row["Codcom"]) for row in table]
    report = measured(quasi, [row["ID_DP"] for row in table])
    assert (report.rows, report.classes, report.k) == (23_390, 12_913, 1)
    assert report.unique_rows / report.rows == pytest.approx(0.346, abs=5e-4)
    assert report.figure("l", "S") == 1
