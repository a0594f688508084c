"""The frame of the benches: ratios, rounds, memory, history, the report and its page."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bench.__main__ import main, run_modules, write_report
from bench.frame import Case, Figure, Fixed, Job, Measured, Same, Scale, Taken, measured, rounds_for, slope
from bench.history import FORMAT as RECORD
from bench.history import History, Past, history_for, read_records, record_of, regressions, write_record
from bench.machine import comparable, machine_facts
from bench.page import page_of
from bench.report import FORMAT, Circumstances, failed, report_of
from bench.running import BenchResult, JobFailed, JobSkipped, run_bench, run_case, run_job
from bench.terminal import print_report
from tests.bench import sample_bench

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MACHINE = {
    "system": "Linux",
    "architecture": "x86_64",
    "processor": "x",
    "cores": 2,
    "memory_gb": 8.0,
    "python": "3.11.7",
    "libraries": {"duckdb": "1.5.6"},
}
NOTHING = History({})


def silent(line: str) -> None:
    """Nobody listens."""


def never(figure: Measured) -> bool:
    """Nothing is doubtful."""
    return False


def figure_of(*ratios: float, goal: float | None = None, bound: bool = False) -> Measured:
    return Measured("b", "c", Figure("f", ("ours",), ("plain",), goal), ratios, bound=bound)


def report_from(
    *results: BenchResult, history: History = NOTHING, others: Sequence[float] = (0.0, 0.1)
) -> dict[str, Any]:
    return report_of(results, Circumstances(NOW, "abc", MACHINE, others, True), history)


@pytest.fixture(scope="module", autouse=True)
def _workers_find_the_samples() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
        yield


@pytest.fixture(scope="module")
def sample() -> BenchResult:
    return run_bench(sample_bench.BENCH, Scale(True), None, never, silent)


@pytest.fixture(scope="module")
def failing() -> BenchResult:
    return run_bench(sample_bench.FAILING, Scale(True), 1, never, silent)


@pytest.fixture(scope="module")
def report(sample: BenchResult, failing: BenchResult) -> dict[str, Any]:
    return report_from(sample, failing)


def test_a_ratio_is_made_in_each_round_and_the_middle_one_counts() -> None:
    figure = Figure("f", ("one", "two"), ("plain",), 2.0)
    rounds = [
        {"one": Taken(1.0, 10), "two": Taken(second, 20), "plain": Taken(plain, 5)}
        for second, plain in ((1.0, 1.0), (3.0, 4.0), (5.0, 2.0))
    ]
    measurement = measured("b", Case("c", (), (figure,)), figure, rounds, {})
    assert measurement.ratios == (2.0, 1.0, 3.0)
    assert (measurement.median, measurement.ours, measurement.theirs) == (2.0, 4.0, 2.0)
    assert (measurement.peak, measurement.their_peak, measurement.reached) == (20, 5, True)


def test_memory_of_several_jobs_is_the_highest_and_not_the_sum() -> None:
    figure = Figure("f", ("one", "two"), Fixed(40.0, "40 B"), 1.0, of="peak")
    measurement = measured("b", Case("c", (), ()), figure, [{"one": Taken(1, 30), "two": Taken(1, 20)}], {})
    assert measurement.ratios == (0.75,)


def test_a_side_that_was_stopped_makes_the_ratio_a_bound() -> None:
    figure = Figure("f", ("ours",), ("peer",), 0.05)
    rounds = [{"ours": Taken(1.0, 1), "peer": Taken(100.0, 1, at_least=True)}]
    measurement = measured("b", Case("c", (), ()), figure, rounds, {})
    assert measurement.bound
    assert measurement.reached
    assert History({measurement.id: Past((0.001,), "2026-01-01")}).change(measurement) is None


def test_a_goal_is_reached_at_the_goal_and_missed_above() -> None:
    assert figure_of(2.0, goal=2.0).reached is True
    assert figure_of(2.01, goal=2.0).reached is False
    assert figure_of(2.0).reached is None
    assert figure_of(goal=2.0).reached is None


def test_longer_rounds_are_repeated_less() -> None:
    assert [rounds_for(seconds) for seconds in (0.1, 60, 61, 300, 301, 9999)] == [3, 3, 2, 2, 1, 1]


@given(st.floats(0.1, 3), st.floats(1e-6, 10))
def test_the_slope_of_a_power_is_its_exponent(exponent: float, factor: float) -> None:
    points = [(rows, factor * rows**exponent) for rows in (1e5, 3.16e5, 1e6, 1e7)]
    assert slope(points) == pytest.approx(exponent, abs=1e-6)


@given(st.floats(0.01, 100), st.floats(0.01, 100))
def test_more_than_a_quarter_worse_is_a_regression_and_nothing_else_is(new: float, old: float) -> None:
    history = History({"b/c/f": Past((99.0, old), "2026-01-01")})
    assert (regressions([figure_of(new)], history) != ()) == (new / old > 1.25)


def test_a_quarter_exactly_is_no_regression_and_a_new_figure_neither() -> None:
    assert not History({"b/c/f": Past((4.0,))}).worse(figure_of(5.0))
    assert History({"b/c/f": Past((4.0,))}).worse(figure_of(5.01))
    assert not NOTHING.worse(figure_of(1e9))


def test_seconds_against_fixed_seconds_are_never_held_against_another_run() -> None:
    seconds = Measured("b", "c", Figure("f", ("help",), Fixed(0.3, "0.3 s"), 1.0), (9.0,))
    assert not History({seconds.id: Past((0.1,))}).worse(seconds)
    memory = Measured("b", "c", Figure("f", ("run",), Fixed(4e9, "4 GB"), 1.0, of="peak"), (9.0,))
    assert History({memory.id: Past((0.1,))}).worse(memory)


@pytest.mark.parametrize(
    ("change", "alike"),
    [
        ({}, True),
        ({"cores": 4}, False),
        ({"system": "Darwin"}, False),
        ({"architecture": "arm64"}, False),
        ({"memory_gb": 7.9}, True),
        ({"memory_gb": 16.0}, False),
        ({"python": "3.11.2"}, True),
        ({"python": "3.12.1"}, False),
        ({"processor": "y"}, True),
        ({"libraries": {}}, True),
    ],
)
def test_machines_are_alike_by_system_cores_memory_and_python(change: dict[str, Any], alike: bool) -> None:
    assert comparable(MACHINE, MACHINE | change) is alike
    assert comparable(MACHINE | change, MACHINE) is alike


def record(started: str, ratio: float, **changes: Any) -> dict[str, Any]:
    document = {"format": RECORD, "started": started, "commit": "", "small": False, "busy": [0, 0], "machine": MACHINE}
    return document | {"figures": {"b/c/f": {"ratio": ratio}}} | changes


def test_a_figure_is_compared_with_the_last_comparable_record_that_has_it() -> None:
    records = [
        record("2026-01-01T00:00:00", 1.0),
        record("2026-01-02T00:00:00", 2.0),
        record("2026-01-03T00:00:00", 50.0, machine=MACHINE | {"cores": 64}),
        record("2026-01-04T00:00:00", 60.0, small=True),
        record("2026-01-05T00:00:00", 0.0, figures={"b/c/other": {"ratio": 70.0}}),
    ]
    past = history_for(records, MACHINE, False).of(figure_of(2.2))
    assert past == Past((1.0, 2.0), "2026-01-02")
    assert history_for(records, MACHINE, False).change(figure_of(2.2)) == pytest.approx(1.1)


def test_a_record_is_small_and_is_read_again(report: dict[str, Any], tmp_path: Path) -> None:
    path = write_record(report, tmp_path)
    assert re.fullmatch(r"2026-01-31-[0-9a-f]{8}\.json", path.name)
    assert write_record(report, tmp_path) == path
    (again,) = read_records(tmp_path)
    assert again == record_of(report)
    assert again["figures"]["sample/10 rows/all"]["ratio"] == 2.0
    assert len(path.read_text("utf-8")) < len(json.dumps(report))


def test_a_record_of_an_unknown_format_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "2026-01-01-x.json").write_text('{"format": "celosia/bench-record/9"}')
    with pytest.raises(ValueError, match=r"2026-01-01-x\.json"):
        read_records(tmp_path)


def test_every_record_kept_in_the_repository_can_be_read() -> None:
    for saved in read_records():
        assert {"started", "small", "machine", "figures"} <= set(saved)
        assert history_for([saved], saved["machine"], saved["small"]).figures


def test_only_what_a_job_returns_is_timed_and_facts_are_made_after_the_clock(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("x")
    job = run_job(Job("slow", sample_bench.slow_to_prepare), tmp_path)
    assert job.seconds < 0.25
    assert job.facts == {"text": "x"}


def test_memory_is_that_of_the_work_with_all_the_processes_it_starts(tmp_path: Path) -> None:
    job = run_job(Job("child", sample_bench.large_child), tmp_path)
    assert 200_000_000 < job.peak < 390_000_000


def test_a_job_that_fails_says_why_without_naming_folders(tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match=r"bad: ValueError: nothing fits in …") as raised:
        run_job(Job("bad", sample_bench.fail), tmp_path)
    assert str(tmp_path) not in str(raised.value)


def test_a_job_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match="did not end within 2 s"):
        run_job(Job("endless", sample_bench.endless, timeout=2), tmp_path)


def test_a_job_that_cannot_run_here_is_not_measured_and_fails_nothing(tmp_path: Path) -> None:
    with pytest.raises(JobSkipped, match="not installed"):
        run_job(Job("peer", sample_bench.absent), tmp_path)
    case = sample_bench.case_of(sample_bench.THEIRS, Job("peer", sample_bench.absent))
    result = run_case("b", case, None, never, silent)
    assert not result.failed
    assert result.figures[0].ratios == ()
    assert result.figures[0].reason == "the peer is not installed"


def test_a_case_whose_data_cannot_be_made_here_is_not_measured() -> None:
    case = dataclasses.replace(sample_bench.case_of(sample_bench.THEIRS), prepare=Job("p", sample_bench.absent))
    result = run_case("b", case, None, never, silent)
    assert (result.failed, result.figures[0].reason) == ("", "the peer is not installed")


def test_jobs_that_count_differently_fail_the_case() -> None:
    jobs = [Job(name, sample_bench.counting, {"rows": rows}) for name, rows in (("one", 3), ("two", 4))]
    result = run_case("b", sample_bench.case_of(*jobs, same=(Same("rows", ("one", "two")),)), None, never, silent)
    assert result.failed == "one, two differ in «rows»"


def test_what_looks_worse_is_measured_again_before_it_counts() -> None:
    case = sample_bench.case_of(sample_bench.OURS, sample_bench.THEIRS)
    assert len(run_case("b", case, None, lambda figure: True, silent).rounds) == 2
    assert len(run_case("b", case, None, never, silent).rounds) == 1


def test_the_report_has_its_format_its_machine_and_every_figure(report: dict[str, Any]) -> None:
    assert report["format"] == FORMAT == "celosia/bench/1"
    assert json.loads(json.dumps(report)) == report
    sample, failing = report["benches"]
    first = sample["figures"][0]
    assert first["id"] == "sample/10 rows/all"
    assert (first["ratios"], first["ratio"], first["least"], first["most"]) == ([1.0, 3.0, 2.0], 2.0, 1.0, 3.0)
    assert (first["goal"], first["reached"], first["what"], first["against"]) == (1.5, False, "ours", "plain")
    assert [figure["ratio"] for figure in sample["figures"][1:3]] == [0.5, 1.0]
    assert failing["failures"] == ["case: bad: ValueError: nothing fits in …"]
    assert len(failing["figures"]) == len(sample["figures"])  # the other cases went on
    assert [curve["rows"] for curve in report["curves"]] == [[10, 20], [10, 20]]


def test_a_failure_or_a_regression_fails_the_run_and_a_missed_goal_does_not(
    sample: BenchResult, failing: BenchResult
) -> None:
    passing = report_from(sample)
    assert any(figure["reached"] is False for figure in passing["benches"][0]["figures"])
    assert not failed(passing)
    assert failed(report_from(failing))
    past = History({"sample/10 rows/all": Past((1.0,), "2026-01-01")})
    assert failed(report_from(sample, history=past))


def test_a_bench_that_cannot_be_read_has_failed_and_the_others_go_on() -> None:
    results = list(
        run_modules({"none": "bench.no_such_bench", "s": "tests.bench.sample_bench"}, Scale(True), 1, NOTHING, silent)
    )
    assert "cannot be read" in results[0].failures[0]
    assert results[1].figures


class References(HTMLParser):
    """Everything a page would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "img", "iframe", "object"):
            self.found.append(tag)
        self.found += [f"{name}={value}" for name, value in attrs if name in ("src", "href", "srcset", "onload")]


def test_the_page_shows_every_figure_and_fetches_nothing(report: dict[str, Any]) -> None:
    page = page_of(report)
    references = References()
    references.feed(page)
    assert references.found == []
    assert "url(" not in page
    assert "@import" not in page
    for bench in report["benches"]:
        assert bench["title"] in page
    assert "nothing fits in …" in page
    assert page.count("<svg") >= sum(figure["ratio"] is not None for b in report["benches"] for figure in b["figures"])
    assert "Growth" in page


def test_what_became_worse_is_red_on_the_page_and_in_the_terminal(sample: BenchResult) -> None:
    past = History({"sample/10 rows/all": Past((1.0,), "2026-01-01")})
    worse = report_from(sample, history=past)
    assert page_of(worse).count('<tr class="worse">') == 1
    assert "+100% since 2026-01-01" in page_of(worse)
    console = Console(record=True, force_terminal=True, width=200)
    with console.capture() as output:
        print_report(worse, console)
    red = [line for line in output.get().splitlines() if "\x1b[1;31m" in line]
    assert len(red) == 1
    assert "10 rows | all" in red[0]


def test_the_page_warns_of_a_machine_that_others_used_and_of_no_other(sample: BenchResult) -> None:
    assert "busy with other work (up to 38" in page_of(report_from(sample, others=(0.02, 0.375, 0.0)))
    assert "busy with other work" not in page_of(report_from(sample))


def test_the_facts_of_the_machine_do_not_say_whose_it_is() -> None:
    import getpass
    import socket

    facts = json.dumps(machine_facts())
    assert set(machine_facts()) == set(MACHINE)
    assert socket.gethostname() not in re.findall(r"[\w.-]+", facts)
    assert getpass.getuser() not in re.findall(r"[\w.-]+", facts)
    assert str(Path.home()) not in facts


def test_the_page_and_the_record_are_made_again_from_the_report(report: dict[str, Any], tmp_path: Path) -> None:
    write_report(report, tmp_path)
    first = (tmp_path / "report.html").read_text("utf-8")
    (tmp_path / "report.html").unlink()
    assert main(["page", "--into", str(tmp_path)], NOW) == 0
    assert (tmp_path / "report.html").read_text("utf-8") == first


def test_an_unknown_bench_is_refused_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"], NOW) == 2
    assert "tuples" in capsys.readouterr().err


def test_every_bench_of_the_project_says_its_cases_and_names_jobs_that_exist() -> None:
    import importlib

    folder = Path(main.__code__.co_filename).parent
    names = sorted(path.stem for path in folder.glob("bench_*.py"))
    assert {"bench_tuples", "bench_growth", "bench_search", "bench_web"} <= set(names)
    for name in names:
        bench = importlib.import_module(f"bench.{name}").BENCH
        assert name == f"bench_{bench.name}"
        for scale in (Scale(), Scale(small=True)):
            ids = [f"{case.name}/{figure.name}" for case in bench.cases(scale) for figure in _sound(case)]
            assert ids
            assert len(set(ids)) == len(ids)


def _sound(case: Case) -> tuple[Figure, ...]:
    jobs = {job.name for job in case.jobs}
    assert len(jobs) == len(case.jobs)
    for figure in case.figures:
        assert {term.partition(":")[0] for term in (*figure.what, *figure.others)} <= jobs
    for job in case.jobs:
        json.dumps(dict(job.arguments))
        assert "<" not in job.function.__qualname__
    assert {job for same in case.same for job in same.jobs} <= jobs
    return case.figures
