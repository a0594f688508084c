"""Coordinates or places to their region."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.value_errors import WrongParameter
from celosia.storage import FileMissing
from celosia.techniques import StepInput, apply_to_frame, technique
from celosia.techniques._geography import area_of, read_areas
from celosia.techniques.errors import PointsOutsideAreas, UnmappedValues, UnusableAreas
from celosia.techniques.region import values_without_region
from tests.techniques.small_tables import table_of

SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]
HOLE = [[4, 4], [4, 6], [6, 6], [6, 4], [4, 4]]
EAST = [[[10, 0], [10, 10], [20, 10], [20, 0], [10, 0]]]
ISLAND = [[[30, 0], [31, 0], [31, 1], [30, 0]]]


def feature(name: Any, kind: str, coordinates: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": {"name": name}, "geometry": {"type": kind, "coordinates": coordinates}}


WEST_AREA = feature("01", "Polygon", [SQUARE, HOLE])
EAST_AREA = feature("02", "MultiPolygon", [EAST, ISLAND])


@pytest.fixture
def areas(tmp_path: Path) -> Path:
    return written(tmp_path, [WEST_AREA, EAST_AREA])


def written(folder: Path, features: Any) -> Path:
    path = folder / "areas.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), "utf-8")
    return path


def regioned(table: pa.Table, **settings: Any) -> Any:
    return apply_to_frame(table, {"technique": "region", **settings}, b"")


def of_points(points: list[tuple[str, str]], areas: Path, **settings: Any) -> Any:
    table = table_of(lat=[lat for lat, _ in points], lng=[lng for _, lng in points], k=["x"] * len(points))
    return regioned(table, latitude="lat", longitude="lng", areas=str(areas), **settings)


@pytest.mark.requirement("Y05")
def test_a_city_of_central_becomes_its_official_code_however_it_is_written() -> None:
    done = regioned(
        table_of(city=["Luque", "LAMBARE", " Ñemby", "asunción", "1109", "", "*"]),
        place="city",
        list="py-distritos",
        into="region_code",
    )
    assert done.table.to_pydict() == {"region_code": ["11", "11", "11", "00", "11", "", "*"]}


@pytest.mark.requirement("Y05")
def test_an_unknown_city_is_an_error_with_its_count_and_never_a_blank() -> None:
    table = table_of(city=["Luque", "Macondo", "Macondo", "Comala"])
    with pytest.raises(UnmappedValues) as fault:
        regioned(table, place="city", list="py-distritos")
    assert (fault.value.values["distinct"], fault.value.values["rows"]) == (2, 3)
    assert "Macondo" not in str(fault.value)
    settings = technique("region").read_settings({"place": "city", "list": "py-distritos"})
    column = {"city": table.column("city").combine_chunks()}
    assert values_without_region(StepInput(column, np.ones(4, np.int64)), settings) == ["Comala", "Macondo"]
    assert regioned(table, place="city", list="py-distritos", others="99").table.column("region").to_pylist() == [
        "11", "99", "99", "99",
    ]  # fmt: skip


def test_a_name_of_several_regions_is_unknown_and_one_label_may_be_the_name() -> None:
    with pytest.raises(UnmappedValues):
        regioned(table_of(city=["La Unión"]), place="city", list="co-divipola")  # Antioquia, Nariño, Sucre, Valle
    named = regioned(table_of(c=["5302"]), place="c", list="cl-cut", level="province", labels="both")
    assert named.table.column("region").to_pylist() == ["053 Los Andes"]


@pytest.mark.requirement("Y05")
def test_a_file_of_equivalences_serves_for_places_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "zones.csv"
    path.write_text("Zona norte;11\nZona sur;10\n", "utf-8")
    done = regioned(table_of(zone=["Zona sur", "Zona norte", ""]), place="zone", mapping=str(path))
    assert done.table.to_pydict() == {"region": ["10", "11", ""]}
    with pytest.raises(UnmappedValues):
        regioned(table_of(zone=["Zona este"]), place="zone", mapping=str(path))


@pytest.mark.requirement("Y05")
def test_points_fall_in_their_polygon_with_holes_and_parts(areas: Path) -> None:
    points = [("5", "1"), ("5", "15"), ("0.2", "30.5"), ("", ""), ("*", "3")]
    done = of_points(points, areas)
    assert done.table.to_pydict() == {"region": ["01", "02", "02", "", "*"], "k": ["x"] * 5}
    assert done.change.removed == ("lat", "lng")


def test_a_point_in_a_hole_or_outside_is_refused_with_its_count_unless_others_name_it(areas: Path) -> None:
    points = [("5", "5"), ("50", "50"), ("50", "50"), ("1", "1")]
    with pytest.raises(PointsOutsideAreas) as fault:
        of_points(points, areas)
    assert fault.value.values == {"file": "areas.geojson", "rows": 3}
    done = of_points(points, areas, others="Fuera")
    assert done.table.column("region").to_pylist() == ["Fuera", "Fuera", "Fuera", "01"]
    assert done.change.notes["rows_outside"] == 3


@given(st.floats(0, 9.999), st.floats(0.001, 30), st.floats(-30, 30))
def test_a_point_on_a_shared_border_is_in_exactly_one_area(y: float, one: float, other: float) -> None:
    # A slanted border written in one direction by one area and in the other by its neighbour.
    west = [[[-50, 0], [one, 0], [other, 10], [-50, 10], [-50, 0]]]
    east = [[[50, 0], [50, 10], [other, 10], [one, 0], [50, 0]]]
    features = [feature("w", "Polygon", west), feature("e", "Polygon", east)]
    parts = _parts_of(features)
    low_x, high_x = one, other
    x = low_x + y * ((high_x - low_x) / 10)
    inside = [area_of((part,), np.array([x]), np.array([y]))[0][0] == 0 for part in parts]
    assert sum(inside) == 1


def _parts_of(features: list[dict[str, Any]]) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return read_areas(written(Path(folder), features), "name")


@given(st.lists(st.tuples(st.floats(-5, 35), st.floats(-5, 15)), min_size=1, max_size=20))
def test_areas_agree_with_a_slow_walk_around_each_ring(points: list[tuple[float, float]]) -> None:
    parts = _parts_of([WEST_AREA, EAST_AREA])
    x, y = (np.array(axis) for axis in zip(*points, strict=True))
    found, several = area_of(parts, x, y)
    rings = [[SQUARE, HOLE], EAST, ISLAND]
    for (px, py), place in zip(points, found.tolist(), strict=True):
        inside = [sum(_winding(ring, px, py) for ring in polygon) % 2 == 1 for polygon in rings]
        if not any(_near_border(ring, px, py) for polygon in rings for ring in polygon):
            assert place == (inside.index(True) if any(inside) else -1)
    assert not several.any()


def _winding(ring: list[list[float]], x: float, y: float) -> int:
    """1 where the angle swept around the ring is a full turn."""
    angles = [np.arctan2(b - y, a - x) for a, b in ring]
    turns = [(second - first + np.pi) % (2 * np.pi) - np.pi for first, second in pairwise(angles)]
    return round(abs(sum(turns)) / (2 * np.pi))


def _near_border(ring: list[list[float]], x: float, y: float) -> bool:
    for (a, b), (c, d) in pairwise(ring):
        along = np.clip(((x - a) * (c - a) + (y - b) * (d - b)) / ((c - a) ** 2 + (d - b) ** 2), 0, 1)
        if np.hypot(x - a - along * (c - a), y - b - along * (d - b)) < 1e-6:
            return True
    return False


def test_overlapping_areas_give_the_first_and_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, [feature(1, "Polygon", [SQUARE]), feature(2, "Polygon", [SQUARE])])
    done = of_points([("5", "5")], path)
    assert done.table.column("region").to_pylist() == ["1"]
    assert done.change.notes["rows_in_several_areas"] == 1


@pytest.mark.parametrize(
    "features",
    [
        [],
        [feature("", "Polygon", [SQUARE])],
        [feature(None, "Polygon", [SQUARE])],
        [feature("a", "Point", [1, 2])],
        [feature("a", "Polygon", [[[0, 0], [1, 1]]])],
        [feature("a", "Polygon", "x")],
        [feature("a", "Polygon", [[["x", 0], [1, 1], [2, 0], [0, 0]]])],
        [feature("a", "MultiPolygon", None)],
        [feature("a", "Polygon", [[[350000, 7200000], [350001, 7200000], [350000, 7200001], [350000, 7200000]]])],
        [{"type": "Feature"}],
        ["x"],
    ],
)
def test_a_file_without_named_polygons_in_degrees_is_refused(features: Any, tmp_path: Path) -> None:
    with pytest.raises(UnusableAreas):
        of_points([("5", "5")], written(tmp_path, features))


def test_a_missing_file_one_that_is_not_json_and_an_unclear_way_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        of_points([("5", "5")], tmp_path / "none.geojson")
    (tmp_path / "areas.geojson").write_text("<kml/>", "utf-8")
    with pytest.raises(UnusableAreas):
        of_points([("5", "5")], tmp_path / "areas.geojson")
    for settings in ({}, {"place": "c"}, {"place": "c", "list": "cl-cut", "mapping": "x"}, {"latitude": "c"}):
        with pytest.raises(WrongParameter):
            regioned(table_of(c=["1"]), **settings)
    with pytest.raises(WrongParameter):
        regioned(table_of(c=["1"]), place="c", list="cl-cut", level="chapter")
