"""Coordinates to the cell of a grid whose cells measure at least so many kilometres both ways, at any latitude.

Knows the sphere. Ignores maps. The globe is cut into bands of equal height between the equator and each pole; a band
into as many equal cells as fit its poleward edge, where it is narrowest; the cap around a pole is one cell. Lengths
are taken on the smallest radius of the Earth, so a cell is never smaller than `km`. A label is the centre of its
cell, and the exact coordinates leave.
Source: YAPÓ 2.3 (exact latitude and longitude removed, grid of at least 10 km).
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.model.parameters import Number, Text
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import replace_cells, text_array
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._geography import points_in
from celosia.techniques._parameters import DECIMAL, UNKNOWN

_NAME = "grid"
RADIUS = 6356.752  # km, WGS 84 polar radius: the smallest
_SHORTEST_DEGREE = 110.574  # km of a degree of latitude at the equator, the shortest
_SAME = 1e-9  # a count of cells must not depend on the last bit of a sine
Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


def bands(km: float) -> int:
    """Number of bands between the equator and a pole."""
    return math.floor(90 * _SHORTEST_DEGREE / km - _SAME)


def cells_around(band: int, count: int, km: float) -> int:
    """Number of cells around the globe in a band, counted from the equator: those that fit its poleward edge."""
    edge = math.cos(math.radians(90 * (band + 1) / count))
    half = math.sin(km / (2 * RADIUS))
    if band + 1 == count or half >= edge:
        return 1
    return max(math.floor(math.pi / math.asin(half / edge) - _SAME), 1)


def cells_of(latitude: Floats, longitude: Floats, km: float) -> tuple[Wholes, Wholes]:
    """The band (negative south of the equator: -1 is the first) and the cell around the globe of each point."""
    count = bands(km)
    north = np.minimum(np.floor(np.abs(latitude) / 90 * count), count - 1).astype(np.int64)
    present, index = np.unique(north, return_inverse=True)
    around = np.array([cells_around(band, count, km) for band in present.tolist()], np.int64)[index.reshape(-1)]
    east = np.where(longitude == 180, 0.0, longitude + 180)  # 180° is -180°
    column = np.minimum(np.floor(east / 360 * around).astype(np.int64), around - 1)
    return np.where(latitude < 0, -1 - north, north), column


def label_of(band: int, column: int, km: float) -> str:
    """The centre of a cell, with as many decimals as keep neighbours apart."""
    count = bands(km)
    north = band if band >= 0 else -1 - band
    around = cells_around(north, count, km)
    places = max(math.ceil(-math.log10(90 / count / 2)), 1)
    degrees = 90 * (north + 0.5) / count if around > 1 else 90.0
    across = 360 * (column + 0.5) / around - 180 if around > 1 else 0.0
    return (
        f"{'N' if band >= 0 else 'S'}{degrees:0{3 + places}.{places}f} "
        f"{'E' if across >= 0 else 'W'}{abs(across):0{4 + places}.{places}f}"
    )


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    km = float(settings["km"])
    if km < 1 or bands(km) < 1:
        raise wrong_setting(_NAME, "km", "km")
    points = points_in(_NAME, given, settings)
    pairs = np.stack(cells_of(points.latitude, points.longitude, km), axis=1)
    cells, index = np.unique(pairs, axis=0, return_inverse=True)
    labels = text_array([label_of(band, column, km) for band, column in cells.tolist()])
    column = replace_cells(points.special, points.where, labels.take(pa.array(index.reshape(-1))))
    both = (settings["latitude"], settings["longitude"])
    return StepOutcome(
        columns={settings["into"]: column},
        stands_for={settings["into"]: both[0]},
        removed=both,
        notes={"cells": len(cells)},
    )


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "latitude": Text(required=True),
        "longitude": Text(required=True),
        "km": Number(default=10),
        "into": Text(default="cell"),
        "decimal": DECIMAL,
        "unknown": UNKNOWN,
    },
    uses=lambda settings: (settings["latitude"], settings["longitude"]),
    apply=_apply,
    norms=("Y06",),
)
