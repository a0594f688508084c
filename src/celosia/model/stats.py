"""A PERSONAL → STATS project, `stats.toml`, `celosia/stats/1`: what is counted, by which rules, and for whom.

Knows the declarations and what each rule needs. Ignores databases and how a rule is worked out (room `stats`).
The file is read by `celosia.model.stats_file`, and `stats_from` is the way in.
Source: YAPÓ, Reglas de Anonimización, 2 (rule per kind of data), 3 (k by audience), 4 (frequency, catalogue).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any

from celosia.errors import ColumnWithoutRule, PersonalColumnAbsent
from celosia.model.parameters import Param

STATS_FORMAT = "celosia/stats/1"
STATS_FILE = "stats.toml"
NOT_STATED = "(sin dato)"  # the category of who has no value: a fixed text in the data, in every language
UNMAPPED = "(sin regla)"  # inside a run only: a value that no rule places; one of them stops the job
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
_NUMBER = {"decimal": Param("text", default=".", choices=(".", ",")), "thousands": Param("text", default="")}
_INSTANT = {"stored": Param("text", default="local", choices=("local", "utc"))}
_LEVELS = {"levels": Param("texts", default=())}
RULES: Mapping[str, Mapping[str, Param]] = MappingProxyType(
    {
        "age": {
            "at": Param("text", required=True),
            "bands": Param("wholes", minimum=0),
            "width": Param("whole", minimum=1),
            "end": Param("whole", minimum=1),
            **_INSTANT,
        },
        "period": {"by": Param("text", required=True, choices=PERIODS), **_INSTANT},
        "buckets": {"borders": Param("numbers", required=True, minimum=0), **_NUMBER},
        "map": {"map": Param("text", required=True), **_LEVELS},
        "zone": {"map": Param("text", required=True), "minimum": Param("whole", required=True, minimum=1)},
        "grid": {
            "lat": Param("text", required=True),
            "lng": Param("text", required=True),
            "km": Param("whole", default=10, minimum=10),
            **_NUMBER,
        },
        "category": {"values": Param("texts", required=True), **_LEVELS},
        "gender": {"values": Param("table", required=True)},
        "span": {
            "years": Param("whole", required=True, minimum=2),
            "start": Param("whole", default=0, minimum=0),
            **_INSTANT,
        },
    }
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One of the two databases; the address itself is resolved by the room `stats` and never shown."""

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
        return tuple(one.name for one in self.dimensions)

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
        return next(one for one in self.dimensions if one.name == name)


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
        return next(one for one in self.tables if one.name == name)

    def tables_of(self, personal: str) -> tuple[StatsTable, ...]:
        """The tables made from one PERSONAL block."""
        return tuple(one for one in self.tables if one.source == personal)

    def refuse_columns_without_rule(self, personal: str, columns: Sequence[str]) -> None:
        """Stop where a column of PERSONAL has no rule, or one that the file names is not there."""
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
    return tuple(kept for size in range(len(names) - 1, -1, -1) for kept in combinations(names, size))


def stats_from(document: Mapping[str, Any], path: str) -> StatsConfig:
    """The project that a parsed `stats.toml` declares; every mistake names its table and key."""
    from celosia.model.stats_file import config_from  # the reader knows these types

    return config_from(document, path)
