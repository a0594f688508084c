"""Hierarchies fitted to the vocabulary of a table."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from celosia import messages
from celosia.hierarchy.compile import compile_for, level_range
from celosia.hierarchy.csv import read_csv
from celosia.hierarchy.errors import HierarchyGap, LevelOutsideHierarchy
from celosia.hierarchy.registry import build
from celosia.hierarchy.rows import from_rows
from celosia.model.value_errors import ValueOutOfRange

FRUIT = from_rows(
    "fruta",
    [
        ("limón", "cítrico", "fruta", "*"),
        ("naranja", "cítrico", "fruta", "*"),
        ("pera", "pomo", "fruta", "*"),
        ("acelga", "hoja", "verdura", "*"),
    ],
)


def label_at(compiled, level, value):
    code = compiled.labels[0].index(value)
    return compiled.labels[level][compiled.maps[level][code]]


def test_level_0_is_the_vocabulary_itself():
    compiled = compile_for(FRUIT, ("acelga", "pera"))
    assert compiled.labels[0] == ("acelga", "pera")
    assert compiled.maps[0].tolist() == [0, 1]
    assert all(table.dtype == np.int32 for table in compiled.maps)


def test_shares_count_every_leaf_of_the_hierarchy_also_those_not_in_the_data():
    compiled = compile_for(FRUIT, ("acelga", "pera"))
    assert compiled.leaf_count == 4
    shares = [dict(zip(*pair, strict=True)) for pair in zip(compiled.labels, compiled.shares, strict=True)]
    assert shares == [
        {"acelga": 0.25, "pera": 0.25},
        {"hoja": 0.25, "pomo": 0.25},
        {"fruta": 0.75, "verdura": 0.25},
        {"*": 1.0},
    ]


def test_a_gap_names_its_count_and_the_file_and_not_the_values():
    with pytest.raises(HierarchyGap) as caught:
        compile_for(FRUIT, ("pera", "Juana", "Pedro"), file="hierarchies/fruta.csv")
    assert caught.value.values == {"variable": "fruta", "missing": 2, "file": "hierarchies/fruta.csv"}
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            assert "Juana" not in str(caught.value)
            assert "hierarchies/fruta.csv" in str(caught.value)


def test_uncovered_values_may_be_sent_to_an_asterisk():
    compiled = compile_for(FRUIT, ("durazno", "pera"), gap="suppress")
    assert [label_at(compiled, level, "durazno") for level in range(4)] == ["durazno", "*", "*", "*"]
    assert compiled.leaf_count == 5


def test_missing_masked_and_unknown_values_are_categories_of_their_own_until_the_top():
    compiled = compile_for(FRUIT, ("", "*", "99999", "pera"), unknown=("99999",))
    for value in ("", "*", "99999"):
        assert [label_at(compiled, level, value) for level in range(4)] == [value, value, value, "*"]
    assert compiled.leaf_count == 7
    assert compiled.shares[3].tolist() == [1.0]


def test_without_a_top_they_stay_apart_at_every_level():
    low = from_rows("v", [("a", "X"), ("b", "X")])
    compiled = compile_for(low, ("", "a", "b"))
    assert [label_at(compiled, 1, value) for value in ("", "a", "b")] == ["", "X", "X"]


def test_a_special_value_whose_name_is_a_group_goes_where_the_group_goes():
    odd = from_rows("v", [("a", "", "vacío"), ("b", "B", "lleno")])
    compiled = compile_for(odd, ("", "a", "b"))
    assert label_at(compiled, 1, "") == ""
    assert label_at(compiled, 2, "") == "vacío"


def test_an_undeclared_unknown_code_is_a_gap():
    with pytest.raises(HierarchyGap):
        compile_for(FRUIT, ("99999",))


def test_a_gap_policy_that_does_not_exist_is_refused():
    with pytest.raises(ValueOutOfRange):
        compile_for(FRUIT, ("pera",), gap="ignore")


@pytest.mark.requirement("M24")
def test_minimum_and_maximum_levels_are_within_the_hierarchy():
    assert level_range(FRUIT) == range(4)
    assert level_range(FRUIT, 0, 0) == range(1)
    assert level_range(FRUIT, 1) == range(1, 4)
    for minimum, maximum in ((0, 4), (-1, 2), (2, 1), (4, None)):
        with pytest.raises(LevelOutsideHierarchy):
            level_range(FRUIT, minimum, maximum)


def test_an_empty_vocabulary_compiles():
    compiled = compile_for(FRUIT, ())
    assert compiled.labels == ((), (), (), ())
    assert compiled.height == 3


def test_the_adult_reference_loss_follows_from_the_compiled_shares(shared):
    """The levels and the loss of a case without suppressed rows, from METRICS.md."""
    folder = shared / "reference" / "arx" / "adult"
    cases = json.loads((shared / "reference" / "arx" / "cases.json").read_text("utf-8"))
    case = whole_case(cases)
    with (folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    losses = []
    for name, level in zip(case["quasi"], case["levels"], strict=True):
        hierarchy, _ = read_csv(folder / f"adult_hierarchy_{name}.csv", name)
        values, counts = np.unique([row[name] for row in rows], return_counts=True)
        compiled = compile_for(hierarchy, [str(value) for value in values])
        spread = float((compiled.shares[level][compiled.maps[level]] * counts).sum())
        least = len(rows) / compiled.leaf_count
        losses.append((spread - least) / (len(rows) - least))
    total = float(np.prod(np.add(losses, 1)) ** (1 / len(losses)) - 1)
    assert total == pytest.approx(case["loss"], rel=1e-8)


def whole_case(cases):
    return next(case for case in cases["cases"] if case["metric"] == "loss" and case["suppressed_rows"] == 0)


def test_the_age_bands_of_the_death_register_fit_its_vocabulary(shared):
    path = shared / "data" / "cl_deis_deaths_2024_release2.csv"
    with path.open(encoding="utf-8", newline="") as file:
        ages = sorted({row["Edad"] for row in csv.DictReader(file)})
    hierarchy = build({"builder": "intervals", "width": 10, "end": 118, "complete": True}, ages, variable="Edad")
    compiled = compile_for(hierarchy, ages)
    assert compiled.leaf_count == 119
    assert label_at(compiled, 1, "63") == "60 a 69"
    assert dict(zip(compiled.labels[1], compiled.shares[1], strict=True))["110 a 119"] == pytest.approx(9 / 119)
