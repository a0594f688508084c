"""Points in degrees from two columns, and the area of a GeoJSON file that each lies in.

Knows polygons in degrees, with holes and in several parts (RFC 7946). Ignores projections and the Earth's curvature:
a side is straight in degrees, as the file draws it. A point is inside when a ray to the east crosses the sides an odd
number of times; each side includes its lower end alone and is computed from it, so that a point on the border of two
areas that share a side is in exactly one of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia import messages
from celosia.storage import FileMissing, FileUnreadable
from celosia.techniques._columns import numbers_in
from celosia.techniques._contract import Settings, StepInput
from celosia.techniques._values import refuse_unreadable
from celosia.techniques.errors import UnusableAreas

Floats = NDArray[np.float64]
_LIMITS = {"latitude": 90, "longitude": 180}
_BLOCK = 2_000_000  # points times sides looked at together


@dataclass(frozen=True, slots=True)
class Points:
    """The points of the lines that have both coordinates."""

    where: NDArray[np.bool_]
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]
    special: pa.Array  # of every line: the first of its two cells that is no number, which stays


def points_in(technique: str, given: StepInput, settings: Settings) -> Points:
    """The points of two columns; text and degrees out of range are refused with their count."""
    columns = {}
    for axis, limit in _LIMITS.items():
        column = numbers_in(given, settings[axis], settings, technique)
        outside = column.plain & (np.abs(np.where(column.plain, column.values, 0.0)) > limit)
        refuse_unreadable(technique, given, settings[axis], outside, axis)
        columns[axis] = column
    where = columns["latitude"].plain & columns["longitude"].plain
    cells = [given.columns[settings[axis]] for axis in _LIMITS]
    special = pc.if_else(pa.array(columns["latitude"].plain), cells[1], cells[0])
    return Points(where, columns["latitude"].values[where], columns["longitude"].values[where], special)


@dataclass(frozen=True, slots=True)
class Polygon:
    """One polygon of an area: its sides, holes included, each from its lower end to its upper one."""

    name: str
    sides: Floats  # x of the lower end, y of it, x of the upper end, y of it


def read_areas(path: Path, name: str) -> tuple[Polygon, ...]:
    """The polygons of a GeoJSON file, with the property that names them."""
    document = _document(path)
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, list) or not features:
        raise _unusable(path, "collection")
    return tuple(part for feature in features for part in _parts(path, feature, name))


def area_of(parts: tuple[Polygon, ...], x: Floats, y: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The part each point lies in, the first in the file, or -1; and the points that lie in areas of two names."""
    area = np.full(len(x), -1, np.int64)
    several = np.zeros(len(x), bool)
    names = np.array([part.name for part in parts], object)
    for number, part in enumerate(parts):
        inside = _is_inside(part.sides, x, y)
        taken = inside & (area >= 0)
        several[taken] |= names[area[taken]] != part.name
        area[inside & ~taken] = number
    return area, several


def _document(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise FileMissing(path=str(path)) from None
    except OSError:
        raise FileUnreadable(path=str(path)) from None
    except (ValueError, RecursionError):
        raise _unusable(path, "collection") from None


def _unusable(path: Path, expected: str) -> UnusableAreas:
    return UnusableAreas(file=path.name, expected=messages.text(f"techniques.expected.{expected}"))


def _parts(path: Path, feature: Any, name: str) -> Iterator[Polygon]:
    properties = feature.get("properties") if isinstance(feature, dict) else None
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    label = properties.get(name) if isinstance(properties, dict) else None
    if isinstance(label, bool) or not isinstance(label, str | int) or not str(label).strip():
        raise _unusable(path, "named_area")
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if not isinstance(geometry, dict) or kind not in ("Polygon", "MultiPolygon"):
        raise _unusable(path, "polygons")
    coordinates = geometry.get("coordinates")
    polygons = [coordinates] if kind == "Polygon" else coordinates
    if not isinstance(polygons, list) or not polygons:
        raise _unusable(path, "polygons")
    for polygon in polygons:
        yield Polygon(str(label).strip(), _sides(path, polygon))


def _sides(path: Path, polygon: Any) -> Floats:
    try:
        rings = [np.array([point[:2] for point in ring], np.float64) for ring in polygon]
    except (TypeError, ValueError, KeyError):
        raise _unusable(path, "polygons") from None
    if not rings or any(ring.ndim != 2 or ring.shape[0] < 4 or ring.shape[1] != 2 for ring in rings):
        raise _unusable(path, "polygons")
    points = np.concatenate(rings)
    if not np.isfinite(points).all() or (np.abs(points) > (180, 90)).any():
        raise _unusable(path, "degrees")
    return np.concatenate([_upward_sides(np.hstack([ring, np.roll(ring, -1, axis=0)])) for ring in rings])


def _upward_sides(sides: Floats) -> Floats:
    """Sides from the lower end to the upper one; level ones meet no ray and are left out."""
    turned = np.where((sides[:, 1] > sides[:, 3])[:, None], sides[:, [2, 3, 0, 1]], sides)
    return np.asarray(turned[turned[:, 1] != turned[:, 3]])


def _is_inside(sides: Floats, x: Floats, y: Floats) -> NDArray[np.bool_]:
    inside = np.zeros(len(x), bool)
    if not len(sides):
        return inside
    left, right = sides[:, [0, 2]].min(), sides[:, [0, 2]].max()
    near = np.flatnonzero((x >= left) & (x <= right) & (y >= sides[:, 1].min()) & (y <= sides[:, 3].max()))
    step = max(_BLOCK // len(sides), 1)
    for start in range(0, len(near), step):
        block = near[start : start + step]
        inside[block] = _crossings(sides, x[block, None], y[block, None]) % 2 == 1
    return inside


def _crossings(sides: Floats, x: Floats, y: Floats) -> NDArray[np.int64]:
    """How many sides a ray to the east crosses, for each point."""
    low_x, low_y, high_x, high_y = sides.T
    meets = (low_y <= y) & (y < high_y)
    crossing = low_x + (y - low_y) * ((high_x - low_x) / (high_y - low_y))
    return np.asarray((meets & (x < crossing)).sum(axis=1), np.int64)
