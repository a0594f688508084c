"""A table in this process gives the plain answer to every operation of the contract, as every engine does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given, settings

from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.engines.lazy import LazyEngine
from celosia.model.errors import NothingChosen, RepeatedVariable, UnknownVariable
from celosia.tuples.errors import TooManyTuples
from tests.data.engines.plain_rows import FIXED, Plain, plain_tables
from tests.data.engines.test_contract import LAWS, Law


@pytest.fixture(scope="module")
def lazy_engine() -> Iterator[LazyEngine]:
    engine = LazyEngine()
    yield engine
    engine.close()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_on_any_table(lazy_engine: LazyEngine, law: Law) -> None:
    @settings(max_examples=40, deadline=None, database=None)
    @given(plain_tables())
    @example(FIXED["values engines confuse"])
    def check(plain: Plain) -> None:
        law(plain.in_memory(lazy_engine), plain)

    check()


@pytest.mark.parametrize("kind", FIXED)
def test_on_extreme_tables(lazy_engine: LazyEngine, kind: str) -> None:
    for law in LAWS:
        law(FIXED[kind].in_memory(lazy_engine), FIXED[kind])


@given(plain_tables())
@settings(max_examples=30, deadline=None, database=None)
def test_tuples_are_those_of_the_engine(plain: Plain) -> None:
    """Codes, counts and the numbers of the persons are equal, not only equivalent."""
    engine, lazy_engine = DuckDBEngine(threads=1, on_disk=False), LazyEngine()
    ours, other = plain.in_memory(lazy_engine), plain.on(engine)
    for names in (plain.names[:1], plain.names, plain.names[::-1]):
        mine, its = ours.tuples(names, plain.names[-1]), other.tuples(names, plain.names[-1])
        assert (mine.names, mine.vocabularies) == (its.names, its.vocabularies)
        assert np.array_equal(mine.codes, its.codes)
        assert np.array_equal(mine.rows, its.rows)
        assert mine.persons is not None
        assert its.persons is not None
        assert mine.persons.total == its.persons.total
        for field in ("settled", "tuple_index", "ordinal"):
            assert np.array_equal(getattr(mine.persons, field), getattr(its.persons, field))
    engine.close()


def test_errors_name_the_column(lazy_engine: LazyEngine) -> None:
    table = Plain(("a", "b"), (("1", "x"), ("2", "y"))).in_memory(lazy_engine)
    with pytest.raises(UnknownVariable):
        table.tuples(["z"])
    with pytest.raises(UnknownVariable):
        table.where("z", ["1"])
    with pytest.raises(RepeatedVariable):
        table.tuples(["a", "a"])
    with pytest.raises(NothingChosen):
        table.tuples([])


def test_more_combinations_than_memory_holds_are_refused() -> None:
    rows = tuple((str(i), str(-i)) for i in range(200))
    table = Plain(("a", "b"), rows).in_memory(LazyEngine(memory=10_000))
    with pytest.raises(TooManyTuples):
        table.tuples(["a", "b"])
