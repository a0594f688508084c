"""The catalogue agrees with STATS, and STATS judged by itself breaks the right rule when somebody tampers with it."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import duckdb
import pytest

from celosia.messages import LANGUAGES
from celosia.model.reports.stats import StatsCheck, entry_from
from celosia.stats.catalogue import stats_catalogue, write_catalogue
from celosia.stats.check import check_stats
from celosia.stats.errors import CatalogueDisagrees, NeverRan, NotStats
from celosia.stats.init import init_stats
from celosia.stats.run import run_stats
from celosia.storage import FolderUnwritable
from tests.field_lists import field_differences
from tests.stats.small_stats import NOW, PERSONS, category, people, project, table

SECTOR, REGION = category("sector", ["A", "B", "C"]), category("region", ["N", "S"])
COUNTS = {("A", "N"): 3, ("A", "S"): 19, ("B", "N"): 22, ("B", "S"): 11, ("C", "N"): 18, ("C", "S"): 14}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    rows = people(COUNTS, ["sector", "region"])
    made = project(tmp_path, rows, table("t", SECTOR, REGION, PERSONS, audiences='["internal", "government"]'))
    run_stats(made, now=NOW)
    return made


def tamper(home: Path, statement: str) -> None:
    with contextlib.closing(duckdb.connect(home / "stats.duckdb")) as database:
        database.execute(statement)


def failing(check: StatsCheck) -> set[str]:
    return {one.rule for one in check.rules.failing}


def test_a_place_below_a_file_is_refused_by_name(home: Path) -> None:
    below = home / "stats.toml" / "x"
    with pytest.raises(FolderUnwritable):
        write_catalogue(home, below)
    with pytest.raises(FolderUnwritable):
        init_stats(below, "people.duckdb")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_of_formats_lists_every_field_of_the_catalogue(home: Path, language: str) -> None:
    document = json.loads((write_catalogue(home)[1] / "catalogue.json").read_text("utf-8"))
    assert not field_differences(language, "catalogue.json", document)


@pytest.mark.requirement("Y24")
def test_every_table_has_its_entry_with_source_rule_k_and_frequency(home: Path) -> None:
    entries = stats_catalogue(home).entries
    assert [(one.table, one.audience, one.k) for one in entries] == [
        ("t__internal", "internal", 5),
        ("t__government", "government", 10),
    ]
    assert {(one.sources, one.frequency, one.last_run) for one in entries} == {
        (("people",), "daily", "2025-01-02T12:00:00+00:00")
    }


@pytest.mark.requirement("Y24", "Y25", "Y29")
def test_the_catalogue_is_written_as_data_and_as_a_page(home: Path, tmp_path: Path) -> None:
    made, folder = write_catalogue(home, tmp_path / "out")
    document = json.loads((folder / "catalogue.json").read_text("utf-8"))
    assert made.as_dict() == document
    assert tuple(entry_from(entry) for entry in document["tables"]) == made.entries
    page = (folder / "catalogue.html").read_text("utf-8")
    assert "t__internal" in page
    assert "Qué se hace con cada tipo de dato" in page
    assert "<script" not in page
    columns = next(entry.columns for entry in made.entries if entry.table == "t__internal")
    sector = next(column for column in columns if column.column == "sector")
    assert (sector.source, sector.columns, sector.rule) == ("people", ("sector",), "category")


@pytest.mark.requirement("Y24")
def test_a_table_without_entry_and_an_entry_without_table_fail(home: Path) -> None:
    tamper(home, "CREATE TABLE extra (sector VARCHAR)")
    with pytest.raises(CatalogueDisagrees) as refused:
        stats_catalogue(home)
    assert refused.value.values == {"uncatalogued": "extra", "absent": "–"}
    assert "catalogue" in failing(check_stats(home))
    tamper(home, "DROP TABLE extra; DROP TABLE t__government")
    with pytest.raises(CatalogueDisagrees) as refused:
        stats_catalogue(home)
    assert refused.value.values == {"uncatalogued": "–", "absent": "t__government"}


@pytest.mark.requirement("Y20", "Y21")
def test_what_was_just_written_meets_every_rule(home: Path) -> None:
    found = check_stats(home)
    assert failing(found) == set()
    assert found.holds
    assert {one.recoverable + one.disclosed + one.below for one in found.tables} == {0}
    assert all(one.hidden > 0 for one in found.tables)


@pytest.mark.requirement("Y16", "Y21")
@pytest.mark.parametrize(
    ("statement", "rules"),
    [
        (
            "UPDATE t__internal SET persons = 3, estado = 'publicado' WHERE sector = 'A' AND region = 'N'",
            {"k_internal"},
        ),
        (
            "UPDATE t__internal SET persons = 19 WHERE sector = 'A' AND region = 'S';"
            "UPDATE t__internal SET persons = 22 WHERE sector = 'B' AND region = 'N';"
            "UPDATE t__internal SET persons = 11 WHERE sector = 'B' AND region = 'S';"
            "UPDATE t__internal SET persons = 18 WHERE sector = 'C' AND region = 'N';"
            "UPDATE t__internal SET persons = 43 WHERE sector IS NULL AND region = 'N';"
            "UPDATE t__internal SET persons = 22 WHERE sector = 'A' AND region IS NULL",
            {"recoverable"},
        ),
        ("ALTER TABLE t__internal ADD COLUMN user_id VARCHAR", {"identifiers", "rules"}),
        ("UPDATE t__internal SET sector = md5('x') WHERE sector = 'B'", {"no_way_back"}),
        ("UPDATE t__internal SET sector = '4.123.456' WHERE sector = 'B'", {"identifiers"}),
        ("INSERT INTO celosia_runs SELECT run + 1, started, facts FROM celosia_runs", {"log"}),
    ],
)
def test_a_tampered_stats_breaks_the_rule_that_is_meant(home: Path, statement: str, rules: set[str]) -> None:
    tamper(home, statement)
    found = check_stats(home)
    assert rules <= failing(found)
    assert not found.holds


def test_a_folder_without_stats_toml_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(NotStats) as missing:
        run_stats(tmp_path)
    assert "celosia stats init" in str(missing.value)


def test_before_the_first_run_there_is_nothing_to_check(tmp_path: Path) -> None:
    made = project(tmp_path, people({("A",): 9}, ["sector"]), table("t", SECTOR, PERSONS))
    tamper(made, "CREATE TABLE x (a INT); DROP TABLE x")
    with pytest.raises(NeverRan):
        check_stats(made)


PAY = '[[tables.measures]]\nname = "pay"\nkind = "sum"\ncolumn = "pay"\n'
MEAN = '[[tables.measures]]\nname = "mean_pay"\nkind = "mean"\ncolumn = "pay"\n'


@pytest.mark.requirement("Y21", "Y23")
@pytest.mark.parametrize("measure", [PAY, MEAN])
def test_a_hidden_sum_or_mean_that_follows_breaks_the_rule_and_what_cannot_be_told_is_named(
    tmp_path: Path, measure: str
) -> None:
    rows = [row | {"pay": 100.0 + number} for number, row in enumerate(people(COUNTS, ["sector", "region"]))]
    made = project(tmp_path, rows, table("t", SECTOR, REGION, measure))
    run_stats(made, now=NOW)
    found = check_stats(made)
    assert found.holds
    (checked,) = found.tables
    assert checked.unmeasured == ("*", "pay" if measure == PAY else "mean_pay")
    assert checked.hidden > 0
    tamper(made, "UPDATE t__internal SET estado = 'publicado' WHERE NOT (sector = 'A' AND region = 'N')")
    assert "recoverable" in failing(check_stats(made))
