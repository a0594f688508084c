"""The rules of a dimension as expressions that run inside the database and give the same label on each of them.

Knows Ibis and how each rule becomes SQL. Ignores connections. DuckDB, PostgreSQL and Spark compute labels in SQL;
SQLite, whose columns may hold anything, calls the reference rules from inside its query. A value without a category
gets the label UNMAPPED, a missing one NOT_STATED; no label is NULL.
Source: YAPÓ 2.2 to 2.6 (requirements Y03 to Y14).
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import ibis
from ibis.config import Config

from celosia.pipeline.project.errors import WrongSetting
from celosia.stats.declaration.declaration import GENDERS, NOT_STATED, STATS_FILE, UNMAPPED, Dimension
from celosia.stats.errors import RuleNotForType
from celosia.stats.rules import reference_rules
from celosia.stats.rules.column_readers import (
    ReadColumn,
    border_for,
    degrees,
    local_times,
    matches,
    numbers,
    strip_blanks,
    written_days,
)
from celosia.techniques.grid import RADIUS

Expression = Any  # an Ibis column or table
_NONE: Mapping[str, str] = MappingProxyType({})
SAME = 1e-9  # as in the technique
_TEXT_LIMIT = 2000  # values of one IN list


# Ibis reads from its Spark backend, which is not loaded here, how to write floating numbers.
class _SparkOptions(Config):
    """The one option that its compiler reads."""

    treat_nan_as_null: bool = False


if ibis.options.pyspark is None:
    ibis.options.pyspark = _SparkOptions()


@dataclass(frozen=True, slots=True)
class RuleSpec:
    """What a rule needs to know besides its settings."""

    dialect: str  # duckdb, postgres, sqlite or pyspark
    today: date  # the day of the run, in the declared zone
    zone: str | None = None
    lookup: Mapping[str, str] = field(default_factory=lambda: _NONE)  # present raw value → category (map, zone)
    path: str = STATS_FILE


@ibis.udf.scalar.builtin(name="celosia_label")
def _label_by_python(key: str, value: str) -> str:  # type: ignore[empty-body]
    """The label of a value, by SQLite calling Python."""


@ibis.udf.scalar.builtin(name="celosia_label")
def _pair_label(key: str, value: str, other: str) -> str:  # type: ignore[empty-body]
    """The same for a pair of values."""


def add_sqlite_functions(connection: sqlite3.Connection) -> None:
    """Add the function that gives labels to a SQLite connection; its queries need it."""
    for arguments in (2, 3):
        connection.create_function("celosia_label", arguments, reference_rules.label, deterministic=True)


def labels_of(dimension: Dimension, spec: RuleSpec, relation: Expression) -> Expression:
    """The label of each row of a PERSONAL relation, as text; never NULL."""
    columns = [relation[name] for name in dimension.columns]
    if dimension.rule in ("map", "zone", "category", "gender"):
        return _category_by_value(columns[0], _categories(dimension, spec)).name(dimension.name)
    _refuse_types(dimension, spec, columns)
    if spec.dialect == "sqlite":
        key = reference_rules.rule_key(dimension, spec.zone, spec.today)
        texts = [column if column.type().is_string() else column.cast("string") for column in columns]
        label = _pair_label(key, *texts) if len(texts) == 2 else _label_by_python(key, *texts)
        return label.name(dimension.name)
    return _IN_SQL[dimension.rule](dimension.settings, spec, *columns).name(dimension.name)


def domain_of(dimension: Dimension, spec: RuleSpec) -> tuple[str, ...] | None:
    """Every label that a rule can give, in order, without NOT_STATED; None where the data decide (periods, grid)."""
    settings = dimension.settings
    if dimension.rule == "age":
        return reference_rules.band_labels(settings["bands"])
    if dimension.rule == "buckets":
        return reference_rules.bucket_labels(settings["borders"])
    if dimension.rule in ("map", "zone", "category", "gender"):
        return tuple(label for label in _categories(dimension, spec) if label != NOT_STATED)
    return None


def _categories(dimension: Dimension, spec: RuleSpec) -> dict[str, list[str]]:
    """The raw values of each category."""
    categories: dict[str, list[str]] = {}
    for value, category in _pairs(dimension, spec).items():
        categories.setdefault(category, []).append(value)
    return categories


def _pairs(dimension: Dimension, spec: RuleSpec) -> Mapping[str, str]:
    values = dimension.settings.get("values", ())
    if dimension.rule == "category":
        return {value: value for value in values}
    return {str(k): GENDERS[v] for k, v in values.items()} if dimension.rule == "gender" else spec.lookup


def _category_by_value(column: Expression, categories: Mapping[str, list[str]]) -> Expression:
    """The category of each value as it is written, blanks around it apart."""
    text, missing = strip_blanks(column if column.type().is_string() else column.cast("string"))
    branches = [
        (text.isin(values[start : start + _TEXT_LIMIT]), category)
        for category, values in categories.items()
        for start in range(0, len(values), _TEXT_LIMIT)
    ]
    return ibis.cases((missing, NOT_STATED), *branches, else_=UNMAPPED)


def _refuse_types(dimension: Dimension, spec: RuleSpec, columns: list[Expression]) -> None:
    for name, column in zip(dimension.columns, columns, strict=True):
        kind = column.type()
        day, amount = kind.is_date() or kind.is_timestamp(), kind.is_numeric() and not kind.is_boolean()
        fits = {"period": day, "buckets": amount, "grid": amount}.get(dimension.rule, day or amount)
        if not (kind.is_string() or fits):
            raise RuleNotForType(
                path=spec.path, setting=f"{dimension.name} ({name})", rule=dimension.rule, kind=type(kind).__name__
            )
        if spec.zone is None and kind.is_timestamp() and kind.timezone is not None:
            raise WrongSetting(path=spec.path, setting="time.zone", expected=_zone_for(dimension))


def _zone_for(dimension: Dimension) -> str:
    from celosia import messages

    return messages.text("stats_file.expected.zone_of_instants", dimension=dimension.name)


def _label_read(read: ReadColumn, label: Expression) -> Expression:
    return ibis.cases((read.missing, NOT_STATED), (read.valid, label), else_=UNMAPPED)


def _age(settings: Mapping[str, Any], spec: RuleSpec, column: Expression) -> Expression:
    kind = column.type()
    at = spec.today if settings["at"] == "run" else date.fromisoformat(settings["at"])
    if kind.is_numeric():
        return _years(settings, numbers(column, spec.dialect))
    births = written_days(column) if kind.is_string() else local_times(column, spec.zone, settings["stored"])
    by_birth = _label_read(births, _band_by_birth(settings, births.value, at))
    if not kind.is_string():
        return by_birth
    return ibis.ifelse(births.valid.fill_null(False), by_birth, _years(settings, numbers(column, spec.dialect)))


def _band_by_birth(settings: Mapping[str, Any], birth: Expression, at: date) -> Expression:
    """Bands from the oldest: who was born before the day on which the band's first age is not yet complete."""
    bands = settings["bands"]
    labels = reference_rules.band_labels(bands)
    borders = bands if bands[0] == 0 else (0, *bands)
    kind = birth.type()
    moment = ibis.literal if kind.is_string() else ibis.date if kind.is_date() else ibis.timestamp

    def old(years: int) -> Expression:
        return birth < moment(_first_later_birthday(at, years).isoformat())

    branches = [(old(years), label) for years, label in zip(reversed(borders), reversed(labels), strict=True)]
    return ibis.cases((old(reference_rules.OLDEST + 1), UNMAPPED), *branches, else_=UNMAPPED)


def _first_later_birthday(at: date, years: int) -> date:
    """The first birthday that leaves those years incomplete at a date; who is born on 29 February waits for 1 March."""
    try:
        return at.replace(year=at.year - years) + timedelta(days=1)
    except ValueError:
        return date(at.year - years, 3, 1)


def _years(settings: Mapping[str, Any], read: ReadColumn) -> Expression:
    bands = settings["bands"]
    borders = bands if bands[0] == 0 else (0, *bands)
    labels = reference_rules.band_labels(bands)
    branches = [
        (read.value >= border_for(read.value, Decimal(years)), label)
        for years, label in zip(reversed(borders), reversed(labels), strict=True)
    ]
    too_old = read.value >= border_for(read.value, Decimal(reference_rules.OLDEST + 1))
    return _label_read(read, ibis.cases((too_old, UNMAPPED), *branches, else_=UNMAPPED))


def _period(settings: Mapping[str, Any], spec: RuleSpec, column: Expression) -> Expression:
    read = local_times(column, spec.zone, settings["stored"])
    return _label_read(read, _period_of(read.value, settings["by"]))


def _period_of(day: Expression, by: str) -> Expression:
    """The label of a day; the day, which may be long to compute, is written as few times as possible."""
    if by == "week":
        thursday = day.cast("timestamp").truncate("W") + ibis.interval(days=3)  # it lies in the year of its week
        return thursday.strftime("%Y") + "-W" + _digits(day.week_of_year(), 2)
    if by == "quarter":
        return day.strftime("%Y") + "-Q" + day.quarter().cast("int64").cast("string")
    return day.strftime({"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}[by])


def _digits(number: Expression, width: int) -> Expression:
    """A whole number below 10^width with its zeros."""
    return (number.cast("int64") + 10**width).cast("string").right(width)


def _buckets(settings: Mapping[str, Any], spec: RuleSpec, column: Expression) -> Expression:
    borders = settings["borders"]
    places = max(-int(border.as_tuple().exponent) for border in borders)
    read = numbers(column, spec.dialect, settings["decimal"], settings["thousands"], places)
    branches = [
        (read.value >= border_for(read.value, border), label)
        for border, label in zip(reversed(borders), reversed(reference_rules.bucket_labels(borders)), strict=True)
    ]
    return _label_read(read, ibis.cases(*branches, else_=UNMAPPED))


def _span(settings: Mapping[str, Any], spec: RuleSpec, column: Expression) -> Expression:
    kind = column.type()
    if kind.is_numeric():
        read = numbers(column, spec.dialect)
        low, high = (border_for(read.value, Decimal(end)) for end in (1000, 10000))
        valid = read.valid & (read.value >= low) & (read.value < high)
        return _label_read(
            ReadColumn(read.missing, valid, None), _span_of(ibis.ifelse(valid, read.value, 2000), settings)
        )
    days = written_days(column) if kind.is_string() else local_times(column, spec.zone, settings["stored"])
    if not kind.is_string():
        return _label_read(days, _span_of(days.value.year(), settings))
    text, missing = strip_blanks(column)
    valid = days.valid | matches(text, "^[1-9][0-9]{3}([.]0*)?$")
    year = ibis.ifelse(valid, text.left(4), "2000").cast("int64")
    return _label_read(ReadColumn(missing, valid, None), _span_of(year, settings))


def _span_of(year: Expression, settings: Mapping[str, Any]) -> Expression:
    """From the first year of the span to its last; years are shifted so that nothing is negative."""
    years, start = settings["years"], settings["start"] % settings["years"]
    whole = year.floor().cast("int64") if year.type().is_floating() or year.type().is_decimal() else year.cast("int64")
    first = (whole - start) // years * years + start
    return _digits(first, 4) + "-" + (first + (years - 1)).cast("string")


def _grid(settings: Mapping[str, Any], spec: RuleSpec, lat: Expression, lng: Expression) -> Expression:
    """The cell of a point. Engines compute again what is written twice, so each part is written once if possible."""
    marks = spec.dialect, settings["decimal"], settings["thousands"]
    north, east = degrees(lat, *marks, 90), degrees(lng, *marks, 180)
    count = reference_rules.grid_bands(settings["km"])
    band = ibis.least((north.value.abs() / 90.0 * float(count)).floor().cast("int64"), count - 1)
    around = _cells_around(band, count, settings["km"])
    column = (_share_of_turn(east.value) * around.cast("float64")).floor().cast("int64")
    across = (36000 * (2 * column + 1)) // (2 * around) - 18000
    upwards = _digits((9000 * (2 * band + 1)) // (2 * count), 4)
    side = ibis.ifelse(north.value < ibis.literal(0.0, "float64"), "S", "N")
    sidewards = _digits(across.abs(), 5)
    label = side + upwards.left(2) + "." + upwards.right(2) + " " + ibis.ifelse(across < 0, "W", "E")
    label = label + sidewards.left(3) + "." + sidewards.right(2)
    return _label_read(ReadColumn(north.missing | east.missing, north.valid & east.valid, None), label)


def _share_of_turn(degrees_east: Expression) -> Expression:
    """The share of the way round from the antimeridian, which is 180° as well as -180°; always below 1."""
    last = 1 - 1e-10  # far inside the last cell: rounding must not lead out of it
    return ibis.ifelse(degrees_east >= 180.0, 0.0, ibis.least((degrees_east + 180.0) / 360.0, last))


def _cells_around(band: Expression, count: int, km: int) -> Expression:
    """`cells_around` of the technique, in SQL; its tolerance is a million times the last bit of a sine."""
    half = math.sin(km / (2 * RADIUS))
    edge = ibis.greatest(((band.cast("float64") + 1.0) * (math.pi / 2 / count)).cos(), half)  # a polar cap is one cell
    return (math.pi / (half / edge).asin() - SAME).floor().cast("int64")


_IN_SQL: Mapping[str, Callable[..., Expression]] = {
    "age": _age,
    "period": _period,
    "buckets": _buckets,
    "span": _span,
    "grid": _grid,
}
