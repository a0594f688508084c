"""How long optimal searches take, against one scan of every node by the same kernel.

    python bench/bench_search.py [rows in millions]

Makes its own data from a fixed seed; uses the Adult table too where ../shared exists. Prints, per search, processor
seconds warm, the ratio to a scan of all nodes (measured on up to 400 nodes spread over the lattice and scaled),
nodes checked, and the peak memory of the process during the search.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from celosia import kernels
from celosia.evaluation import Objective
from celosia.hierarchy import CompiledHierarchy
from celosia.risk.criteria import criterion_from
from celosia.solver import SearchProblem, SearchResult, search
from celosia.tuples import Tuples

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


def made_problem(shape: dict, rows: int, limit: str, criteria: list[dict], diagnoses: int = 0) -> SearchProblem:
    """A search over a made table."""
    columns, sizes = made(shape, rows, diagnoses)
    quasi = tuples_of({name: columns[name] for name in shape}, sizes)
    hierarchies = {name: halving(name, size, factors) for name, (size, factors) in shape.items()}
    sensitive = {"diagnosis": tuples_of(columns, sizes)} if diagnoses else {}
    rules = tuple(criterion_from(data) for data in criteria)
    return SearchProblem(quasi, hierarchies, rules, Fraction(limit), Objective(), sensitive)


def adult_problem(sensitive: bool, limit: str, models: list[str]) -> SearchProblem:
    """A search over the Adult table."""
    sys.path.insert(0, str(REPOSITORY / "tests"))
    from solver import arx_adult

    quasi = next(c for c in arx_adult.cases(ADULT) if c["id"].startswith("adult8" if sensitive else "adult9"))
    return arx_adult.problem_of(ADULT, quasi | {"models": models, "suppression_limit": limit, "metric": "loss"})


def problems(millions: float) -> Iterator[tuple[str, SearchProblem]]:
    """The searches of the bench."""
    if ADULT.is_dir():
        for limit in ("0", "0.05", "1"):
            yield f"Adult 9, k=5, {limit}", adult_problem(False, limit, ["k:5"])
        for model in ("distinct-l:occupation:2", "t-equal:occupation:0.2", "t-hier:occupation:0.2:"):
            for limit in ("0.05", "1"):
                yield f"Adult 8, k=5, {model}, {limit}", adult_problem(True, limit, ["k:5", model])
    five, two = [{"criterion": "k", "k": 5}], [{"criterion": "k", "k": 2}]
    for limit in ("0", "0.05"):
        yield f"survey 20,000 × 10, k=5, {limit}", made_problem(SURVEY, 20_000, limit, five)
    rows = int(millions * 1_000_000)
    yield f"discharges {rows:,} × 7, k=2, 0.05", made_problem(DISCHARGES, rows, "0.05", two)
    diverse = [*two, {"criterion": "distinct_l", "variable": "diagnosis", "l": 2}]
    yield f"discharges {rows:,} × 7, k=l=2, 1", made_problem(DISCHARGES, rows, "1", diverse, 1500)
    yield f"discharges {5 * rows:,} × 7, k=5, 0.05", made_problem(DISCHARGES, 5 * rows, "0.05", five)


def seconds(problem: SearchProblem, times: int = 3) -> tuple[float, SearchResult]:
    """Least processor seconds of a few runs, and the answer."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        answer = search(problem)
        taken.append(time.process_time() - start)
    assert isinstance(answer, SearchResult)
    return min(taken), answer


def scan_seconds(problem: SearchProblem) -> float:
    """Processor seconds of evaluating every node with the same kernel, scaled from a spread of nodes."""
    from celosia.solver._evaluate import Evaluator

    depths = [high - low + 1 for low, high in zip(problem.lowest, problem.highest, strict=True)]
    chosen = np.linspace(0, problem.nodes - 1, min(SCANNED, problem.nodes)).astype(np.int64)
    evaluator = Evaluator(problem, problem.quasi.n_rows)
    start = time.process_time()
    for levels in zip(*np.unravel_index(chosen, depths), strict=True):
        evaluator.check(tuple(int(level) for level in levels))
    return (time.process_time() - start) * problem.nodes / len(chosen)


def peak_megabytes(problem: SearchProblem) -> float:
    """Peak memory of the process during one search, the tuples included (since its start where Linux is absent)."""
    reset, status = Path("/proc/self/clear_refs"), Path("/proc/self/status")
    if not reset.exists():
        search(problem)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    reset.write_text("5")
    search(problem)
    return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024


def bench_search(millions: float = 1.0) -> None:
    """Print one line per search."""
    kernels.warm_up()
    print(f"{'search':48s} {'seconds':>8s} {'of a scan':>10s} {'checked':>8s} {'nodes':>8s} {'MB':>6s}")
    for name, problem in problems(millions):
        taken, answer = seconds(problem)
        share = taken / scan_seconds(problem)
        memory = peak_megabytes(problem)
        figures = f"{taken:8.3f} {share:10.4f} {answer.nodes_checked:8,d} {answer.nodes:8,d} {memory:6,.0f}"
        print(f"{name:48s} {figures}", flush=True)


def bench_cold(rows: int = 30_000) -> None:
    """Print what a person waits for `celosia plan` in a fresh process: kernels kept, and never compiled before."""
    import os
    import subprocess
    import tempfile

    walk = (
        "import sys; from pathlib import Path; from celosia.pipeline import init, make_plan, state_purpose,"
        "write_discharges\n"
        "home = Path(sys.argv[1]); raw = write_discharges(home / 'e.csv', int(sys.argv[2]), 1)\n"
        "init(str(raw), home / 'p', ('minsal',))\n"
        "state_purpose(home / 'p', ['SEXO', 'EDAD_AÑOS', 'COMUNA', 'PREVISION', 'DIAG1'], 'banco')\n"
    )
    plan = "import sys; from celosia.cli import main; sys.exit(main(['plan', sys.argv[1], '--json']))"
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([sys.executable, "-c", walk, home, str(rows)], check=True, stdout=subprocess.DEVNULL)
        for label, cache in (("kernels kept", None), ("kernels compiled anew", tempfile.mkdtemp(dir=home))):
            settings = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
            start = time.perf_counter()
            command = [sys.executable, "-c", plan, str(Path(home) / "p")]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=settings)
            print(
                f"celosia plan, {rows:,} rows, fresh process, {label}: {time.perf_counter() - start:.1f} s", flush=True
            )


if __name__ == "__main__":
    bench_cold()
    bench_search(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
