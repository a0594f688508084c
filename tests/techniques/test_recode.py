"""Global recoding by a declared map; what the map lacks stops the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.value_errors import WrongParameter
from celosia.techniques import StepInput, apply_to_frame, technique
from celosia.techniques.errors import UnmappedValues
from celosia.techniques.recode import values_without_map
from tests.techniques.small_tables import TEXTS, rows_of, table_of, tables

NAMES = table_of(name=["Universidad A", "Taller B", "Universidad A", "", "*", "99999", "Instituto C"])
KINDS = {"Universidad A": "terciaria", "Taller B": "oficio"}


def recode(table: pa.Table, **settings: Any) -> Any:
    return apply_to_frame(table, {"technique": "recode", **settings}, b"")


@pytest.mark.requirement("A25", "Y12")
def test_values_without_a_counterpart_stop_the_run_with_their_count_and_no_name() -> None:
    with pytest.raises(UnmappedValues) as fault:
        recode(NAMES, columns=["name"], map=KINDS, unknown=["99999"])
    assert (fault.value.values["distinct"], fault.value.values["rows"]) == (1, 1)
    assert "Instituto" not in str(fault.value)


@pytest.mark.requirement("A25", "Y12")
def test_the_list_of_what_is_lacking_can_be_asked_for() -> None:
    settings = technique("recode").read_settings({"columns": ["name"], "map": KINDS})
    column = {"name": NAMES.column("name").combine_chunks()}
    assert values_without_map(StepInput(column, np.ones(7, np.int64)), settings) == ["99999", "Instituto C"]


@pytest.mark.requirement("Y12")
def test_others_gather_the_rest_and_special_cells_stay() -> None:
    done = recode(NAMES, columns=["name"], map=KINDS, others="Otra", unknown=["99999"], into="kind")
    assert done.table.to_pydict() == {
        "kind": ["terciaria", "oficio", "terciaria", "", "*", "99999", "Otra"],
    }
    assert done.change.renamed == {"kind": "name"}


def test_special_cells_change_when_the_map_names_them_and_are_not_read_twice() -> None:
    declared = {"a": "", "": "Sin dato", "*": "Reservado", "99999": "No sabe"}
    done = recode(table_of(x=["a", "", "*", "99999"]), columns=["x"], map=declared, unknown=["99999"])
    assert done.table.column("x").to_pylist() == ["", "Sin dato", "Reservado", "No sabe"]


@given(tables(["a", "b"]), st.dictionaries(st.sampled_from(TEXTS), st.sampled_from(TEXTS), min_size=1))
def test_each_cell_follows_the_map_alone(table: pa.Table, declared: dict[str, str]) -> None:
    before = rows_of(table)
    done = recode(table, columns=["a"], map=declared, others="resto")
    expected = [declared.get(a, a if a == "" or not a.strip("*") else "resto") for a, _ in before]
    assert done.table.column("a").to_pylist() == expected
    assert rows_of(table) == before


@pytest.mark.parametrize(
    "settings",
    [
        {"columns": ["name"], "map": {"a": 1}},
        {"columns": ["name"], "map": ["a"]},
        {"columns": ["name"]},
        {"columns": ["name", "name2"], "map": {"a": "b"}, "into": "x"},
    ],
)
def test_a_map_that_is_no_map_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(WrongParameter):
        recode(table_of(name=["a"], name2=["a"]), **settings)
