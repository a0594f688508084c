"""Territorial lists: reading our compact files and finding a code or a name.

A file holds one line per group, `053 Los Andes: 01 Los Andes; 02 Calle Larga`; an indented line belongs to the
line above it, ` | ` introduces a wider group without code, `~` a code no longer in force.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

LISTS_FOLDER = Path(__file__).parent / "lists"


class Node(NamedTuple):
    """A group of an official list."""

    code: str
    name: str


@dataclass(frozen=True, slots=True)
class Territory:
    """A territory and the wider ones around it, nearest first."""

    code: str
    name: str
    parents: tuple[Node, ...]
    former: bool = False  # no longer in force, still found in older files


def fold_name(text: str) -> str:
    """A name without case, accents, punctuation or double spaces, to compare names as people type them."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    characters = (" " if mark in ".,;:'’`´-()" else mark for mark in plain if not unicodedata.combining(mark))
    return " ".join("".join(characters).split())


def list_lines(list_id: str) -> list[str]:
    """The lines of one of our list files, without its comments."""
    lines = (LISTS_FOLDER / f"{list_id}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def read_territories(list_id: str) -> dict[str, Territory]:
    """All territories of a list by code, in code order."""
    territories: list[Territory] = []
    above: tuple[Node, ...] = ()
    for line in list_lines(list_id):
        head, _, members = line.strip().partition(": ")
        group, former, wider = _group(head)
        parents = (group, *above) if line.startswith(" ") else (group, *wider)
        if not line.startswith(" "):
            above = parents
        territories += [_member(text, parents, former) for text in members.split("; ") if text]
    return {territory.code: territory for territory in sorted(territories, key=lambda territory: territory.code)}


def _group(head: str) -> tuple[Node, bool, tuple[Node, ...]]:
    named, _, wider = head.partition(" | ")
    code, _, name = named.removeprefix("~").partition(" ")
    return Node(code, name), named.startswith("~"), (Node(wider, wider),) if wider else ()


def _member(text: str, parents: tuple[Node, ...], former: bool) -> Territory:
    digits, _, name = text.removeprefix("~").partition(" ")
    return Territory(parents[0].code + digits, name, parents, former or text.startswith("~"))


class OfficialList(ABC):
    """What every official list answers."""

    id: str
    levels: tuple[str, ...]  # the groups above a code, nearest first

    @abstractmethod
    def canonical(self, value: str) -> str | None:
        """The official code behind a value as written, None when it is not in the list."""

    @abstractmethod
    def path(self, value: str) -> tuple[Node, ...] | None:
        """The groups a value belongs to, nearest first; None when it is not in the list."""

    @abstractmethod
    def codes(self) -> tuple[str, ...]:
        """The codes in force, in code order."""

    @abstractmethod
    def name(self, code: str) -> str:
        """The name of an official code."""

    @abstractmethod
    def find_name(self, name: str) -> tuple[str, ...]:
        """The codes in force that carry a name, whatever its case and accents."""

    def knows(self, value: str) -> bool:
        """Whether a value, as written, is in the list."""
        return self.canonical(value) is not None


class TerritoryList(OfficialList):
    """A territorial list. Codes are text: `5302` is not the comuna `05302` unless someone pads it.

    With `by_prefix` the file holds groups of codes (Peru's provinces) and a longer code belongs to its group.
    """

    def __init__(
        self, list_id: str, levels: tuple[str, ...], places: dict[str, Territory], width: int, by_prefix: bool = False
    ) -> None:
        self.id = list_id
        self.levels = levels
        self.places = places
        self.width = width
        self.by_prefix = by_prefix

    def _find(self, value: str) -> Territory | None:
        if not self.by_prefix:
            return self.places.get(value)
        plausible = value.isascii() and value.isdigit() and len(value) == self.width and value[4:] != "00"
        return self.places.get(value[:4]) if plausible else None

    def canonical(self, value: str) -> str | None:
        return value if self._find(value) is not None else None

    def path(self, value: str) -> tuple[Node, ...] | None:
        territory = self._find(value)
        if territory is None:
            return None
        return (Node(territory.code, territory.name), *territory.parents) if self.by_prefix else territory.parents

    def codes(self) -> tuple[str, ...]:
        return tuple(code for code, territory in self.places.items() if not territory.former)

    def name(self, code: str) -> str:
        return self.places[code[: len(next(iter(self.places)))]].name

    def find_name(self, name: str) -> tuple[str, ...]:
        return self._by_name.get(fold_name(name), ())

    @cached_property
    def _by_name(self) -> dict[str, tuple[str, ...]]:
        codes: dict[str, tuple[str, ...]] = {}
        for code in self.codes():
            key = fold_name(self.places[code].name)
            codes[key] = (*codes.get(key, ()), code)
        return codes

    def group_codes(self) -> dict[str, str]:
        """Name of every coded group (province, department, region) by its code."""
        nodes = (node for territory in self.places.values() for node in territory.parents if not territory.former)
        return {node.code: node.name for node in nodes if node.code != node.name}
