"""Official lists as hierarchies: comuna → province → region, diagnosis → category → block → chapter, …

Knows how a list becomes levels. Ignores the lists themselves (`celosia.hierarchy.official`).
Source: MINSAL, Implementación (country to national or not, territory to province and region).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.hierarchy.builder import Builder, Detail, LeafLabels
from celosia.hierarchy.official import LISTS, Node, OfficialList, demonym, lookup
from celosia.model.parameters import Flag, Many, Text, conflict

_HOME = "home"
PARAMS = {
    "list": Text(required=True, choices=LISTS),
    "levels": Many(Text()),
    "labels": Text(default="code", choices=("code", "name", "both")),
    "pad": Flag(default=False),
    "complete": Flag(default=False),
    "home": Text(),
    "home_label": Text(),
    "other_label": Text(),
}


def place_codes(plain: Sequence[str], settings: Mapping[str, Any]) -> LeafLabels:
    """The groups of each value that is in the list; with `complete`, of every code in force as well."""
    official = lookup(settings["list"])
    levels = _levels(official, settings)
    values = dict.fromkeys(plain)
    if settings["complete"]:
        if official.path(official.codes()[0]) is None:  # we hold its groups, not its codes
            raise conflict("official", "complete", "complete_list")
        present = {official.canonical(_pad_code(official, value, settings)) for value in plain}
        values |= dict.fromkeys(code for code in official.codes() if code not in present)
    labels = {value: _labels(official, value, levels, settings) for value in values}
    return LeafLabels({value: path for value, path in labels.items() if path is not None}, len(levels))


def _levels(official: OfficialList, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The declared levels, finest first; by default all groups, or home and abroad where a home is given."""
    home = (_HOME,) if settings["home"] is not None else ()
    known = (*official.levels, *home)
    levels: tuple[str, ...] = settings["levels"] or home or official.levels
    if home and official.id != "countries":
        raise conflict("official", "home", "home")
    if any(level not in known for level in levels) or sorted(levels, key=known.index) != list(levels):
        raise conflict("official", "levels", "list_levels")
    if home:
        _home_labels(official, settings)
    return levels


def _labels(
    official: OfficialList, value: str, levels: Sequence[str], settings: Mapping[str, Any]
) -> tuple[str, ...] | None:
    path = official.path(_pad_code(official, value, settings))
    if path is None:
        return None
    groups = dict(zip(official.levels, path, strict=True))
    return tuple(
        _home_side(official, value, settings) if level == _HOME else _group_label(groups[level], settings["labels"])
        for level in levels
    )


def _pad_code(official: OfficialList, value: str, settings: Mapping[str, Any]) -> str:
    """Zeros on the left of a shorter number, only when asked: `5302` is then the comuna `05302`."""
    width = getattr(official, "width", 0)
    digits = value.isascii() and value.isdigit()
    return value.zfill(width) if settings["pad"] and digits else value


def _group_label(group: Node, style: str) -> str:
    if style == "name" or group.code == group.name:
        return group.name
    return group.code if style == "code" else f"{group.code} {group.name}"


def _home_side(official: OfficialList, value: str, settings: Mapping[str, Any]) -> str:
    home, other = _home_labels(official, settings)
    return home if official.canonical(value) == official.canonical(settings["home"]) else other


def _home_labels(official: OfficialList, settings: Mapping[str, Any]) -> tuple[str, str]:
    """The labels given, or made from what nationals are called: «Chileno», «No chileno»."""
    code = official.canonical(settings["home"])
    called = demonym(code) if code is not None else None
    home = settings["home_label"] or called
    other = settings["other_label"] or (f"No {called.lower()}" if called else None)
    if code is None or home is None or other is None or home == other:
        raise conflict("official", "home", "home")
    return home, other


def detail(settings: Mapping[str, Any], level: int) -> Detail:
    """Which group of the list: province, chapter, …"""
    return {"unit": _levels(lookup(settings["list"]), settings)[level - 1]}


OFFICIAL = Builder("official", PARAMS, place_codes, detail)
