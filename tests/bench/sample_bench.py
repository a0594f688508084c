"""Benches for the tests of the frame: quick, one that fails, one that cannot run here, one whose counts differ."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.frame import Bench, Case, Figure, Fixed, Job, Outcome, Same, Scale, Skip, Work


def given_seconds(folder: Path, seconds: list[float]) -> Work:
    """Reports the given seconds, the next one in each round."""
    counter = folder / f"round-{len(seconds)}"
    number = int(counter.read_text()) if counter.exists() else 0
    counter.write_text(str(number + 1))
    return lambda: Outcome({"rows": 7, "loss": 0.5}, seconds[number % len(seconds)])


def write_data(folder: Path) -> Work:
    """Writes the file that the other jobs read."""
    return lambda: {"written": (folder / "data.txt").write_text("x")}


def slow_to_prepare(folder: Path) -> Work:
    """Only what it returns is timed; it reads the prepared data; what it prints is not part of its result."""
    time.sleep(0.3)
    print("begin")

    def work() -> Callable[[], dict[str, Any]]:
        def facts() -> dict[str, Any]:
            time.sleep(0.3)
            return {"text": (folder / "data.txt").read_text()}

        return facts

    return work


def large_child(folder: Path) -> Work:
    """Its child process uses 200 MB for a second; it used twice as much itself before the clock started."""
    memory = bytearray(400_000_000)
    del memory
    code = "import time; held = bytearray(200_000_000); time.sleep(1)"
    return lambda: {"code": subprocess.run([sys.executable, "-c", code], check=True).returncode}


def fail(folder: Path) -> Work:
    """Fails in the folder of the run."""

    def work() -> None:
        raise ValueError(f"nothing fits in {folder}")

    return work


def absent(folder: Path) -> Work:
    """Needs what is not here."""
    raise Skip("the peer is not installed")


def endless(folder: Path) -> Work:
    """Never ends."""
    return lambda: time.sleep(600)


def counting(folder: Path, rows: int) -> Work:
    """Reports the given number of rows."""
    return lambda: {"rows": rows}


OURS, THEIRS = Job("ours", given_seconds, {"seconds": [2.0, 6.0, 4.0]}), Job("plain", given_seconds, {"seconds": [2.0]})


def cases(scale: Scale) -> Iterator[Case]:
    """One for each number of rows."""
    for rows in scale.rows((100, 1000), (10, 20)):
        yield Case(
            f"{rows} rows",
            prepare=Job("data", write_data),
            jobs=(OURS, THEIRS),
            figures=(
                Figure("all", ("ours",), ("plain",), 1.5, series="all", rows=rows),
                Figure("loss", ("ours",), Fixed(1.0, "one"), 1.0, of="loss"),
                Figure("facts", ("ours:loss",), ("plain:loss",)),
            ),
            repeats=3,
        )


def case_of(*jobs: Job, same: tuple[Same, ...] = ()) -> Case:
    """The first job against the last."""
    return Case("case", jobs, (Figure("figure", (jobs[0].name,), (jobs[-1].name,)),), same=same, repeats=1)


BENCH = Bench("sample", "A sample", cases)
FAILING = Bench("failing", "One fails", lambda scale: (case_of(Job("bad", fail), THEIRS), *cases(scale)))
