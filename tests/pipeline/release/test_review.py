"""An old release under new assumptions, and an old project on a new file: told before anything is done."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from celosia.model import dictionary
from celosia.model.errors import UnknownVariable
from celosia.model.variables import Role
from celosia.pipeline.assessment.errors import NoCommonColumn
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.publish import publish
from celosia.pipeline.release.review import compare_sources, recheck
from celosia.techniques.errors import SensitiveIsQuasi
from tests.projects.discharges import QUASI, make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def project(people, tmp_path_factory) -> Path:
    folder = run_to_approved_candidate(make_project(tmp_path_factory.mktemp("signed") / "egresos", people), people)
    made = make_release(folder, now=NOW)
    for role, person in people.items():
        sign_release(made.folder, None, person, role, now=NOW)
    publish(folder, made.folder, people["head"], consultation=date(2026, 11, 1), publication_date=date(2026, 11, 15),
            update_period="anual", now=NOW)  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def release(project) -> Path:
    return project / "releases" / "2026-11-15"


def rows_of(release: Path) -> list[dict[str, str]]:
    with (release / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def small(rows: list[dict[str, str]], names: tuple[str, ...], below: int) -> int:
    """Rows in classes smaller than a number, counted in plain Python."""
    counted = Counter(tuple(row[name] for name in names) for row in rows)
    return sum(n for key, n in counted.items() if n < below and any(cell.strip("*") for cell in key))


@pytest.mark.requirement("M34")
def test_a_release_still_holds_under_its_own_assumptions(release):
    found = recheck(release, now=NOW)
    assert found.holds
    assert found.rows_below == 0
    assert found.due == "2027-11-15"
    assert not found.overdue


@pytest.mark.requirement("M34")
def test_a_review_is_overdue_from_its_day_on(release):
    assert recheck(release, now=datetime(2027, 11, 15, tzinfo=UTC)).overdue


@pytest.mark.requirement("M34")
def test_a_plain_column_that_becomes_a_quasi_identifier_is_counted_with_the_others(people, tmp_path):
    folder = make_project(tmp_path / "egresos", people)
    with_plain(folder, "CONDICION_EGRESO")
    made = make_release(run_to_approved_candidate(folder, people), now=NOW)
    found = recheck(made.folder, new_quasi=("CONDICION_EGRESO",), now=NOW)
    rows = rows_of(made.folder)
    wide = (*QUASI, "CONDICION_EGRESO")
    assert found.quasi == wide
    assert found.rows_below == small(rows, wide, 2)
    assert found.unique_rows == small(rows, wide, 2)
    assert found.holds == (found.rows_below == 0)
    assert found.due == ""


def with_plain(folder: Path, name: str) -> None:
    lines = [
        replace(v, purpose="estudio", role=Role.PLAIN) if v.name == name else v for v in open_project(folder).variables
    ]
    assert any(v.name == name for v in lines)
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")


def test_a_column_that_is_not_published_or_is_sensitive_cannot_become_one(release):
    with pytest.raises(UnknownVariable):
        recheck(release, new_quasi=("RUN",), now=NOW)
    with pytest.raises(SensitiveIsQuasi):
        recheck(release, new_quasi=("DIAG1",), now=NOW)


@pytest.mark.requirement("M30", "A33")
def test_rows_that_match_another_file_one_to_one_are_counted(release, tmp_path):
    rows, names = rows_of(release), (*QUASI, "DIAG1")
    other = [row for i, row in enumerate(rows) if i % 3 == 0]
    path = tmp_path / "filtrado.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "NOMBRE"])
        writer.writerows([*[row[name] for name in names], "alguien"] for row in other)
    found = recheck(release, external=path, now=NOW)
    ours = Counter(tuple(row[name] for name in names) for row in rows)
    theirs = Counter(tuple(row[name] for name in names) for row in other)
    assert set(found.external.columns) == set(names)
    assert found.external.one_to_one == sum(n == 1 and theirs[key] == 1 for key, n in ours.items())
    assert found.external.matched == sum(n for key, n in ours.items() if theirs[key])
    assert found.holds == (found.external.one_to_one == 0)


def test_a_file_without_common_columns_cannot_be_matched(release, tmp_path):
    path = tmp_path / "otro.csv"
    path.write_text("A,B\n1,2\n3,4\n", "utf-8")
    with pytest.raises(NoCommonColumn):
        recheck(release, external=path, now=NOW)


# --- this year's file -----------------------------------------------------------------------------


def new_file(project: Path, target: Path, change) -> Path:
    with (project.parent / "egresos.csv").open(encoding="windows-1252", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    rows = change(rows)
    with target.open("w", encoding="windows-1252", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    return target


@pytest.mark.requirement("M34")
def test_the_same_file_asks_for_no_work(project, tmp_path):
    found = compare_sources(project, new_file(project, tmp_path / "nuevo.csv", lambda rows: rows))
    assert not found.needs_work
    assert found.rows_before == found.rows_now == 800
    assert found.fallen == 0
    assert found.small_rows <= open_project(project).plan.suppressed_rows


@pytest.mark.requirement("M34")
def test_columns_that_came_or_went_are_named(project, tmp_path):
    def change(rows):
        return [{**{k: v for k, v in row.items() if k != "PREVISION"}, "NUEVA": "1"} for row in rows]

    found = compare_sources(project, new_file(project, tmp_path / "nuevo.csv", change))
    assert (found.came, found.went) == (("NUEVA",), ("PREVISION",))
    assert found.needs_work
    assert found.fallen is None


@pytest.mark.requirement("M34")
def test_values_without_a_place_in_a_hierarchy_are_counted_not_shown(project, tmp_path):
    def change(rows):
        for row in rows[:3]:
            row["EDAD_AÑOS"] = "ochenta"
        return rows

    found = compare_sources(project, new_file(project, tmp_path / "nuevo.csv", change))
    assert found.new_values["EDAD_AÑOS"] == 1
    assert found.uncovered["EDAD_AÑOS"] == 1
    assert "ochenta" not in str(found.as_dict())


@pytest.mark.requirement("M34")
def test_classes_that_fell_below_k_are_counted(project, tmp_path):
    found = compare_sources(project, new_file(project, tmp_path / "nuevo.csv", lambda rows: rows[:60]))
    assert found.rows_now == 60
    assert found.fallen > 0
    assert found.needs_work


def test_nothing_is_written_while_a_new_file_is_compared(project, tmp_path):
    copy = Path(shutil.copytree(project, tmp_path / "egresos"))
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    compare_sources(copy, new_file(project, tmp_path / "nuevo.csv", lambda rows: rows[:100]))
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before
