"""The compiler asked for alone says what Ibis with all its compilers says."""

from __future__ import annotations

import subprocess
import sys

import ibis
import pytest

from celosia.data.engines.compile import compile_sql

ROWS = ibis.table({"c0": "string", "c1": "string", "n": "int64"}, name="rows")
OTHERS = ibis.table({"k0": "string", "p0": "string"}, name="others")
ASKED = {
    "counted": ROWS.group_by(value=ROWS["c0"]).aggregate(rows=ROWS.count()),
    "joined": ROWS.left_join(OTHERS, ROWS["c0"] == OTHERS["k0"]).order_by("c1"),
    "ranked": ROWS.mutate(rank=ibis.row_number().over(order_by=ROWS["c1"])).filter(ROWS["n"] > 3),
    "some": ROWS.filter(ROWS["c0"].isin(["a'b", 'c"d', "ñ"])).limit(5).distinct(),
}


def _in_one_line(query: str) -> str:
    return " ".join(query.split()).replace("( ", "(").replace(" )", ")")


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_the_statement_is_the_one_of_ibis(asked: ibis.Table, dialect: str) -> None:
    assert _in_one_line(compile_sql(asked, dialect)) == _in_one_line(str(ibis.to_sql(asked, dialect=dialect)))


def test_whoever_asks_ibis_for_another_dialect_still_gets_it() -> None:
    """In a process of its own: here everything may be loaded already."""
    script = """
import sys, threading, ibis
from celosia.data.engines.compile import compile_sql
rows = ibis.table({"a": "string"}, name="rows")
compile_sql(rows, "duckdb"), compile_sql(rows, "postgres")
assert "ibis.backends.sql.compilers.trino" not in sys.modules
made = []
asking = [threading.Thread(target=lambda d=d: made.append(ibis.to_sql(rows, dialect=d)))
          for d in ("trino", "mysql", "pyspark", "duckdb")]
[one.start() for one in asking], [one.join() for one in asking]
assert len(made) == 4
import ibis.backends.sql.compilers as compilers
assert compilers.DuckDBCompiler is type(compilers.duckdb.compiler)
assert not hasattr(compilers, "no_such_dialect")
"""
    subprocess.run([sys.executable, "-c", script], check=True)
