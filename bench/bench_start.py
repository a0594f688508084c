"""What a person waits for a command to begin: `celosia --help`, and `celosia measure` on a small file.

Fresh processes, kernels kept from before, against a Python that starts and ends. Goals: 0.3 s and 2.5 s.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.frame import Bench, Case, Figure, Fixed, Job, Scale, Work

ROWS = 1_000
QUASI = ("SEXO", "EDAD_AÑOS", "COMUNA")
HELP, MEASURE = Fixed(0.3, "0.3 s"), Fixed(2.5, "2.5 s")


def small_file(folder: Path) -> Work:
    """A file, measured once so that every kernel is there."""
    from celosia.demo.synthetic.discharges import write_discharges

    def work() -> None:
        write_discharges(folder / "egresos.csv", ROWS, 1)
        measuring(folder)()

    return work


def nothing(folder: Path) -> Work:
    """A Python that starts and ends."""
    return _command([sys.executable, "-c", "pass"])


def helping(folder: Path) -> Work:
    """The list of commands."""
    return _command([_celosia(), "--help"])


def measuring(folder: Path) -> Work:
    """The measures of a small file."""
    chosen = [word for name in QUASI for word in ("--quasi", name)]
    return _command([_celosia(), "measure", str(folder / "egresos.csv"), *chosen, "--json"])


def _celosia() -> str:
    return str(Path(sys.executable).with_name("celosia"))


def _command(command: Sequence[str]) -> Work:
    def work() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    return work


def cases(scale: Scale) -> Iterator[Case]:
    """One case: it is small anyway."""
    yield Case(
        f"a fresh process, {ROWS:,} rows",
        prepare=Job("file", small_file),
        jobs=(
            Job("python", nothing, words="python -c pass", best_of=3),
            Job("help", helping, words="celosia --help", best_of=3),
            Job("measure", measuring, words="celosia measure", best_of=3),
        ),
        figures=(
            Figure("celosia --help", ("help",), ("python",)),
            Figure("celosia --help, seconds", ("help",), HELP, 1.0),
            Figure("celosia measure", ("measure",), ("python",)),
            Figure("celosia measure, seconds", ("measure",), MEASURE, 1.0),
        ),
    )


BENCH = Bench("start", "Cold start of a command", cases)
