"""`measure` with all its figures against pycanon's nine measures, on seeded tables of eight quasi-identifiers.

Our time runs from text columns in Arrow to the report: coding, both tuple tables and every figure. pycanon's runs from
a frame already in memory. It works class by class, so a budget of seconds ends it. On tables with many classes, which
it cannot finish, we are compared with one plain group-by of the same columns in Arrow.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bench.frame import Bench, Case, Figure, Job, Outcome, Scale, Skip, Work
from celosia.risk.measures import measure
from celosia.tuples.table import Tuples, group_codes

NAMES = ("sexo", "edad", "region", "comuna", "prevision", "nacionalidad", "mes", "servicio")
SENSITIVE = "diagnostico"
FINE = (2, 18, 16, 60, 5, 4, 12, 6, 200)  # number of values of each variable, the sensitive one last
COARSE = (2, 4, 3, 3, 2, 2, 2, 2, 8)  # few classes: what a frame of pycanon can be
OUR_ROWS, PEER_ROWS = (100_000, 1_000_000), (10_000, 30_162, 100_000)
PEER_BUDGET = 180  # seconds pycanon may take for one table
GOAL = 1 / 20
SEED = 20_240_131
Coded = tuple[tuple[str, ...], NDArray[np.int32]]


def columns(rows: int, sizes: Sequence[int], seed: int = SEED) -> pa.Table:
    """Skewed text columns: few frequent values, many rare ones, as in hospital discharges."""
    rng = np.random.default_rng(seed)
    drawn = {}
    for name, size in zip((*NAMES, SENSITIVE), sizes, strict=True):
        weights = 1 / np.arange(1, size + 1)
        labels = pa.array([f"{name[0].upper()}{value:03d}" for value in range(size)])
        drawn[name] = labels.take(pa.array(rng.choice(size, rows, p=weights / weights.sum())))
    return pa.table(drawn)


def coded(column: pa.ChunkedArray) -> Coded:
    """Vocabulary in code-point order and the codes of a text column."""
    encoded = column.combine_chunks().dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    vocabulary = tuple(encoded.dictionary.take(pa.array(order)).to_pylist())
    return vocabulary, rank[encoded.indices.to_numpy(zero_copy_only=False)]


def tuple_table(names: Sequence[str], parts: Sequence[Coded]) -> Tuples:
    """The compressed table of coded columns."""
    codes = np.stack([part for _, part in parts], axis=1)
    vocabularies = tuple(vocabulary for vocabulary, _ in parts)
    first, label = group_codes(codes, [len(vocabulary) for vocabulary in vocabularies])
    return Tuples(tuple(names), vocabularies, codes[first], np.bincount(label).astype(np.int64))


def both_tables(table: pa.Table) -> tuple[Tuples, Tuples]:
    """The quasi-identifiers, and they with the sensitive variable."""
    parts = [coded(table[name]) for name in (*NAMES, SENSITIVE)]
    return tuple_table(NAMES, parts[:-1]), tuple_table((*NAMES, SENSITIVE), parts)


def from_text(folder: Path, rows: int, sizes: Sequence[int]) -> Work:
    """From text columns to the report; the first use of the libraries is not counted."""
    table = columns(rows, sizes)
    _warm()

    def work() -> dict[str, int]:
        quasi, joined = both_tables(table)
        return {"classes": measure(quasi, {SENSITIVE: joined}).classes}

    return work


def measures_alone(folder: Path, rows: int, sizes: Sequence[int]) -> Work:
    """From both tuple tables to the report."""
    quasi, joined = both_tables(columns(rows, sizes))
    _warm()
    return lambda: {"classes": measure(quasi, {SENSITIVE: joined}).classes}


def plain_groups(folder: Path, rows: int, sizes: Sequence[int]) -> Work:
    """How often each combination of all columns occurs, by Arrow."""
    table = columns(rows, sizes)
    table[:100].group_by(table.column_names).aggregate([([], "count_all")])  # first use is not counted
    return lambda: {"groups": table.group_by(table.column_names).aggregate([([], "count_all")]).num_rows}


def pycanon(folder: Path, rows: int, budget: float) -> Work:
    """The nine measures of pycanon on the same rows, by its own clock."""
    from bench.peers import PeerUnavailable
    from bench.pycanon_peer import peer_figures

    path, table = folder / "frame.csv", columns(rows, COARSE)
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def work() -> Outcome:
        try:
            found = peer_figures(path, NAMES, SENSITIVE, timeout=budget)
        except PeerUnavailable as missing:
            raise Skip(str(missing)) from None
        return Outcome(seconds=budget, at_least=True) if found is None else Outcome(seconds=float(found["seconds"]))

    return work


def _warm() -> None:
    quasi, joined = both_tables(columns(1_000, COARSE))
    measure(quasi, {SENSITIVE: joined})


def cases(scale: Scale) -> Iterator[Case]:
    """Many classes at large sizes; few classes at sizes that pycanon can finish."""
    for rows in scale.rows(OUR_ROWS, (5_000,)):
        asked = {"rows": rows, "sizes": FINE}
        yield Case(
            f"{rows:,} rows, 8 quasi-identifiers, many classes",
            jobs=(
                Job("groups", plain_groups, asked, "one group-by in Arrow"),
                Job("measure", from_text, asked),
                Job("measures", measures_alone, asked),
            ),
            figures=(
                Figure("from text to the report", ("measure",), ("groups",)),
                Figure("the measures alone", ("measures",), ("groups",)),
            ),
        )
    for rows in scale.rows(PEER_ROWS, (1_000,)):
        yield Case(
            f"{rows:,} rows, few classes",
            jobs=(
                Job("measure", from_text, {"rows": rows, "sizes": COARSE}, best_of=3),
                Job("pycanon", pycanon, {"rows": rows, "budget": PEER_BUDGET}, "pycanon's nine measures"),
            ),
            figures=(Figure("from text to the report", ("measure",), ("pycanon",), GOAL),),
        )


BENCH = Bench("measure", "Every measure of a table", cases)
