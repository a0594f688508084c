"""Special uniques (SUDA2) against a plain group-by per combination of variables, in the same run.

Each peer against us from where it starts: DuckDB, on a table of text already in memory, against us from text to
scores; NumPy, on columns already coded, against our search from the tuple table. All must find the same minimal
uniques. DuckDB only counts the unique rows of each combination; NumPy also keeps scores and contributions, as we do.
Times are the best of three. Goal: at least five times faster.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.model.special_uniques import Scoring
from celosia.risk.special_uniques import set_weights, special_uniques
from celosia.tuples import Tuples, group_codes, pack_keys

SIX = (2, 18, 16, 60, 5, 12)  # sex, age group, region, comuna, insurance, month
FINE = (100, 95, 16, 346, 9, 12)  # nearly everybody is unique
TWELVE = (2, 18, 16, 60, 5, 4, 12, 6, 9, 8, 7, 3)
ROWS = 100_000
GOAL = 5
SEED = 20_240_131
Codes = NDArray[np.int32]


def rows_of_codes(rows: int, sizes: Sequence[int]) -> Codes:
    """Skewed codes: few frequent values, many rare ones."""
    rng = np.random.default_rng(SEED)
    weights = [1 / np.arange(1, size + 1) for size in sizes]
    drawn = [rng.choice(size, rows, p=each / each.sum()) for size, each in zip(sizes, weights, strict=True)]
    return np.stack(drawn, axis=1).astype(np.int32)


def text_columns(codes: Codes, sizes: Sequence[int]) -> pa.Table:
    """The same as text."""
    labels = [pa.array(words) for words in vocabularies(sizes)]
    return pa.table({f"c{v}": labels[v].take(pa.array(codes[:, v])) for v in range(len(sizes))})


def vocabularies(sizes: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """Values in code-point order."""
    return tuple(tuple(f"{value:04d}" for value in range(size)) for size in sizes)


def tuple_table(codes: Codes, sizes: Sequence[int]) -> Tuples:
    """The compressed table."""
    first, label = group_codes(codes, sizes)
    names = tuple(f"c{v}" for v in range(len(sizes)))
    return Tuples(names, vocabularies(sizes), codes[first], np.bincount(label).astype(np.int64))


def from_text(table: pa.Table) -> NDArray[np.int64]:
    """Coding, tuple table, minimal uniques and scores."""
    from bench.bench_measure import coded

    parts = [coded(table[name]) for name in table.column_names]
    sizes = [len(vocabulary) for vocabulary, _ in parts]
    return from_tuples(tuple_table(np.stack([codes for _, codes in parts], axis=1), sizes))


def from_tuples(tuples: Tuples) -> NDArray[np.int64]:
    """Minimal uniques by size, with all scores made on the way."""
    return special_uniques(tuples).by_size.sum(axis=0, dtype=np.int64)


def duckdb_groups(table: pa.Table) -> None:
    """A group-by for each combination that counts its unique rows, with all threads."""
    import duckdb

    connection = duckdb.connect()
    connection.register("arrow", table)
    connection.execute("CREATE TABLE t AS FROM arrow")
    for size in range(1, table.num_columns + 1):
        for chosen in combinations(table.column_names, size):
            grouped = f"SELECT count(*) f, first(rowid) r FROM t GROUP BY {', '.join(chosen)}"
            connection.execute(f"SELECT r FROM ({grouped}) WHERE f = 1").to_arrow_table()


def numpy_groups(codes: Codes, sizes: Sequence[int]) -> NDArray[np.int64]:
    """`np.unique` of the packed codes for each combination, remembering which rows were unique in it."""
    variables, weights = len(sizes), set_weights(len(sizes), Scoring.ORIGINAL)
    unique: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    by_size = np.zeros((len(codes), variables), np.int32)
    part = np.zeros((len(codes), variables))
    for size in range(1, variables + 1):
        for chosen in combinations(range(variables), size):
            key = pack_keys(codes[:, chosen], [sizes[v] for v in chosen])
            _, label, count = np.unique(key, return_inverse=True, return_counts=True)
            unique[chosen] = count[label] == 1
            minimal = unique[chosen].copy()
            for smaller in combinations(chosen, size - 1):
                if smaller:
                    minimal &= ~unique[smaller]
            by_size[minimal, size - 1] += 1
            for v in chosen:
                part[minimal, v] += weights[size - 1]
    return by_size.sum(axis=0, dtype=np.int64)


def best_of_three(work: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    """The shortest of three runs, and what it gave."""
    seconds, found = [], None
    for _ in range(3):
        start = time.perf_counter()
        found = work(*given)
        seconds.append(time.perf_counter() - start)
    return min(seconds), found


def run(report: Callable[[str], None], rows: int = ROWS) -> bool:
    """Print times, peaks and ratios; whether all counts agreed."""
    from_tuples(tuple_table(rows_of_codes(1_000, SIX), SIX))  # compiling is not what we measure
    agreed = [_compared(report, rows, sizes) for sizes in (SIX, FINE)]
    seconds, found = best_of_three(from_tuples, tuple_table(rows_of_codes(20_000, TWELVE), TWELVE))
    report(f"SUDA2 20,000 rows × 12 variables: {seconds:.2f} s, {found.sum():,} minimal uniques, {_peak()}")
    return all(agreed)


def _compared(report: Callable[[str], None], rows: int, sizes: Sequence[int]) -> bool:
    codes = rows_of_codes(rows, sizes)
    table, tuples = text_columns(codes, sizes), tuple_table(codes, sizes)
    whole, found = best_of_three(from_text, table)
    alone, again = best_of_three(from_tuples, tuples)
    what = f"SUDA2 {rows:,} rows × {len(sizes)} variables"
    report(f"{what}: {whole:.2f} s from text, {alone:.2f} s from tuples, {found.sum():,} minimal uniques, {_peak()}")
    theirs, _ = best_of_three(duckdb_groups, table)
    report(f"  duckdb {theirs:6.2f} s: {theirs / whole:.1f}× ours from text (goal {GOAL}×: {_verdict(theirs / whole)})")
    theirs, told = best_of_three(numpy_groups, codes, sizes)
    same = bool((told == found).all() and (again == found).all())
    ratio = theirs / alone
    report(f"  numpy  {theirs:6.2f} s: {ratio:.1f}× ours from tuples (goal {GOAL}×: {_verdict(ratio)})")
    report(f"  {'the same counts' if same else 'OTHER COUNTS'}")
    return same


def _verdict(ratio: float) -> str:
    return "reached" if ratio >= GOAL else "MISSED"


def _peak() -> str:
    return f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MB"


if __name__ == "__main__":
    sys.exit(0 if run(lambda line: print(line, file=sys.stdout, flush=True)) else 1)
