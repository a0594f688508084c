"""Rare values as counts, their list on request, and the strong indirect identifiers proposed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.errors import UnknownVariable
from celosia.model.reports.rarity import StrongReason
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Kind, Role, Scale, Variable
from celosia.pipeline.assessment.special_uniques import rare_value_list
from celosia.pipeline.assessment.special_uniques import rare_values as rare_values_verb
from celosia.risk.rarity import rare_values

CATEGORY = Variable("x", role=Role.PLAIN, scale=Scale.CATEGORICAL)


def table(path: Path) -> Path:
    """Sixty people, one with an unusual post and one with a rare disease; every car has its plate."""
    posts = ["profesor"] * 40 + ["enfermera"] * 19 + ["astronauta"]
    diseases = ["J18"] * 30 + ["I10"] * 29 + ["E75"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["cargo", "diagnostico", "patente", "sexo"])
        for i, (post, disease) in enumerate(zip(posts, diseases, strict=True)):
            writer.writerow([post, disease, f"BC{chr(66 + i % 20)}{chr(70 + i // 20)}{i % 9}{i % 7}", "HM"[i % 2]])
    return path


@pytest.mark.requirement("P18")
def test_plates_unusual_posts_and_rare_diseases_are_proposed_as_strong(tmp_path: Path) -> None:
    report = rare_values_verb(table(tmp_path / "datos.csv"))
    assert {variable.name: variable.strong for variable in report.variables} == {
        "cargo": StrongReason.RARE,
        "diagnostico": StrongReason.RARE,
        "patente": StrongReason.NATURE,
        "sexo": None,
    }
    assert report.strong == ("cargo", "diagnostico", "patente")


@pytest.mark.requirement("P19")
def test_values_at_or_below_the_threshold_are_counted_and_listed_on_request(tmp_path: Path) -> None:
    path = table(tmp_path / "datos.csv")
    [post] = rare_values_verb(path, variables=["cargo"]).variables
    assert (post.values, post.rare_values, post.rare_units, post.single_values) == (3, 1, 1, 1)
    assert rare_value_list(path, "cargo") == (("astronauta", 1),)
    assert rare_value_list(path, "cargo", threshold=19) == (("astronauta", 1), ("enfermera", 19))


@given(st.lists(st.sampled_from(["a", "b", "c", "", "*", "99"]), max_size=30), st.integers(1, 5))
def test_rare_values_are_those_few_rows_hold(cells: list[str], threshold: int) -> None:
    values = sorted(set(cells))
    units = np.array([cells.count(value) for value in values], np.int64)
    found = rare_values(values, units, threshold, Variable("x", unknown=("99",)))
    slow = [value for value in "abc" if 0 < cells.count(value) <= threshold]
    assert (found.rare_values, found.rare_units) == (len(slow), sum(cells.count(value) for value in slow))


@pytest.mark.requirement("P18")
@pytest.mark.parametrize(
    ("variable", "counts", "reason"),
    [
        (Variable("x", role=Role.QUASI, strong=True), [5, 5], StrongReason.NATURE),
        (Variable("x", role=Role.SENSITIVE, scale=Scale.CATEGORICAL), [1, 50], StrongReason.RARE),
        (Variable("x", role=Role.SENSITIVE, scale=Scale.CATEGORICAL), [4, 50], None),
        (Variable("x", role=Role.QUASI, scale=Scale.CATEGORICAL, kind=Kind.LOCATION, special=True), [1, 50], None),
        (CATEGORY, [1, 50], None),
        (CATEGORY, [1] * 40 + [2], StrongReason.NEARLY_UNIQUE),
        (Variable("x", role=Role.PLAIN, scale=Scale.CONTINUOUS), [1] * 40, None),
        (Variable("x", role=Role.IDENTIFIER, strong=True, scale=Scale.CATEGORICAL), [1] * 40, StrongReason.NATURE),
        (Variable("x", role=Role.IDENTIFIER, scale=Scale.CATEGORICAL), [1] * 40, None),
        (Variable("x", role=Role.QUASI, scale=Scale.CATEGORICAL, strong=True), [1, 50], StrongReason.RARE),
    ],
)
def test_each_proposal_has_its_reason(variable: Variable, counts: list[int], reason: StrongReason | None) -> None:
    values = [f"v{i:02d}" for i in range(len(counts))]
    assert rare_values(values, np.array(counts, np.int64), 3, variable).strong is reason


def test_persons_are_counted_where_a_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "visitas.csv"
    path.write_text("id,servicio\n" + "1,urgencia\n" * 5 + "2,urgencia\n3,sala\n4,sala\n", "utf-8")
    report = rare_values_verb(path, threshold=2, variables=["servicio"], person="id")
    assert (report.unit, report.units) == ("persons", 4)
    assert report.variables[0].rare_values == 2


def test_the_report_holds_no_value(tmp_path: Path) -> None:
    report = rare_values_verb(table(tmp_path / "datos.csv"))
    assert "astronauta" not in json.dumps(report.as_dict()) + repr(report)
    assert report.as_dict()["format"] == "celosia/rarity/1"


def test_bad_input_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "datos.csv")
    with pytest.raises(ValueOutOfRange):
        rare_values_verb(path, threshold=0)
    with pytest.raises(UnknownVariable):
        rare_value_list(path, "puesto")
