"""Tables of classes and their roll-up; the pool of tables already made.

A table holds the classes of a node with whatever the criteria need: rows, persons, sensitive values in the
lightest form that answers. Any table of a finer node is a source; the smallest is the cheapest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from celosia.risk.criteria import Classes, Domain, ValueCounts, ValueExtremes, Values, ValueSets
from celosia.solver._encoding import Encoding, Levels
from celosia.tuples import Persons

Index = NDArray[np.int64]
_ADDRESSED = 2**18  # codes addressed directly even by small tables
_SMALL = 4_000  # entries that are cheaply read again and again
_LARGE = 200_000  # entries beyond which a stepping stone costs more than it saves
_PATIENCE = 3  # readings of a source before a stepping stone is made
_SPARSE = 8  # addresses per tuple up to which large tables are addressed directly


@dataclass(frozen=True, slots=True)
class Incidence:
    """Persons behind entries: settled in one, or listed (entry, person) in the order of persons."""

    counted: Index  # distinct persons of each entry
    settled: Index
    entry: Index
    person: Index

    def roll(self, label: NDArray[np.integer], classes: int) -> Incidence:
        """After entries merge as `label` says."""
        from celosia.kernels import rollup

        return Incidence(*rollup.roll_persons(label, classes, self.settled, self.entry, self.person))


def incidence_of(persons: Persons) -> Incidence:
    """The incidence of a tuple table, ordered by person."""
    order = np.argsort(persons.ordinal, kind="stable")
    entry, person = persons.tuple_index[order], persons.ordinal[order]
    counted = persons.settled + np.bincount(entry, minlength=len(persons.settled))
    return Incidence(counted, persons.settled, entry, person)


@dataclass(frozen=True, slots=True)
class Table:
    """The classes of a node."""

    keys: NDArray[np.uint64]
    rows: Index
    persons: Incidence | None
    values: Mapping[str, Values]
    value_persons: Mapping[str, Incidence]
    population: Index | None = None  # units of a population table in each class, where a criterion asks

    size: int = field(init=False)  # what rolling it up costs, in entries

    def __post_init__(self) -> None:
        lists = sum(len(v.values) for v in self.values.values() if isinstance(v, ValueCounts))
        listed = sum(len(i.entry) for i in self.value_persons.values())
        persons = 0 if self.persons is None else len(self.persons.entry)
        object.__setattr__(self, "size", len(self.keys) + lists + listed + persons)

    def classes(self, domains: Mapping[str, Domain]) -> Classes:
        """The classes as criteria see them."""
        counted = None if self.persons is None else self.persons.counted
        return Classes(self.rows, counted, self.values, domains, self.population)


def roll(source: Table, levels: Levels, encoding: Encoding, domains: Mapping[str, Domain]) -> Table:
    """The table of a node from that of a finer one."""
    from celosia.kernels import rollup

    label, keys, rows = _labels(source, levels, encoding)
    many = len(keys)
    persons = None if source.persons is None else source.persons.roll(label, many)
    values: dict[str, Values] = {}
    behind: dict[str, Incidence] = {}
    for name, held in source.values.items():
        if isinstance(held, ValueSets):
            values[name] = ValueSets(rollup.roll_sets(label, many, held.bits))
        elif isinstance(held, ValueExtremes):
            values[name] = ValueExtremes(*rollup.roll_extremes(label, many, held.low, held.high))
        else:
            people = source.value_persons.get(name)
            values[name], found = _roll_counts(label, many, held, people, len(domains[name].vocabulary))
            if found is not None:
                behind[name] = found
    return Table(keys, rows, persons, values, behind)


def _roll_counts(
    label: NDArray[np.int32], many: int, held: ValueCounts, people: Incidence | None, n_values: int
) -> tuple[ValueCounts, Incidence | None]:
    from celosia.kernels import rollup

    where = np.empty(0 if people is None else len(held.values), np.int32)
    lists = rollup.roll_values(label, many, held.offsets, held.values, held.rows, n_values, where)
    if people is None:
        return ValueCounts(*lists), None
    found = people.roll(where, len(lists[1]))
    offsets, values, rows = lists
    made = ValueCounts(offsets, values, rows, found.counted)
    if held.holders is None:
        return made, found
    return replace(made, holders=found.roll(made.owner.astype(np.int32), many).counted), found


def _labels(source: Table, levels: Levels, encoding: Encoding) -> tuple[NDArray[np.int32], NDArray[np.uint64], Index]:
    from celosia.kernels import rollup

    n = len(source.keys)
    labelled = source.persons is not None or len(source.values) > 0
    if encoding.wide:
        bits = max(n * 2 - 1, 16).bit_length()
        wanted = (encoding.codes, encoding.leading, np.array(levels, np.int64), bits)
        found = rollup.roll_wide(source.keys, source.rows, *wanted, *encoding.room(n, 1 << bits))
    else:
        offset, stride, domain = encoding.lookups(levels)
        places = (offset, encoding.group_shift, encoding.group_mask)
        if domain <= max(_ADDRESSED, _SPARSE * n):
            where = (encoding.address, *places, stride, labelled, *encoding.room(n, domain))
            found = rollup.roll_direct(source.keys, source.rows, *where)
        else:
            cells = encoding.first_cells(levels)
            lookups = (encoding.coarse, encoding.address, *places, cells, labelled)
            found = rollup.roll_hash(source.keys, source.rows, *lookups, *encoding.room(n, 4 * (n + cells)))
    encoding.first_free += len(found[1])
    return found


class Pool:
    """Tables already made, within a budget of entries; the first is the source of everything."""

    def __init__(self, first: Table, variables: int, budget: int) -> None:
        self._first = first
        self._tables: list[Table] = []
        self._levels = np.zeros((64, variables), np.int64)
        self._sizes = np.zeros(64, np.int64)
        self._budget = budget
        self._held = 0

    def smallest(self, levels: Levels) -> Table:
        """The smallest table of a finer node."""
        from celosia.kernels import rollup

        many = len(self._tables)
        at = rollup.smallest_source(self._levels, self._sizes, many, np.array(levels, np.int64))
        return self._tables[at] if at >= 0 and self._sizes[at] < self._first.size else self._first

    def offer(self, levels: Levels, table: Table, source: Table) -> bool:
        """Keep a table that shrank by a quarter or more (then true); the largest make room."""
        size = table.size
        if 4 * size > 3 * source.size or size > self._budget // 2:
            return False
        while self._tables and self._held + size > self._budget:
            self._drop(int(np.argmax(self._sizes[: len(self._tables)])))
        at = len(self._tables)
        if at == len(self._sizes):
            self._levels = np.concatenate([self._levels, np.zeros_like(self._levels)])
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
        self._tables.append(table)
        self._levels[at], self._sizes[at] = levels, size
        self._held += size
        return True

    def _drop(self, at: int) -> None:
        self._held -= int(self._sizes[at])
        last = len(self._tables) - 1
        self._tables[at] = self._tables[last]
        self._levels[at], self._sizes[at] = self._levels[last], self._sizes[last]
        self._tables.pop()


class Stones:
    """When to make a table between the sources and the nodes that are asked for.

    A stone generalises some variables as the node does, those with most values first, and leaves the others as
    they are: many nodes lie above it. It is made once the nodes above it have cost a few readings of their source.
    """

    def __init__(self, encoding: Encoding) -> None:
        self._order = sorted(range(len(encoding.leaves)), key=lambda v: -_spread(encoding.leaves[v].rows))
        self._spent: dict[Levels, int] = {}

    def wanted(self, levels: Levels, size: int) -> Levels | None:
        """The stone to make before this node is rolled up from a source of some size."""
        if not _SMALL <= size <= _LARGE:
            return None
        found = None
        stone = [0] * len(levels)
        for variable in self._order[:-1]:
            if levels[variable] == 0:
                continue
            stone[variable] = levels[variable]
            key = tuple(stone)
            spent = self._spent.get(key, 0)
            if spent < 0:
                continue
            self._spent[key] = spent + size
            if found is None and spent >= _PATIENCE * size:
                found = key
        if found is not None:
            self._spent[found] = -1
        return None if found == levels else found


def _spread(rows: Index) -> float:
    """The number of equally common values that would collide as often."""
    return float(rows.sum()) ** 2 / max(float((rows.astype(float) ** 2).sum()), 1.0)
