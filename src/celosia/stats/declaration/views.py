"""What a page shows of a STATS project: tables, rows with their hidden cells, runs, lineage. Plain values only.

Knows what STATS, its catalogue and its journal say. No value of a hidden cell is in any of these: an interval is what
readers of the published tables could compute, and one that leaves a single value is marked so, without the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Labels = tuple[str | None, ...]  # a category per dimension; None: all together


@dataclass(frozen=True, slots=True)
class StatsFolder:
    """One STATS project of a folder of projects."""

    folder: str
    title: str = ""
    tables: int = 0
    last: str = ""  # when it ran last
    failed: str = ""  # when it failed, if nothing ran well since
    problem: str = ""  # why it cannot be opened


@dataclass(frozen=True, slots=True)
class StatsRunLine:
    """A run as the journal records it."""

    when: str
    who: str
    kind: str  # full or incremental
    failed: bool
    rows_read: Mapping[str, int] = field(default_factory=dict)
    rows_written: int = 0
    tables: int = 0
    kept: int = 0  # tables that were not renewed
    published: int = 0
    hidden: int = 0
    error: str = ""  # the code of what went wrong
    errors: Mapping[str, int] = field(default_factory=dict)  # rule -> values it could not place


@dataclass(frozen=True, slots=True)
class StatsLine:
    """One table of STATS as the list shows it."""

    table: str
    title: str
    audience: str
    k: int
    frequency: str
    state: str  # written, kept, left_out or waiting
    shown: int = 0
    hidden: int = 0
    last: str = ""
    due: str = ""  # the day of the next run; empty: none is due
    late: bool = False


@dataclass(frozen=True, slots=True)
class SavedStatsReport:
    """A report of a check or an attack, when it was made, and whether STATS or its rules changed since."""

    document: Mapping[str, Any]
    when: str
    stale: bool


@dataclass(frozen=True, slots=True)
class StatsView:
    """A STATS project at a glance."""

    title: str
    audiences: Mapping[str, int]
    lines: tuple[StatsLine, ...]
    unset: tuple[str, ...] = ()  # environment variables that stats.toml names and that are empty
    problem: str = ""  # why STATS cannot be read, as a sentence
    last: StatsRunLine | None = None
    failed: StatsRunLine | None = None  # the last failure, if nothing ran well since
    check: SavedStatsReport | None = None
    attack: SavedStatsReport | None = None


@dataclass(frozen=True, slots=True)
class StatsRow:
    """A row of a STATS table; a hidden one has no values."""

    labels: Labels
    values: tuple[int | float | None, ...]
    hidden: bool


@dataclass(frozen=True, slots=True)
class StatsRows:
    """Some rows of a STATS table, and what its readers must know of it."""

    table: str
    title: str
    audience: str
    k: int
    action: str
    method: str
    base: int
    frequency: str
    last: str
    dimensions: tuple[str, ...]
    measures: tuple[tuple[str, str], ...]  # name and kind
    rows: tuple[StatsRow, ...]
    offset: int
    total: int  # rows that match the request
    shown: int  # of the whole table
    hidden: int


@dataclass(frozen=True, slots=True)
class HiddenCell:
    """What those responsible for STATS may know of a hidden cell beyond its readers."""

    labels: Labels
    reason: str = ""  # empty: the run that hid it kept none
    interval: str = ""  # found, exact (one value, not shown), open (not settled in the time allowed) or nothing yet
    low: int | None = None
    high: int | None = None  # None in a found one: no upper end


@dataclass(frozen=True, slots=True)
class StatsHidden:
    """The hidden cells of a table for those responsible for it."""

    cells: tuple[HiddenCell, ...]
    when: str = ""  # when the intervals were computed; empty: never
    stale: bool = False
    measurable: bool = True  # whether the table shows the counts that intervals are made from


@dataclass(frozen=True, slots=True)
class LineageColumn:
    """A STATS column, the PERSONAL columns that feed it, and the rule."""

    column: str
    kind: str  # dimension, measure or status
    columns: tuple[str, ...]
    rule: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TableLineage:
    """The lineage of one table of stats.toml, the same for all its audiences."""

    base: str
    title: str
    block: str  # the PERSONAL block of stats.toml
    sources: tuple[str, ...]  # PERSONAL tables behind it
    tables: tuple[str, ...]  # its names in STATS
    columns: tuple[LineageColumn, ...]


@dataclass(frozen=True, slots=True)
class StatsLineage:
    """Which PERSONAL columns feed each STATS column, and by which rule."""

    tables: tuple[TableLineage, ...]
    declared: bool  # from stats.toml, because STATS has no catalogue yet
