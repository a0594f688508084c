"""Coordinates or a place to its region: by a file of areas, a file of equivalences, or an official list.

Knows polygons, codes and names of places. Ignores addresses. A place is looked up as a code, then as a name whatever
its case and accents; a name that belongs to several regions is as unknown as one that the list lacks. What has no
region is refused with its count unless `others` gives it a label: never a silent blank.
Source: YAPÓ 2.2 and 2.3 (city, territory or coordinates to the official code of the region).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from celosia.hierarchy.csv import read_csv
from celosia.hierarchy.official import LISTS, Node, OfficialList, lookup
from celosia.hierarchy.rows import to_rows
from celosia.model.parameters import Text, conflict
from celosia.model.values import CellKind, kind_of
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import replace_cells, text_array, unknown_in
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._geography import area_of, points_in, read_areas
from celosia.techniques._parameters import DECIMAL, UNKNOWN
from celosia.techniques._values import each_value, refuse_unmapped
from celosia.techniques.errors import PointsOutsideAreas

_NAME = "region"
_WAYS = ({"latitude", "longitude", "areas"}, {"place", "mapping"}, {"place", "list"})
_SOURCES = ("latitude", "longitude", "areas", "place", "mapping", "list")
Find = Callable[[str], str | None]


def values_without_region(given: StepInput, settings: Settings) -> list[str]:
    """The places without a region, in code-point order: for the private list alone, shown on request."""
    find = _finder(settings)
    values = given.columns[settings["place"]].unique().to_pylist()
    return sorted(
        v for v in values if kind_of(v, unknown_in(settings, settings["place"])) is CellKind.PLAIN and find(v) is None
    )


def _uses(settings: Settings) -> tuple[str, ...]:
    if {name for name in _SOURCES if settings[name] is not None} not in _WAYS:
        raise wrong_setting(_NAME, ", ".join(_SOURCES), "way_to_region")
    return tuple(settings[name] for name in ("latitude", "longitude", "place") if settings[name] is not None)


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    if settings["place"] is not None:
        return _regions_of_places(given, settings)
    return _regions_of_points(given, settings)


def _regions_of_points(given: StepInput, settings: Settings) -> StepOutcome:
    path = Path(settings["areas"])
    parts = read_areas(path, settings["name"])
    points = points_in(_NAME, given, settings)
    area, several = area_of(parts, points.longitude, points.latitude)
    rows = given.rows[points.where]
    outside = int(rows[area < 0].sum())
    if outside and settings["others"] is None:
        raise PointsOutsideAreas(file=path.name, rows=outside)
    labels = text_array([*(part.name for part in parts), settings["others"] or ""])
    regions = replace_cells(points.special, points.where, labels.take(pa.array(np.where(area < 0, len(parts), area))))
    both = (settings["latitude"], settings["longitude"])
    notes = {"rows_outside": outside, "rows_in_several_areas": int(rows[several].sum())}
    return StepOutcome({settings["into"]: regions}, {settings["into"]: both[0]}, removed=both, notes=notes)


def _regions_of_places(given: StepInput, settings: Settings) -> StepOutcome:
    column, find, others = settings["place"], _finder(settings), settings["others"]

    def publish(values: Sequence[str]) -> list[str | None]:
        return [others if (region := find(value)) is None else region for value in values]

    regions = each_value(given.columns[column], unknown_in(settings, column), publish)
    refuse_unmapped(_NAME, given, column, regions.failed)
    return StepOutcome({settings["into"]: regions.cells}, {settings["into"]: column})


def _finder(settings: Settings) -> Find:
    if settings["mapping"] is None:
        return _official_finder(settings)
    hierarchy, _ = read_csv(Path(settings["mapping"]), settings["place"])
    if hierarchy.height < 1:
        raise wrong_setting(_NAME, "mapping", "mapping")
    return {row[0]: row[1] for row in to_rows(hierarchy)}.get


def _official_finder(settings: Settings) -> Find:
    official = lookup(settings["list"])
    # The official division a place list speaks of: the department or the region.
    divisions = (level for level in ("department", "region") if level in official.levels)
    level = settings["level"] or next(divisions, official.levels[-1])
    if level not in official.levels:
        raise conflict(_NAME, "level", "list_levels", "hierarchy")
    return lambda value: _region(official, value, official.levels.index(level), settings["labels"])


def _region(official: OfficialList, value: str, level: int, style: str) -> str | None:
    text = value.strip()
    width = getattr(official, "width", 0)
    code = text.zfill(width) if text.isascii() and text.isdigit() else text
    codes = (code,) if official.knows(code) else official.find_name(text)
    nodes = {path[level] for code in codes if (path := official.path(code)) is not None}
    return _node_label(nodes.pop(), style) if len(nodes) == 1 else None


def _node_label(node: Node, style: str) -> str:
    if style == "both" and node.code != node.name:
        return f"{node.code} {node.name}"
    return node.name if style == "name" else node.code


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "latitude": Text(),
        "longitude": Text(),
        "areas": Text(),
        "name": Text(default="name"),
        "place": Text(),
        "mapping": Text(),
        "list": Text(choices=LISTS),
        "level": Text(),
        "labels": Text(default="code", choices=("code", "name", "both")),
        "others": Text(),
        "into": Text(default="region"),
        "decimal": DECIMAL,
        "unknown": UNKNOWN,
    },
    uses=_uses,
    apply=_apply,
    uncovered=values_without_region,
    norms=("Y05",),
)
