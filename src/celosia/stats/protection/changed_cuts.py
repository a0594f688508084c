"""Cuts and maps that changed since an earlier release: bands from 25 become bands from 26, and whoever is 25 is alone.

Knows how each release cut its columns, and which category each value of a map had. Ignores counts. Within a run
crossing cuts are refused (`linked_breakdowns`); between runs nothing links them, so a new cut of a column is refused
while an earlier one is no longer published beside it, and so is a map that moves a value to another category.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from celosia.model.paths import ProjectPaths
from celosia.stats.counting.linked_breakdowns import cut_key
from celosia.stats.errors import CutsChanged, MapRegrouped
from celosia.stats.protection.published_history import Release
from celosia.stats.protection.version import BORDERS, Version
from celosia.storage import atomic_write

Maps = Mapping[str, Mapping[str, str]]  # map -> value -> category
_FORMAT = "celosia/maps/1"
_CUTTING = ("age", "period", "buckets", "span", "map", "zone")  # rules whose settings say where they cut
_FIELDS = BORDERS | {"map", "minimum"}
_Cut = tuple[str, ...]  # the rule, and its settings


def refuse_changed_cuts(versions: Sequence[Version], earlier: Iterable[Release]) -> None:
    """Refuse a new cut of a column where an earlier one is not published any more; `earlier` is of the same origin."""
    now: dict[tuple[str, ...], dict[_Cut, str]] = {}
    for version in versions:
        for dimension in version.table.dimensions:
            if dimension.rule in _CUTTING:
                columns = tuple(dimension.columns)
                now.setdefault(columns, {})[_parse_cut(cut_key(dimension), columns)] = version.table.name
    texts = {cut for release in earlier for line in release for cut in line.frame.cuts}
    for columns, cuts in now.items():
        before = {
            _parse_cut(text, columns)
            for text in texts
            if text.split("\x1f")[0] in _CUTTING and _belongs_to_columns(text, columns)
        }
        new, gone = [table for cut, table in cuts.items() if cut not in before], before - cuts.keys()
        if new and gone:
            raise CutsChanged(column=", ".join(columns), tables=", ".join(dict.fromkeys(new)))


def _belongs_to_columns(text: str, columns: Sequence[str]) -> bool:
    return tuple(text.split("\x1f")[1 : 1 + len(columns)]) == tuple(columns)


def _parse_cut(text: str, columns: Sequence[str]) -> _Cut:
    """The rule and the settings that say where it cuts, from the text of a cut."""
    rule, *rest = text.split("\x1f")
    settings = [field for field in rest[len(columns) :] if field.partition("=")[0] in _FIELDS]
    return rule, *sorted(settings)


def refuse_regrouped_maps(home: Path, maps: Maps) -> None:
    """Refuse a map that gives a value another category than when tables were last written with it."""
    before = _read_maps(home)
    for name, categories in maps.items():
        known = before.get(name, {})
        moved = sum(known.get(value, category) != category for value, category in categories.items())
        if moved:
            raise MapRegrouped(map=name, values=moved)


def save_maps(home: Path, maps: Maps) -> None:
    """Keep which category each value has, for the next run."""
    before = _read_maps(home)
    every = {**before, **{name: {**before.get(name, {}), **categories} for name, categories in maps.items()}}
    with atomic_write(ProjectPaths(home).maps_used) as draft:
        draft.write_text(json.dumps({"format": _FORMAT, "maps": every}, ensure_ascii=False), "utf-8", newline="\n")


def _read_maps(home: Path) -> dict[str, dict[str, str]]:
    try:
        document = json.loads(ProjectPaths(home).maps_used.read_text("utf-8"))
        if document["format"] != _FORMAT:
            return {}
        return {str(name): dict(values) for name, values in document["maps"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
