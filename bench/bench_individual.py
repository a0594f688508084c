"""Frequencies and individual risk at 1M rows: complete keys, and keys with missing values, with weights.

The naive way, in the same run: Arrow's group-by of the rows, joined back to them, for the complete keys; with missing
values, one such group-by of the rows concerned for each pair of patterns of missing positions. All of it is timed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bench.frame import Bench, Case, Figure, Job, Scale, Work
from celosia.risk.frequencies import row_frequencies
from celosia.risk.individual import global_risk, household_risk, individual_risk

ROWS, SMALL = (1_000_000,), (5_000,)
SIZES = (2, 90, 60, 5, 12, 8)  # number of values of each key
MISSING, INCOMPLETE = 0.05, 3  # share of missing cells, in so many of the keys
SEED = 20_240_131
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


def keys(rows: int, seed: int = SEED) -> tuple[Codes, Mask, Floats, Codes]:
    """Skewed keys, missing cells, weights and households; every way is used once on a few of them."""
    rng = np.random.default_rng(seed)
    codes = np.stack([(size * rng.random(rows) ** 2).astype(np.int64) for size in SIZES], axis=1)
    empty = rng.random(codes.shape) < MISSING
    empty[:, INCOMPLETE:] = False
    weights, homes = rng.uniform(1, 200, rows), rng.integers(0, rows // 3, rows)
    _warm(codes[:1000], empty[:1000], weights[:1000], homes[:1000])
    return codes, empty, weights, homes


def _warm(codes: Codes, empty: Mask, weights: Floats, homes: Codes) -> None:
    """First use of the libraries and of the compiled loops is not what we measure."""
    row_frequencies(codes, weights, empty, 0.5)
    risk = individual_risk(row_frequencies(codes, weights))
    global_risk(risk)
    household_risk(risk, homes)
    naive_group(codes, weights)


def naive_group(codes: Codes, weights: Floats) -> pa.Table:
    """Sizes and weights of equal rows, beside each row."""
    names = [f"k{i}" for i in range(codes.shape[1])]
    rows = pa.table([*(pa.array(column) for column in codes.T), pa.array(weights)], [*names, "w"])
    grouped = rows.group_by(names).aggregate([("w", "count"), ("w", "sum")])
    return rows.join(grouped, names)


def naive_pairs(codes: Codes, empty: Mask, weights: Floats) -> int:
    """A group-by for each pair of patterns, over their rows; how many pairs there are."""
    patterns, label = np.unique(empty, axis=0, return_inverse=True)
    label = label.reshape(-1)
    pairs = list(itertools.combinations_with_replacement(range(len(patterns)), 2))
    for one, other in pairs:
        common = ~(patterns[one] | patterns[other])
        chosen = (label == one) | (label == other)
        naive_group(codes[chosen][:, common], weights[chosen])
    return len(pairs)


def one_group_by(folder: Path, rows: int) -> Work:
    """The naive way for complete keys."""
    codes, _, weights, _ = keys(rows)
    return lambda: {"rows": naive_group(codes, weights).num_rows}


def group_by_pairs(folder: Path, rows: int) -> Work:
    """The naive way for keys with missing values."""
    codes, empty, weights, _ = keys(rows)
    return lambda: {"group-bys": naive_pairs(codes, empty, weights)}


def frequencies(folder: Path, rows: int, missing: bool) -> Work:
    """Frequencies of every row; with missing cells, a match on what is known counts by half."""
    codes, empty, weights, _ = keys(rows)

    def work() -> None:
        row_frequencies(codes, weights, empty, 0.5) if missing else row_frequencies(codes, weights)

    return work


def risks(folder: Path, rows: int, households: bool) -> Work:
    """Individual and global risk, or with households, from the frequencies."""
    codes, _, weights, homes = keys(rows)
    found = row_frequencies(codes, weights)

    def work() -> None:
        risk = individual_risk(found)
        household_risk(risk, homes) if households else global_risk(risk)

    return work


def frequencies_and_risk(folder: Path, rows: int) -> Work:
    """From keys to the global risk."""
    codes, _, weights, _ = keys(rows)

    def work() -> None:
        global_risk(individual_risk(row_frequencies(codes, weights)))

    return work


def cases(scale: Scale) -> Iterator[Case]:
    """One for each number of rows."""
    for rows in scale.rows(ROWS, SMALL):
        asked = {"rows": rows}
        yield Case(
            f"{rows:,} rows, {len(SIZES)} keys, with weights",
            jobs=(
                Job("group-by", one_group_by, asked, "one group-by in Arrow, joined back"),
                Job("frequencies", frequencies, asked | {"missing": False}),
                Job("risk", risks, asked | {"households": False}),
                Job("households", risks, asked | {"households": True}),
                Job("both", frequencies_and_risk, asked),
                Job("group-bys", group_by_pairs, asked, "a group-by for each pair of patterns"),
                Job("missing", frequencies, asked | {"missing": True}),
            ),
            figures=(
                Figure("frequencies", ("frequencies",), ("group-by",)),
                Figure("individual and global risk, from the frequencies", ("risk",), ("group-by",)),
                Figure("the same with households", ("households",), ("group-by",)),
                Figure("frequencies and individual risk", ("both",), ("group-by",)),
                Figure(f"frequencies with {MISSING:.0%} missing in {INCOMPLETE} keys", ("missing",), ("group-bys",)),
            ),
        )


BENCH = Bench("individual", "Individual risk of every record", cases)
