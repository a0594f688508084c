"""What stats.toml may say, and what is said when it does not."""

from __future__ import annotations

import copy
import tomllib
from decimal import Decimal
from typing import Any

import pytest

from celosia.model.errors import UnknownFormat
from celosia.pipeline.project.errors import WrongSetting
from celosia.stats.declaration.declaration import StatsConfig, every_margin, stats_from, stats_name
from celosia.stats.errors import ColumnWithoutRule, PasswordInFile, PersonalColumnAbsent

EXAMPLE = """
format = "celosia/stats/1"
title = "Censo digital"
[source]
url = "env:PERSONAL_URL"
[target]
url = "stats.duckdb"
[time]
zone = "America/Asuncion"
[maps.city_region]
list = "py"
[maps.levels]
file = "maps/levels.csv"
[personal.users]
table = "users"
person = "user_id"
drop = ["name", "document"]
changed = "updated_at"
[[tables]]
name = "users_by_region_age"
title = "Usuarios por región y edad"
from = "users"
audiences = ["internal", "sponsors"]
action = "both"
others = "region"
[[tables.dimensions]]
name = "region"
column = "city"
rule = "map"
map = "city_region"
[[tables.dimensions]]
name = "age_range"
column = "birth_date"
rule = "age"
at = 2024-01-31
bands = [18, 25, 35, 45]
[[tables.measures]]
name = "persons"
kind = "persons"
[[tables.measures]]
name = "amount"
kind = "sum"
column = "amount"
dominance = [1, 75]
p = 10
"""


@pytest.fixture
def document() -> dict[str, Any]:
    return tomllib.loads(EXAMPLE)


def read(document: dict[str, Any]) -> StatsConfig:
    return stats_from(document, "stats.toml")


def changed(document: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The document with another value at a dotted key; numbers are places in a list, None takes the key out."""
    made = copy.deepcopy(document)
    *steps, last = (int(step) if step.isdigit() else step for step in key.split("."))
    place: Any = made
    for step in steps:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return made


def test_the_example_is_read_with_its_defaults(document: dict[str, Any]) -> None:
    config = read(document)
    table = config.table("users_by_region_age")
    assert table.dimension_names == ("region", "age_range")
    assert table.dimension("age_range").settings["at"] == "2024-01-31"
    assert table.grouping_sets == (("region", "age_range"), ("region",), ("age_range",), ())
    assert (table.zeros, table.width, table.method, table.linked, table.frequency) == (
        "show", 1, "suppress", True, "daily",
    )  # fmt: skip
    assert table.measures[1].dominance == (1, 75)
    assert table.columns == ("city", "birth_date", "amount")
    assert stats_name(table.name, "internal") == "users_by_region_age__internal"


@pytest.mark.requirement("Y18")
def test_an_audience_that_is_not_named_gets_the_strictest_k(document: dict[str, Any]) -> None:
    config = read(document)
    assert (config.k_of("internal"), config.k_of("government"), config.k_of("sponsors")) == (5, 10, 10)
    stricter = read(changed(document, "audiences", {"press": 20}))
    assert (stricter.k_of("internal"), stricter.k_of("press"), stricter.k_of("sponsors")) == (5, 20, 20)


@pytest.mark.requirement("Y02")
def test_a_personal_column_without_a_rule_stops_by_its_name(document: dict[str, Any]) -> None:
    config = read(document)
    columns = ["user_id", "name", "document", "updated_at", "city", "birth_date", "amount"]
    config.refuse_columns_without_rule("users", columns)
    with pytest.raises(ColumnWithoutRule, match="email, phone") as caught:
        config.refuse_columns_without_rule("users", [*columns, "email", "phone"])
    assert caught.value.values["personal"] == "users"
    with pytest.raises(PersonalColumnAbsent, match="city"):
        config.refuse_columns_without_rule("users", [name for name in columns if name != "city"])


@pytest.mark.parametrize(
    ("key", "value", "setting"),
    [
        ("tables.0.from", "people", "tables.users_by_region_age.from"),
        ("tables.0.others", "sector", "tables.users_by_region_age.others"),
        ("tables.0.others", None, "tables.users_by_region_age.others"),
        ("tables.0.action", "hide", "tables.users_by_region_age.action"),
        ("tables.0.name", "Usuarios", "tables.Usuarios.name"),
        ("tables.0.name", "celosia_runs", "tables.celosia_runs.name"),
        ("tables.0.colour", "red", "tables.users_by_region_age.colour"),
        ("tables.0.margins", [["sector"]], "tables.users_by_region_age.margins"),
        ("tables.0.base", 5, "tables.users_by_region_age.base"),
        ("tables.0.dimensions.1.bands", [25, 18], "tables.users_by_region_age.dimensions.age_range.bands"),
        ("tables.0.dimensions.1.at", "31/01/2024", "tables.users_by_region_age.dimensions.age_range.at"),
        ("tables.0.dimensions.1.rule", "edad", "tables.users_by_region_age.dimensions.age_range.rule"),
        ("tables.0.dimensions.1.name", "estado", "tables.users_by_region_age.dimensions.estado.name"),
        ("tables.0.dimensions.1.column", None, "tables.users_by_region_age.dimensions.age_range.column"),
        ("tables.0.dimensions.1.column", "name", "tables.users_by_region_age.dimensions"),
        ("tables.0.dimensions.1.column", "user_id", "tables.users_by_region_age.dimensions"),
        ("tables.0.dimensions.0.map", "cities", "tables.users_by_region_age.dimensions.region.map"),
        ("tables.0.measures.1.column", None, "tables.users_by_region_age.measures.amount.column"),
        ("tables.0.measures.1.dominance", [1, 101], "tables.users_by_region_age.measures.amount.dominance"),
        ("tables.0.measures.0.name", "region", "tables.users_by_region_age.region"),
        ("maps.levels.list", "py", "maps.levels"),
        ("maps.levels.file", None, "maps.levels"),
        ("personal.users.query", "select 1", "personal.users"),
        ("personal.users.person", None, "personal.users.person"),
        ("audiences", {"internal": 1}, "audiences.internal"),
        ("time.zone", "Asunción", "time.zone"),
        ("source", None, "source"),
        ("dashboard", {}, "dashboard"),
    ],
)  # fmt: skip
def test_a_mistake_names_its_table_and_key(document: dict[str, Any], key: str, value: Any, setting: str) -> None:
    with pytest.raises(WrongSetting) as caught:
        read(changed(document, key, value))
    assert caught.value.values["setting"] == setting
    assert "{" not in str(caught.value)


def test_another_format_is_refused_by_name(document: dict[str, Any]) -> None:
    with pytest.raises(UnknownFormat):
        read(changed(document, "format", "celosia/stats/9"))


@pytest.mark.parametrize(
    "url",
    ["postgresql://ana:secreta@host/db", "host=h password=secreta", "postgresql://host/db?password=secreta"],
)
def test_a_written_password_is_refused_and_not_repeated(document: dict[str, Any], url: str) -> None:
    with pytest.raises(PasswordInFile) as caught:
        read(changed(document, "source.url", url))
    assert "secreta" not in str(caught.value)
    assert "source.url" in str(caught.value)
    assert read(changed(document, "source.url", "postgresql://ana@host/db")).source.url


@pytest.mark.requirement("Y11")
def test_a_period_needs_a_stated_time_zone(document: dict[str, Any]) -> None:
    period = {"name": "month", "column": "birth_date", "rule": "period", "by": "month"}
    with_period = changed(document, "tables.0.dimensions.1", period)
    assert read(with_period).zone == "America/Asuncion"
    with pytest.raises(WrongSetting, match="zona horaria"):
        read(changed(with_period, "time", None))


@pytest.mark.requirement("Y14")
def test_a_day_is_published_only_in_tables_of_events(document: dict[str, Any]) -> None:
    by_day = {"name": "day", "column": "created_at", "rule": "period", "by": "day"}
    daily = changed(document, "tables.0.dimensions.1", by_day)
    with pytest.raises(WrongSetting, match="events"):
        read(daily)
    assert read(changed(daily, "tables.0.events", True)).tables[0].events


@pytest.mark.requirement("Y06")
def test_a_grid_of_less_than_ten_kilometres_is_refused(document: dict[str, Any]) -> None:
    grid = {"name": "cell", "rule": "grid", "lat": "lat", "lng": "lng", "km": 10}
    found = read(changed(document, "tables.0.dimensions.1", grid)).tables[0].dimension("cell")
    assert found.columns == ("lat", "lng")
    with pytest.raises(WrongSetting) as caught:
        read(changed(document, "tables.0.dimensions.1", grid | {"km": 9}))
    assert "desde 10" in str(caught.value)


@pytest.mark.requirement("Y03")
def test_bands_of_one_width_begin_at_birth(document: dict[str, Any]) -> None:
    age = {"name": "age", "column": "birth_date", "rule": "age", "at": "run", "width": 10, "end": 40}
    found = read(changed(document, "tables.0.dimensions.1", age)).tables[0].dimension("age")
    assert found.settings["bands"] == (0, 10, 20, 30, 40)


def test_borders_are_read_exactly(document: dict[str, Any]) -> None:
    bucket = {"name": "volume", "column": "amount", "rule": "buckets", "borders": [0, 0.1, "0.30", 1000]}
    found = read(changed(document, "tables.0.dimensions.1", bucket)).tables[0].dimension("volume")
    assert found.settings["borders"] == (0, Decimal("0.1"), Decimal("0.30"), 1000)


def test_one_name_has_one_meaning_in_linked_tables(document: dict[str, Any]) -> None:
    other = copy.deepcopy(document["tables"][0]) | {"name": "other"}
    other["dimensions"][1]["bands"] = [18, 65]
    two = changed(document, "tables", [*document["tables"], other])
    with pytest.raises(WrongSetting, match="un solo significado"):
        read(two)
    assert len(read(changed(two, "tables.1.linked", False)).tables) == 2


@pytest.mark.requirement("Y21")
def test_the_same_people_in_two_blocks_are_refused_because_they_would_be_protected_apart(
    document: dict[str, Any],
) -> None:
    block = document["personal"]["users"]
    twice = changed(document, "personal", document["personal"] | {"again": dict(block)})
    with pytest.raises(WrongSetting, match="un solo bloque"):
        read(twice)
    other = document["personal"] | {"again": dict(block) | {"person": "company_id"}}
    with pytest.raises(WrongSetting, match="un solo bloque"):
        read(changed(document, "personal", other))


@pytest.mark.requirement("Y21")
@pytest.mark.parametrize(
    ("query", "refused"),
    [
        ("SELECT * FROM users", True),
        ('SELECT u.* FROM public."USERS" u WHERE u.region = 1', True),
        ("WITH active AS (SELECT * FROM users WHERE seen) SELECT * FROM active", True),
        ("SELECT * FROM (SELECT user_id, region FROM users) AS part", True),
        ("SELECT e.*, u.region FROM visits e JOIN users u ON u.user_id = e.user_id", False),
        ("SELECT * FROM archived_users", False),
    ],
)
def test_a_query_over_the_rows_of_another_block_is_refused(document: dict[str, Any], query: str, refused: bool) -> None:
    asked = {"asked": {"query": query, "person": "email"}}
    both = changed(document, "personal", document["personal"] | asked)
    if refused:
        with pytest.raises(WrongSetting, match="un solo bloque"):
            read(both)
    else:
        assert set(read(both).personal) == {"users", "asked"}


def test_declared_margins_are_kept_in_the_order_of_the_dimensions(document: dict[str, Any]) -> None:
    table = read(changed(document, "tables.0.margins", [["age_range"], [], ["age_range", "region"]])).tables[0]
    assert table.margins == (("age_range",), ())
    assert read(changed(document, "tables.0.margins", "none")).tables[0].grouping_sets == (("region", "age_range"),)


def test_every_margin_of_three_dimensions_is_seven() -> None:
    assert every_margin("abc") == (
        ("a", "b"), ("a", "c"), ("b", "c"), ("a",), ("b",), ("c",), (),
    )  # fmt: skip


def test_a_dimension_with_levels_is_not_merged_into_otros(document: dict[str, Any]) -> None:
    wrong = changed(document, "tables.0.dimensions.0.levels", ["levels"])
    with pytest.raises(WrongSetting) as refused:
        read(wrong)
    assert refused.value.values["setting"] == "tables.users_by_region_age.others"
    assert read(changed(wrong, "tables.0.action", "suppress")).table("users_by_region_age").others == "region"
