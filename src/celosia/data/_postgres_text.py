"""The canonical text of a PostgreSQL column, the same whether a table is copied or counted in place.

Knows PostgreSQL's types. Ignores connections. Dates and times are ISO 8601, a time stamp at midnight is its date, one
with a zone is in UTC; what is not a plain value is refused by its kind.
"""

from __future__ import annotations

from dataclasses import dataclass

_PLAIN = frozenset("BDEINS")  # boolean, date, enumeration, network address, number, string
_KINDS = {"A": "nested", "C": "nested", "R": "interval", "T": "interval"}
_NAMED_KINDS = {"json": "json", "jsonb": "json", "bytea": "binary"}
SETTINGS = (  # what a value looks like as text must not depend on the server's or the user's settings
    "SET client_encoding = 'UTF8'",
    "SET standard_conforming_strings = on",
    "SET DateStyle = 'ISO, YMD'",
    "SET IntervalStyle = 'iso_8601'",
    "SET TimeZone = 'UTC'",
    "SET extra_float_digits = 1",
)
TABLES = """
SELECT n.nspname, c.relname
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column of a table: its name, its type and the category of the type."""

    name: str
    type: str
    category: str

    def refusal(self) -> str:
        """Why the column is refused; empty when its values are plain."""
        if self.category in _PLAIN or self.type == "uuid":
            return ""
        return _NAMED_KINDS.get(self.type) or _KINDS.get(self.category, "other")

    def as_text(self) -> str:
        """The expression of the canonical text."""
        name = '"' + self.name.replace('"', '""') + '"'
        if self.type == "timestamp":
            return f"CASE WHEN {name}::time = '00:00' THEN {name}::date::text ELSE replace({name}::text, ' ', 'T') END"
        if self.type == "timestamptz":
            return f"replace(replace({name}::text, ' ', 'T'), '+00', 'Z')"
        return f"{name}::text"
