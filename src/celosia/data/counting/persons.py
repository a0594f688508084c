"""The persons behind the tuples of a table, counted inside its engine: no key of a person leaves it.

Knows engines, expressions and integer columns. Ignores names. Each row gets the number of its tuple, and each person
the first and the last of theirs: equal for most, who are settled, and the whole story for who has two rows. Only for
the others are the rows asked a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.data.counting.columns import integer_array
from celosia.data.engines.base import RANK, Engine, Expression
from celosia.data.engines.memory import most_pairs
from celosia.tuples.table import Persons, distinct_pairs

PERSON = "person"
_ROWS, _TUPLE, _FIRST, _LAST = "rows", "tuple_id", "first", "last"
BoundedFetch = Callable[[Expression, int], pa.Table]  # at most so many rows of a result, or a refusal
Numbers = NDArray[np.int64]


def count_persons(engine: Engine, rows: Expression, texts: Sequence[pa.Array], fetch_bounded: BoundedFetch) -> Persons:
    """Settled persons and the incidence of the others; `rows` holds the columns c0…cn and the key of the person.

    `texts` are the columns of the tuples, in the order of their numbers.
    """
    keys = {f"k{i}": text for i, text in enumerate(texts)}
    known = engine.upload(pa.table(keys | {_TUPLE: pa.array(np.arange(len(texts[0])))}))
    located = rows.inner_join(known, [rows[f"c{i}"] == known[f"k{i}"] for i in range(len(texts))])
    located = located.select(PERSON, _TUPLE)
    first, last = located[_TUPLE].min(), located[_TUPLE].max()
    spans = engine.keep(located.group_by(PERSON).aggregate(first=first, last=last, rows=located.count()))
    try:
        settled = _count_settled(engine, spans, len(texts[0]))
        most = most_pairs(engine.memory)
        first, last = _tuples_of_two_rows(spans, len(texts[0]), lambda expression: fetch_bounded(expression, most // 2))
        two = len(first)
        tuples, ordinals = _tuples_of_many_rows(
            engine, spans, located, lambda expression: fetch_bounded(expression, most - 2 * two)
        )
    finally:
        engine.forget(spans)
        engine.forget(known)
    scattered = two + int(ordinals.max(initial=-1)) + 1
    whose = np.concatenate([np.arange(two), np.arange(two), ordinals + two])
    index, ordinal = distinct_pairs(np.concatenate([first, last, tuples]), whose, scattered)
    return Persons(int(settled.sum()) + scattered, settled, index, ordinal)


def _count_settled(engine: Engine, spans: Expression, tuples: int) -> Numbers:
    """How many persons have all their rows in each tuple."""
    alone = spans.filter(spans[_FIRST] == spans[_LAST])
    counted = engine.fetch(alone.group_by(_FIRST).aggregate(**{_ROWS: alone.count()}))
    counts = np.zeros(tuples, np.int64)
    counts[integer_array(counted.column(_FIRST))] = integer_array(counted.column(_ROWS))
    return counts


def _tuples_of_two_rows(
    spans: Expression, tuples: int, fetch_bounded: Callable[[Expression], pa.Table]
) -> tuple[Numbers, Numbers]:
    """Both tuples of each person whose two rows lie in two tuples, sorted: who the person is does not matter."""
    two = spans.filter((spans[_FIRST] != spans[_LAST]) & (spans[_ROWS] == 2))
    spans_fetched = fetch_bounded(two.select(_FIRST, _LAST))
    keys = integer_array(spans_fetched.column(_FIRST)) * np.int64(tuples) + integer_array(spans_fetched.column(_LAST))
    keys.sort()
    return np.divmod(keys, np.int64(max(tuples, 1)))


def _tuples_of_many_rows(
    engine: Engine, spans: Expression, located: Expression, fetch_bounded: Callable[[Expression], pa.Table]
) -> tuple[Numbers, Numbers]:
    """The tuples, and beside them the ordinals, of who has more rows, in several tuples: numbered by the key."""
    many = spans.filter((spans[_FIRST] != spans[_LAST]) & (spans[_ROWS] > 2))
    numbered = engine.keep_ranked(many.select(PERSON), [PERSON])
    try:
        pairs_fetched = fetch_bounded(located.inner_join(numbered, PERSON).select(_TUPLE, RANK).distinct())
    finally:
        engine.forget(numbered)
    return integer_array(pairs_fetched.column(_TUPLE)), integer_array(pairs_fetched.column(RANK))
