"""Every rule gives the same label on DuckDB, PostgreSQL, SQLite and Spark, and the numbers of the norm hold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.stats.declaration.declaration import NOT_STATED, RULES, UNMAPPED, Dimension, Personal
from celosia.stats.rules import reference_rules as _plain
from celosia.stats.rules.column_readers import changes
from celosia.stats.rules.rules import RuleSpec, labels_of
from celosia.stats.sources.connections import PersonalSource
from celosia.techniques.grid import cells_of
from tests.stats.personal import ENGINES, personal_source

ZONE = "America/Asuncion"
TODAY = date(2026, 11, 16)
BANDS = (18, 25, 35, 45)
AMOUNTS = tuple(Decimal(border) for border in (0, 100, 500, 1000))
TEXT, DAY, WHOLE, FLOAT = pa.string(), pa.date32(), pa.int64(), pa.float64()
EXACT, LOCAL, INSTANT = pa.decimal128(30, 6), pa.timestamp("us"), pa.timestamp("us", tz="UTC")


def dimension(rule: str, columns: tuple[str, ...] = ("v",), **settings: Any) -> Dimension:
    """A dimension with the defaults of its rule."""
    defaults = {name: param.default for name, param in RULES[rule].items()}
    return Dimension("d", rule, columns, {**defaults, **settings})


def label(one: Dimension, *values: Any, zone: str | None = ZONE) -> str:
    """The label by the plain rules."""
    return _plain.label(_plain.rule_key(one, zone, TODAY), *values)


AGE = dimension("age", at="2024-01-31", bands=BANDS)
BUCKETS = dimension("buckets", borders=AMOUNTS)
SPAN = dimension("span", years=5)
GRID = dimension("grid", ("lat", "lng"), lat="lat", lng="lng", km=10)
COMMA = dimension("buckets", borders=AMOUNTS, decimal=",", thousands=".")


# --- the numbers of the norm ---------------------------------------------------------------------


@pytest.mark.requirement("Y03")
def test_the_norms_birth_date_falls_in_its_band() -> None:
    assert label(AGE, date(1995, 6, 15)) == "25-34"
    assert label(AGE, "1995-06-15") == "25-34"


@pytest.mark.requirement("Y03")
@pytest.mark.parametrize(
    ("birth", "band"),
    [
        ("2006-02-01", "<18"), ("2006-01-31", "18-24"), ("1999-02-01", "18-24"), ("1999-01-31", "25-34"),
        ("1989-02-01", "25-34"), ("1989-01-31", "35-44"), ("1979-02-01", "35-44"), ("1979-01-31", "45+"),
        ("2024-01-31", "<18"), ("2024-02-01", UNMAPPED), ("1890-01-01", UNMAPPED),
    ],
)  # fmt: skip
def test_a_band_begins_on_the_birthday(birth: str, band: str) -> None:
    assert label(AGE, birth) == band


@pytest.mark.requirement("Y03")
@pytest.mark.parametrize(("years", "band"), [(0, "<18"), (17, "<18"), (18, "18-24"), (24, "18-24"), (25, "25-34"),
                                             (34, "25-34"), (35, "35-44"), (44, "35-44"), (45, "45+"),
                                             (130, "45+"), (131, UNMAPPED), (-1, UNMAPPED)])  # fmt: skip
def test_an_age_in_years_has_the_same_bands(years: int, band: str) -> None:
    assert label(AGE, years) == label(AGE, str(years)) == label(AGE, Decimal(years)) == band


@pytest.mark.requirement("Y08", "Y09")
@pytest.mark.parametrize(
    ("amount", "bucket"),
    [("99.99", "0-100"), ("100", "100-500"), ("500", "500-1000"), ("1000", "1000+"), ("0", "0-100"),
     ("-0.01", UNMAPPED), ("499.999999999999999999", "100-500"), ("NaN", UNMAPPED), ("1e400", UNMAPPED)],
)  # fmt: skip
def test_an_amount_falls_in_a_half_open_bucket(amount: str, bucket: str) -> None:
    assert label(BUCKETS, amount) == bucket


@pytest.mark.requirement("Y08")
def test_a_comma_is_a_decimal_mark_only_where_it_is_declared() -> None:
    assert label(COMMA, "1.000,50") == "1000+"
    assert label(COMMA, "99,99") == "0-100"
    assert label(BUCKETS, "99,99") == UNMAPPED
    assert label(COMMA, "1.00,5") == UNMAPPED


@pytest.mark.requirement("Y11", "Y14")
@pytest.mark.parametrize(
    ("by", "period"),
    [("day", "2024-01-17"), ("week", "2024-W03"), ("month", "2024-01"), ("quarter", "2024-Q1"), ("year", "2024")],
)
def test_the_norms_date_has_its_periods(by: str, period: str) -> None:
    assert label(dimension("period", by=by), date(2024, 1, 17)) == period


@pytest.mark.requirement("Y11")
def test_an_instant_belongs_to_the_day_of_the_stated_zone() -> None:
    by_day = dimension("period", by="day")
    instant = datetime(2024, 1, 17, 1, 30, tzinfo=UTC)  # in Asunción it is still the 16th
    assert label(by_day, instant) == label(by_day, "2024-01-17T01:30:00Z") == "2024-01-16"
    assert label(by_day, instant, zone="UTC") == "2024-01-17"
    assert label(by_day, datetime(2024, 1, 17, 1, 30)) == "2024-01-17"
    assert label(dimension("period", by="day", stored="utc"), datetime(2024, 1, 17, 1, 30)) == "2024-01-16"


@pytest.mark.requirement("Y13")
def test_a_year_becomes_a_span() -> None:
    assert label(SPAN, 2022) == label(SPAN, "2022") == label(SPAN, date(2022, 5, 1)) == "2020-2024"
    assert label(dimension("span", years=5, start=2021), 2020) == "2016-2020"


@pytest.mark.requirement("Y06")
def test_a_grid_label_is_the_centre_of_a_cell_of_at_least_ten_kilometres() -> None:
    found = label(GRID, "-25.2637", "-57.5759")
    assert found == "S25.28 W057.60"
    assert label(GRID, "91", "0") == UNMAPPED
    assert label(GRID, None, "0") == NOT_STATED


@pytest.mark.requirement("Y06")
@given(st.floats(-90, 90), st.floats(-180, 180), st.sampled_from([10, 25, 100]))
def test_two_points_share_a_label_exactly_when_they_share_a_cell_of_the_technique(
    lat: float, lng: float, km: int
) -> None:
    import numpy as np

    near = (min(lat + 0.05, 90.0), min(lng + 0.05, 180.0))
    bands, columns = cells_of(np.array([lat, near[0]]), np.array([lng, near[1]]), km)
    same_cell = bands[0] == bands[1] and columns[0] == columns[1]
    assert (_plain.cell_label(lat, lng, km) == _plain.cell_label(*near, km)) == same_cell


# --- the four engines ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A rule over columns of one type, with the values that are put to it."""

    dimension: Dimension
    kind: pa.DataType
    values: tuple[tuple[Any, ...], ...]


def _days() -> list[date]:
    chance = random.Random(11)
    edges = [date(2024, 12, 30), date(2021, 1, 1), date(2020, 12, 31), date(2016, 1, 3), date(2024, 2, 29), TODAY]
    edges += [date(2024 - years, 1, 31) + timedelta(days=shift) for years in (0, *BANDS, 130, 131) for shift in (0, 1)]
    edges += [date(1000, 1, 1), date(1000, 1, 2), date(9999, 12, 30), date(9999, 12, 31)]
    return edges + [date(1950, 1, 1) + timedelta(days=chance.randrange(32000)) for _ in range(60)]


def _instants() -> list[datetime]:
    chance = random.Random(12)
    found = [change.since for change in changes(ZONE)[1:]]
    edges = [moment + timedelta(seconds=shift) for moment in found for shift in (-1, 0)]
    edges += [datetime(2024, 6, 1, hour, minute, 59, 700000) for hour in (2, 3, 4) for minute in (0, 59)]
    return edges + [datetime(1960, 1, 1) + timedelta(seconds=chance.randrange(4 * 10**9)) for _ in range(60)]


_BROKEN = ("", "  ", "abc", "2024-02-30", "2023-02-29", "2024-02-29", "1900-02-29", "2000-02-29", "2024-04-31",
           "2024-13-01", "2024-1-7", "17/01/2024", "2024-01-17\n", " 2024-01-17 ", "2024-01-17x", "0000-01-01",
           "2024-01-17 25:00", "2024-01-17T23:30", "2024-01-17 23:30:59.5", "2024-01-17 23:30:00-03", "*",
           "2024-01-17T00:30:00+00:00", "2024-01-17T00:30:00+0000", "2024-01-17T00:30-03",
           "2024-01-17T00:30:00.123Z", "2024-12-31T22:00:00-05:30",
           "2024-01-01T05:00:00+14:00", "2024-01-17T00:30:00Zx", "9999-12-31", "1000-01-01", None)  # fmt: skip
_NUMBERS = ("0", "99.99", "100", "100.", "99.999999999999999999999", "499.9999999999999999999999", "500", "1000",
            "999999999999999", "9999999999999999", "-1", "-0", "+5", "1e5", "5e-1", "1E-05", "NaN", "inf", "abc", " 7 ",
            "7\n", "1 000", "1.000,50", "99,99", "1.00,5", "12.345.678", "4.123.456", ".5", "5,", "", None)  # fmt: skip
_AGES = ("0", "17", "17.9", "18", "24", "45", "130", "131", "-1", "1995", "treinta", "", None)
_YEARS = ("2022", "2019", "2020", "999", "10000", "2022.0", "2022.5", "22", "dos mil", " 2022 ", "2022-05-01", None)
_FLOATS = (0.0, 99.99, 100.0, 499.5, 500.0, 1000.0, -0.5, 1e14, 1e15, float("inf"), float("nan"), 0.29, None)
_POINTS = ((-25.2637, -57.5759), (0.0, 0.0), (-0.001, -0.001), (90.0, 180.0), (-90.0, -180.0), (89.95, 10.0),
           (45.0, 179.999999999), (91.0, 0.0), (10.0, 181.0), (None, 1.0), (-33.45, -70.66))  # fmt: skip


def _ones(values: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple((value,) for value in values)


def _cases() -> Iterator[Case]:
    days, instants = _ones([*_days(), None]), _instants()
    aware = _ones([*(moment.replace(tzinfo=UTC) for moment in instants), None])
    texts = _ones(
        [*_BROKEN, *(day.isoformat() for (day,) in days if day), *(f"{one.isoformat()}Z" for one in instants)]
    )
    for by in ("day", "week", "month", "quarter", "year"):
        yield Case(dimension("period", by=by), DAY, days)
    for by in ("day", "week"):
        yield Case(dimension("period", by=by), INSTANT, aware)
    for stored in ("local", "utc"):
        yield Case(dimension("period", by="day", stored=stored), LOCAL, _ones([*instants, None]))
        yield Case(dimension("period", by="day", stored=stored), TEXT, texts)
    for one in (AGE, dimension("age", at="2024-02-29", bands=(0, 5, 6, 90)), dimension("age", at="run", bands=BANDS)):
        yield Case(one, DAY, days)
        yield Case(one, TEXT, (*texts, *_ones(_AGES)))
    yield Case(AGE, INSTANT, aware)
    yield Case(AGE, WHOLE, _ones([0, 17, 18, 24, 25, 44, 45, 130, 131, -1, None]))
    cents = dimension("buckets", borders=(Decimal("0.29"), Decimal("99.99"), Decimal("99.999999999")))
    for one in (BUCKETS, cents):
        yield Case(one, TEXT, _ones(_NUMBERS))
        yield Case(one, FLOAT, _ones(_FLOATS))
        exact = [
            Decimal(text) for text in ("0", "0.29", "0.28", "99.99", "100", "500.01", "1000", "-1", "123456789012")
        ]
        yield Case(one, EXACT, _ones([*exact, None]))
        yield Case(one, WHOLE, _ones([0, 99, 100, 500, 1000, -1, 10**15, 10**15 - 1, None]))
    yield Case(BUCKETS, pa.decimal128(5, 2), _ones([Decimal("99.99"), Decimal("100.00"), Decimal("999.99"), None]))
    yield Case(COMMA, TEXT, _ones(_NUMBERS))
    yield Case(dimension("buckets", borders=AMOUNTS, decimal=",", thousands=" "), TEXT, _ones(_NUMBERS))
    for one in (SPAN, dimension("span", years=7, start=2021)):
        yield Case(one, TEXT, _ones([*_YEARS, *_BROKEN]))
        yield Case(one, WHOLE, _ones([2022, 2019, 1000, 999, 9999, 10000, None]))
        yield Case(one, DAY, days)
    for km in (10, 50):
        grid = dimension("grid", ("lat", "lng"), lat="lat", lng="lng", km=km)
        chance = random.Random(km)
        many = [(round(chance.uniform(-90, 90), 6), round(chance.uniform(-180, 180), 6)) for _ in range(150)]
        yield Case(grid, FLOAT, (*_POINTS, *many))
        yield Case(grid, TEXT, tuple(tuple(None if v is None else str(v) for v in point) for point in many))
    yield from _category_cases()


def _category_cases() -> Iterator[Case]:
    values = _ones(["A", " A ", "a", "Ñandú", "'; DROP TABLE x; --", "", None, "otra", "(sin dato)"])
    yield Case(dimension("category", values=("A", "Ñandú", "'; DROP TABLE x; --")), TEXT, values)
    yield Case(dimension("category", values=("1", "2")), WHOLE, _ones([1, 2, 3, None]))
    genders = {"M": "male", "F": "female", "X": "other", "N": "not_stated"}
    yield Case(dimension("gender", values=genders), TEXT, _ones(["M", "F", "X", "N", "m", "", None]))


CASES = tuple(_cases())


def _expected(case: Case) -> list[str]:
    if case.dimension.rule == "category":
        known = case.dimension.settings["values"]
        texts = ["" if v is None else str(v).strip() for (v,) in case.values]
        return [NOT_STATED if not text else text if text in known else UNMAPPED for text in texts]
    if case.dimension.rule == "gender":
        said = {"M": "masculino", "F": "femenino", "X": "otro", "N": NOT_STATED, "m": UNMAPPED, "": NOT_STATED}
        return [said[value or ""] for (value,) in case.values]
    return [label(case.dimension, *values) for values in case.values]


def _columns(number: int, case: Case) -> tuple[str, ...]:
    return tuple(f"c{number}_{place}" for place in range(len(case.values[0])))


def _wide_table() -> pa.Table:
    """All cases side by side, the shorter ones filled with missing values."""
    longest = max(len(case.values) for case in CASES)
    made: dict[str, pa.Array] = {"id": pa.array(range(longest), WHOLE)}
    for number, case in enumerate(CASES):
        for place, name in enumerate(_columns(number, case)):
            values = [point[place] for point in case.values]
            made[name] = pa.array(values + [None] * (longest - len(values)), case.kind)
    return pa.table(made)


@pytest.fixture(scope="module", params=ENGINES)
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalSource]:
    folder = tmp_path_factory.mktemp(str(request.param))
    opened = personal_source(request.param, {"rule_cases": _wide_table()}, folder, request)
    yield opened
    opened.close()


@pytest.mark.slow
@pytest.mark.requirement("Y03", "Y04", "Y06", "Y08", "Y09", "Y11", "Y13", "Y14")
def test_every_rule_gives_the_plain_label_inside_the_database(source: PersonalSource) -> None:
    relation = source.relation(Personal("rule_cases", "id", table="rule_cases"))
    spec = RuleSpec(source.dialect, TODAY, ZONE)
    made = {}
    for number, case in enumerate(CASES):
        named = Dimension(f"l{number}", case.dimension.rule, _columns(number, case), case.dimension.settings)
        made[named.name] = labels_of(named, spec, relation)
    found_rows = source.fetch(relation.select("id", **made)).to_pylist()
    ordered = sorted(found_rows, key=lambda row: int(row["id"]))
    rows = {name: [row[name] for row in ordered] for name in made}
    wrong = [
        (number, case.dimension.rule, str(case.kind), values, found, wanted)
        for number, case in enumerate(CASES)
        for values, found, wanted in zip(case.values, rows[f"l{number}"], _expected(case), strict=False)
        if found != wanted
    ]
    assert wrong == []
