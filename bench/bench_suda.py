"""Special uniques (SUDA2) against a plain group-by per combination of variables, in the same run.

Each peer against us from where it starts: DuckDB, on a table of text already in memory, against us from text to
scores; NumPy, on columns already coded, against our search from the tuple table. All must find the same minimal
uniques. DuckDB only counts the unique rows of each combination; NumPy also keeps scores and contributions, as we do.
Times are the best of three. Goal: at least five times faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bench.frame import Bench, Case, Figure, Job, Same, Scale, Work
from celosia.model.reports.special_uniques import Scoring
from celosia.risk.special_uniques import set_weights, special_uniques
from celosia.tuples.table import Tuples, group_codes, pack_keys

SIX = (2, 18, 16, 60, 5, 12)  # sex, age group, region, comuna, insurance, month
FINE = (100, 95, 16, 346, 9, 12)  # nearly everybody is unique
TWELVE = (2, 18, 16, 60, 5, 4, 12, 6, 9, 8, 7, 3)
ROWS, SMALL = (100_000,), (2_000,)
GOAL = 1 / 5
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


def minimal_uniques(tuples: Tuples) -> dict[str, list[int]]:
    """Minimal uniques by size, with all scores made on the way."""
    return {"uniques": special_uniques(tuples).by_size.sum(axis=0, dtype=np.int64).tolist()}


def from_text(folder: Path, rows: int, sizes: Sequence[int]) -> Work:
    """Coding, tuple table, minimal uniques and scores."""
    from bench.bench_measure import coded

    table = text_columns(rows_of_codes(rows, sizes), sizes)
    _compile()

    def work() -> dict[str, list[int]]:
        parts = [coded(table[name]) for name in table.column_names]
        found = [len(vocabulary) for vocabulary, _ in parts]
        return minimal_uniques(tuple_table(np.stack([codes for _, codes in parts], axis=1), found))

    return work


def from_tuples(folder: Path, rows: int, sizes: Sequence[int]) -> Work:
    """From the tuple table alone."""
    tuples = tuple_table(rows_of_codes(rows, sizes), sizes)
    _compile()
    return lambda: minimal_uniques(tuples)


def duckdb_groups(folder: Path, rows: int, sizes: Sequence[int]) -> Work:
    """A group-by for each combination that counts its unique rows, with all threads."""
    import duckdb

    table = text_columns(rows_of_codes(rows, sizes), sizes)

    def work() -> None:
        connection = duckdb.connect()
        connection.register("arrow", table)
        connection.execute("CREATE TABLE t AS FROM arrow")
        for size in range(1, table.num_columns + 1):
            for chosen in combinations(table.column_names, size):
                grouped = f"SELECT count(*) f, first(rowid) r FROM t GROUP BY {', '.join(chosen)}"
                connection.execute(f"SELECT r FROM ({grouped}) WHERE f = 1").to_arrow_table()

    return work


def numpy_groups(folder: Path, rows: int, sizes: Sequence[int]) -> Work:
    """`np.unique` of the packed codes for each combination, remembering which rows were unique in it."""
    codes = rows_of_codes(rows, sizes)
    return lambda: {"uniques": uniques_by_numpy(codes, sizes).tolist()}


def uniques_by_numpy(codes: Codes, sizes: Sequence[int]) -> NDArray[np.int64]:
    """Minimal uniques by size, with scores and contributions."""
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


def _compile() -> None:
    minimal_uniques(tuple_table(rows_of_codes(1_000, SIX), SIX))


def cases(scale: Scale) -> Iterator[Case]:
    """Six variables, coarse and fine, against both; twelve against NumPy."""
    for rows in scale.rows(ROWS, SMALL):
        yield _six(f"{rows:,} rows × 6 variables", {"rows": rows, "sizes": SIX})
        yield _six(f"{rows:,} rows × 6 fine variables", {"rows": rows, "sizes": FINE})
        asked = {"rows": rows // 5, "sizes": TWELVE}
        yield Case(
            f"{rows // 5:,} rows × 12 variables",
            jobs=(
                Job("numpy", numpy_groups, asked, "np.unique of each combination"),
                Job("tuples", from_tuples, asked, best_of=3),
            ),
            figures=(Figure("from the tuple table", ("tuples",), ("numpy",), GOAL),),
            same=(Same("uniques", ("tuples", "numpy")),),
        )


def _six(name: str, asked: dict[str, object]) -> Case:
    return Case(
        name,
        jobs=(
            Job("duckdb", duckdb_groups, asked, "DuckDB's group-by of each combination", best_of=3),
            Job("text", from_text, asked, best_of=3),
            Job("numpy", numpy_groups, asked, "np.unique of each combination", best_of=3),
            Job("tuples", from_tuples, asked, best_of=3),
        ),
        figures=(
            Figure("from text", ("text",), ("duckdb",), GOAL),
            Figure("from the tuple table", ("tuples",), ("numpy",), GOAL),
        ),
        same=(Same("uniques", ("text", "tuples", "numpy")),),
    )


BENCH = Bench("suda", "Special uniques", cases)
