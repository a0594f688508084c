"""When several columns are counted together, and when one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from celosia.tuples.errors import TooManyTuples
from celosia.tuples.finer import tuples_with_each
from celosia.tuples.table import Tuples

NAMES = ("a", "b", "c", "d")
UNIQUE = [(f"{i:02}", str(i % 2), str(i % 3), str(i % 5)) for i in range(30)]
ALIKE = [("x", str(i % 2), str(i % 3), str(i % 5)) for i in range(30)]


class Rows:
    """Rows that count their own tuples and remember what they were asked for."""

    def __init__(self, rows: Sequence[tuple[str, ...]], most: int | None = None):
        self.rows, self.most = rows, most
        self.asked: list[tuple[str, ...]] = []

    def tuples(self, names: Sequence[str], person: str | None = None) -> Tuples:
        """Distinct combinations, without persons; none where they are more than fit."""
        self.asked.append(tuple(names))
        places = [NAMES.index(name) for name in names]
        counted = sorted(Counter(tuple(row[place] for place in places) for row in self.rows).items())
        if self.most is not None and len(names) > self.most:
            raise TooManyTuples(columns=len(names), most=0, largest="")
        vocabularies = tuple(tuple(sorted({row[place] for row in self.rows})) for place in places)
        codes = [[words.index(text) for text, words in zip(values, vocabularies, strict=True)] for values, _ in counted]
        return Tuples(tuple(names), vocabularies, np.array(codes, np.int32), np.array([n for _, n in counted]))


def counts_alone(rows: Sequence[tuple[str, ...]], name: str) -> list[int]:
    return Rows(rows).tuples(("a", name)).rows.tolist()


def test_where_every_row_differs_the_other_columns_are_counted_together() -> None:
    counted = Rows(UNIQUE)
    _, finer = tuples_with_each(counted, ("a",), ("b", "c", "d"), together=True)
    assert counted.asked == [("a", "b"), ("a", "c", "d")]
    assert {name: table.rows.tolist() for name, table in finer.items()} == {
        name: counts_alone(UNIQUE, name) for name in ("b", "c", "d")
    }


@pytest.mark.parametrize(("rows", "together"), [(ALIKE, True), (UNIQUE, False)], ids=["few tuples", "not allowed"])
def test_otherwise_each_is_counted_by_itself(rows: Sequence[tuple[str, ...]], together: bool) -> None:
    counted = Rows(rows)
    tuples_with_each(counted, ("a",), ("b", "c", "d"), together=together)
    assert counted.asked == [("a", "b"), ("a", "c"), ("a", "d")]


def test_what_does_not_fit_together_is_counted_one_by_one() -> None:
    counted = Rows(UNIQUE, most=2)
    _, finer = tuples_with_each(counted, ("a",), ("b", "c", "d"), together=True)
    assert counted.asked == [("a", "b"), ("a", "c", "d"), ("a", "c"), ("a", "d")]
    assert finer["d"].rows.tolist() == counts_alone(UNIQUE, "d")


def test_the_reported_share_grows_to_the_end() -> None:
    shares: list[float] = []
    tuples_with_each(Rows(UNIQUE), ("a",), ("b", "c", "d"), progress=shares.append, together=True)
    assert shares == sorted(shares)
    assert shares[-1] == 3 / 4
