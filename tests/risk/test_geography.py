"""Every area above fifty units of the smallest unit; the finest level that passes; population floors."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.hierarchy.compile import compile_for
from celosia.hierarchy.errors import LevelOutsideHierarchy
from celosia.hierarchy.registry import build
from celosia.model.errors import UnknownVariable
from celosia.model.reports.geography import Treatment, UnitKind
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.assessment.errors import WholeNumberExpected
from celosia.pipeline.assessment.special_uniques import geography_rule, small_areas
from celosia.pipeline.planning.errors import UnusableCounts
from celosia.risk.geography import areas_by_level, geography_report
from celosia.tuples.table import Tuples

MASK = {"builder": "mask", "steps": [2, 5]}


def column_of(counts: dict[str, int]) -> Tuples:
    """One column as a compressed table."""
    values = sorted(counts)
    codes = np.arange(len(values), dtype=np.int32)[:, None]
    return Tuples(("area",), (tuple(values),), codes, np.array([counts[value] for value in values], np.int64))


def written(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.mark.requirement("P07")
@pytest.mark.parametrize(
    ("counts", "stays"),
    [
        ({"a": 51}, True),
        ({"a": 50}, False),
        ({"a": 50, "b": 60, "c": 200}, False),
        ({"a": 51, "b": 60, "c": 200}, True),
        ({"a": 60, "": 3, "*": 2, "99": 1}, True),
        ({"": 300}, False),
    ],
)
def test_a_variable_stays_only_if_its_smallest_area_has_more_than_fifty_units(
    counts: dict[str, int], stays: bool
) -> None:
    report = geography_report("area", areas_by_level(column_of(counts)), 50, unknown=("99",))
    assert report.levels[0].passes is stays
    assert report.treatments == ((Treatment.KEEP,) if stays else (Treatment.REMOVE,))


@pytest.mark.requirement("X20")
def test_what_names_no_area_is_reported_apart_and_is_not_the_minimum() -> None:
    column = column_of({"a": 60, "b": 70, "": 3, "*": 2, "99": 1})
    [level] = geography_report("area", areas_by_level(column), 50, unknown=("99",)).levels
    assert (level.areas, level.smallest, level.missing, level.masked, level.unknown) == (2, 60, 3, 2, 1)


@pytest.mark.requirement("X16")
def test_a_mixed_variable_goes_or_is_recoded_to_the_finest_level_that_passes() -> None:
    column = column_of({"05101": 10, "05102": 45, "13101": 500})
    hierarchy = compile_for(build(MASK, column.vocabularies[0]), column.vocabularies[0])
    report = geography_report("area", areas_by_level(column, hierarchy), 50)
    assert [level.smallest for level in report.levels] == [10, 55, None]
    assert (report.finest, report.treatments) == (1, (Treatment.RECODE, Treatment.REMOVE))
    assert report.levels[2].masked == 555  # at the top no area is left, so nothing passes there
    assert not report.levels[2].passes


@given(st.dictionaries(st.sampled_from([f"{a}{b}" for a in "12" for b in "123"]), st.integers(1, 120), min_size=1))
def test_the_smallest_area_decides_at_every_level(counts: dict[str, int]) -> None:
    column = column_of(counts)
    spec = {"builder": "mask", "steps": [1]}
    hierarchy = compile_for(build(spec, column.vocabularies[0]), column.vocabularies[0])
    levels = geography_report("area", areas_by_level(column, hierarchy), 50).levels
    groups: dict[str, int] = {}
    for value, count in counts.items():
        groups[value[0]] = groups.get(value[0], 0) + count
    assert [levels[0].passes, levels[1].passes] == [min(counts.values()) > 50, min(groups.values()) > 50]
    assert levels[0].small_areas == sum(count <= 50 for count in counts.values())


@pytest.mark.requirement("P08")
def test_units_are_individuals_and_not_households(tmp_path: Path) -> None:
    rows = [("norte", f"h{home}", f"p{home}-{number}") for home in range(30) for number in range(2)]
    path = written(tmp_path / "encuesta.csv", ["zona", "hogar", "persona"], rows)
    by_rows = geography_rule(path, "zona")
    assert (by_rows.unit, by_rows.levels[0].smallest, by_rows.finest) == (UnitKind.ROWS, 60, 0)
    assert geography_rule(path, "zona", unit="persona").treatments == (Treatment.KEEP,)
    by_household = geography_rule(path, "zona", unit="hogar")
    assert (by_household.levels[0].smallest, by_household.finest) == (30, None)


@pytest.mark.requirement("P08")
def test_a_file_of_households_counts_their_members(tmp_path: Path) -> None:
    path = written(tmp_path / "hogares.csv", ["zona", "miembros"], [("norte", 2)] * 30)
    assert geography_rule(path, "zona").finest is None
    report = geography_rule(path, "zona", members="miembros")
    assert (report.unit, report.unit_variable, report.units, report.finest) == (UnitKind.MEMBERS, "miembros", 60, 0)


@pytest.mark.requirement("P08")
def test_a_person_in_two_rows_of_an_area_is_one_unit(tmp_path: Path) -> None:
    rows = [("norte", f"p{number}") for number in range(30) for _ in range(2)]
    path = written(tmp_path / "visitas.csv", ["zona", "persona"], rows)
    assert geography_rule(path, "zona", unit="persona").levels[0].smallest == 30


def test_persons_are_counted_once_when_areas_merge(tmp_path: Path) -> None:
    rows = [(area, f"p{number}") for number in range(40) for area in ("0101", "0102")]
    path = written(tmp_path / "visitas.csv", ["zona", "persona"], rows)
    spec = {"builder": "mask", "steps": [2]}
    report = geography_rule(path, "zona", unit="persona", hierarchy=spec)
    assert [level.smallest for level in report.levels[:2]] == [40, 40]
    assert report.finest is None


def test_population_floors_are_counted_level_by_level(tmp_path: Path) -> None:
    path = written(tmp_path / "datos.csv", ["comuna"], [("0101",)] * 60 + [("0102",)] * 60 + [("0201",)] * 60)
    people = [("0101", 4_000), ("0102", 7_000), ("0103", 9_000), ("0202", 30_000)]
    table = written(tmp_path / "poblacion.csv", ["comuna", "habitantes"], people)
    spec = {"builder": "mask", "steps": [2]}
    report = geography_rule(path, "comuna", population=table, population_count="habitantes", hierarchy=spec)
    first = {count.floor: (count.areas, count.units, count.unknown_areas) for count in report.levels[0].floors}
    assert first == {10_000: (2, 120, 1), 20_000: (2, 120, 1), 100_000: (2, 120, 1)}
    # Upwards, areas where the file has nobody count too: 20.000 in one, 30.000 in the other.
    second = {count.floor: (count.areas, count.unknown_areas) for count in report.levels[1].floors}
    assert second == {10_000: (0, 0), 20_000: (0, 0), 100_000: (2, 0)}
    assert report.as_dict()["finest_by_floor"] == {"10000": 1, "20000": 1, "100000": None}


def test_the_report_names_no_area_and_the_names_are_given_on_request(tmp_path: Path) -> None:
    path = written(tmp_path / "datos.csv", ["zona"], [("PLANTADA",)] * 2 + [("otra",)] * 80)
    report = geography_rule(path, "zona")
    assert "PLANTADA" not in json.dumps(report.as_dict()) + repr(report)
    assert report.as_dict()["format"] == "celosia/geography/1"
    assert small_areas(path, "zona") == (("PLANTADA", 2),)


def test_official_codes_find_their_own_levels(tmp_path: Path) -> None:
    rows = [("05101",)] * 60 + [("05109",)] * 30 + [("05301",)] * 70
    report = geography_rule(written(tmp_path / "egresos.csv", ["COMUNA"], rows), "COMUNA")
    assert [level.areas for level in report.levels[:3]] == [3, 2, 1]
    assert report.finest == 1


def test_bad_input_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "datos.csv", ["zona", "miembros"], [("a", "2"), ("b", "dos")])
    with pytest.raises(UnknownVariable):
        geography_rule(path, "comuna")
    with pytest.raises(WholeNumberExpected) as refused:
        geography_rule(path, "zona", members="miembros")
    assert "dos" not in str(refused.value).split()
    with pytest.raises(ValueOutOfRange):
        geography_rule(path, "zona", minimum=-1)
    with pytest.raises(ValueOutOfRange):
        geography_rule(path, "zona", unit="miembros", members="miembros")
    with pytest.raises(LevelOutsideHierarchy):
        small_areas(path, "zona", level=9)
    with pytest.raises(UnusableCounts):
        geography_rule(path, "zona", population=path, population_count="miembros")


def test_real_deaths_by_comuna_pass_only_by_region_once_the_unknown_codes_are_declared(shared: Path) -> None:
    path = shared / "data" / "cl_deis_deaths_2024_release2.csv"
    assert geography_rule(path, "Codcom").finest is None  # 00000 and 99999 would be regions of one and six people
    report = geography_rule(path, "Codcom", unknown=("00000", "99999"))
    assert [level.areas for level in report.levels] == [331, 55, 16, 0]
    assert [level.unknown for level in report.levels[:3]] == [7, 7, 7]
    assert (report.finest, report.treatments) == (2, (Treatment.RECODE, Treatment.REMOVE))
