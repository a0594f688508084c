"""The figures of real public files that any correct tuple table must give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.table import Table
from celosia.tuples.table import Tuples, person_counts, project

pytestmark = pytest.mark.shared
NARROW = ("edad", "sexo", "ubigeo_persona")


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDBEngine]:
    opened = DuckDBEngine()
    yield opened
    opened.close()


def as_text(engine: DuckDBEngine, relation: str) -> Table:
    """A file of text columns as a table without NULL."""
    names = [row[0] for row in engine.connection.execute(f"DESCRIBE FROM {relation}").fetchall()]
    columns = ", ".join(f"coalesce(\"{name}\", '') AS c{i}" for i, name in enumerate(names))
    rows = engine.connection.execute(f"SELECT {columns} FROM {relation}").to_arrow_table()
    return Table(engine, engine.upload(rows), names)


@pytest.fixture(scope="module")
def vaccination(engine: DuckDBEngine, shared: Path) -> Table:
    return as_text(engine, f"read_parquet('{shared}/data/pe_vaccination_2021w06_w18.parquet')")


@pytest.fixture(scope="module")
def by_establishment(vaccination: Table) -> Tuples:
    return vaccination.tuples([*NARROW, "id_eess"], person="id_persona")


def test_peru_has_fewer_persons_than_rows(by_establishment: Tuples) -> None:
    assert by_establishment.n_rows == 2_210_465
    assert by_establishment.persons is not None
    assert by_establishment.persons.total == 1_472_070


@pytest.mark.requirement("X24")
def test_peru_persons_after_rolling_up_equal_a_direct_count(vaccination: Table, by_establishment: Tuples) -> None:
    projected, label = project(by_establishment, NARROW)
    direct = vaccination.tuples(NARROW, person="id_persona")
    persons = person_counts(projected)
    assert (projected.codes == direct.codes).all()
    assert (persons == person_counts(direct)).all()
    assert len(persons) == 128_516
    assert int((persons != projected.rows).sum()) == 74_347
    assert int(((persons == 1) & (projected.rows > 1)).sum()) == 24_396
    added = np.bincount(label, weights=person_counts(by_establishment)).astype(np.int64)
    assert int(added.sum()) == 1_577_211
    assert int((added != persons).sum()) == 14_761


def test_chilean_deaths_of_2024_have_a_third_of_unique_rows(engine: DuckDBEngine, shared: Path) -> None:
    path = shared / "data" / "cl_deis_deaths_2024_release2.csv"
    table = as_text(engine, f"read_csv('{path}', all_varchar=true, encoding='utf-8')")
    names = {name.lower(): name for name in table.names}
    tuples = table.tuples([names["sexo"], names["edad"], names["codcom"]])
    assert tuples.n_rows == 23_390
    assert len(tuples.rows) == 12_913
    assert round(1000 * int((tuples.rows == 1).sum()) / tuples.n_rows) == 346
