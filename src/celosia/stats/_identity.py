"""What a cell is, whatever table, audience or order of dimensions shows it: how the history finds it again.

Knows counted versions. Ignores databases and protection. A cell is the set of its categories, each with what its
dimension means (rule, columns and map; where it is cut does not matter, the label says it), counted over one origin:
the PERSONAL table and its person key. Two cells that are the same here may not differ by a few persons, and what one
of them told stays told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.model.stats import Dimension, Measure, Personal
from celosia.stats._catalogue import adding_up
from celosia.stats._cuts import MARK, cut_key
from celosia.stats._protection import Version, history_keys, merged_name
from celosia.tables import ALL

Pair = tuple[str, str]  # what a dimension means, and a category
Coordinate = tuple[Pair, ...]  # a category and those above it
Place = tuple[Coordinate | None, ...]  # per dimension of a table; None where all are together
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
    adds: tuple[bool, ...]  # whether every person stands in one category only
    least: int  # persons in a hidden cell: 0 where zeros are hidden


def origin_of(personal: Personal) -> str:
    """Who is counted: the table with its person key; a query is known by the name of its block."""
    return json.dumps([personal.table or f"[{personal.name}]", personal.person], ensure_ascii=False)


def unit_of(measure: Measure) -> str:
    """What is counted or added up, whatever the measure is called."""
    return measure.kind if measure.kind in _UNITS else f"{measure.kind} {measure.column or measure.of or ''}"


def identity(place: Place) -> Identity:
    """The cell of these categories."""
    return frozenset(one[0] for one in place if one is not None)


def frame_of(version: Version) -> Frame:
    """The table of a version as the history keeps it."""
    table, cells = version.table, version.cells
    adding = adding_up(cells)
    cuts = []
    for dimension in table.dimensions:
        _, members = version.others.get(dimension.name, ("", ()))
        cuts.append(cut_key(dimension, *members))
    return Frame(
        version.origin, version.audience, version.k, tuple(table.dimension_names), tuple(cuts),
        tuple(tree.name in adding for tree in cells.dimensions),
        0 if table.zeros == "hide" or (cells.persons[cells.offered] == 0).any() else 1,
    )  # fmt: skip


def owners_of(versions: Sequence[Version]) -> Owners:
    """What the dimension of every category means, for the categories that other tables put above their own."""
    return {
        (tuple(sorted(dimension.columns)), label): _meaning(dimension)
        for version in versions
        for dimension, tree in zip(version.table.dimensions, version.cells.dimensions, strict=True)
        for label in tree.labels
        if not label.startswith(MARK)
    }


def places_of(version: Version, owners: Owners) -> list[Place]:
    """The categories of every cell, with those above them."""
    columns = []
    for at, dimension in enumerate(version.table.dimensions):
        tree = version.cells.dimensions[at]
        pairs = [_pair(version, dimension, label, owners) for label in tree.labels]
        paths = [_path(pairs, tree.parent, code) for code in range(len(pairs))]
        columns.append([None if code == ALL else paths[code] for code in version.cells.codes[:, at].tolist()])
    return list(zip(*columns, strict=True)) if columns else [()] * len(version.cells.codes)


def _pair(version: Version, dimension: Dimension, label: str, owners: Owners) -> Pair:
    if label.startswith(MARK):
        own = label.partition(" ")[2]
        return owners.get((tuple(sorted(dimension.columns)), own), _meaning(dimension)), own
    others, members = version.others.get(dimension.name, ("", ()))
    return _meaning(dimension), merged_name(label, members) if members and label == others else label


def _path(pairs: Sequence[Pair], parents: Sequence[int], code: int) -> Coordinate:
    found = [pairs[code]]
    while (code := int(parents[code])) != ALL:
        found.append(pairs[code])
    return tuple(found)


def _meaning(dimension: Dimension) -> str:
    told = dimension.settings.get("map")
    return "\x1f".join([dimension.rule, *dimension.columns, *([str(told)] if told else [])])


# --- as text, for the history ---------------------------------------------------------------------


def texts_of(version: Version, owners: Owners) -> dict[tuple[str, tuple[str | None, ...]], str]:
    """Per measure and cell, as the history names them, what makes it findable."""
    frame = frame_of(version)
    keys, places = history_keys(version), places_of(version, owners)
    return {
        (measure.name, key): _text(frame, unit_of(measure), place, version.table.method)
        for measure in version.table.measures
        for key, place in zip(keys, places, strict=True)
    }


def _text(frame: Frame, unit: str, place: Place, method: str) -> str:
    told = {name: getattr(frame, name) for name in ("origin", "audience", "k", "names", "cuts", "adds", "least")}
    return json.dumps({**told, "unit": f"{method} {unit}" if method == "round" else unit, "cell": place},
                      ensure_ascii=False, sort_keys=True)  # fmt: skip


def read_identity(text: str | None) -> tuple[Frame, str, Place] | None:
    """The frame, unit and place of a line of the history; None where it has none, or none that can be read."""
    try:
        told: dict[str, Any] = json.loads(text or "")
        frame = Frame(
            str(told["origin"]), str(told["audience"]), int(told["k"]), tuple(told["names"]), tuple(told["cuts"]),
            tuple(told["adds"]), int(told["least"]),
        )  # fmt: skip
        place = tuple(None if one is None else tuple((str(m), str(w)) for m, w in one) for one in told["cell"])
    except (KeyError, TypeError, ValueError):
        return None
    return frame, str(told["unit"]), place
