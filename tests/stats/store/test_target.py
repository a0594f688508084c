"""STATS as a real database: one transaction per run, the same tables when repeated, history of what was published."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from celosia.stats.errors import NameTooLong, StatsDamaged, TargetBusy, TargetIsSource, TargetNeeded, TargetOccupied
from celosia.stats.sources.addresses import address, refuse_same_file
from celosia.stats.store.target import PublishedValue, StatsTarget, open_target
from tests.stats.stores import NAME, STORES, emptied, everything, rows

NOW = datetime(2024, 1, 31, 12, tzinfo=UTC)
CENTRAL, TOTAL = ("persons", ("Central",)), ("persons", (None,))


class Place:
    """Where STATS is, to be opened as often as a test likes."""

    def __init__(self, url: str, folder: Path):
        self.url, self.folder = url, folder

    def opened(self, **settings: Any) -> StatsTarget:
        return open_target(self.url, self.folder, **settings)


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(emptied(request.param, request), tmp_path)


@pytest.fixture
def target(place: Place) -> Iterator[StatsTarget]:
    opened = place.opened()
    yield opened
    opened.close()


def publish(target: StatsTarget, values: list[int | None], day: int = 0) -> int:
    """One run that publishes a table of two regions and their total."""
    with target.transaction(NOW + timedelta(days=day)) as run:
        target.write(NAME, rows(values))
        labels = (("Asunción",), ("Central",), (None,))
        target.record(NAME, {("persons", key): v for key, v in zip(labels, values, strict=True) if v is not None})
        target.write_catalogue({NAME: {"title": "Usuarios por región", "k": 5}})
        target.note({"rows_read": 31, "cells": 3})
    return run


def test_a_run_writes_tables_catalogue_history_and_itself(target: StatsTarget, place: Place) -> None:
    assert publish(target, [12, None, 19]) == 1
    target.close()
    again = place.opened(read_only=True)
    assert again.tables() == (NAME,)
    assert again.read(NAME).sort_by("persons").to_pylist() == rows([12, None, 19]).sort_by("persons").to_pylist()
    assert again.read(NAME).schema == rows([12, None, 19]).schema
    assert again.catalogue() == {NAME: {"title": "Usuarios por región", "k": 5}}
    assert again.runs() == ({"run": 1, "started": "2024-01-31T12:00:00+00:00", "cells": 3},)
    assert again.history(NAME)[0] == PublishedValue("persons", ("Asunción",), 12, 1, None)
    assert len(again.history(NAME)) == 2
    again.close()


@pytest.mark.requirement("Y28")
def test_a_repeated_run_changes_no_table_and_no_history(target: StatsTarget) -> None:
    publish(target, [12, None, 19])
    before = everything(target)
    assert publish(target, [12, None, 19], day=1) == 2
    after = everything(target)
    assert [one["run"] for one in after.pop("runs")] == [1, 2]
    before.pop("runs")
    assert after == before


@pytest.mark.requirement("Y28")
def test_a_failed_run_leaves_everything_as_before(target: StatsTarget) -> None:
    publish(target, [12, None, 19])
    before = everything(target)
    with pytest.raises(ZeroDivisionError), target.transaction(NOW):
        _spoil(target)
    assert everything(target) == before
    publish(target, [13, None, 20])
    assert target.runs()[-1]["run"] == 2


def _spoil(target: StatsTarget) -> None:
    """Change everything, and fail."""
    target.write(NAME, rows([99, 99, 198]))
    target.write("otra__internal", rows([7, 8, 15]))
    target.record(NAME, {CENTRAL: 99})
    target.write_catalogue({})
    raise ZeroDivisionError


@pytest.mark.requirement("Y22")
def test_every_earlier_publication_can_be_put_together_again(target: StatsTarget) -> None:
    publish(target, [12, 8, 20])
    publish(target, [12, None, 20], day=1)
    publish(target, [12, None, 20], day=2)
    publish(target, [12, 8, 21], day=3)
    published = [value for value in target.history(NAME) if value.value is not None]
    central = [value for value in published if (value.measure, value.labels) == CENTRAL]
    total = [value for value in published if (value.measure, value.labels) == TOTAL]
    assert [(value.value, value.since, value.until) for value in central] == [(8, 1, 1), (8, 4, None)]
    assert [[value.value for value in total if value.is_in_run(run)] for run in (1, 2, 4)] == [[20], [20], [21]]


def test_what_was_just_written_is_read_inside_the_transaction(target: StatsTarget) -> None:
    publish(target, [12, 8, 20])
    with target.transaction(NOW):
        target.write(NAME, rows([13, 8, 21]))
        assert 13 in target.read(NAME).column("persons").to_pylist()


@pytest.mark.parametrize("place", STORES[1:], indirect=True)  # DuckDB lets one process in: the writer
def test_a_reader_sees_the_old_table_until_the_last_moment(place: Place, target: StatsTarget) -> None:
    publish(target, [12, 8, 20])
    reader = place.opened(read_only=True)
    with target.transaction(NOW):
        target.write(NAME, rows([13, 8, 21]))
        assert 12 in reader.read(NAME).column("persons").to_pylist()
        reader.close()


def test_a_table_whose_columns_changed_is_made_anew(target: StatsTarget) -> None:
    publish(target, [12, 8, 20])
    narrower = rows([12, 8, 20]).drop_columns(["mean"])
    with target.transaction(NOW):
        target.write(NAME, narrower)
    assert target.read(NAME).column_names == ["region", "persons", "estado"]


def test_a_table_of_others_is_left_alone(target: StatsTarget, place: Place) -> None:
    publish(target, [12, 8, 20])
    target._store.run(f"CREATE TABLE {target._store.qualified_name('ajena')} (secreto integer)")
    if place.url.startswith("postgres"):
        target._store.commit()
    with pytest.raises(TargetOccupied), target.transaction(NOW):
        target.write("ajena", rows([1, 2, 3]))
    assert target.read("ajena").column_names == ["secreto"]


def test_a_table_that_is_not_declared_any_more_goes_and_its_history_stays(target: StatsTarget) -> None:
    publish(target, [12, 8, 20])
    with target.transaction(NOW):
        target.drop(NAME)
        target.write_catalogue({})
    assert target.tables() == ()
    assert len(target.history(NAME)) == 3


def test_bookkeeping_that_somebody_changed_is_named(target: StatsTarget, place: Place) -> None:
    publish(target, [12, 8, 20])
    target._store.run(f"ALTER TABLE {target._store.qualified_name('celosia_runs')} ADD COLUMN nota text")
    if place.url.startswith("postgres"):
        target._store.commit()
    with pytest.raises(StatsDamaged), target.transaction(NOW):
        pass


def test_a_name_longer_than_databases_keep_is_refused(target: StatsTarget) -> None:
    with pytest.raises(NameTooLong), target.transaction(NOW):
        target.write("x" * 60 + "__government", rows([12, 8, 20]))


@pytest.mark.postgres
def test_a_view_of_others_keeps_standing(postgres_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    target = open_target(emptied("postgres", request), tmp_path)
    publish(target, [12, 8, 20])
    target._store.run(f"CREATE VIEW stats.tablero AS SELECT persons, mean FROM stats.{NAME}")
    target._store.commit()
    publish(target, [13, 8, 21])
    assert len(target._store.run("SELECT * FROM stats.tablero WHERE persons = 13")) == 1
    with pytest.raises(TargetNeeded), target.transaction(NOW):
        target.write(NAME, rows([1, 2, 3]).drop_columns(["mean"]))
    target.close()


@pytest.mark.postgres
def test_a_second_run_at_the_same_time_is_told_to_wait(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    url = emptied("postgres", request)
    first, second = open_target(url, tmp_path), open_target(url, tmp_path)
    with first.transaction(NOW), pytest.raises(TargetBusy), second.transaction(NOW):
        pass
    first.close()
    second.close()


def test_personal_is_never_the_target(tmp_path: Path) -> None:
    with pytest.raises(TargetIsSource):
        refuse_same_file(address("datos.duckdb", tmp_path), address(f"duckdb:{tmp_path}/datos.duckdb", tmp_path))
    refuse_same_file(address("datos.duckdb", tmp_path), address("stats.duckdb", tmp_path))
