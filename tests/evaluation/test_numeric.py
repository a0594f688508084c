"""Numbers of matched records: sdcMicro's own figures, and the laws behind them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from celosia.evaluation.numeric import eigenvalues, il1s, il1s_per_cell, squared_error_share, within_reach

CASES = ("mdav_testdata_N3_k3", "mdav_casc_k3", "mdav_casc_k5", "mdav_casc_k10", "mdav_tarragona_k3",
         "mdav_tarragona_k5", "mdav_tarragona_k10", "ma_onedims_k3")  # fmt: skip


def matrix(path: Path, names: list[str] | None = None) -> tuple[np.ndarray, list[str]]:
    """Columns of a CSV file as numbers."""
    with path.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    chosen = names or list(rows[0])
    return np.array([[float(row[name]) for name in chosen] for row in rows]), chosen


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, dict]:
    found = json.loads((shared / "reference" / "sdcmicro" / "cases.json").read_text("utf-8"))
    return {case["id"]: case for case in found["cases"]}


def both(shared: Path, case: dict) -> tuple[np.ndarray, np.ndarray]:
    """The original and the masked numbers of a case."""
    folder = shared / "reference" / "sdcmicro"
    after, names = matrix(folder / "rows" / case["rows_csv"])
    return matrix(folder / "data" / case["input"], names)[0], after


@pytest.mark.parametrize("name", CASES)
def test_sdcmicros_utility_figures_are_reproduced(shared: Path, cases: dict[str, dict], name: str) -> None:
    x, y = both(shared, cases[name])
    expected = cases[name]["output"]
    assert il1s(x, y) == pytest.approx(expected["IL1s"], rel=1e-9)
    assert il1s_per_cell(x, y) == pytest.approx(expected["IL1old"], rel=1e-9)
    assert 100 * squared_error_share(x, y) == pytest.approx(expected["IL_pct"], rel=1e-9)
    assert within_reach(x, y) == pytest.approx(expected["dRisk"], abs=1e-12)
    assert within_reach(x, y, 0.01) == pytest.approx(expected["dRisk_k001"], abs=1e-12)


@pytest.mark.parametrize("name", [name for name in CASES if "casc" not in name])
def test_sdcmicros_eigenvalue_differences_are_reproduced(shared: Path, cases: dict[str, dict], name: str) -> None:
    found = eigenvalues(*both(shared, cases[name]))
    assert found.difference == pytest.approx(cases[name]["output"]["eigen"], rel=1e-7)
    assert found.zero == 0


@pytest.mark.parametrize("name", [name for name in CASES if "casc" in name])
def test_an_eigenvalue_of_zero_is_left_out_where_the_reference_divides_by_it(shared, cases, name) -> None:
    # PTOTVAL = PEARNVAL + POTHVAL: the reference's figure is noise, negative for k = 5.
    found = eigenvalues(*both(shared, cases[name]))
    assert (found.used, found.zero) == (12, 1)
    assert found.difference > 0


def test_il1s_of_microaggregated_income_is_that_of_sdcmicro(shared: Path, cases: dict[str, dict]) -> None:
    x, y = both(shared, cases["mafast_income_k3"])
    assert il1s(x, y) == pytest.approx(cases["mafast_income_k3"]["output"]["il1s"], rel=1e-9)


def test_nothing_changed_is_no_loss_and_the_mean_everywhere_is_all() -> None:
    x = np.array([[1.0, 5.0], [2.0, 9.0], [6.0, 4.0], [7.0, 1.0]])
    assert (il1s(x, x), squared_error_share(x, x), eigenvalues(x, x).difference) == (0.0, 0.0, 0.0)
    assert squared_error_share(x, np.broadcast_to(x.mean(axis=0), x.shape)) == pytest.approx(1.0)


def test_cells_without_a_number_leave_their_pair_only() -> None:
    x = np.array([[1.0], [2.0], [np.nan], [4.0]])
    y = np.array([[1.0], [np.nan], [3.0], [5.0]])
    assert il1s(x, y) == pytest.approx(1 / (np.sqrt(2) * np.std([1.0, 4.0], ddof=1)))


def test_the_unit_of_a_variable_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40, 3))
    y = x + 0.1 * rng.normal(size=(40, 3))
    scale = np.array([1.0, 1000.0, 0.01])
    assert eigenvalues(x, y).difference == pytest.approx(eigenvalues(x * scale, y * scale).difference)
    assert il1s(x, y) == pytest.approx(il1s(x * scale, y * scale))
