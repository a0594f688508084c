"""Reading `stats.toml`: every key is checked, and a mistake names its file, its table and its key.

Knows kinds, choices and how declarations refer to each other. Ignores databases: whether a column exists is checked
when PERSONAL is open (`StatsConfig.refuse_columns_without_rule`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any, NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from celosia import messages
from celosia.model.errors import UnknownFormat
from celosia.model.parameters import Flag, Many, Parameter, Text, TomlTable, Whole, read_parameters
from celosia.model.value_errors import UnknownParameter, WrongParameter
from celosia.pipeline.project.errors import WrongSetting
from celosia.stats.declaration import declaration as stats
from celosia.stats.declaration.declaration import (
    Dimension,
    Endpoint,
    Measure,
    Personal,
    StatsConfig,
    StatsTable,
    ValueMap,
)
from celosia.stats.declaration.row_sources import RowSource, row_sources, same_source
from celosia.stats.errors import PasswordInFile

_TEXT, _TABLE = Text(), TomlTable()
_TOP = {
    "format": _TEXT,
    "title": Text(default=""),
    "source": TomlTable(required=True),
    "target": TomlTable(required=True),
    "time": _TABLE,
    "audiences": _TABLE,
    "maps": _TABLE,
    "personal": TomlTable(required=True),
    "tables": TomlTable(required=True),
}
_ENDPOINT = {"url": Text(required=True)}
_TARGET = {**_ENDPOINT, "schema": _TEXT}
_TIME = {"zone": Text(required=True)}
_MAP = {"file": _TEXT, "list": Text(choices=tuple(stats.LISTS))}
_PERSONAL = {
    "table": _TEXT,
    "query": _TEXT,
    "person": Text(required=True),
    "drop": Many(Text(), default=()),
    "changed": _TEXT,
}
_STATS_TABLE = {
    "name": Text(required=True),
    "title": Text(default=""),
    "from": Text(required=True),
    "audiences": Many(Text()),
    "frequency": Text(default="daily", choices=stats.FREQUENCIES),
    "action": Text(default="suppress", choices=stats.ACTIONS),
    "others": _TEXT,
    "zeros": Text(default="show", choices=("show", "hide")),
    "width": Whole(default=1, minimum=1),
    "method": Text(default="suppress", choices=stats.METHODS),
    "base": Whole(minimum=2),
    "linked": Flag(default=True),
    "events": Flag(default=False),
    "dimensions": TomlTable(required=True),
    "measures": _TABLE,
}
_DIMENSION = {
    "name": Text(required=True),
    "title": Text(default=""),
    "rule": Text(required=True, choices=tuple(stats.RULES)),
}
_COLUMN = {"column": Text(required=True)}
_MEASURE = {
    "name": Text(required=True),
    "title": Text(default=""),
    "kind": Text(required=True, choices=stats.MEASURES),
    "column": _TEXT,
    "dominance": Many(Whole(minimum=1)),
    "p": Whole(minimum=1),
    "of": _TEXT,
}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST_NAME = 63  # PostgreSQL cuts what is longer
_RESERVED = (stats.STATE,)
_PASSWORD = re.compile(r"://[^/@]*:[^/@]+@|\bpassw(or)?d\s*=|\bpwd\s*=", re.IGNORECASE)
_UNITS = {"persons": False, "rows": False, "sum": True, "mean": True, "percent": False}  # whether it needs a column


class _Location:
    """The place of a value in the file, to name it in an error."""

    def __init__(self, path: str, key: str = "") -> None:
        self.path, self.key = path, key

    def __truediv__(self, name: str) -> _Location:
        return _Location(self.path, f"{self.key}.{name}" if self.key else name)

    def refuse(self, words: str, **fields: object) -> NoReturn:
        """Refuse the value of this key, naming what is expected."""
        expected = messages.text(f"stats_file.expected.{words}", **fields)
        raise WrongSetting(path=self.path, setting=self.key, expected=expected)

    def read_settings(self, params: Mapping[str, Parameter], given: Any) -> dict[str, Any]:
        """The settings of a table of the file, each of its kind."""
        if not isinstance(given, Mapping):
            self.refuse("table")
        try:
            return read_parameters(self.key, params, {name: _date_as_text(value) for name, value in given.items()})
        except UnknownParameter as fault:
            where = self / str(fault.values["parameter"])
            where.refuse("key", options=fault.values["known"])
        except WrongParameter as fault:
            where = self / str(fault.values["parameter"])
            raise WrongSetting(path=self.path, setting=where.key, expected=fault.values["allowed"]) from None

    def entries(self, given: Any) -> list[tuple[Any, _Location]]:
        """The tables of a list with the place of each: by its name, or by its number while it has none."""
        if not isinstance(given, list | tuple):
            self.refuse("list_of_tables")
        names = [block.get("name") if isinstance(block, Mapping) else None for block in given]
        keys = [name if isinstance(name, str) and name else str(number) for number, name in enumerate(names, 1)]
        return [(block, self / key) for block, key in zip(given, keys, strict=True)]

    def choice(self, value: str, options: Collection[str]) -> str:
        """A value that must be one of those declared elsewhere in the file."""
        if value not in options:
            self.refuse("choice", options=", ".join(options))
        return value

    def name(self, value: str, longest: int = _LONGEST_NAME) -> str:
        """A name that every database takes as it is."""
        if _NAME.fullmatch(value) is None or len(value) > longest or value in _RESERVED:
            self.refuse("name", longest=longest)
        return value


def config_from(document: Mapping[str, Any], path: str) -> StatsConfig:
    """The project that a parsed file declares."""
    file_format = str(document.get("format", ""))
    if file_format != stats.STATS_FORMAT:
        raise UnknownFormat(path=path, found=file_format, expected=stats.STATS_FORMAT)
    top = _Location(path)
    values = top.read_settings(_TOP, document)
    maps = _maps(values["maps"] or {}, top / "maps")
    personal = _personal(values["personal"], top / "personal")
    audiences = _audiences(values["audiences"] or {}, top / "audiences")
    config = StatsConfig(
        path=path,
        title=values["title"],
        source=_endpoint(values["source"], top / "source", _ENDPOINT),
        target=_endpoint(values["target"], top / "target", _TARGET),
        zone=_zone(values["time"], top / "time"),
        audiences=audiences,
        maps=maps,
        personal=personal,
        tables=_tables(values["tables"], top / "tables", personal, maps, audiences),
    )
    _refuse_contradictions(config, top)
    return config


def _date_as_text(value: Any) -> Any:
    """A TOML date is the same as its text."""
    return value.isoformat() if type(value) is date else value


def _endpoint(given: Any, location: _Location, params: Mapping[str, Parameter]) -> Endpoint:
    values = location.read_settings(params, given)
    if _PASSWORD.search(values["url"]):
        raise PasswordInFile(path=location.path, setting=f"{location.key}.url")
    if not values["url"].strip():
        (location / "url").refuse("address")
    schema = values.get("schema")
    return Endpoint(values["url"], None if schema is None else (location / "schema").name(schema))


def _zone(given: Any, location: _Location) -> str | None:
    if given is None:
        return None
    zone: str = location.read_settings(_TIME, given)["zone"]
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        (location / "zone").refuse("zone")
    return zone


def _audiences(given: Any, location: _Location) -> dict[str, int]:
    params = {name: Whole(minimum=2) for name in given}
    named = location.read_settings(params, given)
    for name in named:
        (location / name).name(name, 20)
    return {**stats.DEFAULT_AUDIENCES, **named}


def _maps(given: Any, location: _Location) -> dict[str, ValueMap]:
    maps = {}
    for name, block in given.items():
        values = (location / name).read_settings(_MAP, block)
        if (values["file"] is None) == (values["list"] is None):
            (location / name).refuse("one_of", options="file, list")
        maps[name] = ValueMap(name, **values)
    return maps


def _personal(given: Any, location: _Location) -> dict[str, Personal]:
    blocks = {}
    for name, block in given.items():
        values = (location / name).read_settings(_PERSONAL, block)
        if (values["table"] is None) == (values["query"] is None):
            (location / name).refuse("one_of", options="table, query")
        if values["person"] in values["drop"]:
            (location / name / "drop").refuse("not_person")
        blocks[name] = Personal(name, **values)
    return blocks


def _tables(
    given: Any,
    location: _Location,
    personal: Mapping[str, Personal],
    maps: Mapping[str, ValueMap],
    audiences: Mapping[str, int],
) -> tuple[StatsTable, ...]:
    tables = tuple(_table(block, at, personal, maps, audiences) for block, at in location.entries(given))
    _refuse_repeated([table.name for table in tables], location)
    return tables


def _table(
    given: Any,
    location: _Location,
    personal: Mapping[str, Personal],
    maps: Mapping[str, ValueMap],
    audiences: Mapping[str, int],
) -> StatsTable:
    if not isinstance(given, Mapping):
        location.refuse("table")
    values = location.read_settings(_STATS_TABLE, {key: value for key, value in given.items() if key != "margins"})
    source = (location / "from").choice(values.pop("from"), personal)
    blocks = (location / "dimensions").entries(values["dimensions"])
    dimensions = tuple(_dimension(block, at, maps, values["events"]) for block, at in blocks)
    names = [entry.name for entry in dimensions]
    measures = _measures(values["measures"], location / "measures", names)
    _refuse_repeated([*names, *(entry.name for entry in measures)], location)
    chosen = tuple(audiences) if values["audiences"] is None else values["audiences"]
    values |= {"audiences": chosen, "dimensions": dimensions, "measures": measures}
    table = StatsTable(
        source=source, margins=_margins(given.get("margins", "all"), location / "margins", names), **values
    )
    _refuse_unfit(table, location, personal[source])
    return table


def _refuse_unfit(table: StatsTable, location: _Location, block: Personal) -> None:
    """Refuse parts of a table that do not fit together."""
    if not table.audiences:
        (location / "audiences").refuse("some")
    for audience in table.audiences:
        (location / "audiences").name(audience, 20)
        (location / "name").name(table.name, _LONGEST_NAME - len(stats.stats_name("", audience)))
    if table.name.startswith("celosia_"):
        (location / "name").refuse("name", longest=40)
    if table.action != "suppress":
        (location / "others").choice(table.others or "", table.dimension_names)
        if table.dimension(str(table.others)).settings.get("levels"):
            (location / "others").refuse("others_flat")
    if (table.method == "round") != (table.base is not None):
        (location / "base").refuse("base")
    for column in table.columns:
        if column == block.person or column in block.drop:
            (location / "dimensions").refuse("free_column", column=column)


def _margins(given: Any, location: _Location, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    if given in ("all", "none"):
        return stats.every_margin(names) if given == "all" else ()
    if not isinstance(given, list | tuple) or not all(isinstance(margin, list | tuple) for margin in given):
        location.refuse("margins")
    for margin in given:
        for name in margin:
            location.choice(name, names)
    ordered = (tuple(name for name in names if name in margin) for margin in given)
    return tuple(margin for margin in dict.fromkeys(ordered) if len(margin) < len(names))


def _dimension(given: Any, location: _Location, maps: Mapping[str, ValueMap], events: bool) -> Dimension:
    if not isinstance(given, Mapping):
        location.refuse("table")
    head = location.read_settings(_DIMENSION, {key: value for key, value in given.items() if key in _DIMENSION})
    rule = head["rule"]
    params = {**_DIMENSION, **({} if rule == "grid" else _COLUMN), **stats.RULES[rule]}
    values = location.read_settings(params, given)
    settings = {key: values[key] for key in stats.RULES[rule]}
    columns = (values["lat"], values["lng"]) if rule == "grid" else (values["column"],)
    settings |= _CHECKS.get(rule, _no_check)(settings, location)
    for name in (settings.get("map"), *settings.get("levels", ())):
        if name is not None:
            (location / "map").choice(name, maps)
    if settings.get("by") == "day" and not events:
        (location / "by").refuse("day_of_events")
    return Dimension((location / "name").name(head["name"]), rule, columns, settings, head["title"])


def _no_check(settings: Mapping[str, Any], location: _Location) -> dict[str, Any]:
    return {}


def _age(settings: Mapping[str, Any], location: _Location) -> dict[str, Any]:
    """Bands as borders; bands of one width go from 0 to `end`, by default 85."""
    if settings["at"] != "run" and not _is_day(settings["at"]):
        (location / "at").refuse("at")
    if (settings["bands"] is None) == (settings["width"] is None):
        location.refuse("one_of", options="bands, width")
    if settings["bands"] is None:
        width, end = settings["width"], settings["end"] or 85
        return {"bands": tuple(range(0, end - end % width + 1, width))}
    return {"bands": _ascending_borders(settings["bands"], location / "bands")}


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _ascending_borders(borders: Sequence[Any], location: _Location) -> tuple[Any, ...]:
    if not borders or list(borders) != sorted(set(borders)):
        location.refuse("rising")
    return tuple(borders)


def _buckets(settings: Mapping[str, Any], location: _Location) -> dict[str, Any]:
    borders = _ascending_borders(settings["borders"], location / "borders")
    if borders[-1] >= 10**15 or any(border.as_tuple().exponent < -9 for border in borders):
        (location / "borders").refuse("digits")
    return {"borders": borders} | _marks(settings, location)


def _marks(settings: Mapping[str, Any], location: _Location) -> dict[str, Any]:
    if settings["thousands"] not in ("", ".", ",", " ", "'") or settings["thousands"] == settings["decimal"]:
        (location / "thousands").refuse("thousands")
    return {}


def _category(settings: Mapping[str, Any], location: _Location) -> dict[str, Any]:
    values = settings["values"]
    if not values or len(set(values)) < len(values) or {stats.NOT_STATED, stats.UNMAPPED, ""} & set(values):
        (location / "values").refuse("categories")
    return {}


def _gender(settings: Mapping[str, Any], location: _Location) -> dict[str, Any]:
    values = settings["values"]
    if not isinstance(values, Mapping) or not set(map(str, values.values())) <= set(stats.GENDERS):
        (location / "values").refuse("genders", options=", ".join(stats.GENDERS))
    return {}


_CHECKS = {"age": _age, "buckets": _buckets, "grid": _marks, "category": _category, "gender": _gender}


def _measures(given: Any, location: _Location, dimensions: Sequence[str]) -> tuple[Measure, ...]:
    if given is None:
        return (Measure("persons", "persons"),)
    return tuple(_measure(block, at, dimensions) for block, at in location.entries(given))


def _measure(given: Any, location: _Location, dimensions: Sequence[str]) -> Measure:
    values = location.read_settings(_MEASURE, given)
    needs_column = _UNITS[values["kind"]]
    if needs_column != (values["column"] is not None):
        (location / "column").refuse("column_for" if needs_column else "no_column")
    if values["kind"] == "percent":
        (location / "of").choice(values["of"] or "", (stats.TOTAL, *dimensions))
    dominance = values["dominance"]
    if dominance is not None and (len(dominance) != 2 or dominance[1] > 100 or values["kind"] not in ("sum", "mean")):
        (location / "dominance").refuse("dominance")
    if values["p"] is not None and (values["p"] > 100 or values["kind"] not in ("sum", "mean")):
        (location / "p").refuse("p")
    return Measure(**values | {"name": (location / "name").name(values["name"])})


def _refuse_repeated(names: Sequence[str], location: _Location) -> None:
    for name in names:
        if names.count(name) > 1:
            (location / name).refuse("once")


def _refuse_contradictions(config: StatsConfig, top: _Location) -> None:
    """Refuse tables of one file that contradict each other or lack a time zone."""
    for table in config.tables:
        for dimension in table.dimensions:
            if config.zone is None and (dimension.rule == "period" or dimension.settings.get("at") == "run"):
                (top / "time" / "zone").refuse("zone_for", table=table.name, dimension=dimension.name)
    _refuse_two_blocks(config.personal, top)
    for name in config.personal:
        _refuse_two_meanings(config.tables_of(name), top)


def _refuse_two_blocks(blocks: Mapping[str, Personal], top: _Location) -> None:
    """Tables are protected together by their block: the same people in two blocks would be protected apart."""
    known: list[tuple[RowSource, str]] = []
    for name, block in blocks.items():
        for source in row_sources(block):
            first = next((other for earlier, other in known if same_source(earlier, source)), name)
            if first != name:
                (top / "personal" / name).refuse("one_block", block=first)
            known.append((source, name))


def _refuse_two_meanings(tables: Sequence[StatsTable], top: _Location) -> None:
    """Linked tables share cells by the name of their dimensions: one name, one meaning."""
    known: dict[str, Dimension] = {}
    for table in tables:
        for dimension in table.dimensions if table.linked else ():
            first = known.setdefault(dimension.name, dimension)
            if (first.rule, first.columns, dict(first.settings)) != (
                dimension.rule,
                dimension.columns,
                dict(dimension.settings),
            ):
                (top / "tables" / table.name / "dimensions" / dimension.name).refuse("one_meaning")
