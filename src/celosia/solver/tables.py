"""Tables of classes: the first one, made of the problem's tuples, their roll-up, and the pool of tables made so far.

A table holds the classes of a node with whatever the criteria need: rows, persons, sensitive values in the
lightest form that answers. Any table of a finer node is a source; the smallest is the cheapest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from celosia.risk.criteria import (
    Classes,
    Criterion,
    DistinctL,
    Domain,
    Need,
    ValueCounts,
    ValueExtremes,
    Values,
    ValueSets,
)
from celosia.solver.encoding import Encoding, Levels
from celosia.solver.errors import TuplesDisagree
from celosia.solver.problem import SearchProblem
from celosia.solver.published import domain_of
from celosia.tuples.table import Persons, Tuples

Index = NDArray[np.int64]
_ADDRESSED = 2**18  # codes addressed directly even by small tables
_SMALL = 4_000  # entries that are cheaply read again and again
_LARGE = 200_000  # entries beyond which an intermediate table costs more than it saves
_PATIENCE = 3  # readings of a source before an intermediate table is made
_SPARSE = 8  # addresses per tuple up to which large tables are addressed directly


@dataclass(frozen=True, slots=True)
class Incidence:
    """Persons behind entries: settled in one, or listed (entry, person) in the order of persons."""

    counted: Index  # distinct persons of each entry
    settled: Index
    entry: Index
    person: Index

    def roll_up(self, label: NDArray[np.integer], classes: int) -> Incidence:
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
class ClassTable:
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


def domains_of(problem: SearchProblem) -> dict[str, Domain]:
    """The sensitive variables that criteria name, with the distribution over all records."""
    names = dict.fromkeys(criterion.variable for criterion in problem.criteria if criterion.variable)
    hierarchies = problem.sensitive_hierarchies
    return {name: domain_of(name, problem.sensitive[name], hierarchies.get(name)) for name in names}


def first_table(problem: SearchProblem, encoding: Encoding, domains: Mapping[str, Domain]) -> ClassTable:
    """The tuples as a table of classes."""
    quasi = problem.quasi
    values: dict[str, Values] = {}
    behind: dict[str, Incidence] = {}
    for name, domain in domains.items():
        criteria = [criterion for criterion in problem.criteria if criterion.variable == name]
        values[name], people = _values(quasi, problem.sensitive[name], domain, criteria)
        if people is not None:
            behind[name] = people
    persons = None if quasi.persons is None else incidence_of(quasi.persons)
    return ClassTable(encoding.keys(quasi.codes), quasi.rows.astype(np.int64), persons, values, behind)


def _values(quasi: Tuples, table: Tuples, domain: Domain, criteria: list[Criterion]) -> tuple[Values, Incidence | None]:
    owner = _owners(quasi, table, domain.variable)
    light = all(c.need is Need.DISTINCT for c in criteria) and not domain.has_masked
    by_person = table.persons is not None and any(c.by_person for c in criteria)
    if light and not by_person:
        if len(domain.vocabulary) <= 64:
            return _sets(owner, table.codes[:, -1], len(quasi.rows)), None
        if all(c.l <= 2 for c in criteria) and len({c.missing_counts for c in criteria}) == 1:
            return _extremes(owner, table.codes[:, -1], len(quasi.rows), domain, criteria[0]), None
    return _counts(owner, table, domain, len(quasi.rows), by_person)


def _owners(quasi: Tuples, table: Tuples, variable: str) -> NDArray[np.int64]:
    """The quasi tuple of each sensitive tuple; both are in the order of their codes."""
    codes = table.codes[:, :-1]
    first = np.ones(len(codes), bool)
    if len(codes) > 1:
        first[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    if not np.array_equal(codes[first], quasi.codes):
        raise TuplesDisagree(variable=variable)
    return np.cumsum(first) - 1


def _sets(owner: NDArray[np.int64], codes: NDArray[np.int32], tuples: int) -> ValueSets:
    bits = np.zeros(tuples, np.uint64)
    np.bitwise_or.at(bits, owner, np.uint64(1) << codes.astype(np.uint64))
    return ValueSets(bits)


def _extremes(
    owner: NDArray[np.int64], codes: NDArray[np.int32], tuples: int, domain: Domain, criterion: Criterion
) -> ValueExtremes:
    assert isinstance(criterion, DistinctL)
    countable = domain.countable(criterion.missing_counts)[codes]
    low = np.full(tuples, np.iinfo(np.int32).max, np.int32)
    high = np.full(tuples, -1, np.int32)
    np.minimum.at(low, owner[countable], codes[countable])
    np.maximum.at(high, owner[countable], codes[countable])
    return ValueExtremes(low, high)


def _counts(
    owner: NDArray[np.int64], table: Tuples, domain: Domain, tuples: int, by_person: bool
) -> tuple[ValueCounts, Incidence | None]:
    """Entries of visible values; persons follow their entries."""
    visible = ~domain.masked[table.codes[:, -1]]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner[visible], minlength=tuples))])
    values, rows = np.ascontiguousarray(table.codes[visible, -1]), table.rows[visible].astype(np.int64)
    if not by_person or table.persons is None:
        return ValueCounts(offsets, values, rows), None
    everyone = incidence_of(table.persons)
    new_entry = np.cumsum(visible) - 1
    seen = visible[everyone.entry]
    people = Incidence(
        everyone.counted[visible], everyone.settled[visible], new_entry[everyone.entry[seen]], everyone.person[seen]
    )
    holders = people.roll_up(owner[visible].astype(np.int32), tuples).counted if domain.has_masked else None
    return ValueCounts(offsets, values, rows, people.counted, holders), people


def roll_up_table(source: ClassTable, levels: Levels, encoding: Encoding, domains: Mapping[str, Domain]) -> ClassTable:
    """The table of a node from that of a finer one."""
    from celosia.kernels import rollup

    label, keys, rows = _labels(source, levels, encoding)
    many = len(keys)
    persons = None if source.persons is None else source.persons.roll_up(label, many)
    values: dict[str, Values] = {}
    behind: dict[str, Incidence] = {}
    for name, source_values in source.values.items():
        if isinstance(source_values, ValueSets):
            values[name] = ValueSets(rollup.roll_sets(label, many, source_values.bits))
        elif isinstance(source_values, ValueExtremes):
            values[name] = ValueExtremes(*rollup.roll_extremes(label, many, source_values.low, source_values.high))
        else:
            people = source.value_persons.get(name)
            values[name], rolled_persons = _roll_counts(
                label, many, source_values, people, len(domains[name].vocabulary)
            )
            if rolled_persons is not None:
                behind[name] = rolled_persons
    return ClassTable(keys, rows, persons, values, behind)


def _roll_counts(
    label: NDArray[np.int32], many: int, source_values: ValueCounts, people: Incidence | None, n_values: int
) -> tuple[ValueCounts, Incidence | None]:
    from celosia.kernels import rollup

    targets = np.empty(0 if people is None else len(source_values.values), np.int32)
    lists = rollup.roll_values(
        label, many, source_values.offsets, source_values.values, source_values.rows, n_values, targets
    )
    if people is None:
        return ValueCounts(*lists), None
    rolled = people.roll_up(targets, len(lists[1]))
    offsets, values, rows = lists
    counts = ValueCounts(offsets, values, rows, rolled.counted)
    if source_values.holders is None:
        return counts, rolled
    return replace(counts, holders=rolled.roll_up(counts.owner.astype(np.int32), many).counted), rolled


def _labels(
    source: ClassTable, levels: Levels, encoding: Encoding
) -> tuple[NDArray[np.int32], NDArray[np.uint64], Index]:
    from celosia.kernels import rollup

    n = len(source.keys)
    labelled = source.persons is not None or len(source.values) > 0
    if encoding.wide:
        bits = max(n * 2 - 1, 16).bit_length()
        node = (encoding.codes, encoding.leading, np.array(levels, np.int64), bits)
        rolled = rollup.roll_wide(source.keys, source.rows, *node, *encoding.output_arrays(n, 1 << bits))
    else:
        offset, stride, domain = encoding.lookups(levels)
        lookup = (offset, encoding.group_shift, encoding.group_mask)
        if domain <= max(_ADDRESSED, _SPARSE * n):
            arguments = (encoding.address, *lookup, stride, labelled, *encoding.output_arrays(n, domain))
            rolled = rollup.roll_direct(source.keys, source.rows, *arguments)
        else:
            cells = encoding.first_cells(levels)
            tables = (encoding.coarse, encoding.address, *lookup, cells, labelled)
            rolled = rollup.roll_hash(source.keys, source.rows, *tables, *encoding.output_arrays(n, 4 * (n + cells)))
    encoding.first_free += len(rolled[1])
    return rolled


class TablePool:
    """Tables already made, within a budget of entries; the first is the source of everything."""

    def __init__(self, first: ClassTable, variables: int, budget: int) -> None:
        self._first = first
        self._tables: list[ClassTable] = []
        self._levels = np.zeros((64, variables), np.int64)
        self._sizes = np.zeros(64, np.int64)
        self._budget = budget
        self._entries = 0

    def smallest(self, levels: Levels) -> ClassTable:
        """The smallest table of a finer node."""
        from celosia.kernels import rollup

        many = len(self._tables)
        at = rollup.smallest_source(self._levels, self._sizes, many, np.array(levels, np.int64))
        return self._tables[at] if at >= 0 and self._sizes[at] < self._first.size else self._first

    def offer(self, levels: Levels, table: ClassTable, source: ClassTable) -> bool:
        """Keep a table that shrank by a quarter or more (then true); the largest are dropped for it."""
        size = table.size
        if 4 * size > 3 * source.size or size > self._budget // 2:
            return False
        while self._tables and self._entries + size > self._budget:
            self._drop(int(np.argmax(self._sizes[: len(self._tables)])))
        at = len(self._tables)
        if at == len(self._sizes):
            self._levels = np.concatenate([self._levels, np.zeros_like(self._levels)])
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
        self._tables.append(table)
        self._levels[at], self._sizes[at] = levels, size
        self._entries += size
        return True

    def _drop(self, at: int) -> None:
        self._entries -= int(self._sizes[at])
        last = len(self._tables) - 1
        self._tables[at] = self._tables[last]
        self._levels[at], self._sizes[at] = self._levels[last], self._sizes[last]
        self._tables.pop()


class IntermediateNodes:
    """When to make a table between the sources and the nodes to be evaluated.

    An intermediate node generalises some variables as the node does, those with most values first, and leaves the
    others as they are: many nodes lie above it. Its table is made once the nodes above it have cost a few readings
    of their source.
    """

    def __init__(self, encoding: Encoding) -> None:
        self._order = sorted(range(len(encoding.leaves)), key=lambda v: -_effective_values(encoding.leaves[v].rows))
        self._spent: dict[Levels, int] = {}

    def next_node(self, levels: Levels, size: int) -> Levels | None:
        """The node whose table to make before this one is rolled up from a source of some size."""
        if not _SMALL <= size <= _LARGE:
            return None
        chosen = None
        node = [0] * len(levels)
        for variable in self._order[:-1]:
            if levels[variable] == 0:
                continue
            node[variable] = levels[variable]
            key = tuple(node)
            spent = self._spent.get(key, 0)
            if spent < 0:
                continue
            self._spent[key] = spent + size
            if chosen is None and spent >= _PATIENCE * size:
                chosen = key
        if chosen is not None:
            self._spent[chosen] = -1
        return None if chosen == levels else chosen


def _effective_values(rows: Index) -> float:
    """The number of equally common values that would collide as often."""
    return float(rows.sum()) ** 2 / max(float((rows.astype(float) ** 2).sum()), 1.0)
