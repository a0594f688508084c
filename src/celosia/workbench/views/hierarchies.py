"""Hierarchies as a person looks at them while building one: forms, levels, groups, gaps.

Knows labels, counts and the words of parameters. Ignores tables and builders.
Source: MINSAL, Anexo II.1, sections 5 to 7 (levels shown, minimum and maximum chosen).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celosia.model.parameters import ParameterForm

PROPOSED = "default"  # the origin of a hierarchy that nobody described
DRAFT = "draft"  # the origin of one that is being edited by hand and was not saved


@dataclass(frozen=True, slots=True)
class BuilderForm:
    """A way of making hierarchies and what it asks."""

    name: str
    parameters: tuple[ParameterForm, ...]


@dataclass(frozen=True, slots=True)
class OfficialForm:
    """An official list and the groups it knows, finest first."""

    id: str
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HierarchyForms:
    """Every builder and official list there is."""

    builders: tuple[BuilderForm, ...]
    lists: tuple[OfficialForm, ...]


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group of a level: the distinct values and rows behind it, and the place of its group one level up."""

    label: str
    values: int
    rows: int
    parent: int = -1


@dataclass(frozen=True, slots=True)
class LevelView:
    """A level over the values that occur; `groups` may be cut short, `total` never is."""

    level: int
    groups: tuple[GroupView, ...]
    total: int
    smallest: int  # rows of the smallest group
    width: str = ""  # of the intervals, where all are equally wide


@dataclass(frozen=True, slots=True)
class HierarchyTrial:
    """What a description would do to the values of a variable; nothing was written.

    `problem` is the sentence of what stops it from being saved, empty when nothing does. Labels of an identifier
    are veiled. `gaps` are the values that the description cannot place; they are cells, given on request only.
    """

    variable: str
    role: str
    origin: str
    spec: Mapping[str, Any]
    values: int
    rows: int
    levels: tuple[LevelView, ...]
    gap_values: int
    gap_rows: int
    gaps: tuple[str, ...]
    problem: str
    veiled: bool
    minimum: int | None = None
    maximum: int | None = None
    short_values: int = 0  # numbers that a mask hides whole at level 1, because others are longer …
    short_width: int = 0  # … and the width that would keep them

    @property
    def height(self) -> int:
        """The highest level."""
        return max(len(self.levels) - 1, 0)


@dataclass(frozen=True, slots=True)
class HierarchyLine:
    """A variable of a project that may have a hierarchy: where it comes from and which levels are allowed."""

    variable: str
    label: str
    role: str
    published: bool
    needed: bool  # a quasi-identifier, or a sensitive variable that a criterion asks a hierarchy of
    origin: str  # a file, the builder's name, "default", or "" where none is needed and none described
    height: int | None
    minimum: int | None
    maximum: int | None
    problem: str
    draft: bool  # a tree edited by hand waits to be saved


@dataclass(frozen=True, slots=True)
class HierarchyList:
    """The hierarchies of a project, and the digest of the file that describes them."""

    lines: tuple[HierarchyLine, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class SavedHierarchy:
    """What was written into celosia.toml, and the file's new digest."""

    variable: str
    origin: str
    height: int
    minimum: int | None
    maximum: int | None
    digest: str


@dataclass(frozen=True, slots=True)
class TreeItem:
    """A member of a level being edited: a group of the level below (a value, at level 1) and its group here."""

    member: str
    group: str
    rows: int
    placed: bool


@dataclass(frozen=True, slots=True)
class TreePage:
    """One screenful of a tree edited by hand, at one level."""

    variable: str
    level: int
    height: int
    items: tuple[TreeItem, ...]
    total: int  # members that match what was looked for
    groups: tuple[str, ...]  # the groups of this level, to move members into
    gap_values: int
    digest: str  # of the draft
