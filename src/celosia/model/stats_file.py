"""Reading `stats.toml`: every key is checked, and a mistake names its file, its table and its key.

Knows kinds, choices and how declarations refer to each other. Ignores databases: whether a column exists is asked
when PERSONAL is open (`StatsConfig.refuse_columns_without_rule`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any, NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from celosia import messages
from celosia.errors import PasswordInFile, UnknownFormat, UnknownParameter, WrongParameter, WrongSetting
from celosia.model import stats
from celosia.model.parameters import Param, settle
from celosia.model.stats import Dimension, Endpoint, Measure, Personal, StatsConfig, StatsTable, ValueMap

_TEXT, _TABLE = Param("text"), Param("table")
_TOP = {
    "format": _TEXT, "title": Param("text", default=""), "source": Param("table", required=True),
    "target": Param("table", required=True), "time": _TABLE, "audiences": _TABLE, "maps": _TABLE,
    "personal": Param("table", required=True), "tables": Param("table", required=True),
}  # fmt: skip
_ENDPOINT = {"url": Param("text", required=True)}
_TARGET = {**_ENDPOINT, "schema": _TEXT}
_TIME = {"zone": Param("text", required=True)}
_MAP = {"file": _TEXT, "list": Param("text", choices=tuple(stats.LISTS))}
_PERSONAL = {
    "table": _TEXT, "query": _TEXT, "person": Param("text", required=True), "drop": Param("texts", default=()),
    "changed": _TEXT,
}  # fmt: skip
_STATS_TABLE = {
    "name": Param("text", required=True), "title": Param("text", default=""), "from": Param("text", required=True),
    "audiences": Param("texts"), "frequency": Param("text", default="daily", choices=stats.FREQUENCIES),
    "action": Param("text", default="suppress", choices=stats.ACTIONS), "others": _TEXT,
    "zeros": Param("text", default="show", choices=("show", "hide")), "width": Param("whole", default=1, minimum=1),
    "method": Param("text", default="suppress", choices=stats.METHODS), "base": Param("whole", minimum=2),
    "linked": Param("flag", default=True), "events": Param("flag", default=False),
    "dimensions": Param("table", required=True), "measures": _TABLE,
}  # fmt: skip
_DIMENSION = {"name": Param("text", required=True), "title": Param("text", default=""),
              "rule": Param("text", required=True, choices=tuple(stats.RULES))}  # fmt: skip
_COLUMN = {"column": Param("text", required=True)}
_MEASURE = {
    "name": Param("text", required=True), "title": Param("text", default=""),
    "kind": Param("text", required=True, choices=stats.MEASURES), "column": _TEXT,
    "dominance": Param("wholes", minimum=1), "p": Param("whole", minimum=1), "of": _TEXT,
}  # fmt: skip
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST_NAME = 63  # PostgreSQL cuts what is longer
_RESERVED = (stats.STATE,)
_PASSWORD = re.compile(r"://[^/@]*:[^/@]+@|\bpassw(or)?d\s*=|\bpwd\s*=", re.IGNORECASE)
_UNITS = {"persons": False, "rows": False, "sum": True, "mean": True, "percent": False}  # whether it needs a column


class _Place:
    """Where in the file a value stands, to say what is wrong with it."""

    def __init__(self, path: str, key: str = "") -> None:
        self.path, self.key = path, key

    def __truediv__(self, name: str) -> _Place:
        return _Place(self.path, f"{self.key}.{name}" if self.key else name)

    def refuse(self, words: str, **fields: object) -> NoReturn:
        """Stop: this key holds something else than what is expected."""
        expected = messages.text(f"stats_file.expected.{words}", **fields)
        raise WrongSetting(path=self.path, setting=self.key, expected=expected)

    def settled(self, params: Mapping[str, Param], given: Any) -> dict[str, Any]:
        """The settings of a table of the file, each of its kind."""
        if not isinstance(given, Mapping):
            self.refuse("table")
        try:
            return settle(self.key, params, {name: _plain(value) for name, value in given.items()})
        except UnknownParameter as fault:
            where = self / str(fault.values["parameter"])
            where.refuse("key", options=fault.values["known"])
        except WrongParameter as fault:
            where = self / str(fault.values["parameter"])
            raise WrongSetting(path=self.path, setting=where.key, expected=fault.values["allowed"]) from None

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
    found = str(document.get("format", ""))
    if found != stats.STATS_FORMAT:
        raise UnknownFormat(path=path, found=found, expected=stats.STATS_FORMAT)
    top = _Place(path)
    given = top.settled(_TOP, document)
    maps = _maps(given["maps"] or {}, top / "maps")
    personal = _personal(given["personal"], top / "personal")
    audiences = _audiences(given["audiences"] or {}, top / "audiences")
    config = StatsConfig(
        path=path,
        title=given["title"],
        source=_endpoint(given["source"], top / "source", _ENDPOINT),
        target=_endpoint(given["target"], top / "target", _TARGET),
        zone=_zone(given["time"], top / "time"),
        audiences=audiences,
        maps=maps,
        personal=personal,
        tables=_tables(given["tables"], top / "tables", personal, maps, audiences),
    )
    _refuse_contradictions(config, top)
    return config


def _plain(value: Any) -> Any:
    """A TOML date is the same as its text."""
    return value.isoformat() if type(value) is date else value


def _endpoint(given: Any, place: _Place, params: Mapping[str, Param]) -> Endpoint:
    values = place.settled(params, given)
    if _PASSWORD.search(values["url"]):
        raise PasswordInFile(path=place.path, setting=f"{place.key}.url")
    if not values["url"].strip():
        (place / "url").refuse("address")
    schema = values.get("schema")
    return Endpoint(values["url"], None if schema is None else (place / "schema").name(schema))


def _zone(given: Any, place: _Place) -> str | None:
    if given is None:
        return None
    zone: str = place.settled(_TIME, given)["zone"]
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        (place / "zone").refuse("zone")
    return zone


def _audiences(given: Any, place: _Place) -> dict[str, int]:
    params = {name: Param("whole", minimum=2) for name in given}
    named = place.settled(params, given)
    for name in named:
        (place / name).name(name, 20)
    return {**stats.DEFAULT_AUDIENCES, **named}


def _maps(given: Any, place: _Place) -> dict[str, ValueMap]:
    made = {}
    for name, block in given.items():
        values = (place / name).settled(_MAP, block)
        if (values["file"] is None) == (values["list"] is None):
            (place / name).refuse("one_of", options="file, list")
        made[name] = ValueMap(name, **values)
    return made


def _personal(given: Any, place: _Place) -> dict[str, Personal]:
    made = {}
    for name, block in given.items():
        values = (place / name).settled(_PERSONAL, block)
        if (values["table"] is None) == (values["query"] is None):
            (place / name).refuse("one_of", options="table, query")
        if values["person"] in values["drop"]:
            (place / name / "drop").refuse("not_person")
        made[name] = Personal(name, **values)
    return made


def _tables(
    given: Any,
    place: _Place,
    personal: Mapping[str, Personal],
    maps: Mapping[str, ValueMap],
    audiences: Mapping[str, int],
) -> tuple[StatsTable, ...]:
    if not isinstance(given, list | tuple):
        place.refuse("list_of_tables")
    made = tuple(
        _table(one, place / _called(one, number), personal, maps, audiences) for number, one in enumerate(given, 1)
    )
    _refuse_repeated([table.name for table in made], place)
    return made


def _called(given: Any, number: int) -> str:
    """How a table of a list is named in an error: by its name, or by its place while it has none."""
    name = given.get("name") if isinstance(given, Mapping) else None
    return name if isinstance(name, str) and name else str(number)


def _table(
    given: Any,
    place: _Place,
    personal: Mapping[str, Personal],
    maps: Mapping[str, ValueMap],
    audiences: Mapping[str, int],
) -> StatsTable:
    if not isinstance(given, Mapping):
        place.refuse("table")
    values = place.settled(_STATS_TABLE, {key: value for key, value in given.items() if key != "margins"})
    source = (place / "from").choice(values.pop("from"), personal)
    dimensions = _dimensions(values["dimensions"], place / "dimensions", maps, values["events"])
    names = [one.name for one in dimensions]
    measures = _measures(values["measures"], place / "measures", names)
    _refuse_repeated([*names, *(one.name for one in measures)], place)
    chosen = tuple(audiences) if values["audiences"] is None else values["audiences"]
    values |= {"audiences": chosen, "dimensions": dimensions, "measures": measures}
    table = StatsTable(source=source, margins=_margins(given.get("margins", "all"), place / "margins", names), **values)
    _refuse_unfit(table, place, personal[source])
    return table


def _refuse_unfit(table: StatsTable, place: _Place, block: Personal) -> None:
    """What the parts of one table must be to each other."""
    if not table.audiences:
        (place / "audiences").refuse("some")
    for audience in table.audiences:
        (place / "audiences").name(audience, 20)
        (place / "name").name(table.name, _LONGEST_NAME - len(stats.stats_name("", audience)))
    if table.name.startswith("celosia_"):
        (place / "name").refuse("name", longest=40)
    if table.action != "suppress":
        (place / "others").choice(table.others or "", table.dimension_names)
        if table.dimension(str(table.others)).settings.get("levels"):
            (place / "others").refuse("others_flat")
    if (table.method == "round") != (table.base is not None):
        (place / "base").refuse("base")
    for column in table.columns:
        if column == block.person or column in block.drop:
            (place / "dimensions").refuse("free_column", column=column)


def _margins(given: Any, place: _Place, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    if given in ("all", "none"):
        return stats.every_margin(names) if given == "all" else ()
    if not isinstance(given, list | tuple) or not all(isinstance(one, list | tuple) for one in given):
        place.refuse("margins")
    for one in given:
        for name in one:
            place.choice(name, names)
    ordered = (tuple(name for name in names if name in one) for one in given)
    return tuple(one for one in dict.fromkeys(ordered) if len(one) < len(names))


def _dimensions(given: Any, place: _Place, maps: Mapping[str, ValueMap], events: bool) -> tuple[Dimension, ...]:
    if not isinstance(given, list | tuple):
        place.refuse("list_of_tables")
    return tuple(_dimension(one, place / _called(one, number), maps, events) for number, one in enumerate(given, 1))


def _dimension(given: Any, place: _Place, maps: Mapping[str, ValueMap], events: bool) -> Dimension:
    if not isinstance(given, Mapping):
        place.refuse("table")
    head = place.settled(_DIMENSION, {key: value for key, value in given.items() if key in _DIMENSION})
    rule = head["rule"]
    params = {**_DIMENSION, **({} if rule == "grid" else _COLUMN), **stats.RULES[rule]}
    values = place.settled(params, given)
    settings = {key: values[key] for key in stats.RULES[rule]}
    columns = (values["lat"], values["lng"]) if rule == "grid" else (values["column"],)
    settings |= _CHECKS.get(rule, _nothing_more)(settings, place)
    for name in (settings.get("map"), *settings.get("levels", ())):
        if name is not None:
            (place / "map").choice(name, maps)
    if settings.get("by") == "day" and not events:
        (place / "by").refuse("day_of_events")
    return Dimension((place / "name").name(head["name"]), rule, columns, settings, head["title"])


def _nothing_more(settings: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    return {}


def _age(settings: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    """Bands as borders; bands of one width reach from 0 to `end`, 85 where nobody says."""
    if settings["at"] != "run" and not _is_day(settings["at"]):
        (place / "at").refuse("at")
    if (settings["bands"] is None) == (settings["width"] is None):
        place.refuse("one_of", options="bands, width")
    if settings["bands"] is None:
        width, end = settings["width"], settings["end"] or 85
        return {"bands": tuple(range(0, end - end % width + 1, width))}
    return {"bands": _rising(settings["bands"], place / "bands")}


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _rising(borders: Sequence[Any], place: _Place) -> tuple[Any, ...]:
    if not borders or list(borders) != sorted(set(borders)):
        place.refuse("rising")
    return tuple(borders)


def _buckets(settings: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    borders = _rising(settings["borders"], place / "borders")
    if borders[-1] >= 10**15 or any(border.as_tuple().exponent < -9 for border in borders):
        (place / "borders").refuse("digits")
    return {"borders": borders} | _marks(settings, place)


def _marks(settings: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    if settings["thousands"] not in ("", ".", ",", " ", "'") or settings["thousands"] == settings["decimal"]:
        (place / "thousands").refuse("thousands")
    return {}


def _category(settings: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    values = settings["values"]
    if not values or len(set(values)) < len(values) or {stats.NOT_STATED, stats.UNMAPPED, ""} & set(values):
        (place / "values").refuse("categories")
    return {}


def _gender(settings: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    values = settings["values"]
    if not isinstance(values, Mapping) or not set(map(str, values.values())) <= set(stats.GENDERS):
        (place / "values").refuse("genders", options=", ".join(stats.GENDERS))
    return {}


_CHECKS = {"age": _age, "buckets": _buckets, "grid": _marks, "category": _category, "gender": _gender}


def _measures(given: Any, place: _Place, dimensions: Sequence[str]) -> tuple[Measure, ...]:
    if given is None:
        return (Measure("persons", "persons"),)
    if not isinstance(given, list | tuple):
        place.refuse("list_of_tables")
    return tuple(_measure(one, place / _called(one, number), dimensions) for number, one in enumerate(given, 1))


def _measure(given: Any, place: _Place, dimensions: Sequence[str]) -> Measure:
    values = place.settled(_MEASURE, given)
    needs_column = _UNITS[values["kind"]]
    if needs_column != (values["column"] is not None):
        (place / "column").refuse("column_for" if needs_column else "no_column")
    if values["kind"] == "percent":
        (place / "of").choice(values["of"] or "", (stats.TOTAL, *dimensions))
    dominance = values["dominance"]
    if dominance is not None and (len(dominance) != 2 or dominance[1] > 100 or values["kind"] not in ("sum", "mean")):
        (place / "dominance").refuse("dominance")
    if values["p"] is not None and (values["p"] > 100 or values["kind"] not in ("sum", "mean")):
        (place / "p").refuse("p")
    return Measure(**values | {"name": (place / "name").name(values["name"])})


def _refuse_repeated(names: Sequence[str], place: _Place) -> None:
    for name in names:
        if names.count(name) > 1:
            (place / name).refuse("once")


def _refuse_contradictions(config: StatsConfig, top: _Place) -> None:
    """What the tables of one file must be to each other and to the clock."""
    for table in config.tables:
        for dimension in table.dimensions:
            if config.zone is None and (dimension.rule == "period" or dimension.settings.get("at") == "run"):
                (top / "time" / "zone").refuse("zone_for", table=table.name, dimension=dimension.name)
    _refuse_two_blocks(config.personal, top)
    for name in config.personal:
        _refuse_two_meanings(config.tables_of(name), top)


def _refuse_two_blocks(blocks: Mapping[str, Personal], top: _Place) -> None:
    """Tables are protected together by their block: the same people in two blocks would be protected apart."""
    known: dict[tuple[str, str], str] = {}
    for name, block in blocks.items():
        if block.table is not None:
            first = known.setdefault((block.table, block.person), name)
            if first != name:
                (top / "personal" / name).refuse("one_block", block=first)


def _refuse_two_meanings(tables: Sequence[StatsTable], top: _Place) -> None:
    """Linked tables share cells by the name of their dimensions: one name, one meaning."""
    known: dict[str, Dimension] = {}
    for table in tables:
        for dimension in table.dimensions if table.linked else ():
            first = known.setdefault(dimension.name, dimension)
            if (first.rule, first.columns, dict(first.settings)) != (
                dimension.rule, dimension.columns, dict(dimension.settings),
            ):  # fmt: skip
                (top / "tables" / table.name / "dimensions" / dimension.name).refuse("one_meaning")
