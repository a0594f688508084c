"""Coordinates in degrees: two columns as points, and what is no point apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.techniques._contract import Given, Settings, numbers_in
from celosia.techniques._values import refuse_unreadable

_LIMITS = {"latitude": 90, "longitude": 180}


@dataclass(frozen=True, slots=True)
class Points:
    """The points of the lines that have both coordinates."""

    where: NDArray[np.bool_]
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]
    special: pa.Array  # of every line: the first of its two cells that is no number, which stays


def points_in(technique: str, given: Given, settings: Settings) -> Points:
    """The points of two columns; text and degrees out of range are refused with their count."""
    found = {}
    for axis, limit in _LIMITS.items():
        column = numbers_in(given, settings[axis], settings, technique)
        outside = column.plain & (np.abs(np.where(column.plain, column.values, 0.0)) > limit)
        refuse_unreadable(technique, given, settings[axis], outside, axis)
        found[axis] = column
    where = found["latitude"].plain & found["longitude"].plain
    cells = [given.columns[settings[axis]] for axis in _LIMITS]
    special = pc.if_else(pa.array(found["latitude"].plain), cells[1], cells[0])
    return Points(where, found["latitude"].values[where], found["longitude"].values[where], special)
