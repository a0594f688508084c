"""STATS: protected tables, their catalogue, what was published when, and the runs; one transaction per run.

Knows tables of text and numbers, and three bookkeeping tables. Ignores how cells were protected: what reaches this
module may be published. A failed run leaves everything as before; a run that publishes the same again changes no
table and no history. History holds what the tables showed, hidden cells without a value, each with its first and last
run and with what the cell is, so that every earlier publication can be reconstructed whatever its tables are called
now (YAPÓ 4; releases over time).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from celosia.data.errors import EngineFault
from celosia.stats.declaration.declaration import STATE, StatsConfig
from celosia.stats.errors import NameTooLong, StatsDamaged, TargetNeeded, TargetOccupied
from celosia.stats.sources.addresses import address
from celosia.stats.store.stores import Store, quote_name, store_at

OWN = "celosia_"
CATALOGUE, HISTORY, RUNS = "celosia_catalogue", "celosia_history", "celosia_runs"
LONGEST_NAME = 63  # bytes that PostgreSQL keeps of a name; longer ones would silently become another

Labels = tuple[str | None, ...]
CellName = tuple[str, Labels]  # measure, and a category per dimension, None where all are together
_SHAPES: Mapping[str, tuple[tuple[str, str], ...]] = {
    CATALOGUE: (("table_name", "text"), ("entry", "text")),
    RUNS: (("run", "whole"), ("started", "text"), ("facts", "text")),
    HISTORY: (
        ("table_name", "text"),
        ("measure", "text"),
        ("cell", "text"),
        ("value", "number"),
        ("since", "whole"),
        ("until", "whole"),
        ("identity", "text"),
    ),
}
# Figures of a run that only its journal keeps: rows read are unprotected counts (with one row per person, the total of
# a table), and the number of small cells discloses which of the hidden ones are not.
_JOURNAL_ONLY = ("rows_read", "suppressed_primary", "suppressed_secondary")
_ARROW = {"text": pa.string(), "whole": pa.int64(), "number": pa.float64()}


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A value that was published from one run to another; `until` is None while it still is."""

    measure: str
    labels: Labels
    value: int | float | None  # None: a hidden cell
    since: int
    until: int | None
    identity: str | None = None  # what the cell is, as text; None in old lines
    table: str = field(default="", compare=False)

    def is_in_run(self, run: int) -> bool:
        """Whether it was published in a run."""
        return self.since <= run and (self.until is None or run <= self.until)


class StatsTarget:
    """A STATS database, open for reading or for one run at a time."""

    def __init__(self, store: Store):
        self._store = store
        self._run = 0
        self._ours: set[str] = set()

    @contextlib.contextmanager
    def transaction(self, now: datetime) -> Iterator[int]:
        """The number of a new run; all that is written until the end becomes visible at once, or not at all."""
        self._store.begin()
        try:
            self._prepare(now)
            yield self._run
            self._store.commit()
        except BaseException:
            self._store.rollback()
            raise
        finally:
            self._run, self._ours = 0, set()

    # --- writing, inside the transaction ---------------------------------------------------------

    def write(self, name: str, rows: pa.Table) -> None:
        """Create a table, or replace its rows; a table that celosia did not create is refused."""
        for long in (name, *rows.column_names):
            if len(long.encode()) > LONGEST_NAME:
                raise NameTooLong(name=long, limit=LONGEST_NAME)
        shape = tuple((field.name, _kind(field.type)) for field in rows.schema)
        exists = name in self._store.tables()
        if exists and name not in self._ours:
            raise TargetOccupied(table=name)
        if exists and self._store.columns(name) != self._engine_types(shape):
            self._remove(name)
            exists = False
        if exists:
            # The table itself remains, with the rights and views that depend on it.
            self._store.run(f"DELETE FROM {self._store.qualified_name(name)}")
        else:
            self._create(name, shape)
        self._store.insert(name, rows)
        self._ours.add(name)

    def drop(self, name: str) -> None:
        """Remove a table of ours that is not declared any more; its history stays."""
        if name in self._store.tables():
            if name not in self._ours:
                raise TargetOccupied(table=name)
            self._remove(name)
            self.record(name, {})

    def record(
        self,
        name: str,
        published: Mapping[CellName, int | float | None],
        identities: Mapping[CellName, str] | None = None,
    ) -> None:
        """Record what a table publishes in this run: old values end, new ones begin; None is hidden."""
        texts = identities or {}
        open_ones = [value for value in self.history(name) if value.until is None]
        current_values = {(cell, value, texts.get(cell)) for cell, value in published.items()}
        current = {_history_key(value) for value in open_ones}
        begun = sorted(current_values - current, key=lambda value: (value[0][0], _cell_text(value[0][1])))
        lines = [_line(name, PublishedValue(*cell, value, self._run, None, text), None) for cell, value, text in begun]
        if current - current_values:
            # The open lines are written again as a whole: one statement, however many end.
            mark, place = self._store.mark, self._store.qualified_name(HISTORY)
            self._store.run(f"DELETE FROM {place} WHERE table_name = {mark} AND until IS NULL", [name])
            lines += [
                _line(name, value, None if _history_key(value) in current_values else self._run - 1)
                for value in open_ones
            ]
        self._insert(HISTORY, sorted(lines, key=lambda line: (line[4], *line[1:3])))

    def write_catalogue(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace the catalogue: one entry per table."""
        self._store.run(f"DELETE FROM {self._store.qualified_name(CATALOGUE)}")
        self._insert(CATALOGUE, [(name, _json(entries[name])) for name in sorted(entries)])

    def note(self, facts: Mapping[str, Any]) -> None:
        """Record what this run did, as far as readers of STATS may know; the journal has the rest."""
        mark = self._store.mark
        public_facts = {name: fact for name, fact in facts.items() if name not in _JOURNAL_ONLY}
        self._store.run(
            f"UPDATE {self._store.qualified_name(RUNS)} SET facts = {mark} WHERE run = {mark}",
            [_json(public_facts), self._run],
        )

    # --- reading, at any time --------------------------------------------------------------------

    def tables(self) -> tuple[str, ...]:
        """Every table of STATS but the bookkeeping."""
        return tuple(name for name in self._store.tables() if not name.startswith(OWN))

    def read(self, name: str) -> pa.Table:
        """A table as it is now, inside the transaction if one is open."""
        words = {word: kind for kind, word in self._store.kinds.items()}
        columns = [(column, _ARROW[words.get(word, "text")]) for column, word in self._store.columns(name)]
        names = ", ".join(quote_name(column) for column, _ in columns)
        rows = self._store.run(f"SELECT {names} FROM {self._store.qualified_name(name)}")
        arrays = zip(*rows, strict=True) if rows else [()] * len(columns)
        return pa.Table.from_arrays(
            [pa.array(values, kind) for values, (_, kind) in zip(arrays, columns, strict=True)],
            names=[column for column, _ in columns],
        )

    def states(self, name: str) -> dict[str, int]:
        """How many rows of a table are published, and how many are not."""
        rows = self._store.run(
            f"SELECT {quote_name(STATE)}, count(*) FROM {self._store.qualified_name(name)} GROUP BY 1"
        )
        return {str(state): int(count) for state, count in rows}

    def catalogue(self) -> dict[str, dict[str, Any]]:
        """The entry of each table."""
        rows = self._rows(CATALOGUE, "table_name, entry", "ORDER BY table_name")
        return {str(name): _document(entry, CATALOGUE) for name, entry in rows}

    def runs(self) -> tuple[dict[str, Any], ...]:
        """Number, date and facts of each run, oldest first."""
        rows = self._rows(RUNS, "run, started, facts", "ORDER BY run")
        return tuple({"run": int(n), "started": str(at), **_document(facts, RUNS)} for n, at, facts in rows)

    def history(self, name: str | None = None) -> tuple[PublishedValue, ...]:
        """Everything that a table ever published, or that all of them did, those of old names included."""
        if HISTORY not in self._store.tables():
            return ()
        known = "identity" in {column for column, _ in self._store.columns(HISTORY)}
        columns = f"measure, cell, value, since, until, {'identity' if known else 'NULL'}, table_name"
        where, values = ("", []) if name is None else (f"WHERE table_name = {self._store.mark} ", [name])
        rows = self._rows(HISTORY, columns, f"{where}ORDER BY table_name, since, measure, cell", values)
        return tuple(
            PublishedValue(
                str(m), _cell_labels(cell), _number(v), int(since), end if end is None else int(end), who, str(at)
            )
            for m, cell, v, since, end, who, at in rows
        )

    def close(self) -> None:
        """Disconnect; a transaction that did not end is undone."""
        self._store.close()

    # --- internals -------------------------------------------------------------------------------

    def _prepare(self, now: datetime) -> None:
        there = set(self._store.tables())
        for name, shape in _SHAPES.items():
            if name not in there:
                self._create(name, shape)
            elif name == HISTORY and self._store.columns(name) == self._engine_types(shape[:-1]):
                column, kind = self._engine_types(shape)[-1]  # a history written before cells had identities
                self._store.run(
                    f"ALTER TABLE {self._store.qualified_name(name)} ADD COLUMN {quote_name(column)} {kind}"
                )
            elif self._store.columns(name) != self._engine_types(shape):
                raise StatsDamaged(table=name)
        self._ours = set(self.catalogue())
        last = self._store.run(f"SELECT max(run) FROM {self._store.qualified_name(RUNS)}")[0][0]
        self._run = int(last or 0) + 1
        self._insert(RUNS, [(self._run, now.isoformat(timespec="seconds"), "{}")])

    def _engine_types(self, shape: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple((column, self._store.kinds[kind]) for column, kind in shape)

    def _create(self, name: str, shape: tuple[tuple[str, str], ...]) -> None:
        columns = ", ".join(f"{quote_name(column)} {word}" for column, word in self._engine_types(shape))
        self._store.run(f"CREATE TABLE {self._store.qualified_name(name)} ({columns})")

    def _remove(self, name: str) -> None:
        try:
            self._store.run(f"DROP TABLE {self._store.qualified_name(name)}")
        except EngineFault as fault:
            if "Dependent" in str(fault.values["kind"]):
                raise TargetNeeded(table=name) from None
            raise

    def _insert(self, name: str, lines: list[tuple[Any, ...]]) -> None:
        if lines:
            arrays = [
                pa.array(values, _ARROW[kind])
                for values, (_, kind) in zip(zip(*lines, strict=True), _SHAPES[name], strict=True)
            ]
            self._store.insert(name, pa.Table.from_arrays(arrays, names=[column for column, _ in _SHAPES[name]]))

    def _rows(self, name: str, columns: str, rest: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
        if name not in self._store.tables():
            return []
        return self._store.run(f"SELECT {columns} FROM {self._store.qualified_name(name)} {rest}", values or [])


def open_target(url: str, folder: Path, schema: str | None = None, read_only: bool = False) -> StatsTarget:
    """The STATS database at an address of stats.toml."""
    return StatsTarget(store_at(address(url, folder), schema, read_only))


def open_stats(config: StatsConfig, folder: Path) -> contextlib.closing[StatsTarget]:
    """The STATS database of a project, read-only, as a context."""
    return contextlib.closing(open_target(config.target.url, folder, config.target.schema, read_only=True))


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "whole"
    return "number" if pa.types.is_floating(kind) else "text"


def _line(name: str, published: PublishedValue, until: int | None) -> tuple[Any, ...]:
    value = None if published.value is None else float(published.value)
    cell = published.measure, _cell_text(published.labels), value
    return name, *cell, published.since, until, published.identity


def _history_key(value: PublishedValue) -> tuple[CellName, int | float | None, str | None]:
    return (value.measure, value.labels), value.value, value.identity


def _cell_text(labels: Labels) -> str:
    return json.dumps(list(labels), ensure_ascii=False)


def _cell_labels(text: str) -> Labels:
    return tuple(_decode(text, HISTORY))


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(dict(document), ensure_ascii=False, sort_keys=True)


def _document(text: str, table: str) -> dict[str, Any]:
    document = _decode(text, table)
    if not isinstance(document, dict):
        raise StatsDamaged(table=table)
    return document


def _decode(text: str, table: str) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        raise StatsDamaged(table=table) from None


def _number(value: Any) -> int | float | None:
    if value is None:
        return None
    return int(value) if float(value).is_integer() else float(value)
