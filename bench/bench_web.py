"""The page on a file of a million rows: how long a reader waits, and how much memory the server holds.

A real server over a project of one million invented discharges. Pages are compared with opening the list of projects,
the page that shows least; the walk before them and the first preview of the raw file with a plain DuckDB copy of it.
Goals: preview within 5 s, every page within 2 s once its work is done, the server's own process below 400 MB
whatever the file.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.frame import PEAK, Bench, Case, Figure, Fixed, Job, Scale, Work

ROWS, SMALL = (1_000_000,), (2_000,)
REPEATS = 5  # visits to each page
GOAL_PAGE, GOAL_PREVIEW = Fixed(2.0, "2 s"), Fixed(5.0, "5 s")
GOAL_MEMORY = Fixed(400e6, "400 MB")
PAGES = ("", "/data", "/dictionary", "/request", "/hierarchies", "/risk", "/search", "/result")
OPERATIONS = ("profile_report", "risk_overview", "make_plan", "run_plan", "evaluation_report")
RAW, PROJECT = "egresos.csv", "egresos"


def raw_file(folder: Path, rows: int) -> Work:
    """A file of discharges."""
    from celosia.demo.synthetic.discharges import write_discharges

    def work() -> None:
        write_discharges(folder / RAW, rows, seed=1)

    return work


def plain_copy(folder: Path) -> Work:
    """What DuckDB alone needs to turn the file into Parquet."""
    import duckdb

    query = (
        f"COPY (FROM read_csv('{folder / RAW}', all_varchar=true, delim=';', encoding='latin-1', header=true)) "
        f"TO '{folder / 'plain.parquet'}' (FORMAT parquet)"
    )

    def work() -> None:
        duckdb.connect().execute(query)

    return work


def walk(folder: Path) -> Work:
    """From the file to a candidate and its evaluation; seconds of each verb."""
    import shutil

    from celosia.pipeline.candidate.run import run_plan
    from celosia.pipeline.intake.dictionary_files import state_purpose
    from celosia.pipeline.intake.init_project import init
    from celosia.pipeline.intake.profile import profile_report
    from celosia.pipeline.planning.plan import make_plan
    from celosia.workbench.result import evaluation_report
    from celosia.workbench.risk import risk_overview

    operations = (profile_report, risk_overview, make_plan, run_plan, evaluation_report)

    shutil.rmtree(folder / PROJECT, ignore_errors=True)

    def work() -> dict[str, float]:
        start = time.perf_counter()
        made = init(folder / RAW, folder / PROJECT, ["minsal"])
        seconds = {"init": time.perf_counter() - start}
        asked = [one.name for one in made.variables if one.role and one.role.value in ("quasi", "sensitive")]
        state_purpose(folder / PROJECT, asked[:5], "bench")
        return seconds | {each.__name__: _timed(lambda each=each: each(folder / PROJECT)) for each in operations}

    return work


def preview(folder: Path) -> Work:
    """The first rows and how the file is read, as the page shows them before anything else."""
    from celosia.pipeline.intake.preview import preview_source

    def work() -> None:
        preview_source(folder / RAW)

    return work


def ready(folder: Path, rows: int) -> Work:
    """The file and its project."""
    make, walked = raw_file(folder, rows), walk(folder)

    def work() -> None:
        make()
        walked()

    return work


def pages(folder: Path) -> Work:
    """Visits every page; the median and the longest of each, and the memory of the server at the end."""
    import httpx

    def work() -> dict[str, float]:
        process, address = _served(folder)
        try:
            client = httpx.Client(base_url=address.split("/enter")[0], follow_redirects=True, timeout=60)
            client.get(address)
            return _visited(client) | _memory(process)
        finally:
            process.terminate()
            process.wait()

    return work


def _served(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """The server and the address to come in by."""
    command = [str(Path(sys.executable).with_name("celosia")), "serve", str(folder), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))


def _visited(client) -> dict[str, float]:  # type: ignore[no-untyped-def]
    client.get(f"/p/{PROJECT}").raise_for_status()  # a warm worker, as after the first page of the day
    found = {"list": statistics.median(_timed(lambda: client.get("/")) for _ in range(REPEATS))}
    longest = 0.0
    for page in PAGES:
        client.get(f"/p/{PROJECT}{page}").raise_for_status()
        taken = [_timed(lambda page=page: client.get(f"/p/{PROJECT}{page}")) for _ in range(REPEATS)]
        found[_name(page)], longest = statistics.median(taken), max(longest, *taken)
    return found | {"longest": longest}


def _memory(process: subprocess.Popen[str]) -> dict[str, float]:
    """Bytes of the server itself and of all its workers."""
    import psutil

    own = psutil.Process(process.pid)
    workers = sum(child.memory_info().rss for child in own.children(recursive=True))
    return {"server": own.memory_info().rss, "workers": workers}


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _name(page: str) -> str:
    return page or "/status"


def cases(scale: Scale) -> Iterator[Case]:
    """The walk that the pages show, then the pages."""
    for rows in scale.rows(ROWS, SMALL):
        yield Case(
            f"the walk, {rows:,} rows",
            prepare=Job("file", raw_file, {"rows": rows}),
            jobs=(Job("copy", plain_copy, words="plain DuckDB copy"), Job("walk", walk)),
            figures=(
                Figure("all of it", ("walk",), ("copy",)),
                *(Figure(verb, (f"walk:{verb}",), ("copy",)) for verb in ("init", *OPERATIONS)),
            ),
        )
        yield Case(
            f"pages, {rows:,} rows",
            prepare=Job("project", ready, {"rows": rows}),
            jobs=(
                Job("copy", plain_copy, words="plain DuckDB copy"),
                Job("preview", preview),
                Job("pages", pages, words="list of projects"),
            ),
            figures=(
                Figure("first preview", ("preview",), ("copy",)),
                Figure("first preview, seconds", ("preview",), GOAL_PREVIEW, 1.0),
                *(Figure(_name(page), (f"pages:{_name(page)}",), ("pages:list",)) for page in PAGES),
                Figure("the longest wait", ("pages:longest",), GOAL_PAGE, 1.0),
                Figure("memory of the server", ("pages:server",), GOAL_MEMORY, 1.0, of=PEAK),
            ),
        )


BENCH = Bench("web", "The page in the browser, and the walk behind it", cases)
