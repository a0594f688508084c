"""A PERSONAL → STATS project, `stats.toml`, `celosia/stats/1`: what is counted, by which rules, and for whom.

Knows the declarations and what each rule needs. Ignores databases and how a rule is computed (`stats.rules`).
The file is read by `celosia.stats.declaration.file`, and `stats_from` is the way in.
Source: YAPÓ, Reglas de Anonimización, 2 (rule per kind of data), 3 (k by audience), 4 (frequency, catalogue).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any

from celosia.model.parameters import Many, Number, Parameter, Text, TomlTable, Whole
from celosia.model.paths import STATS_SETTINGS
from celosia.stats.errors import ColumnWithoutRule, PersonalColumnAbsent

STATS_FORMAT = "celosia/stats/1"
STATS_FILE = STATS_SETTINGS
NOT_STATED = "(sin dato)"  # the category of a missing value: a fixed text in the data, in every language
UNMAPPED = "(sin regla)"  # inside a run only: a value without a category; one of them stops the run
STATE = "estado"  # the column of a STATS table that says whether its row is published
PUBLISHED, SUPPRESSED = "publicado", "suprimido"  # what it says
DEFAULT_AUDIENCES: Mapping[str, int] = MappingProxyType({"internal": 5, "government": 10})
FREQUENCIES = ("daily", "weekly", "monthly", "quarterly", "yearly", "once")
ACTIONS = ("suppress", "merge", "both")
METHODS = ("suppress", "round")
MEASURES = ("persons", "rows", "sum", "mean", "percent")
PERIODS = ("day", "week", "month", "quarter", "year")
LISTS: Mapping[str, str] = MappingProxyType(
    {"py": "py-distritos", "cl": "cl-cut", "co": "co-divipola", "pe": "pe-ubigeo"}
)
GENDERS: Mapping[str, str] = MappingProxyType(
    {"male": "masculino", "female": "femenino", "other": "otro", "not_stated": NOT_STATED}
)
TOTAL = "total"
_NONE: Mapping[str, Any] = MappingProxyType({})

# What each rule of a dimension may say, besides name, title, column and rule.
_NUMBER = {"decimal": Text(default=".", choices=(".", ",")), "thousands": Text(default="")}
_INSTANT = {"stored": Text(default="local", choices=("local", "utc"))}
_LEVELS = {"levels": Many(Text(), default=())}
RULES: Mapping[str, Mapping[str, Parameter]] = MappingProxyType(
    {
        "age": {
            "at": Text(required=True),
            "bands": Many(Whole(minimum=0)),
            "width": Whole(minimum=1),
            "end": Whole(minimum=1),
            **_INSTANT,
        },
        "period": {"by": Text(required=True, choices=PERIODS), **_INSTANT},
        "buckets": {"borders": Many(Number(minimum=0), required=True), **_NUMBER},
        "map": {"map": Text(required=True), **_LEVELS},
        "zone": {"map": Text(required=True), "minimum": Whole(required=True, minimum=1)},
        "grid": {
            "lat": Text(required=True),
            "lng": Text(required=True),
            "km": Whole(default=10, minimum=10),
            **_NUMBER,
        },
        "category": {"values": Many(Text(), required=True), **_LEVELS},
        "gender": {"values": TomlTable(required=True)},
        "span": {"years": Whole(required=True, minimum=2), "start": Whole(default=0, minimum=0), **_INSTANT},
    }
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One of the two databases; its address is resolved by `stats.sources` and never shown."""

    url: str
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class ValueMap:
    """Value → category: a CSV file of the project, or an official list."""

    name: str
    file: str | None = None
    list: str | None = None  # a key of LISTS


@dataclass(frozen=True, slots=True)
class Personal:
    """A table (or one SELECT) of PERSONAL, its person key and the columns that never leave it."""

    name: str
    person: str
    table: str | None = None
    query: str | None = None
    drop: tuple[str, ...] = ()
    changed: str | None = None


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column of STATS made from columns of PERSONAL by a rule; `settings` holds every setting of the rule."""

    name: str
    rule: str
    columns: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    title: str = ""

    @property
    def column(self) -> str:
        """The column of PERSONAL; of a grid, the latitude."""
        return self.columns[0]


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of STATS."""

    name: str
    kind: str
    column: str | None = None
    dominance: tuple[int, int] | None = None  # (n, percent): the n largest may not make more than that share
    p: int | None = None  # percent: nobody may estimate another's part better than this
    of: str | None = None  # what a percentage is of: TOTAL, or the dimension whose cells add up to 100
    title: str = ""


@dataclass(frozen=True, slots=True)
class StatsTable:
    """One table of STATS, published once for each of its audiences."""

    name: str
    source: str  # the PERSONAL block it is made from
    dimensions: tuple[Dimension, ...]
    measures: tuple[Measure, ...]
    audiences: tuple[str, ...]
    title: str = ""
    frequency: str = "daily"
    action: str = "suppress"
    others: str | None = None
    margins: tuple[tuple[str, ...], ...] = ()  # the dimensions that each published margin keeps; () is the total
    zeros: str = "show"
    width: int = 1
    method: str = "suppress"
    base: int | None = None
    linked: bool = True
    events: bool = False

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """Its dimensions in order."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def grouping_sets(self) -> tuple[tuple[str, ...], ...]:
        """What is published: the inner cells first, then each margin."""
        return tuple(dict.fromkeys((self.dimension_names, *self.margins)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The PERSONAL columns that it uses, once each."""
        used = [column for dimension in self.dimensions for column in dimension.columns]
        used += [measure.column for measure in self.measures if measure.column is not None]
        return tuple(dict.fromkeys(used))

    def dimension(self, name: str) -> Dimension:
        """The dimension of that name."""
        return next(dimension for dimension in self.dimensions if dimension.name == name)


@dataclass(frozen=True, slots=True)
class StatsConfig:
    """The whole file."""

    path: str
    source: Endpoint
    target: Endpoint
    personal: Mapping[str, Personal]
    tables: tuple[StatsTable, ...]
    title: str = ""
    zone: str | None = None
    audiences: Mapping[str, int] = field(default_factory=lambda: DEFAULT_AUDIENCES)
    maps: Mapping[str, ValueMap] = field(default_factory=lambda: _NONE)

    def k_of(self, audience: str) -> int:
        """The least number of persons behind a cell for an audience; the strictest for one that is not named."""
        return self.audiences.get(audience, max(self.audiences.values()))

    def table(self, name: str) -> StatsTable:
        """The table of that name."""
        return next(table for table in self.tables if table.name == name)

    def tables_of(self, personal: str) -> tuple[StatsTable, ...]:
        """The tables made from one PERSONAL block."""
        return tuple(table for table in self.tables if table.source == personal)

    def refuse_columns_without_rule(self, personal: str, columns: Sequence[str]) -> None:
        """Refuse a column of PERSONAL without a rule, and a rule for a column that is not there."""
        used = self._columns_with_a_rule(personal)
        without = [name for name in columns if name not in used]
        if without:
            raise ColumnWithoutRule(path=self.path, personal=personal, columns=", ".join(without))
        absent = [name for name in used if name not in set(columns)]
        if absent:
            raise PersonalColumnAbsent(path=self.path, personal=personal, columns=", ".join(absent))

    def _columns_with_a_rule(self, personal: str) -> tuple[str, ...]:
        block = self.personal[personal]
        used = [block.person, *block.drop, *([block.changed] if block.changed else [])]
        used += [column for table in self.tables_of(personal) for column in table.columns]
        return tuple(dict.fromkeys(used))


def stats_name(table: str, audience: str) -> str:
    """The name in STATS of a table's version for an audience."""
    return f"{table}__{audience}"


def every_margin(dimensions: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """All margins of a table, the widest last: ("a", "b") has ("a",), ("b",) and ()."""
    names = tuple(dimensions)
    return tuple(margin for size in range(len(names) - 1, -1, -1) for margin in combinations(names, size))


def stats_from(document: Mapping[str, Any], path: str) -> StatsConfig:
    """The project that a parsed `stats.toml` declares; every mistake names its table and key."""
    from celosia.stats.declaration.file import config_from

    return config_from(document, path)
