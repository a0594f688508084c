"""Columns of PERSONAL that follow from others: a district has one region, whichever tables show the one or the other.

Knows the labels that occur together and in how many rows. Ignores cells and protection. Of two tables, district × sex
and region × sex, the second is a sum of the first, so a reader subtracts. Such a table is therefore counted by the
column that follows too; those cells are never offered, and join it with the tables that show that column. A column
follows from another where knowing the other leaves a tenth of the errors in guessing it (lambda at least 0.9), so a
mistyped row does not hide a dependency. What is not stated says nothing either way.
Source: Goodman and Kruskal (1954), lambda.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa

from celosia.stats.counting.linked_breakdowns import NestedLevels
from celosia.stats.declaration.declaration import NOT_STATED, UNMAPPED, Dimension, StatsTable
from celosia.tables.cells import ALL, CellTable

Expression = Any  # an Ibis column or table
Fetch = Callable[[Expression], pa.Table]
Columns = tuple[str, ...]  # the columns of a dimension, in order of name
FOLLOWING = "␞"  # begins the name of a dimension that a table is counted by and does not show
_MOST_ERRORS = 0.1  # of those made in guessing a column from nothing


@dataclass(frozen=True, slots=True)
class LabelledColumns:
    """Columns as the finest of linked tables cuts them."""

    dimension: Dimension
    nested: NestedLevels

    @property
    def labels(self) -> Expression:
        """The finest labels."""
        return self.nested.levels.labels[-1]


@dataclass(frozen=True, slots=True)
class Dependency:
    """Columns that follow from others; `pairs` where every category goes with one only, else empty."""

    origin: Dimension
    target: Dimension
    pairs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The dependencies among the columns of linked tables."""

    columns: Mapping[Columns, LabelledColumns] = field(default_factory=dict)
    dependencies: tuple[Dependency, ...] = ()

    def following(self, columns: Collection[Columns]) -> list[Columns]:
        """The columns that follow from these and are not among them."""
        targets = [columns_of(each.target) for each in self.dependencies if columns_of(each.origin) in columns]
        return [target for target in dict.fromkeys(targets) if target not in columns]


def columns_of(dimension: Dimension) -> Columns:
    """What a dimension is cut from."""
    return tuple(sorted(dimension.columns))


def crossed_columns(tables: Sequence[StatsTable]) -> set[Columns]:
    """Columns that one table cuts in two ways at once: such tables are linked by their dimensions alone."""
    lines = [[columns_of(dimension) for dimension in table.dimensions] for table in tables]
    return {columns for line in lines for columns in line if line.count(columns) > 1}


def find_dependencies(
    tables: Sequence[StatsTable], nested: Sequence[Mapping[str, NestedLevels]], relation: Expression, fetch: Fetch
) -> Dependencies:
    """Which columns of linked tables follow from others that another table shows instead."""
    columns: dict[Columns, LabelledColumns] = {}
    for table, levels in zip(tables, nested, strict=True):
        for dimension in table.dimensions:
            finest = columns.get(columns_of(dimension))
            if finest is None or len(finest.nested.levels.labels) < len(levels[dimension.name].levels.labels):
                columns[columns_of(dimension)] = LabelledColumns(dimension, levels[dimension.name])
    together = [{columns_of(dimension) for dimension in table.dimensions} for table in tables]
    dependencies, crossed = [], crossed_columns(tables)
    for origin, target in permutations([key for key in columns if key not in crossed], 2):
        apart = (
            any(origin in t and target not in t for t in together),
            any(target in t and origin not in t for t in together),
        )
        if all(apart) and not set(origin) & set(target):
            dependency = _dependency(columns[origin], columns[target], relation, fetch)
            dependencies += [] if dependency is None else [dependency]
    return Dependencies(columns, tuple(dependencies))


def _dependency(
    origin: LabelledColumns, target: LabelledColumns, relation: Expression, fetch: Fetch
) -> Dependency | None:
    labelled = relation.select(a=origin.labels, b=target.labels)
    counted = fetch(labelled.group_by(["a", "b"]).aggregate(n=labelled.count()))
    lines = list(zip(*(counted.column(name).to_pylist() for name in ("a", "b", "n")), strict=True))
    stated = [(a, b, n) for a, b, n in lines if not {a, b} & {NOT_STATED, UNMAPPED}]
    if not _determines(stated):
        return None
    exact = len({a for a, _, _ in lines}) == len(lines)
    return Dependency(origin.dimension, target.dimension, {a: b for a, b, _ in lines} if exact else {})


def _determines(lines: Sequence[tuple[str, str, int]]) -> bool:
    """Whether the first label of lines (label, label, rows) determines the second, up to few errors."""
    rows, most, by_target = 0, dict[str, int](), Counter[str]()
    for origin, target, n in lines:
        rows, most[origin] = rows + n, max(most.get(origin, 0), n)
        by_target[target] += n
    if len(most) < 2 or len(by_target) < 2:
        return False
    return rows - sum(most.values()) <= _MOST_ERRORS * (rows - max(by_target.values()))


@dataclass(frozen=True, slots=True)
class WiderTable:
    """A table with the dimensions that follow from its own, and how many of its dimensions are its own."""

    table: StatsTable
    nested: Mapping[str, NestedLevels]
    own: int
    dependencies: tuple[Dependency, ...] = ()


def widen_table(table: StatsTable, nested: Mapping[str, NestedLevels], dependencies: Dependencies) -> WiderTable:
    """The table as it is counted: with every dimension that follows from its own."""
    own = {columns_of(dimension) for dimension in table.dimensions}
    following = dependencies.following(own)
    more, levels = [], dict(nested)
    for columns in following:
        known = dependencies.columns[columns]
        name = FOLLOWING + known.dimension.name
        more.append(replace(known.dimension, name=name))
        levels[name] = known.nested
    wider = table
    if more:
        wider = replace(table, dimensions=(*table.dimensions, *more), margins=table.grouping_sets)
    relevant = tuple(dependency for dependency in dependencies.dependencies if columns_of(dependency.origin) in own)
    return WiderTable(wider, levels, len(table.dimensions), relevant)


def split_cells(cells: CellTable, own: int) -> tuple[CellTable, CellTable | None]:
    """The cells of the table itself, and those by dimensions that follow, which are not offered."""
    if own == len(cells.dimensions):
        return cells, None
    inside = (cells.codes[:, own:] == ALL).all(axis=1)
    alone = _choose(cells, inside)
    beside = _choose(cells, ~inside)
    return (
        replace(alone, dimensions=cells.dimensions[:own], codes=alone.codes[:, :own]),
        replace(beside, offered=np.zeros(len(beside.codes), bool), largest={}),
    )


def _choose(cells: CellTable, flags: Any) -> CellTable:
    return CellTable(
        cells.dimensions,
        cells.codes[flags],
        cells.persons[flags],
        cells.rows[flags],
        {name: values[flags] for name, values in cells.sums.items()},
        cells.offered[flags],
        {name: values[flags] for name, values in cells.largest.items()},
    )


def join_cells(cells: CellTable, beside: CellTable | None) -> CellTable:
    """The cells of a table, followed by those by dimensions that follow."""
    if beside is None:
        return cells
    more = len(beside.dimensions) - len(cells.dimensions)
    together = np.full((len(cells.codes), more), ALL, cells.codes.dtype)
    return CellTable(
        (*cells.dimensions, *beside.dimensions[len(cells.dimensions) :]),
        np.concatenate([np.concatenate([cells.codes, together], axis=1), beside.codes]),
        np.concatenate([cells.persons, beside.persons]),
        np.concatenate([cells.rows, beside.rows]),
        {name: np.concatenate([sums, beside.sums[name]]) for name, sums in cells.sums.items()},
        np.concatenate([cells.offered, beside.offered]),
    )
