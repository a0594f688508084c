"""STATS as its readers see it: the published tables as one grid with holes, without PERSONAL.

Knows what STATS and its catalogue say, and nothing else. A hidden cell gets a value that fits everything published
(any filling will do: what can be computed of a cell does not depend on which one), so that elimination and audit can
be asked what follows. Whether persons add up along a dimension is told by the catalogue, and by the figures themselves:
where all published wholes of a kind are the sums of their parts, a reader will take it for granted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp

from celosia.model.stats import PUBLISHED, STATE
from celosia.model.stats_reports import CatalogueEntry, ColumnLineage
from celosia.stats._protection import BORDERS, Key, merged_name
from celosia.tables import ALL, CellTable, Flags, Grid, Values, grid_of
from celosia.tables import Dimension as Tree

Identity = frozenset[tuple[str, str]]  # dimensions and categories as linked tables know them
_SECONDS = 300.0  # for one filling; a busy machine must not turn a sound table into an unproven one


@dataclass(frozen=True, slots=True)
class Sheet:
    """A STATS table as it is read: the cells, and the persons of those that are shown."""

    entry: CatalogueEntry
    keys: tuple[Key, ...]
    persons: tuple[int | None, ...]  # or rows, if that is the unit
    unit: str = "persons"

    @property
    def identities(self) -> tuple[Identity, ...]:
        """What each cell is, whatever table it stands in."""
        return tuple(self.identity(key) for key in self.keys)

    def identity(self, key: Key) -> Identity:
        """What the cell of these categories is."""
        told = zip(self.entry.dimensions(), key, strict=True)
        return frozenset((self.meaning(name), self.named(name, word)) for name, word in told if word is not None)

    def meaning(self, dimension: str) -> str:
        """The dimension as linked tables know it."""
        shared = self.entry.meanings.get(dimension)
        return shared or meaning_of(next(one for one in self.entry.columns if one.column == dimension))

    def named(self, dimension: str, label: str) -> str:
        """The category as linked tables know it."""
        shared = self.entry.names.get(dimension)
        return self.word(dimension, label) if shared is None else shared.get(label, label)

    def word(self, dimension: str, label: str) -> str:
        """The category as the history knows it: the others by their members."""
        members = self.entry.others.get(dimension, ())
        return merged_name(label, members) if label == self.entry.others_label.get(dimension) else label


def sheet_of(entry: CatalogueEntry, rows: pa.Table, unit: str = "persons") -> Sheet | None:
    """A table as read from STATS, in persons or in rows; None where it does not tell them."""
    counted = next((one.column for one in entry.columns if one.rule == unit), None)
    if counted is None:
        return None
    words = [rows.column(name).to_pylist() for name in entry.dimensions()]
    keys = tuple(zip(*words, strict=True)) if words else ((),) * rows.num_rows
    return Sheet(entry, keys, tuple(rows.column(counted).to_pylist()), unit)


def amounts_of(entry: CatalogueEntry, rows: pa.Table, column: str) -> Sheet | None:
    """A table that shows sums or means of a PERSONAL column, by what of them it shows; None where it shows none.

    A mean counts as a sum: who knows how many it is of has the sum.
    """
    if column not in amount_columns(entry):
        return None
    words = [rows.column(name).to_pylist() for name in entry.dimensions()]
    keys = tuple(zip(*words, strict=True)) if words else ((),) * rows.num_rows
    shown = [0 if word == PUBLISHED else None for word in rows.column(STATE).to_pylist()]
    return Sheet(entry, keys, tuple(shown), "sum")


def amount_columns(entry: CatalogueEntry) -> dict[str, str]:
    """The PERSONAL columns of which a table shows sums or means, and the measure that does."""
    measures = [one for one in entry.columns if one.kind == "measure" and one.rule in ("sum", "mean")]
    return {column: one.column for one in measures for column in one.columns[-1:]}


def meaning_of(column: ColumnLineage) -> str:
    """The name under which a dimension is the same in every table: its rule and columns, whatever its borders."""
    settings = sorted((key, str(value)) for key, value in column.detail.items() if key not in BORDERS)
    return "\x1f".join([column.rule, *column.columns, *(f"{key}={value}" for key, value in settings)])


@dataclass(frozen=True, slots=True)
class Holes:
    """Linked tables as one grid; `numbers` leads from the cells of each sheet to those of the grid."""

    grid: Grid
    hidden: Flags
    numbers: list[NDArray[np.int64]]
    fits: bool  # whether a filling was found; without one nothing can be proved


def holes_of(sheets: Sequence[Sheet], seconds: float = _SECONDS) -> Holes:
    """The grid of what is published in linked sheets, with a filling for what is not, if one is found in the time."""
    known: dict[Identity, int] = {}
    for sheet in sheets:
        known |= {i: int(v) for i, v in zip(sheet.identities, sheet.persons, strict=True) if v is not None}
    tables = [_cell_table(sheet, known) for sheet in sheets]
    grid, places = grid_of(tables, additive=True)
    numbers, hidden = _own(sheets, places, known, grid.size)
    least = 0 if any(sheet.entry.zeros == "hide" for sheet in sheets) else 1
    for trusting in (True, False):  # what agrees by chance may contradict the rest, and every reader sees that
        grid = replace(grid, additive=_adding(grid, hidden, sheets, tables, places, trusting))
        filled = _filling(grid, hidden, least, seconds)
        if filled is not None:
            return Holes(replace(grid, values=filled), hidden, numbers, True)
    return Holes(grid, hidden, numbers, False)


def pattern_of(sheets: Sequence[Sheet]) -> Holes:
    """The same grid where every margin is a sum whatever the figures are: fit for elimination, which reads none."""
    shown = {i: 0 for sheet in sheets for i, v in zip(sheet.identities, sheet.persons, strict=True) if v is not None}
    grid, places = grid_of([_cell_table(sheet, shown) for sheet in sheets], additive=True)
    numbers, hidden = _own(sheets, places, shown, grid.size)
    return Holes(grid, hidden, numbers, True)


def _own(
    sheets: Sequence[Sheet], places: Sequence[NDArray[np.int64]], known: Mapping[Identity, int], size: int
) -> tuple[list[NDArray[np.int64]], Flags]:
    """The cells that each sheet has itself, and which cells are hidden."""
    numbers = [place[: len(sheet.keys)] for sheet, place in zip(sheets, places, strict=True)]
    hidden = np.zeros(size, bool)
    for sheet, place in zip(sheets, numbers, strict=True):
        hidden[place] = [identity not in known for identity in sheet.identities]
    return numbers, hidden


def _cell_table(sheet: Sheet, known: Mapping[Identity, int]) -> CellTable:
    """The sheet with 0 where nothing is known; the cells above its own that other tables show come last."""
    names = sheet.entry.dimensions()
    above = [sheet.entry.parents.get(name, {}) for name in names]
    keys = [*sheet.keys, *_above(sheet.keys, above)]
    trees, codes = [], []
    for at, name in enumerate(names):
        words = sorted({word for key in keys if (word := key[at]) is not None})
        place = {word: number for number, word in enumerate(words)}
        shown = tuple(sheet.named(name, word) for word in words)
        parents = tuple(place.get(above[at].get(word, ""), ALL) for word in words)
        trees.append(Tree(sheet.meaning(name), shown, parents))
        codes.append([ALL if (word := key[at]) is None else place[word] for key in keys])
    persons = np.array([known.get(sheet.identity(key), 0) for key in keys], np.int64)
    shape = np.array(codes, np.int32).reshape(len(trees), len(keys)).T
    offered = np.arange(len(keys)) < len(sheet.keys)
    return CellTable(tuple(trees), shape, persons, persons, {}, offered)


def _above(keys: Sequence[Key], above: Sequence[Mapping[str, str]]) -> list[Key]:
    """The cells over those of a table, in one dimension or several, that the table does not have."""
    met, todo = dict.fromkeys(keys), list(keys)
    while todo:
        key = todo.pop()
        for at, word in enumerate(key):
            up = None if word is None else above[at].get(word)
            whole = (*key[:at], up, *key[at + 1 :])
            if up is not None and whole not in met:
                met[whole] = None
                todo.append(whole)
    return list(met)[len(keys) :]


def _adding(
    grid: Grid, hidden: Flags, sheets: Sequence[Sheet], tables: Sequence[CellTable],
    places: Sequence[NDArray[np.int64]], trusting: bool,
) -> Flags:  # fmt: skip
    """Which relations are sums: all of those of rows; of persons by dimension, or where all figures agree."""
    if all(sheet.unit == "rows" for sheet in sheets):
        return np.ones(len(grid.totals), bool)
    names = _told_apart(grid, tables, places)
    firm = [{sheet.meaning(name) for name in sheet.entry.adds_up} for sheet in sheets]
    inside = [np.isin(np.arange(grid.size), place) for place in places]
    kinds: dict[tuple[frozenset[str], frozenset[str]], list[int]] = {}
    additive = np.zeros(len(grid.totals), bool)
    for number, (whole, parts) in enumerate(grid.relations()):
        part_names = names[int(parts[0])] if len(parts) else frozenset()
        kinds.setdefault((names[whole], part_names), []).append(number)
        collapsed, cells = part_names - names[whole] or part_names, np.append(parts, whole)
        told = zip(firm, inside, strict=True)
        additive[number] = any(collapsed <= sums and bool(mine[cells].all()) for sums, mine in told)
    for chosen in kinds.values() if trusting else ():
        additive[chosen] |= _all_agree(grid, hidden, chosen)
    return additive


def _told_apart(grid: Grid, tables: Sequence[CellTable], places: Sequence[NDArray[np.int64]]) -> list[frozenset[str]]:
    """The dimensions that each cell tells apart."""
    names: list[frozenset[str]] = [frozenset()] * grid.size
    for table, place in zip(tables, places, strict=True):
        for number, line in zip(place.tolist(), (table.codes != ALL).tolist(), strict=True):
            names[number] = frozenset(name for name, told in zip(table.names, line, strict=True) if told)
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


def _filling(grid: Grid, hidden: Flags, least: int, seconds: float) -> Values | None:
    """Whole numbers for the unknown cells, hidden ones from `least` up, that fit all relations; None if none fit."""
    unknown = np.flatnonzero(hidden | ~grid.offered)
    if not len(unknown):
        return grid.values
    column = np.full(grid.size, -1, np.int64)
    column[unknown] = np.arange(len(unknown))
    lines, low, high = _system(grid, column)
    box = Box(np.where(hidden[unknown], float(least), 0.0), np.full(len(unknown), np.inf))
    constraints = [LinearConstraint(lines, low, high)] if lines.shape[0] else []
    found = milp(
        np.zeros(len(unknown)), integrality=np.ones(len(unknown)), bounds=box, constraints=constraints,
        options={"time_limit": seconds},
    )  # fmt: skip
    if found.x is None:
        return None
    values = grid.values.copy()
    values[unknown] = np.rint(found.x).astype(np.int64)
    return values


def _system(grid: Grid, column: NDArray[np.int64]) -> tuple[sparse.csr_array, NDArray[np.float64], NDArray[np.float64]]:
    """The relations over the unknown cells: sums as equations, the others as largest ≤ whole ≤ sum."""
    entries: list[tuple[int, int, int]] = []
    low: list[float] = []
    high: list[float] = []
    for number, (whole, parts) in enumerate(grid.relations()):
        line = [(int(cell), 1) for cell in parts] + [(whole, -1)]
        known = sum(sign * int(grid.values[cell]) for cell, sign in line if column[cell] < 0)
        _add(entries, low, high, column, line, -known, -known if grid.additive[number] else np.inf)
        if not grid.additive[number]:
            for cell in parts.tolist():
                pair = [(whole, 1), (cell, -1)]
                known = sum(sign * int(grid.values[one]) for one, sign in pair if column[one] < 0)
                _add(entries, low, high, column, pair, -known, np.inf)
    rows, columns, signs = (np.array(part, np.int64) for part in zip(*entries, strict=True)) if entries else [[]] * 3
    shape = (len(low), int(column.max(initial=-1)) + 1)
    return sparse.csr_array((signs, (rows, columns)), shape=shape), np.array(low), np.array(high)


def _add(
    entries: list[tuple[int, int, int]], low: list[float], high: list[float], column: NDArray[np.int64],
    line: Sequence[tuple[int, int]], least: float, most: float,
) -> None:  # fmt: skip
    """One line of the system, unless nothing in it is unknown."""
    unknown = [(int(column[cell]), sign) for cell, sign in line if column[cell] >= 0]
    if unknown:
        entries += [(len(low), place, sign) for place, sign in unknown]
        low.append(least)
        high.append(most)
