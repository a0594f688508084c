"""`measure` with all its figures against pycanon's nine measures, on seeded tables of eight quasi-identifiers.

Our time runs from text columns in Arrow to the report: coding, both tuple tables and every figure.
pycanon's runs from a frame already in memory. It works class by class, so a budget of seconds ends it.
"""

from __future__ import annotations

import csv
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from bench.peers import PeerUnavailable
from bench.pycanon_peer import peer_figures
from numpy.typing import NDArray

from celosia.model.measures import MeasureReport
from celosia.risk import measure
from celosia.tuples import Tuples, group_codes

NAMES = ("sexo", "edad", "region", "comuna", "prevision", "nacionalidad", "mes", "servicio")
SENSITIVE = "diagnostico"
FINE = (2, 18, 16, 60, 5, 4, 12, 6, 200)  # number of values of each variable, the sensitive one last
COARSE = (2, 4, 3, 3, 2, 2, 2, 2, 8)  # few classes: what a frame of pycanon can be
OUR_ROWS, PEER_ROWS = (100_000, 1_000_000), (10_000, 30_162, 100_000)
PEER_BUDGET = 180  # seconds pycanon may take for one table
GOAL = 20
SEED = 20_240_131


def columns(rows: int, sizes: Sequence[int], seed: int = SEED) -> pa.Table:
    """Skewed text columns: few frequent values, many rare ones, as in hospital discharges."""
    rng = np.random.default_rng(seed)
    drawn = {}
    for name, size in zip((*NAMES, SENSITIVE), sizes, strict=True):
        weights = 1 / np.arange(1, size + 1)
        labels = pa.array([f"{name[0].upper()}{value:03d}" for value in range(size)])
        drawn[name] = labels.take(pa.array(rng.choice(size, rows, p=weights / weights.sum())))
    return pa.table(drawn)


def coded(column: pa.ChunkedArray) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Vocabulary in code-point order and the codes of a text column."""
    encoded = column.combine_chunks().dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    vocabulary = tuple(encoded.dictionary.take(pa.array(order)).to_pylist())
    return vocabulary, rank[encoded.indices.to_numpy(zero_copy_only=False)]


def tuple_table(names: Sequence[str], parts: Sequence[tuple[tuple[str, ...], NDArray[np.int32]]]) -> Tuples:
    """The compressed table of coded columns."""
    codes = np.stack([part for _, part in parts], axis=1)
    vocabularies = tuple(vocabulary for vocabulary, _ in parts)
    first, label = group_codes(codes, [len(vocabulary) for vocabulary in vocabularies])
    return Tuples(tuple(names), vocabularies, codes[first], np.bincount(label).astype(np.int64))


def our_run(table: pa.Table) -> tuple[MeasureReport, float, float]:
    """The report, the seconds from text to report, and those of the measures alone."""
    start = time.perf_counter()
    parts = [coded(table[name]) for name in (*NAMES, SENSITIVE)]
    quasi = tuple_table(NAMES, parts[:-1])
    joined = tuple_table((*NAMES, SENSITIVE), parts)
    grouped = time.perf_counter()
    result = measure(quasi, {SENSITIVE: joined})
    end = time.perf_counter()
    return result, end - start, end - grouped


def peer_run(table: pa.Table, budget: float) -> float | None:
    """Seconds of pycanon's nine measures on the same rows, or None past the budget."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frame.csv"
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(table.column_names)
            writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
        found = peer_figures(path, NAMES, SENSITIVE, timeout=budget)
    return None if found is None else float(found["seconds"])


def run(report: Callable[[str], None], peer_budget: float = PEER_BUDGET) -> None:
    """Print our times, then the ratio to pycanon on the tables it can finish."""
    our_run(columns(1_000, COARSE))  # first use of the libraries is not what we measure
    for rows in OUR_ROWS:
        result, whole, alone = our_run(columns(rows, FINE))
        report(
            f"measure {rows:>9,} rows, 8 quasi-identifiers: {whole:6.2f} s from text, {alone:.2f} s the measures; "
            f"{result.classes:,} classes, peak {_peak_megabytes():,} MB"
        )
    for rows in PEER_ROWS:
        report(_compared(rows, peer_budget))


def _compared(rows: int, budget: float) -> str:
    table = columns(rows, COARSE)
    result, ours, _ = our_run(table)
    what = f"pycanon {rows:>9,} rows, {result.classes:,} classes"
    try:
        theirs = peer_run(table, budget)
    except PeerUnavailable as missing:
        return f"{what}: not compared, {missing}"
    if theirs is None:
        least = budget / ours
        return f"{what}: over {budget:g} s, celosia {ours:.3f} s: more than {least:,.0f}×"
    ratio = theirs / ours
    verdict = "reached" if ratio >= GOAL else "MISSED"
    return f"{what}: {theirs:.1f} s, celosia {ours:.3f} s: {ratio:,.0f}× (goal {GOAL}×: {verdict})"


def _peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    run(lambda line: print(line, file=sys.stdout, flush=True))
