"""STATS as its readers see it: the published tables as one grid with unknown cells, without PERSONAL.

Knows what STATS and its catalogue say, and nothing else. A hidden cell gets a value that fits everything published
(any filling will do: what can be computed of a cell does not depend on which one), so that elimination and audit can
say what follows. Whether persons add up along a dimension is in the catalogue, and in the figures themselves: where
all published wholes of a kind are the sums of their parts, a reader will take it for granted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.model.reports.stats import CatalogueEntry, ColumnLineage
from celosia.stats.declaration.declaration import PUBLISHED, STATE
from celosia.stats.protection.version import BORDERS, Key, merged_name
from celosia.tables.cells import ALL, CellTable
from celosia.tables.cells import Dimension as Tree
from celosia.tables.grid import Bounds, Flags, Grid
from celosia.tables.linking import grid_of
from celosia.tables.system import possible_filling

Identity = frozenset[tuple[str, str]]  # dimensions and categories as linked tables know them
_SECONDS = 300.0  # for one filling; a busy machine must not turn a sound table into an unproven one


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A STATS table as its readers have it: the cells, and the persons of those published."""

    entry: CatalogueEntry
    keys: tuple[Key, ...]
    persons: tuple[int | None, ...]  # or rows, if that is the unit
    unit: str = "persons"
    # Dimension -> the one that follows from it, and its category for each of the first, as linked tables know them.
    implied: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)

    @property
    def identities(self) -> tuple[Identity, ...]:
        """What each cell is, whatever table contains it."""
        return tuple(self.identity(key) for key in self.keys)

    def identity(self, key: Key) -> Identity:
        """What the cell of these categories is."""
        labels = zip(self.entry.dimensions(), key, strict=True)
        return frozenset(
            (self.dimension_name(name), self.shared_label(name, word)) for name, word in labels if word is not None
        )

    def dimension_name(self, dimension: str) -> str:
        """The dimension as linked tables know it."""
        shared = self.entry.meanings.get(dimension)
        return shared or shared_name(next(column for column in self.entry.columns if column.column == dimension))

    def shared_label(self, dimension: str, label: str) -> str:
        """The category as linked tables know it."""
        shared = self.entry.names.get(dimension)
        return self.history_label(dimension, label) if shared is None else shared.get(label, label)

    def history_label(self, dimension: str, label: str) -> str:
        """The category as the history knows it: the others by their members."""
        members = self.entry.others.get(dimension, ())
        return merged_name(label, members) if label == self.entry.others_label.get(dimension) else label


def published_table(entry: CatalogueEntry, rows: pa.Table, unit: str = "persons") -> PublishedTable | None:
    """A table as read from STATS, in persons or in rows; None where it does not show them."""
    counted = next((column.column for column in entry.columns if column.rule == unit), None)
    if counted is None:
        return None
    words = [rows.column(name).to_pylist() for name in entry.dimensions()]
    keys = tuple(zip(*words, strict=True)) if words else ((),) * rows.num_rows
    return PublishedTable(entry, keys, tuple(rows.column(counted).to_pylist()), unit)


def published_amounts(entry: CatalogueEntry, rows: pa.Table, column: str) -> PublishedTable | None:
    """A table that shows sums or means of a PERSONAL column, by what of them it shows; None where it shows none.

    A mean counts as a sum: who knows how many it is of has the sum.
    """
    if column not in amount_columns(entry):
        return None
    words = [rows.column(name).to_pylist() for name in entry.dimensions()]
    keys = tuple(zip(*words, strict=True)) if words else ((),) * rows.num_rows
    persons = [0 if word == PUBLISHED else None for word in rows.column(STATE).to_pylist()]
    return PublishedTable(entry, keys, tuple(persons), "sum")


def amount_columns(entry: CatalogueEntry) -> dict[str, str]:
    """The PERSONAL columns of which a table shows sums or means, and the measure that does."""
    measures = [measure for measure in entry.columns if measure.kind == "measure" and measure.rule in ("sum", "mean")]
    return {column: measure.column for measure in measures for column in measure.columns[-1:]}


def shared_name(column: ColumnLineage) -> str:
    """The name under which a dimension is the same in every table: its rule and columns, whatever its borders."""
    settings = sorted((key, str(value)) for key, value in column.detail.items() if key not in BORDERS)
    return "\x1f".join([column.rule, *column.columns, *(f"{key}={value}" for key, value in settings)])


@dataclass(frozen=True, slots=True)
class PublishedGrid:
    """Linked tables as one grid; `numbers` gives the cell of the grid for each cell of each table."""

    grid: Grid
    hidden: Flags
    numbers: list[NDArray[np.int64]]
    fits: bool  # whether a filling was found; without one nothing can be proved


def build_published_grid(tables_read: Sequence[PublishedTable], seconds: float = _SECONDS) -> PublishedGrid:
    """The grid of linked tables with a filling for what is hidden, if one is found in the time."""
    known: dict[Identity, int] = {}
    for table in tables_read:
        known |= {i: int(v) for i, v in zip(table.identities, table.persons, strict=True) if v is not None}
    tables = [_cell_table(table, known) for table in tables_read]
    grid, places = grid_of(tables, additive=True)
    numbers, hidden = _own_cells(tables_read, places, known, grid.size)
    least = 0 if any(table.entry.zeros == "hide" for table in tables_read) else 1
    bounds = Bounds(np.where(hidden, float(least), 0.0), np.full(grid.size, np.inf))
    # Relations that agree by chance may contradict the rest, which every reader sees: then they are not trusted.
    for trusting in (True, False):
        grid = replace(grid, additive=_additive_relations(grid, hidden, tables_read, tables, places, trusting))
        filled = possible_filling(grid, hidden | ~grid.offered, bounds, seconds=seconds)
        if filled is not None:
            return PublishedGrid(replace(grid, values=filled), hidden, numbers, True)
    return PublishedGrid(grid, hidden, numbers, False)


def suppression_pattern(tables_read: Sequence[PublishedTable]) -> PublishedGrid:
    """The same grid where every margin is a sum whatever the figures are: fit for elimination, which reads none."""
    shown = {
        i: 0 for table in tables_read for i, v in zip(table.identities, table.persons, strict=True) if v is not None
    }
    grid, places = grid_of([_cell_table(table, shown) for table in tables_read], additive=True)
    numbers, hidden = _own_cells(tables_read, places, shown, grid.size)
    return PublishedGrid(grid, hidden, numbers, True)


def _own_cells(
    tables_read: Sequence[PublishedTable], places: Sequence[NDArray[np.int64]], known: Mapping[Identity, int], size: int
) -> tuple[list[NDArray[np.int64]], Flags]:
    """The cells of each table itself, and which cells are hidden."""
    numbers = [cells[: len(table.keys)] for table, cells in zip(tables_read, places, strict=True)]
    hidden = np.zeros(size, bool)
    for table, cells in zip(tables_read, numbers, strict=True):
        hidden[cells] = [identity not in known for identity in table.identities]
    return numbers, hidden


def _cell_table(table: PublishedTable, known: Mapping[Identity, int]) -> CellTable:
    """The table with 0 where nothing is known; the cells above its own that other tables show come last."""
    names = table.entry.dimensions()
    above = [table.entry.parents.get(name, {}) for name in names]
    keys = [*table.keys, *_cells_above(table.keys, above)]
    trees, codes = [], []
    for at, name in enumerate(names):
        words = sorted({word for key in keys if (word := key[at]) is not None})
        position = {word: number for number, word in enumerate(words)}
        shown = tuple(table.shared_label(name, word) for word in words)
        parents = tuple(position.get(above[at].get(word, ""), ALL) for word in words)
        trees.append(Tree(table.dimension_name(name), shown, parents))
        codes.append([ALL if (word := key[at]) is None else position[word] for key in keys])
    for at, name in enumerate(names):
        if name in table.implied:
            target, category = table.implied[name]
            shown = tuple(sorted(set(category.values())))
            number = {label: position for position, label in enumerate(shown)}
            trees.append(Tree.flat(target, shown))
            codes.append([ALL if (word := key[at]) is None else number[category[word]] for key in keys])
    persons = np.array([known.get(table.identity(key), 0) for key in keys], np.int64)
    shape = np.array(codes, np.int32).reshape(len(trees), len(keys)).T
    offered = np.arange(len(keys)) < len(table.keys)
    return CellTable(tuple(trees), shape, persons, persons, {}, offered)


def _cells_above(keys: Sequence[Key], above: Sequence[Mapping[str, str]]) -> list[Key]:
    """The cells over those of a table, in one dimension or several, that the table does not have."""
    known, todo = dict.fromkeys(keys), list(keys)
    while todo:
        key = todo.pop()
        for at, word in enumerate(key):
            up = None if word is None else above[at].get(word)
            whole = (*key[:at], up, *key[at + 1 :])
            if up is not None and whole not in known:
                known[whole] = None
                todo.append(whole)
    return list(known)[len(keys) :]


def _additive_relations(
    grid: Grid,
    hidden: Flags,
    tables_read: Sequence[PublishedTable],
    tables: Sequence[CellTable],
    places: Sequence[NDArray[np.int64]],
    trusting: bool,
) -> Flags:
    """Which relations are sums: all of those of rows; of persons by dimension, or where all figures agree."""
    if all(table.unit == "rows" for table in tables_read):
        return np.ones(len(grid.totals), bool)
    names = breakdown_of(grid, tables, places)
    firm = [_adding_dimensions(table) for table in tables_read]
    inside = [np.isin(np.arange(grid.size), place) for place in places]
    kinds: dict[tuple[frozenset[str], frozenset[str]], list[int]] = {}
    additive = np.zeros(len(grid.totals), bool)
    for number, (whole, parts) in enumerate(grid.relations()):
        part_names = names[int(parts[0])] if len(parts) else frozenset()
        kinds.setdefault((names[whole], part_names), []).append(number)
        collapsed = part_names - names[whole] or part_names
        tables_sums = zip(firm, inside, strict=True)
        additive[number] = any(collapsed <= sums and bool(mine[parts].all()) for sums, mine in tables_sums)
    for chosen in kinds.values() if trusting else ():
        additive[chosen] |= _all_agree(grid, hidden, chosen)
    return additive


def _adding_dimensions(table: PublishedTable) -> set[str]:
    """The dimensions in which every person has one category, and those that follow from them."""
    implied = {table.implied[name][0] for name in table.entry.adds_up if name in table.implied}
    return {table.dimension_name(name) for name in table.entry.adds_up} | implied


def breakdown_of(grid: Grid, tables: Sequence[CellTable], places: Sequence[NDArray[np.int64]]) -> list[frozenset[str]]:
    """The dimensions by which each cell is broken down."""
    names: list[frozenset[str]] = [frozenset()] * grid.size
    for table, numbers in zip(tables, places, strict=True):
        for number, line in zip(numbers.tolist(), (table.codes != ALL).tolist(), strict=True):
            names[number] = frozenset(name for name, separate in zip(table.names, line, strict=True) if separate)
    return names


def _all_agree(grid: Grid, hidden: Flags, relations: Sequence[int]) -> bool:
    """Whether the kind is shown in full somewhere, and is a sum wherever it is."""
    seen = False
    for number in relations:
        whole, parts = grid.relation(number)
        cells = np.append(parts, whole)
        if grid.offered[cells].all() and not hidden[cells].any():
            seen = True
            if int(grid.values[parts].sum()) != int(grid.values[whole]):
                return False
    return seen
