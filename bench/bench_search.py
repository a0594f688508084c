"""How long optimal searches take, against one scan of every node by the same kernel.

Makes its own data from a fixed seed; uses the Adult table too where ../shared exists. Processor seconds, kernels warm,
the least of three; the scan is measured on up to 400 nodes spread over the lattice and scaled. Then what a person
waits for `celosia plan` in a fresh process, against a Python that does nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bench.frame import Bench, Case, Figure, Job, Outcome, Scale, Work
from celosia import kernels
from celosia.evaluation.objective import Objective
from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.criteria import criterion_from
from celosia.solver.optimal import search
from celosia.solver.problem import SearchProblem, SearchResult
from celosia.tuples.table import Tuples

REPOSITORY = Path(__file__).resolve().parents[1]
ADULT = REPOSITORY.parent / "shared" / "reference" / "arx" / "adult"
SCANNED = 400
Columns = dict[str, np.ndarray]


def halving(name: str, size: int, factors: tuple[int, ...]) -> CompiledHierarchy:
    """A hierarchy over 0..size-1 whose levels divide the codes by these factors; the last level is one group."""
    maps = [np.arange(size) // factor for factor in (1, *factors)] + [np.zeros(size, int)]
    labels = tuple(tuple(str(i) for i in range(int(m.max()) + 1)) for m in maps)
    shares = tuple(np.bincount(m) / size for m in maps)
    return CompiledHierarchy(name, labels, tuple(m.astype(np.int32) for m in maps), shares, size)


def tuples_of(columns: Columns, sizes: dict[str, int]) -> Tuples:
    """The tuple table of whole columns."""
    key = np.zeros(len(next(iter(columns.values()))), np.int64)
    for name, column in columns.items():
        key = key * sizes[name] + column
    distinct, rows = np.unique(key, return_counts=True)
    codes = np.empty((len(distinct), len(columns)), np.int32)
    for place, name in reversed(list(enumerate(columns))):
        codes[:, place] = distinct % sizes[name]
        distinct = distinct // sizes[name]
    vocabularies = tuple(tuple(f"{i:06d}" for i in range(sizes[name])) for name in columns)
    return Tuples(tuple(columns), vocabularies, codes, rows)


def skewed(rng: np.random.Generator, rows: int, size: int, power: float) -> np.ndarray:
    """Codes of which the small ones are common."""
    return (size * rng.random(rows) ** power).astype(np.int64)


SURVEY = {
    "sex": (2, ()),
    "age": (90, (5, 10, 20)),
    "region": (16, (4,)),
    "civil": (6, (3,)),
    "school": (18, (3, 6)),
    "work": (8, (4,)),
    "trade": (20, (5,)),
    "tenure": (6, (3,)),
    "origin": (30, (10,)),
    "income": (40, (5, 20)),
}
DISCHARGES = {
    "sex": (2, ()),
    "age": (100, (5, 10, 20, 40)),
    "comuna": (346, (6, 24)),
    "insurance": (5, ()),
    "month": (12, (3, 6)),
    "country": (60, (10,)),
    "stay": (60, (2, 8, 32)),
}

SHAPES = {"survey": SURVEY, "discharges": DISCHARGES}
POWER = {"sex": 1.0, "month": 1.0, "age": 1.2, "country": 12.0, "stay": 6.0}  # how unevenly values occur


def made(shape: dict[str, tuple[int, tuple[int, ...]]], rows: int, diagnoses: int) -> tuple[Columns, dict[str, int]]:
    """Columns of a made table, and the sizes of their vocabularies."""
    rng = np.random.default_rng(20260101)
    sizes = {name: size for name, (size, _) in shape.items()}
    columns = {name: skewed(rng, rows, size, POWER.get(name, 2.5)) for name, size in sizes.items()}
    if diagnoses:
        columns["diagnosis"] = skewed(rng, rows, diagnoses, 2.0)
        sizes["diagnosis"] = diagnoses
    return columns, sizes


def made_problem(
    shape: str, rows: int, limit: str, criteria: list[dict[str, Any]], diagnoses: int = 0
) -> SearchProblem:
    """A search over a made table."""
    variables = SHAPES[shape]
    columns, sizes = made(variables, rows, diagnoses)
    quasi = tuples_of({name: columns[name] for name in variables}, sizes)
    hierarchies = {name: halving(name, size, factors) for name, (size, factors) in variables.items()}
    sensitive = {"diagnosis": tuples_of(columns, sizes)} if diagnoses else {}
    rules = tuple(criterion_from(data) for data in criteria)
    return SearchProblem(quasi, hierarchies, rules, Fraction(limit), Objective(), sensitive)


def adult_problem(sensitive: bool, limit: str, models: list[str]) -> SearchProblem:
    """A search over the Adult table."""
    from tests.solver import arx_adult

    quasi = next(c for c in arx_adult.cases(ADULT) if c["id"].startswith("adult8" if sensitive else "adult9"))
    return arx_adult.problem_of(ADULT, quasi | {"models": models, "suppression_limit": limit, "metric": "loss"})


def searched(folder: Path, make: str, asked: dict[str, Any]) -> Work:
    """The optimal search of a problem."""
    problem = _problem(make, asked)
    kernels.warm_up()

    def work() -> dict[str, int]:
        answer = search(problem)
        assert isinstance(answer, SearchResult)
        return {"checked": answer.nodes_checked, "nodes": answer.nodes, "tuples": len(problem.quasi.rows)}

    return work


def scanned(folder: Path, make: str, asked: dict[str, Any]) -> Work:
    """Evaluating every node with the same kernel, scaled from a spread of nodes."""
    from celosia.solver.evaluate import Evaluator

    problem = _problem(make, asked)
    kernels.warm_up()
    depths = [high - low + 1 for low, high in zip(problem.lowest, problem.highest, strict=True)]
    chosen = np.linspace(0, problem.nodes - 1, min(SCANNED, problem.nodes)).astype(np.int64)

    def work() -> Outcome:
        evaluator = Evaluator(problem, problem.quasi.n_rows)
        start = time.process_time()
        for levels in zip(*np.unravel_index(chosen, depths), strict=True):
            evaluator.check(tuple(int(level) for level in levels))
        return Outcome({"scanned": len(chosen)}, (time.process_time() - start) * problem.nodes / len(chosen))

    return work


def planned_project(folder: Path, rows: int) -> Work:
    """A project ready to be planned."""
    from celosia.demo.synthetic.discharges import write_discharges
    from celosia.pipeline.intake.dictionary_files import state_purpose
    from celosia.pipeline.intake.init_project import init

    def work() -> None:
        raw = write_discharges(folder / "e.csv", rows, 1)
        init(str(raw), folder / "p", ("minsal",))
        state_purpose(folder / "p", ["SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "DIAG1"], "banco")

    return work


def plan_command(folder: Path, kept: bool) -> Work:
    """`celosia plan` in a fresh process, its kernels kept from before or never compiled."""
    code = "import sys; from celosia.cli import main; sys.exit(main(['plan', sys.argv[1], '--json']))"
    fresh = {} if kept else {"NUMBA_CACHE_DIR": tempfile.mkdtemp(dir=folder)}
    return _command([sys.executable, "-c", code, str(folder / "p")], {**os.environ, **fresh})


def nothing(folder: Path) -> Work:
    """A Python that starts and ends."""
    return _command([sys.executable, "-c", "pass"], dict(os.environ))


def _command(command: Sequence[str], settings: dict[str, str]) -> Work:
    def work() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=settings)

    return work


def _problem(make: str, asked: dict[str, Any]) -> SearchProblem:
    makers: dict[str, Callable[..., SearchProblem]] = {"adult": adult_problem, "made": made_problem}
    return makers[make](**asked)


def problems(rows: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The searches of the bench: name, who makes the problem, and from what."""
    if ADULT.is_dir():
        for limit in ("0", "0.05", "1"):
            yield f"Adult 9, k=5, {limit}", "adult", {"sensitive": False, "limit": limit, "models": ["k:5"]}
        for model in ("distinct-l:occupation:2", "t-equal:occupation:0.2", "t-hier:occupation:0.2:"):
            for limit in ("0.05", "1"):
                asked = {"sensitive": True, "limit": limit, "models": ["k:5", model]}
                yield f"Adult 8, k=5, {model}, {limit}", "adult", asked
    five, two = [{"criterion": "k", "k": 5}], [{"criterion": "k", "k": 2}]
    for limit in ("0", "0.05"):
        few = rows // 50
        yield f"survey {few:,} × 10, k=5, {limit}", "made", _made("survey", few, limit, five)
    yield f"discharges {rows:,} × 7, k=2, 0.05", "made", _made("discharges", rows, "0.05", two)
    diverse = [*two, {"criterion": "distinct_l", "variable": "diagnosis", "l": 2}]
    yield f"discharges {rows:,} × 7, k=l=2, 1", "made", _made("discharges", rows, "1", diverse) | {"diagnoses": 1500}
    yield f"discharges {5 * rows:,} × 7, k=5, 0.05", "made", _made("discharges", 5 * rows, "0.05", five)


def _made(shape: str, rows: int, limit: str, criteria: list[dict[str, Any]]) -> dict[str, Any]:
    return {"shape": shape, "rows": rows, "limit": limit, "criteria": criteria}


def cases(scale: Scale) -> Iterator[Case]:
    """The command in a fresh process, then every search."""
    yield _cold(2_000 if scale.small else 30_000)
    for rows in scale.rows((1_000_000,), (20_000,)):
        for name, make, asked in problems(rows):
            given = {"make": make, "asked": asked}
            yield Case(
                name,
                jobs=(
                    Job("scan", scanned, given, "a scan of all nodes", clock="processor"),
                    Job("search", searched, given, clock="processor", best_of=3),
                ),
                figures=(Figure("optimal search", ("search",), ("scan",)),),
            )


def _cold(rows: int) -> Case:
    return Case(
        f"celosia plan, {rows:,} rows, fresh process",
        prepare=Job("project", planned_project, {"rows": rows}),
        jobs=(
            Job("python", nothing, words="python -c pass", best_of=3),
            Job("plan", plan_command, {"kept": True}, "the same with kernels kept"),
            Job("anew", plan_command, {"kept": False}),
        ),
        figures=(
            Figure("kernels kept", ("plan",), ("python",)),
            Figure("kernels compiled anew", ("anew",), ("plan",)),
        ),
    )


BENCH = Bench("search", "The optimal search", cases)
