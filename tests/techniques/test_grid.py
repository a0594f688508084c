"""Coordinates to cells of at least so many kilometres both ways, anywhere on the globe."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.value_errors import WrongParameter
from celosia.techniques import apply_to_frame
from celosia.techniques.errors import NotNumeric, UnreadableCells
from celosia.techniques.grid import bands, cells_around, cells_of, label_of
from tests.techniques.small_tables import table_of

MEAN_RADIUS = 6371.0088
LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)
SIZES = st.sampled_from([1.0, 5.0, 10.0, 25.0, 100.0, 333.3, 2000.0, 9900.0])


def great_circle(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Kilometres between two points (latitude, longitude) on the sphere, by the haversine."""
    (a, b), (c, d) = (map(math.radians, point) for point in (one, other))
    half = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * MEAN_RADIUS * math.asin(math.sqrt(min(half, 1.0)))


def gridded(table: pa.Table, **settings: Any) -> Any:
    return apply_to_frame(table, {"technique": "grid", "latitude": "lat", "longitude": "lng", **settings}, b"")


def cell(latitude: float, longitude: float, km: float) -> tuple[int, int]:
    band, column = cells_of(np.array([latitude]), np.array([longitude]), km)
    return int(band[0]), int(column[0])


@pytest.mark.requirement("Y06")
@given(LATITUDES, LONGITUDES, SIZES)
def test_every_cell_measures_at_least_what_was_asked_both_ways(latitude: float, longitude: float, km: float) -> None:
    band, column = cell(latitude, longitude, km)
    count, north = bands(km), band if band >= 0 else -1 - band
    low, high = 90 * north / count, 90 * (north + 1) / count
    assert low - 1e-9 <= abs(latitude) <= high + 1e-9
    assert great_circle((low, 0), (high, 0)) >= km
    around = cells_around(north, count, km)
    if around == 1:  # the cap: no point of its rim is nearer to the pole than the side
        assert north == count - 1
        return
    assert 0 <= column < around
    west, east = 360 * column / around - 180, 360 * (column + 1) / around - 180
    assert west - 1e-9 <= (longitude if longitude < 180 else -180) <= east + 1e-9
    assert great_circle((high, west), (high, east)) >= km
    assert great_circle((low, west), (low, east)) >= km


@given(SIZES, st.data())
def test_labels_tell_cells_apart(km: float, data: Any) -> None:
    first = cell(data.draw(LATITUDES), data.draw(LONGITUDES), km)
    around = cells_around(first[0] if first[0] >= 0 else -1 - first[0], bands(km), km)
    second = data.draw(st.sampled_from([(first[0], (first[1] + 1) % around), cell(data.draw(LATITUDES), 0.0, km)]))
    assert (label_of(*first, km) == label_of(*second, km)) == (first == second)


def test_both_sides_of_the_antimeridian_are_one_line_and_the_pole_is_one_cell() -> None:
    assert cell(-17.0, 180.0, 10) == cell(-17.0, -180.0, 10)
    assert cell(-17.0, 179.99, 10) != cell(-17.0, -179.99, 10)
    assert len({cell(90.0, lng, 10) for lng in (-180.0, -90.0, 0.0, 12.5, 180.0)}) == 1
    assert cell(0.0001, 0.0, 10) != cell(-0.0001, 0.0, 10)


@pytest.mark.requirement("Y06")
def test_the_exact_coordinates_leave_and_the_cell_takes_their_place() -> None:
    table = table_of(
        id=["a", "b", "c", "d", "e"],
        lat=["-25.2637", "-25.2640", "", "*", "-25"],
        lng=["-57.5759", "-57.5760", "", "-57", "999"],
    )
    before = table.to_pydict()
    done = gridded(table, unknown=["999"], into="cell_10km")
    assert done.table.column_names == ["id", "cell_10km"]
    assert done.table.column("cell_10km").to_pylist() == ["S25.28 W057.59", "S25.28 W057.59", "", "*", "999"]
    assert done.change.removed == ("lat", "lng")
    assert done.change.notes["cells"] == 1
    assert table.to_pydict() == before


def test_a_label_is_the_centre_of_its_cell() -> None:
    done = gridded(table_of(lat=["-25,2637"], lng=["-57,5759"]), decimal=",", km=50)
    south, west = (float(part[1:]) for part in done.table.column("cell").to_pylist()[0].split())
    assert great_circle((-south, -west), (-25.2637, -57.5759)) < 50


@pytest.mark.requirement("Y06")
def test_degrees_out_of_range_and_text_are_refused_with_their_count() -> None:
    with pytest.raises(UnreadableCells) as fault:
        gridded(table_of(lat=["-95", "-95", "10"], lng=["0", "0", "0"]))
    assert (fault.value.values["variable"], fault.value.values["rows"]) == ("lat", 2)
    with pytest.raises(UnreadableCells):
        gridded(table_of(lat=["5"], lng=["180.01"]))
    with pytest.raises(NotNumeric):
        gridded(table_of(lat=["Asunción"], lng=["1"]))
    for km in (0, "0.5", 10_000, -3):
        with pytest.raises(WrongParameter):
            gridded(table_of(lat=["5"], lng=["1"]), km=km)


def test_no_rows_and_only_missing_cells_are_accepted() -> None:
    assert gridded(table_of(lat=[], lng=[])).table.column("cell").to_pylist() == []
    assert gridded(table_of(lat=["", "*"], lng=["", ""])).table.column("cell").to_pylist() == ["", "*"]
