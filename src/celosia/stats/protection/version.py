"""A STATS table for one audience: its counted cells, what was published before, and their names in linked tables.

Knows cells, categories and their names. Ignores protection and databases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.stats.counting.dependent_columns import Dependency, join_cells
from celosia.stats.declaration.declaration import Dimension, Measure, StatsTable
from celosia.tables.cells import CellTable
from celosia.tables.cells import Dimension as Tree
from celosia.tables.grid import Flags

Key = tuple[str | None, ...]  # the categories of a cell, in the order of the table's dimensions
_NONE: Mapping[str, Any] = MappingProxyType({})
BORDERS = frozenset(("bands", "width", "end", "borders", "by", "years", "start"))  # where a dimension is cut


@dataclass(frozen=True, slots=True)
class EarlierPublication:
    """What an earlier run published of the cells of a version, in any table of its origin."""

    values: Mapping[tuple[str, Key], float]  # measure and cell, as the version calls them
    k: int  # differences of fewer persons are disclosure; below the version's k where others read it


@dataclass(frozen=True, slots=True)
class Version:
    """A STATS table before publication, as one audience will see it."""

    table: StatsTable
    audience: str
    k: int
    cells: CellTable
    others: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=lambda: _NONE)  # label, members
    suppressed: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NONE)  # nothing left to merge with
    earlier: tuple[EarlierPublication, ...] = ()
    scale: Mapping[str, int] = field(default_factory=lambda: _NONE)  # units of a sum that make one
    meanings: Mapping[str, str] = field(default_factory=lambda: _NONE)  # dimension -> its name in all linked tables
    names: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NONE)  # … -> category -> its name there
    origin: str = ""  # who is counted
    dependencies: tuple[Dependency, ...] = ()  # between its columns and others
    beside: CellTable | None = None  # by dimensions that follow from its own, under shared names; never offered


@dataclass(frozen=True, slots=True)
class ProtectedVersion:
    """A version with the status of each of its cells."""

    version: Version
    status: NDArray[np.int8]  # 0 published, 1 primary, 2 secondary
    reasons: NDArray[np.object_]

    @property
    def hidden(self) -> Flags:
        """Offered cells that are not shown."""
        flags: Flags = (self.status > 0) & self.version.cells.offered
        return flags


def keys_of(cells: CellTable) -> list[Key]:
    """The categories of every cell."""
    words = [np.array([*dimension.labels, None], object) for dimension in cells.dimensions]
    columns = [word[cells.codes[:, at]] for at, word in enumerate(words)]
    return list(zip(*columns, strict=True)) if columns else [()] * len(cells.codes)


def history_keys(version: Version) -> list[Key]:
    """The categories of every cell as the history names them: the merged one by its members."""
    names = [version.others.get(dimension.name, ("", ())) for dimension in version.table.dimensions]
    return [
        tuple(
            merged_name(word, members) if members and word == label else word
            for word, (label, members) in zip(key, names, strict=True)
        )
        for key in keys_of(version.cells)
    ]


def amounts(version: Version, measure: Measure) -> NDArray[np.float64]:
    """The sum or mean of every cell in its own unit; the mean of an empty cell is not a number."""
    sums = version.cells.sums[measure.name].astype(np.float64) / version.scale.get(measure.name, 1)
    if measure.kind == "sum":
        return sums
    counts = version.cells.sums[f"{measure.name}:rows"].astype(np.float64)
    return np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)


def merged_name(label: str, members: Sequence[str]) -> str:
    """The merged category by its members: two of them are the same only if their members are."""
    return f"{label} ({' + '.join(members)})"


def linkable(version: Version) -> CellTable:
    """The cells with names that mean the same in every table: dimension by rule and columns, Otros by its members."""
    trees = []
    for dimension, tree in zip(version.table.dimensions, version.cells.dimensions, strict=True):
        meaning = version.meanings.get(dimension.name) or _shared_name(dimension)
        trees.append(Tree(meaning, _shared_labels(version, dimension.name, tree.labels), tree.parent))
    cells = join_cells(version.cells, version.beside)
    sums = {
        measure.column: cells.sums[measure.name]
        for measure in version.table.measures
        if measure.column is not None and measure.name in cells.sums
    }
    return replace(cells, dimensions=(*trees, *cells.dimensions[len(trees) :]), sums=sums)


def shared_tree(dimension: Dimension, tree: Tree, meaning: str, names: Mapping[str, str]) -> Tree:
    """A dimension with the names that linked tables share."""
    labels = tuple(names.get(label, label) for label in tree.labels)
    return Tree(meaning or _shared_name(dimension), labels, tree.parent)


def _shared_labels(version: Version, dimension: str, labels: Sequence[str]) -> tuple[str, ...]:
    """The categories under the names that linked tables share."""
    shared = version.names.get(dimension)
    if shared is not None:
        return tuple(shared.get(label, label) for label in labels)
    others, members = version.others.get(dimension, ("", ()))
    return tuple(merged_name(label, members) if label == others and members else label for label in labels)


def _shared_name(dimension: Dimension) -> str:
    settings = sorted((key, str(value)) for key, value in dimension.settings.items() if key not in BORDERS)
    return "\x1f".join([dimension.rule, *dimension.columns, *(f"{key}={value}" for key, value in settings)])
