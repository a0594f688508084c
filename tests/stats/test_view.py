"""What a page is told of STATS: tables, hidden cells with reason and interval, runs, lineage; never a hidden value."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from celosia.errors import CelosiaError
from celosia.stats.errors import StatsTableUnknown
from celosia.stats.intervals import find_intervals, stats_intervals
from celosia.stats.jobs import attack_now, check_now, run_now
from celosia.stats.run import run_stats
from celosia.stats.view import list_stats, next_run, stats_history, stats_lineage, stats_table, stats_view
from tests.stats.small_stats import HEAD, LATER, NOW, PERSONS, category, people, project, table, write_personal

SECTOR, SEX = category("sector", ["A", "B", "C"]), category("sex", ["x", "y"])
COUNTS = {("A", "x"): 12, ("A", "y"): 9, ("B", "x"): 3, ("B", "y"): 7, ("C", "x"): 8, ("C", "y"): 6}
BOTH = '["internal", "government"]'
NAME = "t__internal"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = project(tmp_path, people(COUNTS, ["sector", "sex"]), table("t", SECTOR, SEX, PERSONS, title='"Prueba"'))
    run_stats(made, now=NOW)
    return made


def counted(labels: tuple[str | None, ...]) -> int:
    """The true count of a cell: what no answer may hold."""
    return sum(n for key, n in COUNTS.items() if all(a in (None, b) for a, b in zip(labels, key, strict=True)))


@pytest.mark.requirement("Y16", "Y18")
def test_a_project_is_told_by_audience_with_k_shown_hidden_and_the_next_run(tmp_path: Path) -> None:
    tables = table("t", SECTOR, SEX, PERSONS, audiences=BOTH, frequency='"monthly"')
    home = project(tmp_path, people(COUNTS, ["sector", "sex"]), tables)
    before = stats_view(home, now=NOW)
    assert [(line.audience, line.k, line.state) for line in before.lines] == [
        ("internal", 5, "waiting"),
        ("government", 10, "waiting"),
    ]
    assert before.last is None
    run_stats(home, now=NOW)
    inside, outside = stats_view(home, now=LATER).lines
    assert inside.shown + inside.hidden == outside.shown + outside.hidden == 12
    assert 2 <= inside.hidden < outside.hidden
    assert (inside.last[:10], inside.due, inside.late) == ("2025-01-02", "2025-02-02", False)
    assert stats_view(home, now=datetime(2025, 3, 1, tzinfo=UTC)).lines[0].late


@pytest.mark.parametrize(
    ("frequency", "due"),
    [
        ("daily", date(2025, 2, 1)),
        ("weekly", date(2025, 2, 7)),
        ("monthly", date(2025, 2, 28)),
        ("quarterly", date(2025, 4, 30)),
        ("yearly", date(2026, 1, 31)),
        ("once", None),
    ],
)
def test_a_month_later_stays_inside_the_month(frequency: str, due: date | None) -> None:
    assert next_run("2025-01-31T10:00:00+00:00", frequency) == due


@pytest.mark.requirement("Y16", "Y20")
def test_rows_come_in_a_fixed_order_by_parts_and_a_hidden_one_has_no_value(home: Path) -> None:
    whole = stats_table(home, NAME)
    assert (whole.total, len(whole.rows), whole.dimensions, whole.measures) == (
        12,
        12,
        ("sector", "sex"),
        (("persons", "persons"),),
    )
    parts = [row for start in (0, 5, 10) for row in stats_table(home, NAME, start, 5).rows]
    assert tuple(parts) == whole.rows
    assert whole.rows[-1].labels == (None, None)
    hidden = [row for row in whole.rows if row.hidden]
    assert ("B", "x") in {row.labels for row in hidden}
    assert all(row.values == (None,) for row in hidden)
    assert stats_table(home, NAME, only_hidden=True).rows == tuple(hidden)
    with pytest.raises(StatsTableUnknown):
        stats_table(home, "personal")


@pytest.mark.requirement("Y16", "Y21")
def test_every_hidden_cell_has_its_reason_and_an_interval_that_holds_the_truth(home: Path) -> None:
    untold = stats_intervals(home, NAME)
    assert (untold.when, {cell.interval for cell in untold.cells}) == ("", {""})
    find_intervals(home, NAME, now=NOW)
    told = stats_intervals(home, NAME)
    reasons = {cell.labels: cell.reason for cell in told.cells}
    assert reasons["B", "x"] == "threshold"
    assert set(reasons.values()) - {"threshold"}
    assert not told.stale
    for cell in told.cells:
        assert cell.interval == "found"
        assert cell.low is not None
        assert cell.low <= counted(cell.labels)
        assert cell.high is None or cell.high >= counted(cell.labels)
        assert cell.low != cell.high


@pytest.mark.requirement("Y21")
def test_a_cell_that_follows_exactly_is_named_and_its_value_is_not_kept(tmp_path: Path) -> None:
    together = table("t", SECTOR, SEX, PERSONS)
    apart = table("n", SECTOR, SEX, PERSONS, margins='"none"', linked="false")
    home = project(tmp_path, people(COUNTS, ["sector", "sex"]), together, apart)
    run_stats(home, now=NOW)
    find_intervals(home, "n__internal", now=NOW)
    told = {cell.labels: cell for cell in stats_intervals(home, "n__internal").cells}
    assert told["B", "x"].interval == "exact"
    assert told["B", "x"].low is None
    kept = json.loads((home / "private" / "reports" / "intervals-n__internal.json").read_text("utf-8"))
    assert [one for one in kept["document"]["cells"] if "low" in one] == []


def test_intervals_without_time_are_open_and_those_of_an_earlier_run_are_not_shown(home: Path) -> None:
    find_intervals(home, NAME, seconds=0.0, now=NOW)
    assert {cell.interval for cell in stats_intervals(home, NAME).cells} == {"open"}
    find_intervals(home, NAME, now=NOW)
    run_stats(home, now=LATER)
    told = stats_intervals(home, NAME)
    assert told.stale
    assert {cell.interval for cell in told.cells} == {""}
    assert {cell.reason for cell in told.cells if cell.labels == ("B", "x")} == {"threshold"}


def test_reasons_of_another_run_are_not_told(home: Path) -> None:
    path = home / "private" / "reports" / "hidden.json"
    held = json.loads(path.read_text("utf-8"))
    held["document"][NAME]["run"] = "2024-01-01T00:00:00+00:00"
    path.write_text(json.dumps(held), "utf-8")
    assert {cell.reason for cell in stats_intervals(home, NAME).cells} == {""}


@pytest.mark.requirement("Y20", "Y26")
def test_no_answer_holds_a_value_of_personal_and_all_can_be_sent_to_a_page(home: Path) -> None:
    find_intervals(home, NAME, now=NOW)
    check_now(home, now=NOW)
    attack_now(home, now=NOW)
    answers = [stats_view(home), stats_table(home, NAME), stats_intervals(home, NAME), stats_history(home)]
    answers += [stats_lineage(home), list_stats(home.parent)]
    for answer in answers:
        assert pickle.loads(pickle.dumps(answer)) == answer
        assert "u0000" not in repr(answer)
        assert "Persona" not in repr(answer)


@pytest.mark.requirement("Y27")
def test_runs_are_told_with_who_when_and_what_failed(home: Path, tmp_path: Path) -> None:
    write_personal(tmp_path, people({("Z", "x"): 8}, ["sector", "sex"]))
    with pytest.raises(CelosiaError):
        run_now(home, now=LATER)
    last, first = stats_history(home)
    assert (first.failed, first.rows_read, first.rows_written) == (False, {"people": 45}, 12)
    assert first.published + first.hidden == 12
    assert (last.failed, last.when[:10], last.errors) == (True, "2025-01-09", {"t.sector": 1})
    view = stats_view(home)
    assert view.failed == last
    assert view.last == first
    assert list_stats(tmp_path)[0].failed == last.when


@pytest.mark.requirement("Y21", "Y22")
def test_check_and_attack_are_kept_and_known_to_be_old_after_another_run(home: Path) -> None:
    assert stats_view(home).check is None
    check_now(home, now=NOW)
    attack_now(home, now=NOW)
    view = stats_view(home)
    assert view.check is not None
    assert view.check.document["holds"]
    assert not view.check.stale
    assert view.attack is not None
    assert view.attack.document["findings"] == []
    run_stats(home, now=LATER)
    assert all(one is not None and one.stale for one in (stats_view(home).check, stats_view(home).attack))


@pytest.mark.requirement("Y25")
def test_lineage_is_declared_before_the_first_run_and_catalogued_after(tmp_path: Path) -> None:
    home = project(tmp_path, people(COUNTS, ["sector", "sex"]), table("t", SECTOR, SEX, PERSONS, audiences=BOTH))
    declared = stats_lineage(home)
    assert declared.declared
    run_stats(home, now=NOW)
    found = stats_lineage(home)
    assert not found.declared
    (one,) = found.tables
    assert one.tables == ("t__internal", "t__government")
    assert [(c.column, c.columns, c.rule) for c in one.columns] == [
        ("sector", ("sector",), "category"),
        ("sex", ("sex",), "category"),
        ("persons", ("user_id",), "persons"),
        ("estado", ("user_id",), "status"),
    ]
    assert [c.columns for c in declared.tables[0].columns] == [c.columns for c in one.columns]


def test_a_variable_without_address_is_named_and_no_address_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = HEAD.replace("../personal.duckdb", "env:PERSONAL_URL").replace("stats.duckdb", "env:STATS_URL")
    home = project(tmp_path, people(COUNTS, ["sector", "sex"]), table("t", SECTOR, SEX, PERSONS), head=head)
    monkeypatch.delenv("PERSONAL_URL", raising=False)
    monkeypatch.delenv("STATS_URL", raising=False)
    assert stats_view(home).unset == ("PERSONAL_URL", "STATS_URL")
    assert stats_lineage(home).declared
    monkeypatch.setenv("PERSONAL_URL", "postgresql://ana:secreta@base.example/personal")
    monkeypatch.setenv("STATS_URL", "secreta.duckdb")
    view = stats_view(home)
    assert view.unset == ()
    assert "secreta" not in repr(view)
    with pytest.raises(CelosiaError) as fault:
        stats_table(home, NAME)
    assert "secreta" not in str(fault.value)


def test_the_list_names_stats_folders_and_says_why_one_cannot_be_read(home: Path) -> None:
    root = home.parent
    (root / "rota").mkdir()
    (root / "rota" / "stats.toml").write_text('format = "otra/1"\n', "utf-8")
    (root / "otra").mkdir()
    broken, good = list_stats(root)
    assert (broken.folder, good.folder, good.tables, good.last[:10]) == ("rota", "stats", 1, "2025-01-02")
    assert broken.problem
    assert not good.problem
