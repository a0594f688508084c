"""The reference figures of frequencies, individual, household and global risk, k-violations and l-diversity."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from celosia.pipeline.assessment.individual_risk import people_risk
from celosia.risk.criteria import RecursiveL
from celosia.risk.frequencies import Frequencies, row_frequencies
from celosia.risk.individual import global_risk, household_risk, individual_risk, violations
from celosia.risk.sensitive import class_values
from tests.risk.rows import tuples_of

K5 = ("urbrur", "roof", "walls", "water", "sex")
FRANC = ("Key1", "Key2", "Key3", "Key4")


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "reference" / "sdcmicro"


@pytest.fixture(scope="module")
def cases(folder: Path) -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in json.loads((folder / "cases.json").read_text("utf-8"))["cases"]}


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def column(rows: list[dict[str, str]], name: str) -> np.ndarray:
    return np.array([float(row[name]) for row in rows])


def counted(
    rows: list[dict[str, str]], names: tuple[str, ...], weight: str | None = None, alpha: float | None = None
) -> Frequencies:
    """fk and Fk of each row; an empty cell or NA is missing."""
    cells = [[row[name].replace("NA", "") for name in names] for row in rows]
    vocabulary = {cell: code for code, cell in enumerate(sorted({cell for row in cells for cell in row}))}
    codes = np.array([[vocabulary[cell] for cell in row] for row in cells])
    empty = np.array([[cell == "" for cell in row] for row in cells])
    weights = None if weight is None else column(rows, weight)
    return row_frequencies(codes, weights, None if alpha is None else empty, alpha or 0.0)


FREQUENCIES = [
    ("fc_francdat_w", FRANC, "w", None),
    ("fc_francdat_now", FRANC, None, None),
    ("fc_francdat_na_alpha1", FRANC, "w", 1.0),
    ("fc_francdat_na_alpha0", FRANC, "w", 0.0),
    ("fc_testdata_K5", K5, "w2", None),
    ("fc_testdata_na_K5_alpha1", K5, "w2", 1.0),
    ("fc_testdata_na_K5_alpha0", K5, "w2", 0.0),
]


@pytest.mark.parametrize(("case", "names", "weight", "alpha"), FREQUENCIES, ids=lambda value: str(value))
def test_frequencies_and_violations(folder, cases, case, names, weight, alpha) -> None:
    given, output = cases[case], cases[case]["output"]
    found = counted(table(folder / "data" / given["input"]), names, weight, alpha)
    expected = {key: output[key] for key in ("fk", "Fk") if key in output}
    if isinstance(given["rows_csv"], str):
        rows = table(folder / "rows" / given["rows_csv"])
        expected = {"fk": column(rows, "fk"), "Fk": column(rows, "Fk")}
    assert found.sample == pytest.approx(np.array(expected["fk"], float), abs=given["tolerance"])
    assert found.population == pytest.approx(np.array(expected["Fk"], float), abs=given["tolerance"])
    if "violations" in output:
        assert violations(found) == {int(k[1:]): rows for k, rows in output["violations"].items()}
        assert found.sample.sum() == output["sum_fk"]
        assert found.population.sum() == output["sum_Fk"]
    for name, size in (("n1", 1), ("n2", 2)):
        if name in output:
            assert (found.sample == size).sum() == output[name]


def test_individual_risk_of_the_small_table(folder, cases) -> None:
    given = cases["ir_francdat_approx"]
    rows = table(folder / "data" / given["input"])
    found = individual_risk(counted(rows, FRANC, "w"))
    assert found == pytest.approx(np.array(given["output"]["rk"]), abs=given["tolerance"])
    alone = cases["ir_francdat_nosurvey"]
    assert individual_risk(counted(rows, FRANC)) == pytest.approx(alone["output"]["rk"], abs=alone["tolerance"])


def test_individual_household_and_global_risk(folder, cases) -> None:
    given = cases["mr_testdata_hh_K5"]
    rows, output = table(folder / "data" / given["input"]), given["output"]
    expected = table(folder / "rows" / given["rows_csv"])
    found = individual_risk(counted(rows, K5, "w2"))
    homes = np.unique([row["ori_hid"] for row in rows], return_inverse=True)[1]
    together = household_risk(found, homes)[homes]
    assert found == pytest.approx(column(expected, "risk"), abs=given["tolerance"])
    assert together == pytest.approx(column(expected, "hier_risk"), abs=given["tolerance"])
    whole, of_homes = global_risk(found), global_risk(together)
    assert whole.expected == pytest.approx(output["global_risk_ER"], abs=1e-9)
    assert whole.rate == pytest.approx(output["global_risk"], abs=1e-12)
    assert of_homes.expected == pytest.approx(output["hier_risk_ER"], abs=1e-9)
    assert of_homes.rate == pytest.approx(output["hier_risk"], abs=1e-12)
    assert whole.high_rows == output["n_high_risk"]


def test_without_weights_the_risk_is_one_over_f(folder, cases) -> None:
    given = cases["mr_testdata_noweight_K5"]
    found = individual_risk(counted(table(folder / "data" / given["input"]), K5))
    assert global_risk(found).expected == pytest.approx(given["output"]["global_risk_ER"], abs=1e-9)
    assert found.mean() == pytest.approx(given["output"]["global_risk"], abs=1e-12)
    assert found.max() == given["output"]["max_risk"]
    assert (found >= 0.3).sum() == given["output"]["n_risk_ge_0.3"]


def test_individual_risk_with_missing_keys(folder, cases) -> None:
    given = cases["mr_testdata_na_K5"]
    found = individual_risk(counted(table(folder / "data" / given["input"]), K5, "w2", 1.0))
    expected = column(table(folder / "rows" / given["rows_csv"]), "risk")
    assert found == pytest.approx(expected, abs=given["tolerance"])
    assert global_risk(found).expected == pytest.approx(given["output"]["global_risk_ER"], abs=1e-9)


def test_the_verb_gives_the_same_from_the_file(folder, cases) -> None:
    path = folder / "data" / "testdata_w2.csv"
    report = people_risk(path, K5, weight="w2", household="ori_hid").as_dict()
    output = cases["mr_testdata_hh_K5"]["output"]
    assert report["global"]["expected_reidentifications"] == pytest.approx(output["global_risk_ER"], abs=1e-9)
    assert report["global"]["household_rate"] == pytest.approx(output["hier_risk"], abs=1e-12)
    assert report["frequencies"]["violations"] == {"2": 12, "3": 24, "5": 79}
    assert report["frequencies"]["classes"] == cases["fc_testdata_K5"]["output"]["n_classes"]
    gaps = people_risk(folder / "data" / "testdata_na.csv", K5, weight="w2", alpha=1).as_dict()
    output = cases["mr_testdata_na_K5"]["output"]
    assert gaps["global"]["expected_reidentifications"] == pytest.approx(output["global_risk_ER"], abs=1e-9)


def largest_recursive_l(counts: list[int], c: int) -> int:
    """The largest l for which the class is recursive (c, l)-diverse by our criterion; 1 at least."""
    from celosia.risk.criteria import Classes, Domain, ValueCounts

    values = np.arange(len(counts), dtype=np.int32)
    held = ValueCounts(np.array([0, len(counts)]), values, np.array(counts))
    domain = Domain("s", tuple(map(str, values)), np.array(counts), np.ones(len(counts), bool))
    one = Classes(np.array([sum(counts)]), None, {"s": held}, {"s": domain})
    passing = [size for size in range(1, len(counts) + 1) if RecursiveL(variable="s", l=size, c=c).judge(one)[0]]
    return max(passing, default=1)


def test_l_diversity_distinct_entropy_and_recursive(folder, cases) -> None:
    given = cases["ldiv_testdata_K5_hhcivil"]
    rows = table(folder / "data" / given["input"])
    expected = table(folder / "rows" / given["rows_csv"])
    cells = [(*(row[name] for name in K5), row["hhcivil"]) for row in rows]
    kept = class_values(tuples_of(cells, (*K5, "hhcivil"))).classes
    share = kept.share
    entropy = np.exp(-np.add.reduceat(share * np.log(share), kept.start))
    classes = sorted({cell[:-1] for cell in cells})
    number = {key: place for place, key in enumerate(classes)}
    label = np.array([number[cell[:-1]] for cell in cells])
    assert kept.distinct[label].tolist() == column(expected, "hhcivil_Distinct_Ldiversity").tolist()
    assert entropy[label] == pytest.approx(column(expected, "hhcivil_Entropy_Ldiversity"), abs=given["tolerance"])
    held = defaultdict(Counter)
    for cell in cells:
        held[cell[:-1]][cell[-1]] += 1
    ranks = np.array([largest_recursive_l(sorted(held[key].values(), reverse=True), 2) for key in classes])
    assert ranks[label].tolist() == column(expected, "hhcivil_Recursive_Ldiversity").tolist()
    assert (kept.distinct[label] < 2).sum() == given["output"]["n_distinct_lt2"]
    assert (kept.distinct[label] < 3).sum() == given["output"]["n_distinct_lt3"]
    assert (entropy[label] < 2).sum() == given["output"]["n_entropy_lt2"]
