"""Generalisation to a level of a hierarchy or of an official list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.hierarchy.errors import HierarchyGap, LevelOutsideHierarchy, ValuesOutsideBuilder, ValuesOutsideList
from celosia.hierarchy.registry import build
from celosia.hierarchy.rows import to_rows
from celosia.model.value_errors import WrongParameter
from celosia.techniques import apply_to_frame
from tests.techniques.small_tables import table_of, tables

AGES = {"builder": "intervals", "width": 10, "end": 119}
HOME = {"builder": "official", "list": "countries", "home": "CL"}


def generalise(cells: list[str], **settings: Any) -> list[str]:
    done = apply_to_frame(table_of(x=cells), {"technique": "generalise", "columns": ["x"], **settings}, b"")
    found: list[str] = done.table.column("x").to_pylist()
    return found


@pytest.mark.requirement("M16")
def test_age_to_ranges_and_country_to_chilean_or_not() -> None:
    assert generalise(["37", "", "*"], hierarchy=AGES) == ["30 a 39", "", "*"]
    assert generalise(["Perú", "Chile", "CL"], hierarchy=HOME) == ["No chileno", "Chileno", "Chileno"]


@pytest.mark.requirement("M17")
def test_an_official_list_gives_province_and_region_and_unknown_codes_stay() -> None:
    codes = ["05302", "5302", "99999"]
    assert generalise(codes, list="cl-cut", unknown=["99999"]) == ["053", "053", "99999"]
    assert generalise(codes, list="cl-cut", level=2, unknown=["99999"]) == ["05", "05", "99999"]


@pytest.mark.requirement("A27")
def test_the_departments_of_the_worked_example_become_natural_regions() -> None:
    regions = {"Andina": ["Bogotá", "Boyacá", "Antioquia"], "Pacifico": ["Chocó"], "Caribe": ["Atlántico"]}
    hierarchy = {"builder": "groups", "levels": [regions]}
    cells = ["Bogotá", "Boyacá", "Antioquia", "Chocó", "Atlántico"]
    assert generalise(cells, hierarchy=hierarchy) == ["Andina", "Andina", "Andina", "Pacifico", "Caribe"]


@given(tables(["x"]).filter(lambda table: table.num_rows > 0), st.integers(0, 1))
def test_a_step_publishes_what_the_hierarchy_says(table: pa.Table, level: int) -> None:
    cells = table.column("x").to_pylist()
    spec = {"builder": "mask", "steps": [1, 2], "width": 5, "uncovered": "suppress"}
    label = {row[0]: row[level] for row in to_rows(build(spec, cells))}
    assert generalise(cells, hierarchy=spec, level=level) == [label[cell] for cell in cells]


def test_frequencies_count_rows_and_not_distinct_values() -> None:
    spec = {"builder": "frequency", "minimums": [2], "rest": "Otros"}
    assert generalise(["a", "a", "b", "c"], hierarchy=spec) == ["a", "a", "Otros", "Otros"]


def test_a_hierarchy_file_is_read_and_its_gaps_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a;A\nb;B\n", "utf-8")
    assert generalise(["a", "b", ""], hierarchy={"file": str(path), "maximum": 1}) == ["A", "B", ""]
    with pytest.raises(HierarchyGap) as fault:
        generalise(["a", "Juana"], hierarchy={"file": str(path)})
    assert fault.value.values["missing"] == 1
    assert "Juana" not in str(fault.value)


def test_what_cannot_be_generalised_is_refused() -> None:
    with pytest.raises(ValuesOutsideList):
        generalise(["99999"], list="cl-cut")
    assert generalise(["99999", "05302"], list="cl-cut", uncovered="suppress") == ["*", "053"]
    with pytest.raises(ValuesOutsideBuilder):
        generalise(["treinta"], hierarchy=AGES)
    with pytest.raises(LevelOutsideHierarchy):
        generalise(["05302"], list="cl-cut", level=3)
    with pytest.raises(WrongParameter):
        generalise(["05302"])
    with pytest.raises(WrongParameter):
        generalise(["05302"], list="cl-cut", hierarchy=AGES)


def test_a_table_without_rows_stays_without_rows() -> None:
    assert generalise([], hierarchy=AGES) == []
