"""A table as the algorithms may see it: about ten operations over Ibis, the same on every engine.

Knows text columns c0…cn without NULL and their names outside. Ignores files, roles and policies.
Results never depend on an engine's row order, hashes or collation: vocabularies are sorted by code point,
tuples by their codes (DESIGN §4, rules 6 and 8).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.data.counting.coded_rows import MOST_TEXTS, CodedPart, CodedRows, recoding
from celosia.data.counting.columns import Frequencies as Frequencies
from celosia.data.counting.columns import decode_column, digest_bound, encode_columns, integer_array, plain_array
from celosia.data.counting.persons import PERSON, count_persons
from celosia.data.counting.ranks import fetch_columns, fetch_ranks, keep_by_rank, upload_by_rank
from celosia.data.engines.base import RANK, Engine, Expression
from celosia.data.engines.memory import most_tuples
from celosia.data.numbers import Numbers, read_numbers
from celosia.model.schema import Schema
from celosia.model.sources import ROWS_DIGEST
from celosia.model.values import MISSING, SUPPRESSED
from celosia.tuples.errors import TooManyTuples
from celosia.tuples.table import Tuples, pack_keys

_NAMED = 3  # variables that a refusal names: those with most values
_ROWS = "rows"
ORIGIN = "source_row"  # a hidden column, where there is one: which row of the source this one was


@dataclass(frozen=True, slots=True)
class _HiddenRank:
    """A hidden integer column whose order is that of some columns together, by code point."""

    inside: str
    covers: tuple[str, ...]
    texts: tuple[pa.Array, ...] = ()  # of each column covered, the text behind each rank


@dataclass(frozen=True, slots=True)
class _EarlierTable:
    """An earlier table, and the columns that still hold its texts or `*`: cheaper to ask, where any text will do."""

    table: Table
    names: frozenset[str]


class Table:
    """Rows on an engine; every operation gives counts, arrays or a new Table."""

    def __init__(
        self,
        engine: Engine,
        expression: Expression,
        names: Sequence[str],
        ranks: Sequence[_HiddenRank] = (),
        before: _EarlierTable | None = None,
    ):
        self._engine = engine
        self._expression = expression
        self.schema = Schema(tuple(names))
        self._ranks = tuple(ranks)
        self._before = before

    @property
    def names(self) -> tuple[str, ...]:
        """The user's column names."""
        return self.schema.names

    @property
    def has_origin(self) -> bool:
        """Whether each row still knows which row of the source it was."""
        return ORIGIN in self._expression.columns

    @property
    def engine(self) -> Engine:
        """Where the rows are."""
        return self._engine

    @property
    def in_process(self) -> bool:
        """Whether the rows are counted by this process: asking for more of them takes nothing out of anywhere."""
        return self.engine.in_process

    def fingerprint(self) -> str:
        """An order-free digest of names and rows, made inside the engine and equal on all of them.

        Each row becomes one text, unambiguous whatever its cells hold; the SHA-256 of each is cut into eight numbers
        of 32 bits, and their sums stand for the rows as a multiset. Nothing but nine numbers leaves the engine.
        """
        cells = [self._column(name).replace("\\", "\\\\").replace(",", "\\,") for name in self.names]
        line = reduce(lambda left, right: left + "," + right, cells)
        count, *sums = self.engine.digest_sums(self._expression.select(line=line))
        content = json.dumps([list(self.names), count, sums], ensure_ascii=True, separators=(",", ":"))
        return f"{ROWS_DIGEST}:{hashlib.sha256(content.encode()).hexdigest()}"

    def count_rows(self) -> int:
        """Number of rows."""
        result = self.engine.fetch(self._expression.aggregate(rows=self._expression.count()))
        return int(result.column(0)[0].as_py())

    def select(self, names: Sequence[str]) -> Table:
        """The table with these columns only."""
        chosen = self.schema.checked_names(names, "select")
        ranks = [rank for rank in self._ranks if set(rank.covers) <= set(chosen)]
        columns = self._numbered_columns(chosen) | {rank.inside: self._expression[rank.inside] for rank in ranks}
        return Table(
            self.engine, self._expression.select(**columns, **self._origin_in(self._expression)), chosen, ranks
        )

    def with_missing(self, markers: Mapping[str, Sequence[str]]) -> Table:
        """The table with each column's declared markers read as missing."""
        changed = {
            name: self._column(name).isin(list(texts)).ifelse(MISSING, self._column(name))
            for name, texts in markers.items()
            if texts
        }
        return self._replace_columns(self._expression, changed) if changed else self

    def where(self, name: str, values: Sequence[str]) -> Table:
        """The rows that hold one of the values."""
        rows = self._expression.filter(self._column(name).isin(list(values)))
        return Table(self.engine, rows, self.names, self._ranks)

    def first_rows(self, rows: int) -> Table:
        """At most so many rows, whichever the engine finds first: for what the other rows cannot undo."""
        return Table(self.engine, self._expression.limit(rows), self.names, self._ranks)

    def map_values(self, name: str, mapping: Mapping[str, str]) -> Table:
        """The table with a column's values replaced as the mapping says; others stay."""
        if not mapping:
            return self
        old, new = list(mapping.keys()), list(mapping.values())
        uploaded = self.engine.upload(pa.table({"k0": pa.array(old), "p0": pa.array(new)}))
        joined = self._expression.left_join(uploaded, self._column(name) == uploaded["k0"])
        return self._replace_columns(joined, {name: joined["p0"].fill_null(joined[self.schema.inside(name)])})

    def recode(
        self,
        tuples: Tuples,
        published: Sequence[NDArray[np.integer]],
        vocabularies: Sequence[Sequence[str]],
        masks: Mapping[str, NDArray[np.bool_]] | None = None,
        dropped: NDArray[np.bool_] | None = None,
    ) -> Table:
        """The table with each combination replaced by its published one: one join, any size.

        `published` holds for each column the new code of every tuple, into that column's vocabulary; `masks` says
        for which tuples another column becomes `*`, `dropped` whose rows leave altogether.
        A combination that the tuple table does not know is suppressed: nothing passes unjudged.
        """
        inside = f"r{1 + max((int(rank.inside[1:]) for rank in self._ranks), default=-1)}"
        upload, fallback, texts = recoding(tuples, published, vocabularies)
        starred = dict(masks or {})
        for i, mask in enumerate(starred.values()):
            upload = upload.append_column(f"m{i}", pa.array(mask.astype(np.int64)))  # engines get text and numbers
        if dropped is not None:
            upload = upload.append_column("gone", pa.array(dropped.astype(np.int64)))
        known = self.engine.upload(upload)
        keys = [self._column(name) == known[f"k{i}"] for i, name in enumerate(tuples.names)]
        joined = self._expression.left_join(known, keys)
        if dropped is not None:
            joined = joined.filter(joined["gone"].fill_null(1) == 0)
        values = {name: joined[f"p{i}"].fill_null(SUPPRESSED) for i, name in enumerate(tuples.names)}
        for i, name in enumerate(starred):
            hidden = joined[f"m{i}"].fill_null(1) == 1
            values[name] = hidden.ifelse(SUPPRESSED, joined[self.schema.inside(name)])
        ranked = joined.mutate(**{inside: joined["p_rank"].fill_null(fallback)})
        unchanged = frozenset(self.names) - set(tuples.names)
        return self._replace_columns(
            ranked, values, _HiddenRank(inside, tuples.names, texts), _EarlierTable(self, unchanged)
        )

    def with_values(
        self,
        keys: Mapping[str, pa.Array],
        values: Mapping[str, pa.Array],
        origins: Mapping[str, str],
        dropped: NDArray[np.bool_] | None = None,
    ) -> Table:
        """The table whose columns are those of `origins`, in order: a new one from `values`, or the old one it names.

        `keys` are the distinct combinations that the new columns, and the rows that leave, belong to.
        """
        rows, inside = self._expression, self.schema.inside
        if values or dropped is not None:
            upload = {f"k{i}": column for i, column in enumerate(keys.values())}
            upload |= {f"p{i}": column for i, column in enumerate(values.values())}
            if dropped is not None:
                upload["gone"] = pa.array(dropped.astype(np.int64))
            known = self.engine.upload(pa.table(upload))
            rows = rows.inner_join(known, [self._column(name) == known[f"k{i}"] for i, name in enumerate(keys)])
            rows = rows if dropped is None else rows.filter(rows["gone"] == 0)
        new = {name: rows[f"p{i}"] for i, name in enumerate(values)}
        columns = [new[name] if name in new else rows[inside(old)] for name, old in origins.items()]
        numbered = rows.select(**{f"c{i}": column for i, column in enumerate(columns)}, **self._origin_in(rows))
        return Table(self.engine, _separate_relation(numbered), tuple(origins))

    @contextlib.contextmanager
    def keep_ranked(self, folder: Path) -> Iterator[Table]:
        """The rows kept below `folder` for the block, each with its place in their canonical order.

        That is the order of `ordered_batches` over all columns; of equal rows, it does not matter which comes first.
        """
        covered = {name for rank in self._ranks for name in rank.covers}
        rest = [self.schema.inside(name) for name in self.names if name not in covered]
        hidden = {rank.inside: self._expression[rank.inside] for rank in self._ranks}
        origin = self._origin_in(self._expression)
        rows = self._expression.select(**self._numbered_columns(self.names), **hidden, **origin)
        with keep_by_rank(self.engine, rows, [*hidden, *rest, *origin], folder) as ranked_rows:
            yield Table(self.engine, ranked_rows, self.names)

    def ranked_columns(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Columns of a table kept by `ranked`, in the order of its rows; no other column leaves the engine."""
        columns = fetch_columns(self.engine, self._expression, [self._column(name) for name in names])
        return dict(zip(names, columns, strict=True))

    def with_ranked_values(
        self,
        values: Mapping[str, pa.Array],
        origins: Mapping[str, str],
        dropped: NDArray[np.bool_] | None,
        folder: Path,
    ) -> Table:
        """As `with_values`, for new columns of a table kept by `ranked`, in the order of its rows; kept in `folder`."""
        with upload_by_rank(self.engine, list(values.values()), dropped, folder) as known:
            rows = self._expression.inner_join(known, self._expression[RANK] == known["k0"])
            new = {name: rows[f"p{i}"] for i, name in enumerate(values)}
            columns = [new[name] if name in new else rows[self.schema.inside(old)] for name, old in origins.items()]
            numbered = rows.select(**{f"c{i}": column for i, column in enumerate(columns)}, **self._origin_in(rows))
            return Table(self.engine, self.engine.keep(numbered, folder), tuple(origins))

    def mask_dependent(self, name: str, determinant: str) -> Table:
        """The table with a column's cell masked in every row whose leader's cell is."""
        cell = self._column(determinant)
        masked = (cell != MISSING) & (cell.replace(SUPPRESSED, "") == "")
        changed = {name: masked.ifelse(SUPPRESSED, self._column(name))}
        return self._replace_columns(self._expression, changed, before=self._before)

    def distinct_counts(self, names: Sequence[str] | None = None) -> dict[str, int]:
        """Number of distinct values of each column, missing included."""
        chosen = self.names if names is None else tuple(names)
        sums = {f"n{i}": self._column(name).nunique() for i, name in enumerate(chosen)}
        row = self.engine.fetch(self._expression.aggregate(**sums)).to_pylist()[0]
        return {name: int(row[f"n{i}"]) for i, name in enumerate(chosen)}

    def distinct_together(self, names: Sequence[str]) -> int:
        """Number of distinct combinations of the columns."""
        combined = self._expression.select(**self._numbered_columns(names)).distinct()
        return int(self.engine.fetch(combined.aggregate(rows=combined.count())).column(0)[0].as_py())

    def frequencies(self, name: str, about: int | None = None, distinct: int | None = None) -> Frequencies:
        """Rows behind each value; of more than `about` that many, of the `distinct` ones, are chosen by their digests.

        A sample also holds every masked value and the most frequent ones, where codes of unknown are found.
        """
        counted = self._expression.group_by(value=self._column(name)).aggregate(**{_ROWS: self._expression.count()})
        if about is not None and (total := distinct or self.distinct_counts([name])[name]) > about:
            digest, often = self.engine.digest(counted["value"]), counted[_ROWS] * about > self.count_rows()
            masked = counted["value"].replace(SUPPRESSED, "") == ""
            counted = counted.filter((digest < digest_bound(about, total)) | masked | often)
        result = self.engine.fetch(counted)
        values = plain_array(result.column("value"))
        order = pc.sort_indices(values)
        return Frequencies(values.take(order), integer_array(result.column(_ROWS))[order.to_numpy()])

    def multiplicities(self, name: str) -> dict[int, int]:
        """How many values stand in one row, how many in two, and so on: no value leaves the engine."""
        counted = self._expression.group_by(value=self._column(name)).aggregate(**{_ROWS: self._expression.count()})
        result = self.engine.fetch(counted.group_by(_ROWS).aggregate(many=counted.count()))
        pairs = zip(
            integer_array(result.column(_ROWS)).tolist(), integer_array(result.column("many")).tolist(), strict=True
        )
        return dict(sorted(pairs))

    def numbers(self, name: str, decimal: str = ".", unknown: Collection[str] = ()) -> Numbers:
        """The distinct numbers of a column, ascending, with their rows; other kinds of cell are counted."""
        frequencies = self.frequencies(name)
        return read_numbers(frequencies.values, frequencies.counts, decimal, unknown)

    def tuples(self, names: Sequence[str], person: str | None = None) -> Tuples:
        """Distinct combinations of the columns with their rows and, given a key, the persons behind.

        More of them than the memory holds are not fetched: TooManyTuples says which variables to coarsen.
        """
        chosen = self.schema.checked_names(names, "tuples")
        columns = self._numbered_columns(chosen)
        grouped = self._expression.group_by(**columns).aggregate(**{_ROWS: self._expression.count()})
        counted = self._fetch_bounded(grouped, most_tuples(self.engine.memory, len(chosen)), chosen)
        codes, vocabularies = encode_columns([counted.column(f"c{i}") for i in range(len(chosen))])
        order = np.argsort(pack_keys(codes, [len(v) for v in vocabularies]), kind="stable")
        codes, rows = codes[order], integer_array(counted.column(_ROWS))[order]
        persons = None
        if person is not None:
            beside = self._expression.select(**columns, **{PERSON: self._column(person)})
            texts = [decode_column(codes[:, i], v) for i, v in enumerate(vocabularies)]
            persons = count_persons(
                self.engine, beside, texts, lambda pairs, most: self._fetch_bounded(pairs, most, chosen)
            )
        return Tuples(chosen, tuple(tuple(v.to_pylist()) for v in vocabularies), codes, rows, persons)

    def batches(self, names: Sequence[str] | None = None, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """Rows in batches of text columns, in the engine's order: for files made on one engine only."""
        chosen = self.names if names is None else tuple(names)
        return self.engine.stream(self._expression.select(**self._numbered_columns(chosen)), batch_rows)

    def page(self, names: Sequence[str], rows: int, offset: int) -> pa.Table:
        """A few rows of some columns, in the order of those columns: for a screen, where a source has no order."""
        return self.engine.fetch(self.ordered_rows(names).limit(rows, offset=offset))

    def rows_of_origin(self, positions: NDArray[np.int64]) -> pa.Table:
        """The rows that were these rows of the source, in the source's order, their positions in the last column."""
        places = self._expression[ORIGIN]
        rows = self._expression.select(**self._numbered_columns(self.names), **{ORIGIN: places})
        return self.engine.fetch(rows.filter(rows[ORIGIN].isin(positions.tolist())).order_by(ORIGIN))

    def ordered_batches(
        self,
        names: Sequence[str] | None = None,
        batch_rows: int = 100_000,
        along: Sequence[str] = (),
        origin: bool = False,
        salt: str | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The rows of `ordered`, in batches."""
        return self.engine.stream(self.ordered_rows(names, along, origin, salt), batch_rows)

    def ordered_rows(
        self,
        names: Sequence[str] | None = None,
        along: Sequence[str] = (),
        origin: bool = False,
        salt: str | None = None,
    ) -> Expression:
        """Rows in an order made by the values of these columns alone: the same on every engine.

        Recoded columns come first, by the rank of the published combination, then the others by code point.
        A rank that covers a column not asked for is not used: it would publish an order nobody can see.
        Columns that come `along` stand after the others and say nothing about the order; `origin`, the row of the
        source, stands last of all. With a `veil`, a secret, what comes along leaves the engine as the digest of the
        secret and the value: equal where the values are.
        """
        chosen = self.names if names is None else self.schema.checked_names(names, "columns")
        used = [rank for rank in self._ranks if set(rank.covers) <= set(chosen)]
        covered = {name for rank in used for name in rank.covers}
        beside = {f"c{len(chosen) + i}": self._salt_column(name, salt) for i, name in enumerate(along)}
        columns = (
            self._numbered_columns(chosen) | beside | {rank.inside: self._expression[rank.inside] for rank in used}
        )
        rows = self._expression.select(**columns, **(self._origin_in(self._expression) if origin else {}))
        rest = [f"c{i}" for i, name in enumerate(chosen) if name not in covered]
        ordered = rows.order_by([rank.inside for rank in used] + rest)
        last = [ORIGIN] if origin and self.has_origin else []
        return ordered.select(*[f"c{i}" for i in range(len(chosen) + len(along))], *last)

    def coded_rows(self, names: Sequence[str], along: Sequence[str] = (), origin: bool = False) -> CodedRows | None:
        """The rows of `ordered` as whole numbers; None where a text cannot be written, so that its row can be found."""
        used = [rank for rank in self._ranks if set(rank.covers) <= set(names)]
        covered = {name for rank in used for name in rank.covers}
        parts = [CodedPart(rank.inside, tuple(map(names.index, rank.covers)), rank.texts, True) for rank in used]
        for position, name in enumerate(names):
            if name not in covered:
                texts = self._vocabulary(name)
                parts.append(CodedPart(f"c{position}", (position,), () if texts is None else (texts,)))
        if any(pc.any(pc.match_substring(texts, "\x00")).as_py() for part in parts for texts in part.texts):
            return None
        hidden = {rank.inside: self._expression[rank.inside] for rank in used}
        last = self._origin_in(self._expression) if origin else {}
        rows = self._expression.select(**self._numbered_columns((*names, *along)), **hidden, **last)
        beside = [*(f"c{len(names) + i}" for i in range(len(along))), *last]
        return CodedRows(self.engine, rows, parts, len(names), beside)

    def _vocabulary(self, name: str) -> pa.Array | None:
        """Texts that hold all of a column's, in code-point order; None where there are too many."""
        table = self._before.table if self._before and name in self._before.names else self
        column = table._expression.select(value=table._column(name)).distinct()
        texts_found = plain_array(self.engine.fetch(column.limit(MOST_TEXTS + 1)).column(0))
        if len(texts_found) > MOST_TEXTS:
            return None
        texts = pc.unique(pa.concat_arrays([texts_found, pa.array([SUPPRESSED], pa.large_string())]))
        return texts.take(pc.sort_indices(texts))

    def positions_among(
        self, names: Sequence[str], along: Sequence[str], folder: Path
    ) -> tuple[NDArray[np.int64], list[pa.Array]]:
        """For each row, its place among the distinct rows over `names`, and beside it its columns `along`.

        The distinct rows stand in the order of `ordered_batches`; their columns do not leave the engine.
        """
        names = self.schema.checked_names(names, "columns")
        used = [rank for rank in self._ranks if set(rank.covers) <= set(names)]
        covered = {name for rank in used for name in rank.covers}
        hidden = {f"h{i}": self._expression[rank.inside] for i, rank in enumerate(used)}
        keys = {f"k{i}": self._column(name) for i, name in enumerate(names)}
        order = [*hidden, *(f"k{i}" for i, name in enumerate(names) if name not in covered)]
        distinct = self._expression.select(**keys, **hidden).distinct()
        with keep_by_rank(self.engine, distinct, order, folder) as known:
            joined = self._expression.inner_join(known, [column == known[key] for key, column in keys.items()])
            beside = {f"c{i}": joined[self.schema.inside(name)] for i, name in enumerate(along)}
            return fetch_ranks(self.engine, joined.select(**beside, **{RANK: joined[RANK]}))

    def _fetch_bounded(self, expression: Expression, most: int, names: Sequence[str]) -> pa.Table:
        """At most so many rows of a result; one more is enough to know that the whole would not fit."""
        result = self.engine.fetch(expression.limit(most + 1))
        self._refuse_too_many_combinations(result.num_rows, most, names)
        return result

    def _refuse_too_many_combinations(self, count: int, most: int, names: Sequence[str]) -> None:
        """Refuse more combinations than the memory holds, by the variables with most values."""
        if count <= most:
            return
        counts = self.distinct_counts(names)
        largest = sorted(counts, key=lambda name: (-counts[name], names.index(name)))[:_NAMED]
        raise TooManyTuples(columns=len(names), most=most, largest=", ".join(f"{n} ({counts[n]})" for n in largest))

    def _origin_in(self, rows: Expression) -> dict[str, Expression]:
        """The hidden column among some rows made of this table's own; nothing where it has none."""
        return {ORIGIN: rows[ORIGIN]} if self.has_origin else {}

    def _column(self, name: str) -> Expression:
        return self._expression[self.schema.inside(name)]

    def _salt_column(self, name: str, salt: str | None) -> Expression:
        import ibis

        return self._column(name) if salt is None else self.engine.digest(ibis.literal(salt) + self._column(name))

    def _numbered_columns(self, names: Sequence[str]) -> dict[str, Expression]:
        return {f"c{i}": self._column(name) for i, name in enumerate(names)}

    def _replace_columns(
        self,
        rows: Expression,
        values: Mapping[str, Expression],
        rank: _HiddenRank | None = None,
        before: _EarlierTable | None = None,
    ) -> Table:
        """The table with some columns replaced; a rank over a replaced column no longer holds."""
        ranks = [r for r in self._ranks if not set(r.covers) & set(values)] + ([rank] if rank else [])
        columns = {self.schema.inside(n): values.get(n, rows[self.schema.inside(n)]) for n in self.names}
        hidden = {r.inside: rows[r.inside] for r in ranks} | self._origin_in(rows)
        return Table(self.engine, _separate_relation(rows.select(**columns, **hidden)), self.names, ranks, before)


def _separate_relation(rows: Expression) -> Expression:
    """Rows as a relation of its own: joins in a row are one chain to Ibis, which takes no key computed inside it."""
    return rows.select(*rows.columns)
