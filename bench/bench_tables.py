"""A cross table of three variables and 50,000 published cells, protected against exact recovery on one core.

The table has 60 × 40 × 20 categories with all margins and counts that vary with each category; two of them, with
about a tenth and a quarter of the cells below k = 5, with and without guarding against who is alone in a cell. Four
variables beside them show how the work grows. The naive way, in the same run and on a smaller table: one dense
elimination with NumPy, which only says what is recoverable, against the whole protection of the same table.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from celosia.tables import Flags, Grid, complete, recoverable

K = 5
SEED = 20_240_131
LARGE, SMALL, FOUR = (60, 40, 20), (24, 18, 12), (30, 20, 10, 6)
Counts = NDArray[np.int64]


def counts_of(shape: tuple[int, ...], mean: float, seed: int = SEED) -> Counts:
    """Counts that follow each category's own weight, unevenly."""
    rng = np.random.default_rng(seed)
    expected = rng.gamma(2.0, 0.5, shape)
    for axis, size in enumerate(shape):
        weight = rng.gamma(2.0, size=size) + 0.02
        expected = expected * weight.reshape([-1 if other == axis else 1 for other in range(len(shape))])
    return rng.poisson(expected * mean / expected.mean())


def with_margins(counts: Counts) -> Grid:
    """The grid of a table and all its margins, the cells of nobody left out of the sums."""
    for axis in range(counts.ndim):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    values, number = counts.reshape(-1), np.arange(counts.size).reshape(counts.shape)
    totals, parts = [], []
    for axis in range(counts.ndim):
        lines = np.moveaxis(number, axis, -1).reshape(-1, counts.shape[axis])
        lines = lines[values[lines[:, -1]] > 0]
        totals.append(lines[:, -1])
        parts += [line[values[line] > 0] for line in lines[:, :-1]]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    whole = np.concatenate(totals)
    alike = (np.ones(len(whole), bool), values + 1, np.ones(len(values), bool))
    return Grid(values, whole, starts, np.concatenate(parts), *alike)


def naive(grid: Grid, hidden: Flags, prime: int = 2**31 - 1) -> Flags:
    """What is recoverable, by dense elimination of all relations at once."""
    unknown = np.flatnonzero(hidden)
    table = np.zeros((len(grid.totals), grid.size), np.int64)
    for row, (whole, parts) in enumerate(grid.relations()):
        table[row, parts], table[row, whole] = 1, prime - 1
    table, rank = table[:, unknown], 0
    for column in range(len(unknown)):
        below = np.flatnonzero(table[rank:, column])
        if len(below):
            table[[rank, rank + below[0]]] = table[[rank + below[0], rank]]
            table[rank] = table[rank] * pow(int(table[rank, column]), -1, prime) % prime
            others = np.flatnonzero(table[:, column])
            others = others[others != rank]
            table[others] = (table[others] - table[others, column][:, None] * table[rank]) % prime
            rank += 1
    alone = table[:rank][(table[:rank] != 0).sum(axis=1) == 1]
    known = np.zeros(grid.size, bool)
    known[unknown[(alone != 0).argmax(axis=1)]] = True
    return known


def timed(work: Callable[[], Flags]) -> tuple[Flags, float]:
    """A result and its seconds."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def run(report: Callable[[str], None]) -> None:
    """Print the time of each protection, what it hides, and the ratio to the naive way."""
    _protected((6, 5, 4), 8.0, True)  # compiles
    for (shape, mean), guarded in product(((LARGE, 90.0), (LARGE, 24.0), (FOUR, 20.0)), (False, True)):
        report(_protected(shape, mean, guarded))
    grid = with_margins(counts_of(SMALL, 22.0))
    primary = (grid.values > 0) & (grid.values < K)
    known, theirs = timed(lambda: naive(grid, primary))
    found, ours = timed(lambda: recoverable(grid, primary))
    hidden, whole = timed(lambda: complete(grid, primary))
    agreed = "the same cells" if (known == found).all() else "DIFFERENT CELLS"
    report(f"{_name(SMALL)}: recoverable {ours:.3f} s; naive {theirs:.2f} s, {agreed}: {theirs / ours:.0f}×")
    report(f"{_name(SMALL)}: protected {whole:.3f} s, {(hidden & ~primary).sum():,} more hidden")


def _protected(shape: tuple[int, ...], mean: float, guarded: bool) -> str:
    grid = with_margins(counts_of(shape, mean))
    primary = (grid.values > 0) & (grid.values < K)
    singletons = grid.values == 1 if guarded else None
    before = int((recoverable(grid, primary) & primary).sum())
    hidden, seconds = timed(lambda: complete(grid, primary, singletons=singletons))
    after = int((recoverable(grid, hidden) & primary).sum())
    shown, small = int((grid.values > 0).sum()), int(primary.sum())
    what = f"{_name(shape)}, {shown:,} cells, {small / shown:.0%} below {K}{', singletons' if guarded else ''}"
    more = int((hidden & ~primary).sum())
    return f"{what}: {seconds:.2f} s, {more:,} more hidden, recoverable {before:,} → {after}, peak {_peak():,} MB"


def _name(shape: tuple[int, ...]) -> str:
    return "×".join(str(size) for size in shape)


def _peak() -> int:
    """Megabytes, the highest so far in this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    run(lambda line: print(line, file=sys.stdout, flush=True))
