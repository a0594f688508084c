"""Persons, rows and sums per cell, counted inside the PERSONAL database; only frequencies leave it.

Knows labels as Ibis expressions, persons by their key, and sets of dimensions. Ignores rules, thresholds and STATS.

Persons are counted anew in every set of cells, never added, with one exception that is proved from the data: a
dimension in which each person has one label (an age band, a place of residence) splits persons into groups that
do not overlap, so counts may be added over it. The database therefore counts distinct persons only for the sets
that differ in the other dimensions, and the rest follows exactly. Combinations of labels are numbered once, so
that the large grouping is over two integers and not over texts.

Amounts are added as whole numbers (DESIGN §4, rule 7): integers as they are, decimals in their last digit, others
in ten-thousandths.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import ibis
import numpy as np
from numpy.typing import NDArray

from celosia.errors import AmountsUnreadable, InternalFault, PersonalColumnMissing, PersonKeyMissing
from celosia.model.stats import UNMAPPED, Personal, StatsTable
from celosia.stats._cell_sets import Counts, Request, Tree, cells_of, rolled_up
from celosia.stats._connections import Expression, PersonalSource
from celosia.stats._sums import Amount, amounts_of
from celosia.tables import CellTable

Labels = Mapping[
    str, Any
]  # dimension → Ibis text expression, or several from the coarsest level to the finest, or Levels
Merge = Mapping[str, tuple[Collection[str], str]]  # dimension → the labels that become one, and its label
_KEY, _PERSON, _ROWS = "k", "p", "r"


@dataclass(frozen=True, slots=True)
class Derived:
    """A level that follows from the finest one: every category with the finest labels that it holds."""

    groups: Mapping[str, Sequence[str]]

    def over(self, finest: Any) -> Any:
        """The labels of the level; what no category holds was written since the categories were read."""
        branches = [(finest.isin(list(labels)), category) for category, labels in self.groups.items()]
        return ibis.cases(*branches, else_=UNMAPPED) if branches else ibis.literal(UNMAPPED)


@dataclass(frozen=True, slots=True)
class Levels:
    """The labels of a dimension from the coarsest level to the finest; only its own levels are offered."""

    labels: tuple[Any, ...]
    offered: tuple[bool, ...]

    @classmethod
    def own(cls, labels: Iterable[Any]) -> Levels:
        """Levels that are all offered."""
        found = tuple(labels)
        return cls(found, (True,) * len(found))

    @classmethod
    def of(cls, labels: Any) -> Levels:
        """The same from any form of labels."""
        if isinstance(labels, Levels):
            return labels
        return cls.own(labels if isinstance(labels, list | tuple) else (labels,))


@dataclass(frozen=True, slots=True)
class _LabelColumn:
    """One level of one dimension."""

    dimension: int
    level: int

    @property
    def text(self) -> str:
        return f"l{self.dimension}_{self.level}"

    @property
    def code(self) -> str:
        return f"q{self.dimension}_{self.level}"


class Counting:
    """The combinations of labels of one STATS table and who stands in them, held where the engine can hold them."""

    def __init__(
        self,
        source: PersonalSource,
        personal: Personal,
        table: StatsTable,
        labels: Labels,
        only: Mapping[str, Collection[str]] | None = None,
    ):
        self._source, self._personal, self._table = source, personal, table
        self._only = only or {}
        levels = [Levels.of(labels[name]) for name in table.dimension_names]
        self._levels, self._own = [one.labels for one in levels], [one.offered for one in levels]
        self._columns = [_LabelColumn(d, j) for d, levels in enumerate(self._levels) for j in range(len(levels))]
        relation = source.relation(personal)
        needed = [personal.person, *(m.column for m in table.measures if m.column)]
        absent = [name for name in dict.fromkeys(needed) if name not in relation.columns]
        if absent:
            raise PersonalColumnMissing(personal=personal.name, columns=", ".join(absent))
        self._amounts = amounts_of(table, relation)
        self._kept: list[Expression] = []
        try:
            self._prepare(relation)
        except BaseException:
            self.close()
            raise

    @property
    def scale(self) -> dict[str, int]:
        """Per measure, how many units of its sums make one unit of the column."""
        return {amount.measure: amount.scale for amount in self._amounts}

    def cells(self, links: Sequence[Sequence[str]] = (), merge: Merge | None = None) -> CellTable:
        """Every cell of the table, its margins, the grand total, and the sets in `links`, which are not offered."""
        names = self._table.dimension_names
        offered = list(self._table.grouping_sets)
        also = [kept for kept in dict.fromkeys((*map(tuple, links), ())) if kept not in offered]
        trees = self._trees(merge or {})
        requests = [
            (request, kept in offered and self._all_own(request))
            for kept in (*offered, *also)
            for request in self._requests(kept, names)
        ]
        counted = self._counted({self._counted_apart(request) for request, _ in requests}, merge or {})
        parts = [(rolled_up(counted[self._counted_apart(request)], trees, request), flag) for request, flag in requests]
        contributors = {amount.measure: amount.largest for amount in self._amounts}
        return cells_of(self._table.name, names, trees, parts, contributors)

    def persons(self, where: Mapping[str, Collection[str]]) -> int:
        """How many distinct persons have, in each dimension named, one of these labels."""
        tuples = self._tuples
        for name, labels in where.items():
            column = self._leaf(self._table.dimension_names.index(name))
            tuples = tuples.filter(tuples[column.text].isin(sorted(labels)))
        found = self._base.semi_join(tuples, _KEY)
        return int(self._source.fetch(found.aggregate(n=found[_PERSON].nunique())).column(0)[0].as_py())

    def close(self) -> None:
        """Give back what the engine held."""
        for kept in self._kept:
            self._source.forget(kept)
        self._kept = []

    # --- what the database works out once --------------------------------------------------------

    def _prepare(self, relation: Expression) -> None:
        every = {column: self._levels[column.dimension][column.level] for column in self._columns}
        texts = {column.text: labels for column, labels in every.items() if not isinstance(labels, Derived)}
        amounts = {a.value: a.expression for a in self._amounts} | {a.bad: a.unreadable for a in self._amounts}
        labelled = relation.select(**texts, **amounts, **{_PERSON: relation[self._personal.person]})
        for name, chosen in self._only.items():
            leaf = self._leaf(self._table.dimension_names.index(name))
            labelled = labelled.filter(labelled[leaf.text].isin(sorted(chosen)))
        found = labelled.select(*texts).distinct()
        leaves = {column: found[self._leaf(column.dimension).text] for column in self._columns}
        derived = {c.text: one.over(leaves[c]) for c, one in every.items() if isinstance(one, Derived)}
        self._tuples = self._keep(_numbered(found.mutate(**derived) if derived else found, self._columns))
        joined = labelled.join(self._tuples, list(texts))
        measured = {name: expr for a in self._amounts for name, expr in a.per_person(joined).items()}
        grouped = joined.group_by([joined[_KEY], joined[_PERSON]])
        self._base = self._keep(grouped.aggregate(**{_ROWS: joined.count()}, **measured))
        coded = self._coded()
        ends = {f"low{c.code}": coded[c.code].min() for c in self._columns}
        ends |= {f"high{c.code}": coded[c.code].max() for c in self._columns}
        self._people = self._keep(coded.group_by(_PERSON).aggregate(**ends, **self._added(coded)))
        known = self._source.fetch(self._tuples).to_pydict()
        self._vocabulary = [dict(zip(known[c.code], known[c.text], strict=True)) for c in self._columns]
        self._chains = {c: known[c.code] for c in self._columns}
        self._settled = self._judged()

    def _keep(self, expression: Expression) -> Expression:
        kept = self._source.keep(expression)
        if kept is not expression:
            self._kept.append(kept)
        return kept

    def _coded(self) -> Expression:
        codes = self._tuples.select(_KEY, *(column.code for column in self._columns))
        return self._base.join(codes, _KEY)

    def _added(self, table: Expression) -> dict[str, Any]:
        names = [_ROWS, *(name for amount in self._amounts for name in amount.columns)]
        return {name: table[name].sum().cast("int64") for name in names}

    def _judged(self) -> dict[_LabelColumn, bool]:
        """Which levels give each person one label; and stop where persons or amounts cannot be read."""
        people = self._people
        differ = {c.code: (people[f"low{c.code}"] != people[f"high{c.code}"]).sum().fill_null(0) for c in self._columns}
        unknown = people[_PERSON].isnull().ifelse(people[_ROWS], 0).sum().fill_null(0)
        bad = {a.bad: people[a.bad].sum().fill_null(0) for a in self._amounts}
        found = self._source.fetch(people.aggregate(unknown=unknown, **differ, **bad)).to_pylist()[0]
        if found["unknown"]:
            raise PersonKeyMissing(personal=self._personal.name, rows=found["unknown"])
        for amount in self._amounts:
            if found[amount.bad]:
                raise AmountsUnreadable(personal=self._personal.name, column=amount.column, rows=found[amount.bad])
        return {column: found[column.code] == 0 for column in self._columns}

    # --- sets of cells ---------------------------------------------------------------------------

    def _requests(self, kept: Sequence[str], names: Sequence[str]) -> Iterator[Request]:
        """A set of dimensions at every level of their trees."""
        levels = [range(len(self._levels[d])) if name in kept else (None,) for d, name in enumerate(names)]
        return iter(product(*levels))

    def _all_own(self, request: Request) -> bool:
        return all(level is None or self._own[d][level] for d, level in enumerate(request))

    def _counted_apart(self, request: Request) -> Request:
        """The columns over which the database must count for a request: its own unsettled ones, all settled ones."""
        return tuple(self._apart(d, level) for d, level in enumerate(request))

    def _apart(self, dimension: int, level: int | None) -> int | None:
        settled = [c.level for c in self._columns if c.dimension == dimension and self._settled[c]]
        finest = max(settled, default=None)
        if level is None:
            return finest
        return level if finest is None else max(level, finest)

    def _leaf(self, dimension: int) -> _LabelColumn:
        return _LabelColumn(dimension, len(self._levels[dimension]) - 1)

    def _counted(self, requests: Collection[Request], merge: Merge) -> dict[Request, Counts]:
        """Codes, persons, rows and sums of each request, in one query, and the largest contributions in another."""
        ordered = sorted(requests, key=lambda request: tuple(-1 if level is None else level for level in request))
        if not ordered or not self._chains[self._columns[0]]:
            return {request: Counts.empty(request, self._amounts) for request in ordered}
        per_person = [self._per_person(request, merge) for request in ordered]
        found = self._source.fetch(_united([self._totals(one, number) for number, one in enumerate(per_person)]))
        largest = {amount.measure: self._largest(per_person, amount) for amount in self._amounts}
        return {one: Counts.of(one, found, largest, number, self._amounts) for number, one in enumerate(ordered)}

    def _per_person(self, request: Request, merge: Merge) -> Expression:
        """One row per cell and person of a request; a collapsed dimension has the code -1."""
        wanted = {d: _LabelColumn(d, level) for d, level in enumerate(request) if level is not None}
        merged = {d: self._merged_codes(d, merge) for d in wanted}
        merges = any(codes for codes in merged.values())
        if not merges and all(self._settled[column] for column in wanted.values()):
            codes = {d: self._people[f"low{column.code}"] for d, column in wanted.items()}
            return self._people.select(**self._places(codes), **self._plain(self._people))
        coded = self._coded()
        codes = {
            d: _merged(coded[c.code], merged[d], len(self._vocabulary[self._columns.index(c)]))
            for d, c in wanted.items()
        }
        if not merges and all(wanted.get(d) == self._leaf(d) for d in range(len(self._levels))):
            return coded.select(**self._places(codes), **self._plain(coded))
        placed = coded.select(**self._places(codes), **self._plain(coded), **{_PERSON: coded[_PERSON]})
        places = [f"q{d}" for d in range(len(self._levels))]
        return placed.group_by([*places, _PERSON]).aggregate(**self._added(placed)).drop(_PERSON)

    def _places(self, codes: Mapping[int, Any]) -> dict[str, Any]:
        return {f"q{d}": codes.get(d, ibis.literal(-1, "int64")) for d in range(len(self._levels))}

    def _plain(self, table: Expression) -> dict[str, Any]:
        return {name: table[name] for name in (_ROWS, *(n for a in self._amounts for n in a.columns))}

    def _totals(self, per_person: Expression, number: int) -> Expression:
        places = [f"q{d}" for d in range(len(self._levels))]
        holders = {a.holders: (per_person[a.filled] > 0).ifelse(1, 0).sum().cast("int64") for a in self._amounts}
        grouped = per_person.group_by(places).aggregate(n=per_person.count(), **self._added(per_person), **holders)
        return grouped.mutate(g=ibis.literal(number, "int64"))

    def _largest(self, per_person: Sequence[Expression], amount: Amount) -> NDArray[np.int64]:
        """Rows of (request, codes…, contribution) with the largest contributions of single persons."""
        places = [f"q{d}" for d in range(len(self._levels))]
        parts = []
        for number, table in enumerate(per_person):
            sized = table.select(*places, g=ibis.literal(number, "int64"), size=table[amount.total].abs())
            window = ibis.window(group_by=places, order_by=ibis.desc(sized["size"]))
            ranked = sized.mutate(place=ibis.row_number().over(window))
            parts.append(ranked.filter(ranked["place"] < amount.largest).drop("place"))
        found = self._source.fetch(_united(parts))
        columns = [found.column(name).to_numpy() for name in ("g", *places, "size")]
        return np.stack(columns, axis=1).astype(np.int64)

    # --- labels ----------------------------------------------------------------------------------

    def _merged_codes(self, dimension: int, merge: Merge) -> list[int]:
        name = self._table.dimension_names[dimension]
        if name not in merge:
            return []
        if len(self._levels[dimension]) > 1:
            raise InternalFault(where="merge of a dimension with levels")
        gone = set(merge[name][0])
        return sorted(code for code, label in self._words(self._leaf(dimension)).items() if label in gone)

    def _words(self, column: _LabelColumn) -> dict[int, str]:
        return self._vocabulary[self._columns.index(column)]

    def _trees(self, merge: Merge) -> list[Tree]:
        """Per dimension, the label of every code at each level, and the chains from coarse to fine."""
        trees = []
        for dimension, levels in enumerate(self._levels):
            columns = [_LabelColumn(dimension, j) for j in range(len(levels))]
            words = [self._words(column) for column in columns]
            chains = sorted(set(zip(*(self._chains[column] for column in columns), strict=True)))
            codes = self._merged_codes(dimension, merge)
            if codes:
                label = merge[self._table.dimension_names[dimension]][1]
                words, chains = _with_others(words, chains, codes, label)
            trees.append(Tree(words, chains, self._own[dimension]))
        return trees


@contextlib.contextmanager
def counting(
    source: PersonalSource,
    personal: Personal,
    table: StatsTable,
    labels: Labels,
    only: Mapping[str, Collection[str]] | None = None,
) -> Iterator[Counting]:
    """A Counting, of the rows that have `only` these labels, that gives back at the end what the engine held for it."""
    opened = Counting(source, personal, table, labels, only)
    try:
        yield opened
    finally:
        opened.close()


def count(
    source: PersonalSource,
    personal: Personal,
    table: StatsTable,
    labels: Labels,
    links: Sequence[Sequence[str]] = (),
    merge: Merge | None = None,
) -> CellTable:
    """The cells of a STATS table with their distinct persons, rows and sums."""
    with counting(source, personal, table, labels) as counted:
        return counted.cells(links, merge)


def recount(
    source: PersonalSource,
    personal: Personal,
    table: StatsTable,
    labels: Labels,
    where: Mapping[str, Collection[str]],
) -> int:
    """Distinct persons who have, in each dimension named, one of these labels."""
    with counting(source, personal, table, labels) as counted:
        return counted.persons(where)


def _united(parts: Sequence[Expression]) -> Expression:
    return ibis.union(*parts) if len(parts) > 1 else parts[0]


def _numbered(distinct: Expression, columns: Sequence[_LabelColumn]) -> Expression:
    """Every combination with its number, and the number of each label of it."""
    key = ibis.row_number().over(ibis.window(order_by=[distinct[column.text] for column in columns]))
    codes = {column.code: ibis.dense_rank().over(ibis.window(order_by=distinct[column.text])) for column in columns}
    return distinct.mutate(**{_KEY: key}, **codes)


def _merged(code: Any, merged: Sequence[int], others: int) -> Any:
    return code.isin(list(merged)).ifelse(ibis.literal(others, "int64"), code) if merged else code


def _with_others(
    words: list[dict[int, str]], chains: list[tuple[int, ...]], codes: Sequence[int], label: str
) -> tuple[list[dict[int, str]], list[tuple[int, ...]]]:
    """The vocabulary of a dimension without levels after some of its labels became one."""
    others = len(words[-1])
    kept = {code: word for code, word in words[-1].items() if code not in set(codes)}
    left = [chain for chain in chains if chain[-1] not in set(codes)]
    return [*words[:-1], kept | {others: label}], [*left, (*chains[0][:-1], others)]
