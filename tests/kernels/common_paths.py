"""Run as a script: walk the common paths in one process and print how often each made a kernel compile.

Knows commands and their smallest useful arguments. Prints as JSON, of each path, its exit code and the compilations.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from celosia.cli import main
from celosia.demo.project import demo_project
from celosia.demo.stats_tour import tour_stats
from celosia.demo.synthetic.discharges import write_discharges
from celosia.kernels import warm_up
from celosia.pipeline.assessment.apply_techniques import apply_to_frame
from tests.techniques.every_technique import EXAMPLES, people

ROWS = 300
QUASI = "SEXO,EDAD_AÑOS,COMUNA"


def paths(root: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Each common path by its name."""
    first, second = (str(write_discharges(root / f"{name}.csv", ROWS, 3)) for name in ("first", "second"))
    project = str(demo_project(root, "minsal", "minsal").project.folder)
    order = "SEXO,EDAD_AÑOS,COMUNA,PREVISION"
    yield "plan recipe", _command("plan", project, "--method", "recipe", "--order", order)
    for method in ("full-domain", "local", "cells"):
        yield f"plan {method}", _command("plan", project, "--method", method)
    yield "plan k l", _command("plan", project, "--k", "2", "--l", "2")
    for verb in ("plan", "explain", "run", "check", "intruder"):
        yield verb, _command(verb, project)
    yield "table", _command("table", first, "--rows", "SEXO", "--columns", "COMUNA")
    yield "table --margins", _command("table", first, "--rows", "SEXO", "--columns", "COMUNA", "--margins")
    yield "risk", _command("risk", first, "--quasi", QUASI, "--person", "RUN", "--people", "--special-uniques")
    yield "evaluate", _command("evaluate", first, second)
    yield "intruder FILE", _command("intruder", first, "--quasi", QUASI)
    yield "measure", _command("measure", first, "--quasi", QUASI, "--person", "RUN")
    for name, settings in EXAMPLES.items():
        yield f"apply {name}", _technique(name, settings)
    tour = str(tour_stats(root))
    # Its other table waits for a category that the tour adds by hand.
    yield "stats", _command("stats", "run", tour, "--table", "usuarios_por_region_y_edad,usuarios_por_region_y_genero")


def _command(*words: str) -> Callable[[], object]:
    return lambda: main(words)


def _technique(name: str, settings: dict[str, object]) -> Callable[[], object]:
    return lambda: apply_to_frame(people(), {"technique": name, **settings}, b"x" * 32) and 0


def walk(root: Path) -> dict[str, list[object]]:
    """Of each path: how it ended and how many kernels it compiled."""
    from celosia.kernels._jit import compilations

    outcomes: dict[str, list[object]] = {}
    for name, act in paths(root):
        before = compilations()
        with contextlib.redirect_stdout(io.StringIO()):
            ended = act()
        outcomes[name] = [ended, compilations() - before]
    return outcomes


if __name__ == "__main__":
    warm_up()
    print(json.dumps(walk(Path(sys.argv[1]))))
