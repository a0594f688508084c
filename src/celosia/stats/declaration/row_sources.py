"""Whose rows a PERSONAL block counts: its table, or the tables that its query takes rows from.

Knows the declaration. Ignores databases. What a query joins to its rows (the region of whoever had an event) is not
what it counts; what it takes rows from is, whichever column identifies the person. A name without a schema may be that
of any schema.
"""

from __future__ import annotations

from celosia.stats.declaration.declaration import Personal

RowSource = tuple[str, ...]  # database, schema and table, as far as they are named; in lower case


def row_sources(personal: Personal) -> tuple[RowSource, ...]:
    """The tables whose rows a block counts; none where its query cannot be read, which the run refuses."""
    if personal.query is None:
        return (tuple(part.strip('"`[]') for part in (personal.table or personal.name).lower().split(".")),)
    import sqlglot
    from sqlglot import expressions
    from sqlglot.errors import SqlglotError

    try:
        statement = sqlglot.parse_one(personal.query)
    except SqlglotError:
        return ()
    names = {node.alias_or_name.lower() for node in statement.find_all(expressions.CTE)}
    tables = [node.this for node in statement.find_all(expressions.From)]
    sources = [
        tuple(part.name.lower() for part in table.parts) for table in tables if isinstance(table, expressions.Table)
    ]
    return tuple(dict.fromkeys(source for source in sources if source[-1] not in names or len(source) > 1))


def same_source(first: RowSource, second: RowSource) -> bool:
    """Whether two names may be those of one table."""
    shared = min(len(first), len(second))
    return first[-shared:] == second[-shared:]
