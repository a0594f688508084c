"""Column-level lineage: every STATS column leads back to its PERSONAL columns and the rule between them."""

from __future__ import annotations

import tomllib

import pytest

from celosia.stats.catalogue import lineage_of, sources_of
from celosia.stats.declaration.declaration import Personal, stats_from
from tests.stats.small_stats import HEAD, PERSONS, category, table

AGE = """
[[tables.dimensions]]
name = "age_range"
column = "birth_date"
rule = "age"
at = "2024-01-31"
bands = [18, 25, 35, 45]
"""
MEAN = '[[tables.measures]]\nname = "pay"\nkind = "mean"\ncolumn = "salary"\np = 10\n'


@pytest.mark.requirement("Y25")
def test_every_column_has_its_source_columns_and_its_rule() -> None:
    config = stats_from(tomllib.loads(HEAD + table("t", AGE, category("sector", ["a"]), PERSONS, MEAN)), "stats.toml")
    lines = {one.column: one for one in lineage_of(config, config.tables[0])}
    assert list(lines) == ["age_range", "sector", "persons", "pay", "estado"]
    assert {name: (one.source, one.columns, one.rule) for name, one in lines.items()} == {
        "age_range": ("people", ("birth_date",), "age"),
        "sector": ("people", ("sector",), "category"),
        "persons": ("people", ("user_id",), "persons"),
        "pay": ("people", ("salary",), "mean"),
        "estado": ("people", ("user_id",), "status"),
    }
    assert lines["age_range"].detail == {"at": "2024-01-31", "bands": [18, 25, 35, 45]}
    assert lines["pay"].detail == {"p": 10}


@pytest.mark.requirement("Y25")
def test_a_query_leads_to_every_table_it_reads() -> None:
    query = """
        WITH recent AS (SELECT * FROM app.events WHERE created_at > '2024-01-01')
        SELECT u.user_id, r.kind FROM users AS u JOIN recent r ON r.user_id = u.user_id
    """
    assert set(sources_of(Personal("q", "user_id", query=query))) == {"app.events", "users"}
    assert sources_of(Personal("users", "user_id", table="app.users")) == ("app.users",)
