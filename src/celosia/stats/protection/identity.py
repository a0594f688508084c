"""The identity of a cell in the history, whatever table, audience or order of dimensions shows it.

Knows counted versions. Ignores databases and protection. A cell is the set of its categories, each with what its
dimension means (rule, columns and map; where it is cut does not matter, the label says it), counted over one origin:
the PERSONAL table and its person key. Two cells that are the same here may not differ by a few persons, and what one
of them published stays known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.stats.counting.linked_breakdowns import MARK, cut_key
from celosia.stats.counting.sums import additive_dimensions
from celosia.stats.declaration.declaration import Dimension, Measure, Personal
from celosia.stats.protection.version import Version, history_keys, merged_name
from celosia.tables.cells import ALL

Pair = tuple[str, str]  # what a dimension means, and a category
Coordinate = tuple[Pair, ...]  # a category and those above it
CellPosition = tuple[Coordinate | None, ...]  # per dimension of a table; None where all are together
Identity = frozenset[Pair]
Owners = Mapping[tuple[tuple[str, ...], str], str]  # columns and category -> what its dimension means
_UNITS = ("persons", "rows")


@dataclass(frozen=True, slots=True)
class Frame:
    """What the cells of one table in one run have in common."""

    origin: str
    audience: str
    k: int
    names: tuple[str, ...]  # of the dimensions
    cuts: tuple[str, ...]  # how each is cut: the categories of one cut do not overlap
    adds: tuple[bool, ...]  # whether every person has one category only
    least: int  # persons in a hidden cell: 0 where zeros are hidden


def origin_of(personal: Personal) -> str:
    """Who is counted: the table with its person key; a query is known by the name of its block."""
    return json.dumps([personal.table or f"[{personal.name}]", personal.person], ensure_ascii=False)


def unit_of(measure: Measure) -> str:
    """What is counted or added up, whatever the measure is called."""
    return measure.kind if measure.kind in _UNITS else f"{measure.kind} {measure.column or measure.of or ''}"


def identity(place: CellPosition) -> Identity:
    """The cell of these categories."""
    return frozenset(coordinate[0] for coordinate in place if coordinate is not None)


def frame_of(version: Version) -> Frame:
    """The table of a version as the history keeps it."""
    table, cells = version.table, version.cells
    adding = additive_dimensions(cells)
    cuts = []
    for dimension in table.dimensions:
        _, members = version.others.get(dimension.name, ("", ()))
        cuts.append(cut_key(dimension, *members))
    return Frame(
        version.origin,
        version.audience,
        version.k,
        tuple(table.dimension_names),
        tuple(cuts),
        tuple(tree.name in adding for tree in cells.dimensions),
        0 if table.zeros == "hide" or (cells.persons[cells.offered] == 0).any() else 1,
    )


def owners_of(versions: Sequence[Version]) -> Owners:
    """What the dimension of every category means, for the categories that other tables place above their own."""
    return {
        (tuple(sorted(dimension.columns)), label): meaning_of(dimension)
        for version in versions
        for dimension, tree in zip(version.table.dimensions, version.cells.dimensions, strict=True)
        for label in tree.labels
        if not label.startswith(MARK)
    }


def cell_positions(version: Version, owners: Owners) -> list[CellPosition]:
    """The categories of every cell, with those above them."""
    columns = []
    for at, dimension in enumerate(version.table.dimensions):
        tree = version.cells.dimensions[at]
        pairs = [_labelled_category(version, dimension, label, owners) for label in tree.labels]
        paths = [_path(pairs, tree.parent, code) for code in range(len(pairs))]
        columns.append([None if code == ALL else paths[code] for code in version.cells.codes[:, at].tolist()])
    return list(zip(*columns, strict=True)) if columns else [()] * len(version.cells.codes)


def _labelled_category(version: Version, dimension: Dimension, label: str, owners: Owners) -> Pair:
    if label.startswith(MARK):
        own = label.partition(" ")[2]
        return owners.get((tuple(sorted(dimension.columns)), own), meaning_of(dimension)), own
    others, members = version.others.get(dimension.name, ("", ()))
    return meaning_of(dimension), merged_name(label, members) if members and label == others else label


def _path(pairs: Sequence[Pair], parents: Sequence[int], code: int) -> Coordinate:
    path = [pairs[code]]
    while (code := int(parents[code])) != ALL:
        path.append(pairs[code])
    return tuple(path)


def meaning_of(dimension: Dimension) -> str:
    """What a dimension means in the history: its rule, its columns and its map."""
    value_map = dimension.settings.get("map")
    return "\x1f".join([dimension.rule, *dimension.columns, *([str(value_map)] if value_map else [])])


# --- as text, for the history ---------------------------------------------------------------------


def identity_texts(version: Version, owners: Owners) -> dict[tuple[str, tuple[str | None, ...]], str]:
    """Per measure and cell, as the history names them, the text of its identity."""
    frame = frame_of(version)
    keys, places = history_keys(version), cell_positions(version, owners)
    return {
        (measure.name, key): _identity_text(frame, unit_of(measure), place, version.table.method)
        for measure in version.table.measures
        for key, place in zip(keys, places, strict=True)
    }


def _identity_text(frame: Frame, unit: str, place: CellPosition, method: str) -> str:
    frame_fields = {
        name: getattr(frame, name) for name in ("origin", "audience", "k", "names", "cuts", "adds", "least")
    }
    return json.dumps(
        {**frame_fields, "unit": f"{method} {unit}" if method == "round" else unit, "cell": place},
        ensure_ascii=False,
        sort_keys=True,
    )


def read_identity(text: str | None) -> tuple[Frame, str, CellPosition] | None:
    """The frame, unit and place of a line of the history; None where it has none, or none that can be read."""
    try:
        document: dict[str, Any] = json.loads(text or "")
        frame = Frame(
            str(document["origin"]),
            str(document["audience"]),
            int(document["k"]),
            tuple(document["names"]),
            tuple(document["cuts"]),
            tuple(document["adds"]),
            int(document["least"]),
        )
        place = tuple(
            None if coordinate is None else tuple((str(m), str(w)) for m, w in coordinate)
            for coordinate in document["cell"]
        )
    except (KeyError, TypeError, ValueError):
        return None
    return frame, str(document["unit"]), place
