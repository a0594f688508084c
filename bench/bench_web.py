"""The page on a file of a million rows: how long a reader waits, and how much memory the server holds.

A real server over a project of one million invented discharges. Times are also given as a ratio of opening the list of
projects, the page that shows least. Goals: first preview of the raw file within seconds, every page within 2 s once its
work is done, the server's own process below 400 MB whatever the file.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import psutil

ROWS = 1_000_000
REPEATS = 5
GOAL_PAGE, GOAL_PREVIEW, GOAL_MEMORY = 2.0, 5.0, 400
PAGES = ("", "/data", "/dictionary", "/request", "/hierarchies", "/risk", "/search", "/result")


def _timed(call) -> float:  # type: ignore[no-untyped-def]
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def prepare(root: Path) -> Path:
    """A million discharges as a file and as a project with a candidate."""
    from celosia.pipeline import (
        evaluation_report,
        init,
        make_plan,
        profile_report,
        risk_overview,
        run_plan,
        state_purpose,
        write_discharges,
    )

    raw = root / "egresos.csv"
    write_discharges(raw, ROWS, seed=1)
    project = root / "egresos"
    made = init(raw, project, ["minsal"])
    names = [one.name for one in made.variables if one.role is not None and one.role.value in ("quasi", "sensitive")]
    state_purpose(project, names[:5], "bench")
    for verb in (profile_report, risk_overview, make_plan, run_plan, evaluation_report):
        print(f"   {verb.__name__}: {_timed(lambda verb=verb: verb(project)):.1f} s", flush=True)
    return raw


def served(root: Path) -> tuple[subprocess.Popen[str], httpx.Client]:
    """The server and a browser that came in."""
    command = [str(Path(sys.executable).with_name("celosia")), "serve", str(root), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
    client = httpx.Client(base_url=address.split("/enter")[0], follow_redirects=True, timeout=60)
    client.get(address)
    return process, client


def memory(process: subprocess.Popen[str]) -> tuple[float, float]:
    """Megabytes of the server itself and of all its workers."""
    main = psutil.Process(process.pid)
    workers = sum(child.memory_info().rss for child in main.children(recursive=True))
    return main.memory_info().rss / 1e6, workers / 1e6


def main() -> int:
    """Print the figures; 1 where a goal is missed."""
    from celosia.pipeline import preview_source

    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        raw = prepare(root)
        preview = statistics.median(_timed(lambda: preview_source(raw)) for _ in range(REPEATS))
        print(f"   first preview of {raw.stat().st_size / 1e6:.0f} MB: {preview:.2f} s (goal {GOAL_PREVIEW:.0f})")
        missed += preview > GOAL_PREVIEW
        process, client = served(root)
        try:
            client.get("/p/egresos")  # a warm worker, as after the first page of the day
            least = statistics.median(_timed(lambda: client.get("/")) for _ in range(REPEATS))
            print(f"   list of projects: {least:.2f} s")
            for page in PAGES:
                client.get(f"/p/egresos{page}").raise_for_status()
                taken = [_timed(lambda page=page: client.get(f"/p/egresos{page}")) for _ in range(REPEATS)]
                middle, worst = statistics.median(taken), max(taken)
                ratio = middle / least
                print(f"   {page or '/status'}: {middle:.2f} s, worst {worst:.2f} s, {ratio:.1f} times the list")
                missed += worst > GOAL_PAGE
            own, workers = memory(process)
            print(f"   memory: server {own:.0f} MB (goal {GOAL_MEMORY}), its workers {workers:.0f} MB")
            missed += own > GOAL_MEMORY
        finally:
            process.terminate()
            process.wait()
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
