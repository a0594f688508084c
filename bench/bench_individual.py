"""Frequencies and individual risk at 1M rows: complete keys, and keys with missing values, with weights.

The naive way, in the same run: Arrow's group-by of the rows, joined back to them, for the complete keys; with missing
values, one such group-by of the rows concerned for each pair of patterns of missing positions. All of it is timed.
"""

from __future__ import annotations

import itertools
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.risk.frequencies import row_frequencies
from celosia.risk.individual import global_risk, household_risk, individual_risk

ROWS = 1_000_000
SIZES = (2, 90, 60, 5, 12, 8)  # number of values of each key
MISSING, INCOMPLETE = 0.05, 3  # share of missing cells, in so many of the keys
SEED = 20_240_131
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]


def keys(rows: int, seed: int = SEED) -> tuple[Codes, Mask, NDArray[np.float64], Codes]:
    """Skewed keys, missing cells, weights and households."""
    rng = np.random.default_rng(seed)
    codes = np.stack([(size * rng.random(rows) ** 2).astype(np.int64) for size in SIZES], axis=1)
    empty = rng.random(codes.shape) < MISSING
    empty[:, INCOMPLETE:] = False
    return codes, empty, rng.uniform(1, 200, rows), rng.integers(0, rows // 3, rows)


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def naive_group(codes: Codes, weights: NDArray[np.float64]) -> pa.Table:
    """Sizes and weights of equal rows, beside each row."""
    names = [f"k{i}" for i in range(codes.shape[1])]
    rows = pa.table([*(pa.array(column) for column in codes.T), pa.array(weights)], [*names, "w"])
    grouped = rows.group_by(names).aggregate([("w", "count"), ("w", "sum")])
    return rows.join(grouped, names)


def naive_pairs(codes: Codes, empty: Mask, weights: NDArray[np.float64]) -> int:
    """A group-by for each pair of patterns, over their rows; how many pairs there are."""
    patterns, label = np.unique(empty, axis=0, return_inverse=True)
    label = label.reshape(-1)
    pairs = list(itertools.combinations_with_replacement(range(len(patterns)), 2))
    for one, other in pairs:
        common = ~(patterns[one] | patterns[other])
        chosen = (label == one) | (label == other)
        naive_group(codes[chosen][:, common], weights[chosen])
    return len(pairs)


def run(report: Callable[[str], None], rows: int = ROWS) -> None:
    """Print each time, the peak of memory and the ratio to the naive way."""
    codes, empty, weights, homes = keys(rows)
    row_frequencies(codes[:1000], weights[:1000], empty[:1000])
    ours, ours_peak = timed(lambda: row_frequencies(codes, weights)), _peak_megabytes()
    theirs = timed(lambda: naive_group(codes, weights))
    report(_line(f"frequencies {rows:,} rows, {len(SIZES)} keys", ours, ours_peak, theirs, "1 group-by"))
    found = row_frequencies(codes, weights)
    whole = timed(lambda: global_risk(individual_risk(found)))
    alone = timed(lambda: household_risk(individual_risk(found), homes))
    report(f"individual and global risk of {rows:,} rows {whole:.2f} s, with households {alone:.2f} s")
    both = timed(lambda: global_risk(individual_risk(row_frequencies(codes, weights))))
    report(_line("frequencies and individual risk", both, _peak_megabytes(), theirs, "1 group-by, no risk"))
    ours = timed(lambda: row_frequencies(codes, weights, empty, 0.5))
    ours_peak = _peak_megabytes()
    start = time.perf_counter()
    pairs = naive_pairs(codes, empty, weights)
    theirs = time.perf_counter() - start
    what = f"with {MISSING:.0%} missing in {INCOMPLETE} keys, alpha 0.5"
    report(_line(what, ours, ours_peak, theirs, f"{pairs} group-bys"))


def _line(what: str, ours: float, peak: int, theirs: float, peer: str) -> str:
    return f"{what}: {ours:.2f} s, peak {peak:,} MB; naive {theirs:.2f} s ({peer}): {theirs / ours:.1f}×"


def _peak_megabytes() -> int:
    """The highest so far in this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    run(lambda line: print(line, file=sys.stdout, flush=True))
