"""The rule over a geographic variable: every area above a number of units, and population floors.

Knows one column as a compressed table and its level maps. Ignores files and the names of norms.
The smallest area decides, strictly: exactly the minimum is not enough. A missing, masked or unknown value names no
area: it is counted apart and decides nothing. A level that leaves no area at all does not pass.
Source: MEL protocol IV.2.b and note 4; readings X16 and X20.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.reports.geography import FloorCount, GeographyLevel, GeographyReport, UnitKind
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import CellKind, kind_of
from celosia.tuples.table import Tuples, person_counts, roll_up

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, repr=False)
class Areas:
    """The labels of one level with their units and, where known, their inhabitants. Private: labels are values."""

    labels: tuple[str, ...]
    units: Counts
    population: Counts | None = None  # 0 where the table of population says nothing


def areas_by_level(
    column: Tuples, hierarchy: CompiledHierarchy | None = None, population: Counts | None = None
) -> tuple[Areas, ...]:
    """The areas of each level; `population` is by value of the column's vocabulary."""
    maps = (np.arange(column.sizes[0], dtype=np.int32),) if hierarchy is None else hierarchy.maps
    labels = column.vocabularies if hierarchy is None else hierarchy.labels
    return tuple(_areas(column, level, names, population) for level, names in zip(maps, labels, strict=True))


def _areas(column: Tuples, level: NDArray[np.int32], labels: tuple[str, ...], population: Counts | None) -> Areas:
    rolled, _ = roll_up(column, [level], [labels])
    units = np.zeros(len(labels), np.int64)
    units[rolled.codes[:, 0]] = person_counts(rolled)
    if population is None:
        return Areas(labels, units)
    inhabitants = np.zeros(len(labels), np.int64)
    np.add.at(inhabitants, level, population)
    return Areas(labels, units, inhabitants)


def judge_level(
    level: int, areas: Areas, minimum: int, unknown: Collection[str] = (), floors: Sequence[int] = ()
) -> GeographyLevel:
    """The figures of one level, and whether its smallest area has more units than the minimum."""
    kinds = np.array([kind_of(label, unknown) for label in areas.labels], object)
    named = (kinds == CellKind.PLAIN) & (areas.units > 0)
    units = areas.units[named]
    small = units <= minimum
    return GeographyLevel(
        level=level,
        areas=len(units),
        smallest=int(units.min()) if len(units) else None,
        small_areas=int(small.sum()),
        small_units=int(units[small].sum()),
        missing=int(areas.units[kinds == CellKind.MISSING].sum()),
        masked=int(areas.units[kinds == CellKind.MASKED].sum()),
        unknown=int(areas.units[kinds == CellKind.UNKNOWN].sum()),
        passes=bool(len(units)) and not small.any(),
        floors=() if areas.population is None else _floor_counts(units, areas.population[named], floors),
    )


def _floor_counts(units: Counts, population: Counts, floors: Sequence[int]) -> tuple[FloorCount, ...]:
    known = population > 0
    return tuple(
        FloorCount(
            floor=floor,
            areas=int((known & (population < floor)).sum()),
            units=int(units[known & (population < floor)].sum()),
            unknown_areas=int((~known).sum()),
        )
        for floor in floors
    )


def geography_report(
    variable: str,
    levels: Sequence[Areas],
    minimum: int,
    unit: UnitKind = UnitKind.ROWS,
    unit_variable: str | None = None,
    unknown: Collection[str] = (),
    floors: Sequence[int] = (),
) -> GeographyReport:
    """The rule over every level of a variable."""
    if minimum < 0:
        raise ValueOutOfRange(parameter="minimum", given=minimum, allowed="≥ 0")
    judged = tuple(judge_level(level, areas, minimum, unknown, floors) for level, areas in enumerate(levels))
    return GeographyReport(variable, unit, unit_variable, minimum, int(levels[0].units.sum()), judged)


def small_areas(areas: Areas, minimum: int, unknown: Collection[str] = ()) -> tuple[tuple[str, int], ...]:
    """The areas that stop a level, with their units, fewest first: shown on request only."""
    small = [
        (label, units)
        for label, units in zip(areas.labels, areas.units.tolist(), strict=True)
        if 0 < units <= minimum and kind_of(label, unknown) is CellKind.PLAIN
    ]
    return tuple(sorted(small, key=lambda area: (area[1], area[0])))
