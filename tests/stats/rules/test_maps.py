"""Cities to regions, institutions to levels, zones that are too fine, and the private list of what has no place."""

from __future__ import annotations

import csv
import stat
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest

from celosia.pipeline.project.errors import WrongSetting
from celosia.stats.declaration.declaration import NOT_STATED, UNMAPPED, Dimension, StatsConfig, ValueMap, stats_from
from celosia.stats.errors import MapUnclear, RuleNotForType, ValuesWithoutMapping
from celosia.stats.rules.maps import category_finder, labels_for, parents_of, refuse_unmapped, specs_of
from celosia.stats.rules.rules import RuleSpec, domain_of, labels_of
from celosia.stats.sources.connections import PersonalSource
from celosia.storage import FileMissing
from tests.stats.personal import ENGINES, personal_source

NOW = datetime(2024, 1, 31, 2, 0, tzinfo=UTC)  # in Asunción it is still the 30th
CONFIG = """
format = "celosia/stats/1"
[source]
url = "personal.duckdb"
[target]
url = "stats.duckdb"
[time]
zone = "America/Asuncion"
[maps.region]
list = "py"
[maps.level]
file = "level.csv"
[maps.zone_region]
file = "zones.csv"
[maps.natural]
file = "natural.csv"
[personal.people]
table = "people"
person = "id"
[[tables]]
name = "people_by_place"
from = "people"
[[tables.dimensions]]
name = "region"
column = "city"
rule = "map"
map = "region"
levels = ["natural"]
[[tables.dimensions]]
name = "level"
column = "school"
rule = "map"
map = "level"
[[tables.dimensions]]
name = "area"
column = "zone"
rule = "zone"
map = "zone_region"
minimum = 3
"""
PEOPLE = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 4], pa.int64()),
        "city": ["Luque", "LUQUE ", "asuncion", "1114", None],
        "school": ["Universidad Nacional de Asunción", "universidad nacional de asuncion", "SNPP", "SNPP", ""],
        "zone": ["Z1", "Z1", "Z1", "Z2", "Z2"],
    }
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "level.csv").write_text(
        "value,category\nUniversidad Nacional de Asunción,terciaria\nSNPP,oficio\n", "utf-8"
    )
    (tmp_path / "zones.csv").write_text("zona;región\nZ1;11\nZ2;11\n", "utf-8-sig")
    (tmp_path / "natural.csv").write_text("value,category\n11,Oriental\n00,Oriental\n", "utf-8")
    return tmp_path


@pytest.fixture
def config() -> StatsConfig:
    return stats_from(tomllib.loads(CONFIG), "stats.toml")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Prepared:
    """A table of STATS as far as its labels."""

    def __init__(self, source: PersonalSource, config: StatsConfig, folder: Path) -> None:
        self.source, self.config, self.folder = source, config, folder
        self.table = config.tables[0]
        self.relation = source.relation(config.personal["people"])
        given = (self.relation, source.fetch, folder, NOW, source.dialect)
        self.specs = specs_of(config, self.table, *given)
        self.labels = labels_for(self.table, self.specs, self.relation)

    def rows(self) -> list[dict[str, Any]]:
        """Every row's labels, in the order of persons and labels."""
        found = self.source.fetch(self.relation.select("id", **self.labels)).to_pylist()
        return sorted(found, key=lambda row: (int(row["id"]), row["region"]))

    def refuse(self) -> None:
        """Stop if a value has no place."""
        refuse_unmapped(self.config, self.table, self.labels, self.relation, self.source.fetch, self.folder)


@pytest.fixture
def prepared(engine: str, config: StatsConfig, folder: Path, request: pytest.FixtureRequest) -> Iterator[Prepared]:
    source = personal_source(engine, {"people": PEOPLE}, folder, request)
    yield Prepared(source, config, folder)
    source.close()


@pytest.mark.requirement("Y05", "Y07", "Y10", "Y12")
def test_places_and_institutions_are_mapped_inside_the_database(prepared: Prepared) -> None:
    rows = prepared.rows()
    assert [row["region"] for row in rows] == ["11", "11", "00", NOT_STATED, "11"]
    assert sorted(row["level"] for row in rows) == [NOT_STATED, "oficio", "oficio", "terciaria", "terciaria"]
    assert [row["area"] for row in rows] == ["Z1", "Z1", "Z1", "11", "11"]  # Z2 has one person
    prepared.refuse()
    assert domain_of(prepared.table.dimension("region"), prepared.specs["region"]) == ("11", "00")


@pytest.mark.requirement("Y05", "Y12", "Y27")
def test_a_value_without_a_place_stops_with_a_private_list(
    engine: str, config: StatsConfig, folder: Path, request: pytest.FixtureRequest
) -> None:
    cities = ["Luque", "Villa Secreta", "Villa Secreta", "Bella Vista", "Bella Vista"]  # of two departments
    source = personal_source(engine, {"people": PEOPLE.set_column(1, "city", pa.array(cities))}, folder, request)
    prepared = Prepared(source, config, folder)
    assert [row["region"] for row in prepared.rows()].count(UNMAPPED) == 4
    with pytest.raises(ValuesWithoutMapping) as caught:
        prepared.refuse()
    source.close()
    path = folder / "private" / "unmapped" / "people_by_place.region.csv"
    assert caught.value.values == {
        "table": "people_by_place", "dimension": "region", "values": 2, "rows": 4, "path": str(path),
    }  # fmt: skip
    assert "Secreta" not in str(caught.value)
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path.parent, path)] == [0o700, 0o600]
    assert list(csv.reader(path.read_text("utf-8").splitlines())) == [
        ["value", "category", "rows", "persons"], ["Bella Vista", "", "2", "1"], ["Villa Secreta", "", "2", "2"],
    ]  # fmt: skip


@pytest.mark.requirement("Y05")
@pytest.mark.parametrize(
    ("country", "place", "region"),
    [
        ("py", "Luque", "11"), ("py", "1109", "11"), ("py", "Central", "11"), ("py", "11", "11"),
        ("py", "Bella Vista", None), ("py", "Springfield", None), ("py", "", None), ("cl", "Los Andes", "05"),
        ("cl", "05301", "05"), ("co", "Medellín", "05"), ("co", "05001", "05"),
    ],
)  # fmt: skip
def test_a_place_has_its_official_region(country: str, place: str, region: str | None, tmp_path: Path) -> None:
    assert category_finder(ValueMap("m", list=country), tmp_path)(place) == region


@pytest.mark.parametrize(
    ("text", "incomplete", "repeated"),
    [("v,c\na,1\nb,\n", 1, 0), ("v,c\na,1\na,2\n", 0, 1), ("v,c\n", 0, 0), ("v,c\na\n,2\n", 2, 0)],
)
def test_an_unclear_map_is_refused_with_counts(text: str, incomplete: int, repeated: int, tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text(text, "utf-8")
    with pytest.raises(MapUnclear) as caught:
        category_finder(ValueMap("m", file="map.csv"), tmp_path)
    assert (caught.value.values["incomplete"], caught.value.values["repeated"]) == (incomplete, repeated)


def test_a_map_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match=r"map\.csv"):
        category_finder(ValueMap("m", file="map.csv"), tmp_path)


def test_the_list_of_what_lacks_a_place_becomes_a_map_once_completed(tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text('value,category,rows,persons\n"Colegio ""San José"", Luque",media,4,2\n', "utf-8")
    assert category_finder(ValueMap("m", file="map.csv"), tmp_path)('Colegio "San José", Luque') == "media"


def test_labels_have_their_parents_level_by_level(config: StatsConfig, folder: Path) -> None:
    region = config.tables[0].dimension("region")
    assert parents_of(config, region, ("11", "00", NOT_STATED), folder) == (
        {"11": "Oriental", "00": "Oriental", NOT_STATED: NOT_STATED},
    )
    with pytest.raises(ValuesWithoutMapping):
        parents_of(config, region, ("11", "07"), folder)


def test_the_day_of_a_run_is_that_of_the_stated_zone(
    config: StatsConfig, folder: Path, request: pytest.FixtureRequest
) -> None:
    source = personal_source("sqlite", {"people": PEOPLE}, folder, request)
    assert Prepared(source, config, folder).specs["region"].today.isoformat() == "2024-01-30"
    source.close()


def test_a_rule_refuses_a_column_that_it_cannot_read(config: StatsConfig, folder: Path) -> None:
    relation = ibis.table({"flag": "boolean", "at": "timestamp('UTC')", "amount": "int64"}, name="t")
    spec = RuleSpec("duckdb", NOW.date())
    with pytest.raises(RuleNotForType):
        labels_of(Dimension("d", "buckets", ("flag",), {}), spec, relation)
    with pytest.raises(RuleNotForType):
        labels_of(Dimension("d", "period", ("amount",), {}), spec, relation)
    with pytest.raises(WrongSetting, match="instantes"):
        labels_of(Dimension("d", "age", ("at",), {}), spec, relation)
