"""What the statistics say of themselves: a run, the catalogue, a check and an attack, each with its format.

Knows names of tables, categories, thresholds and counts. Ignores databases. No hidden value is in any of them: what is
not in a report cannot leak from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from celosia.model.plain import plain, plain_fields
from celosia.model.rules import RuleReport

RUN_FORMAT = "celosia/stats-run/1"
CATALOGUE_FORMAT = "celosia/catalogue/1"
CHECK_FORMAT = "celosia/stats-check/1"
ATTACK_FORMAT = "celosia/stats-attack/1"
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TableOutcome:
    """What a run did to one STATS table."""

    table: str  # its name in STATS
    audience: str
    k: int
    rows: int  # rows written
    published: int
    primary: int
    secondary: int
    reasons: Mapping[str, int] = field(default_factory=lambda: _NONE)  # reason -> cells hidden for it
    merged: int = 0  # categories that went into the one of the others
    state: str = "written"  # or kept as it was, or left_out: with earlier releases it would tell too much


@dataclass(frozen=True, slots=True)
class StatsRun:
    """One run from PERSONAL to STATS."""

    when: str
    kind: str  # full or incremental
    rows_read: Mapping[str, int]  # PERSONAL table -> rows
    tables: tuple[TableOutcome, ...]

    @property
    def cells(self) -> int:
        """Cells written, hidden ones included."""
        return sum(table.rows for table in self.tables)

    @property
    def written(self) -> tuple[TableOutcome, ...]:
        """The tables that were renewed."""
        return tuple(table for table in self.tables if table.state == "written")

    def facts(self) -> dict[str, Any]:
        """The figures of the journal's line: counts and names, never a value (Y27)."""
        return {
            "kind": self.kind,
            "rows_read": dict(self.rows_read),
            "tables": len(self.written),
            "kept": len(self.tables) - len(self.written),
            "rows_written": sum(table.rows for table in self.tables),
            "cells_published": sum(table.published for table in self.tables),
            "suppressed_primary": sum(table.primary for table in self.tables),
            "suppressed_secondary": sum(table.secondary for table in self.tables),
            "errors": {},
        }

    def as_dict(self) -> dict[str, Any]:
        """The run as its versioned JSON."""
        return {
            "format": RUN_FORMAT,
            "when": self.when,
            **self.facts(),
            "tables": plain(self.tables),
        }


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """Where one STATS column comes from, and by which rule."""

    column: str
    kind: str  # dimension, measure or status
    source: str  # PERSONAL table or query
    columns: tuple[str, ...]  # PERSONAL columns
    rule: str  # age, period, … or persons, rows, sum, mean, percent, status
    detail: Mapping[str, Any] = field(default_factory=lambda: _NONE)  # parameters of the rule


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One STATS table as its readers must know it (YAPÓ 4)."""

    table: str
    base: str  # its name in stats.toml
    title: str
    audience: str
    k: int
    sources: tuple[str, ...]  # PERSONAL tables
    frequency: str
    action: str
    method: str
    width: int
    zeros: str
    margins: tuple[tuple[str, ...], ...]  # sets of dimensions that are published
    columns: tuple[ColumnLineage, ...]
    link: str = ""  # tables with the same one are protected together
    parents: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NONE)  # dimension -> label -> whole
    meanings: Mapping[str, str] = field(default_factory=lambda: _NONE)  # dimension -> what linked tables call it
    names: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NONE)  # … -> label -> what they call it
    others: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NONE)  # dimension -> categories merged
    others_label: Mapping[str, str] = field(default_factory=lambda: _NONE)  # dimension -> the label they share
    additive: bool = False  # beside persons the table tells rows or sums
    adds_up: tuple[str, ...] = ()  # dimensions in which every person stands in one category only
    base_unit: int = 0  # rounding base; 0 where nothing is rounded
    last_run: str = ""

    @property
    def origin(self) -> str:
        """The block of PERSONAL that the table counts: readers put together all tables of one, linked or not."""
        return self.columns[0].source if self.columns else self.link

    def dimensions(self) -> tuple[str, ...]:
        """Names of the dimensions in the order of the columns."""
        return tuple(lineage.column for lineage in self.columns if lineage.kind == "dimension")

    def measures(self) -> tuple[str, ...]:
        """Names of the measures in the order of the columns."""
        return tuple(lineage.column for lineage in self.columns if lineage.kind == "measure")

    def as_dict(self) -> dict[str, Any]:
        """The entry as data."""
        return plain_fields(self)


@dataclass(frozen=True, slots=True)
class StatsCatalogue:
    """Every table of STATS."""

    title: str
    entries: tuple[CatalogueEntry, ...]
    audiences: Mapping[str, int] = field(default_factory=lambda: _NONE)

    def as_dict(self) -> dict[str, Any]:
        """The catalogue as its versioned JSON."""
        return {
            "format": CATALOGUE_FORMAT,
            "title": self.title,
            "audiences": dict(self.audiences),
            "tables": [entry.as_dict() for entry in self.entries],
        }


def entry_from(document: Mapping[str, Any]) -> CatalogueEntry:
    """One entry from its JSON."""
    columns = tuple(
        ColumnLineage(**{**lineage, "columns": tuple(lineage["columns"])}) for lineage in document["columns"]
    )
    return CatalogueEntry(
        **{
            **document,
            "columns": columns,
            "sources": tuple(document["sources"]),
            "margins": tuple(tuple(margin) for margin in document["margins"]),
            "adds_up": tuple(document["adds_up"]),
            "others": {name: tuple(merged) for name, merged in document["others"].items()},
        }
    )


@dataclass(frozen=True, slots=True)
class FailingCell:
    """A hidden cell of which readers of STATS learn too much; its name is published, what is learnt is not told."""

    cell: Mapping[str, str]
    kind: str  # recovered, narrow, unproven
    measure: str  # persons, rows, or the PERSONAL column of a sum or mean


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """What STATS alone says of one of its tables."""

    table: str
    audience: str
    k: int
    published: int
    hidden: int
    below: int  # published cells of fewer than k persons
    recoverable: int  # hidden cells that follow exactly
    disclosed: int  # hidden cells with too few possible values
    unproven: int  # hidden cells that could not be measured in the time given
    unmeasured: tuple[str, ...] = ()  # sums and means whose closeness STATS cannot tell; "*": persons are not shown
    cells: tuple[FailingCell, ...] = ()  # those that fail, by name


@dataclass(frozen=True, slots=True)
class StatsCheck:
    """STATS judged from what it holds, and the rules of the protocols on it."""

    tables: tuple[CheckedTable, ...]
    figures: Mapping[str, int]  # measure -> how many break it
    rules: RuleReport
    findings: tuple[Mapping[str, str], ...] = ()  # of the scan: table, column, kind
    uncatalogued: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every rule passes."""
        return self.rules.holds

    def as_dict(self) -> dict[str, Any]:
        """The check as its versioned JSON."""
        return {"format": CHECK_FORMAT, **plain_fields(self, "holds tables figures findings uncatalogued absent rules")}


@dataclass(frozen=True, slots=True)
class AttackFinding:
    """One cell of which an outsider learns too much; its name is published, what was learnt is not told."""

    table: str
    cell: Mapping[str, str]
    kind: str  # recovered, narrow, difference, derived
    releases: tuple[str, ...]  # the runs that were compared


@dataclass(frozen=True, slots=True)
class StatsAttack:
    """What somebody who kept every release could compute."""

    releases: tuple[str, ...]
    cells: int
    hidden: int
    compared: int  # cells published in two releases
    differences: int  # of them, those that changed by fewer than k persons
    findings: tuple[AttackFinding, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing was learnt."""
        return not self.findings

    def as_dict(self) -> dict[str, Any]:
        """The attack as its versioned JSON."""
        names = "holds releases cells hidden compared differences findings"
        return {"format": ATTACK_FORMAT, **plain_fields(self, names)}
