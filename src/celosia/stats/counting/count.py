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

from celosia.errors import InternalFault
from celosia.stats.counting.cell_sets import Counts, Request, Tree, cells_of, roll_up
from celosia.stats.counting.sums import Amount, amounts_of
from celosia.stats.declaration.declaration import UNMAPPED, Personal, StatsTable
from celosia.stats.errors import AmountsUnreadable, PersonalColumnMissing, PersonKeyMissing
from celosia.stats.sources.connections import Expression, PersonalSource
from celosia.tables.cells import CellTable

Labels = Mapping[
    str, Any
]  # dimension → Ibis text expression, or several from the coarsest level to the finest, or Levels
Merge = Mapping[str, tuple[Collection[str], str]]  # dimension → the labels that become one, and its label
_KEY, _PERSON, _ROWS = "k", "p", "r"


@dataclass(frozen=True, slots=True)
class DerivedLevel:
    """A level that follows from the finest one: every category with its finest labels."""

    groups: Mapping[str, Sequence[str]]

    def over(self, finest: Any) -> Any:
        """The labels of the level; a value without a category was written after the categories were read."""
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
        levels = tuple(labels)
        return cls(levels, (True,) * len(levels))

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
    """The combinations of labels of one STATS table and their persons, held in the engine where it can."""

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
        self._levels, self._own = (
            [dimension_levels.labels for dimension_levels in levels],
            [dimension_levels.offered for dimension_levels in levels],
        )
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
        also = [dimensions for dimensions in dict.fromkeys((*map(tuple, links), ())) if dimensions not in offered]
        trees = self._trees(merge or {})
        requests = [
            (request, dimensions in offered and self._is_offered(request))
            for dimensions in (*offered, *also)
            for request in self._requests(dimensions, names)
        ]
        counted = self._count_requests({self._counted_request(request) for request, _ in requests}, merge or {})
        parts = [(roll_up(counted[self._counted_request(request)], trees, request), flag) for request, flag in requests]
        contributors = {amount.measure: amount.largest for amount in self._amounts}
        return cells_of(self._table.name, names, trees, parts, contributors)

    def persons(self, where: Mapping[str, Collection[str]]) -> int:
        """How many distinct persons have, in each dimension named, one of these labels."""
        tuples = self._tuples
        for name, labels in where.items():
            column = self._leaf(self._table.dimension_names.index(name))
            tuples = tuples.filter(tuples[column.text].isin(sorted(labels)))
        rows = self._base.semi_join(tuples, _KEY)
        return int(self._source.fetch(rows.aggregate(n=rows[_PERSON].nunique())).column(0)[0].as_py())

    def close(self) -> None:
        """Release what the engine held."""
        for table in self._kept:
            self._source.release(table)
        self._kept = []

    # --- computed once in the database -----------------------------------------------------------

    def _prepare(self, relation: Expression) -> None:
        every = {column: self._levels[column.dimension][column.level] for column in self._columns}
        texts = {column.text: labels for column, labels in every.items() if not isinstance(labels, DerivedLevel)}
        amounts = {a.value: a.expression for a in self._amounts} | {
            a.unreadable_count: a.unreadable for a in self._amounts
        }
        labelled = relation.select(**texts, **amounts, **{_PERSON: relation[self._personal.person]})
        for name, chosen in self._only.items():
            leaf = self._leaf(self._table.dimension_names.index(name))
            labelled = labelled.filter(labelled[leaf.text].isin(sorted(chosen)))
        combinations = labelled.select(*texts).distinct()
        leaves = {column: combinations[self._leaf(column.dimension).text] for column in self._columns}
        derived = {c.text: labels.over(leaves[c]) for c, labels in every.items() if isinstance(labels, DerivedLevel)}
        self._tuples = self._materialise(
            _number_combinations(combinations.mutate(**derived) if derived else combinations, self._columns)
        )
        joined = labelled.join(self._tuples, list(texts))
        measured = {name: expr for a in self._amounts for name, expr in a.per_person(joined).items()}
        grouped = joined.group_by([joined[_KEY], joined[_PERSON]])
        self._base = self._materialise(grouped.aggregate(**{_ROWS: joined.count()}, **measured))
        coded = self._join_codes()
        ends = {f"low{c.code}": coded[c.code].min() for c in self._columns}
        ends |= {f"high{c.code}": coded[c.code].max() for c in self._columns}
        self._people = self._materialise(coded.group_by(_PERSON).aggregate(**ends, **self._sums(coded)))
        known = self._source.fetch(self._tuples).to_pydict()
        self._vocabulary = [dict(zip(known[c.code], known[c.text], strict=True)) for c in self._columns]
        self._chains = {c: known[c.code] for c in self._columns}
        self._settled = self._find_settled()

    def _materialise(self, expression: Expression) -> Expression:
        table = self._source.materialise(expression)
        if table is not expression:
            self._kept.append(table)
        return table

    def _join_codes(self) -> Expression:
        codes = self._tuples.select(_KEY, *(column.code for column in self._columns))
        return self._base.join(codes, _KEY)

    def _sums(self, table: Expression) -> dict[str, Any]:
        names = [_ROWS, *(name for amount in self._amounts for name in amount.columns)]
        return {name: table[name].sum().cast("int64") for name in names}

    def _find_settled(self) -> dict[_LabelColumn, bool]:
        """Which levels give each person one label; refuses persons or amounts that cannot be read."""
        people = self._people
        differ = {c.code: (people[f"low{c.code}"] != people[f"high{c.code}"]).sum().fill_null(0) for c in self._columns}
        unknown = people[_PERSON].isnull().ifelse(people[_ROWS], 0).sum().fill_null(0)
        bad = {a.unreadable_count: people[a.unreadable_count].sum().fill_null(0) for a in self._amounts}
        figures = self._source.fetch(people.aggregate(unknown=unknown, **differ, **bad)).to_pylist()[0]
        if figures["unknown"]:
            raise PersonKeyMissing(personal=self._personal.name, rows=figures["unknown"])
        for amount in self._amounts:
            if figures[amount.unreadable_count]:
                raise AmountsUnreadable(
                    personal=self._personal.name, column=amount.column, rows=figures[amount.unreadable_count]
                )
        return {column: figures[column.code] == 0 for column in self._columns}

    # --- sets of cells ---------------------------------------------------------------------------

    def _requests(self, dimensions: Sequence[str], names: Sequence[str]) -> Iterator[Request]:
        """A set of dimensions at every level of their trees."""
        levels = [range(len(self._levels[d])) if name in dimensions else (None,) for d, name in enumerate(names)]
        return iter(product(*levels))

    def _is_offered(self, request: Request) -> bool:
        return all(level is None or self._own[d][level] for d, level in enumerate(request))

    def _counted_request(self, request: Request) -> Request:
        """The columns over which the database must count for a request: its own unsettled ones, all settled ones."""
        return tuple(self._counted_level(d, level) for d, level in enumerate(request))

    def _counted_level(self, dimension: int, level: int | None) -> int | None:
        settled = [c.level for c in self._columns if c.dimension == dimension and self._settled[c]]
        finest = max(settled, default=None)
        if level is None:
            return finest
        return level if finest is None else max(level, finest)

    def _leaf(self, dimension: int) -> _LabelColumn:
        return _LabelColumn(dimension, len(self._levels[dimension]) - 1)

    def _count_requests(self, requests: Collection[Request], merge: Merge) -> dict[Request, Counts]:
        """Codes, persons, rows and sums of each request, in one query, and the largest contributions in another."""
        ordered = sorted(requests, key=lambda request: tuple(-1 if level is None else level for level in request))
        if not ordered or not self._chains[self._columns[0]]:
            return {request: Counts.empty(request, self._amounts) for request in ordered}
        per_person = [self._per_person(request, merge) for request in ordered]
        totals = self._source.fetch(
            _union_all([self._totals(request, number) for number, request in enumerate(per_person)])
        )
        largest = {amount.measure: self._largest(per_person, amount) for amount in self._amounts}
        return {
            request: Counts.of(request, totals, largest, number, self._amounts)
            for number, request in enumerate(ordered)
        }

    def _per_person(self, request: Request, merge: Merge) -> Expression:
        """One row per cell and person of a request; a collapsed dimension has the code -1."""
        columns = {d: _LabelColumn(d, level) for d, level in enumerate(request) if level is not None}
        merged = {d: self._merged_codes(d, merge) for d in columns}
        merges = any(codes for codes in merged.values())
        if not merges and all(self._settled[column] for column in columns.values()):
            codes = {d: self._people[f"low{column.code}"] for d, column in columns.items()}
            return self._people.select(**self._code_columns(codes), **self._figure_columns(self._people))
        coded = self._join_codes()
        codes = {
            d: _merge_codes(coded[c.code], merged[d], len(self._vocabulary[self._columns.index(c)]))
            for d, c in columns.items()
        }
        if not merges and all(columns.get(d) == self._leaf(d) for d in range(len(self._levels))):
            return coded.select(**self._code_columns(codes), **self._figure_columns(coded))
        placed = coded.select(**self._code_columns(codes), **self._figure_columns(coded), **{_PERSON: coded[_PERSON]})
        places = [f"q{d}" for d in range(len(self._levels))]
        return placed.group_by([*places, _PERSON]).aggregate(**self._sums(placed)).drop(_PERSON)

    def _code_columns(self, codes: Mapping[int, Any]) -> dict[str, Any]:
        return {f"q{d}": codes.get(d, ibis.literal(-1, "int64")) for d in range(len(self._levels))}

    def _figure_columns(self, table: Expression) -> dict[str, Any]:
        return {name: table[name] for name in (_ROWS, *(n for a in self._amounts for n in a.columns))}

    def _totals(self, per_person: Expression, number: int) -> Expression:
        places = [f"q{d}" for d in range(len(self._levels))]
        holders = {
            a.person_count: (per_person[a.row_count] > 0).ifelse(1, 0).sum().cast("int64") for a in self._amounts
        }
        grouped = per_person.group_by(places).aggregate(n=per_person.count(), **self._sums(per_person), **holders)
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
        rows = self._source.fetch(_union_all(parts))
        columns = [rows.column(name).to_numpy() for name in ("g", *places, "size")]
        return np.stack(columns, axis=1).astype(np.int64)

    # --- labels ----------------------------------------------------------------------------------

    def _merged_codes(self, dimension: int, merge: Merge) -> list[int]:
        name = self._table.dimension_names[dimension]
        if name not in merge:
            return []
        if len(self._levels[dimension]) > 1:
            raise InternalFault(where="merge of a dimension with levels")
        gone = set(merge[name][0])
        return sorted(code for code, label in self._labels_by_code(self._leaf(dimension)).items() if label in gone)

    def _labels_by_code(self, column: _LabelColumn) -> dict[int, str]:
        return self._vocabulary[self._columns.index(column)]

    def _trees(self, merge: Merge) -> list[Tree]:
        """Per dimension, the label of every code at each level, and the chains from coarse to fine."""
        trees = []
        for dimension, levels in enumerate(self._levels):
            columns = [_LabelColumn(dimension, j) for j in range(len(levels))]
            words = [self._labels_by_code(column) for column in columns]
            chains = sorted(set(zip(*(self._chains[column] for column in columns), strict=True)))
            codes = self._merged_codes(dimension, merge)
            if codes:
                label = merge[self._table.dimension_names[dimension]][1]
                words, chains = _merge_vocabulary(words, chains, codes, label)
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
    """A Counting, of the rows that have `only` these labels, released at the end."""
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


def _union_all(parts: Sequence[Expression]) -> Expression:
    return ibis.union(*parts) if len(parts) > 1 else parts[0]


def _number_combinations(distinct: Expression, columns: Sequence[_LabelColumn]) -> Expression:
    """Every combination with its number, and the number of each label of it."""
    key = ibis.row_number().over(ibis.window(order_by=[distinct[column.text] for column in columns]))
    codes = {column.code: ibis.dense_rank().over(ibis.window(order_by=distinct[column.text])) for column in columns}
    return distinct.mutate(**{_KEY: key}, **codes)


def _merge_codes(code: Any, merged: Sequence[int], others: int) -> Any:
    return code.isin(list(merged)).ifelse(ibis.literal(others, "int64"), code) if merged else code


def _merge_vocabulary(
    words: list[dict[int, str]], chains: list[tuple[int, ...]], codes: Sequence[int], label: str
) -> tuple[list[dict[int, str]], list[tuple[int, ...]]]:
    """The vocabulary of a dimension without levels after some of its labels became one."""
    others = len(words[-1])
    labels = {code: word for code, word in words[-1].items() if code not in set(codes)}
    left = [chain for chain in chains if chain[-1] not in set(codes)]
    return [*words[:-1], labels | {others: label}], [*left, (*chains[0][:-1], others)]
