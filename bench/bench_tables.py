"""A cross table of three variables and 50,000 published cells, protected against exact recovery on one core.

The table has 60 × 40 × 20 categories with all margins and counts that vary with each category; two of them, with
about a tenth and a quarter of the cells below k = 5, with and without guarding against who is alone in a cell. Four
variables beside them show how the work grows; each is compared with one audit of the same table before protection. The
naive way, in the same run and on a smaller table: one dense elimination with NumPy, which only says what is
recoverable, against our audit and the whole protection of the same table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.frame import Bench, Case, Figure, Job, Same, Scale, Work
from celosia.tables.exact_disclosure import complete_suppression, recoverable
from celosia.tables.grid import Flags, Grid

K = 5
SEED = 20_240_131
LARGE, MIDDLE, FOUR = (60, 40, 20), (24, 18, 12), (30, 20, 10, 6)
TINY = (6, 5, 4)
TABLES = ((LARGE, 90.0), (LARGE, 24.0), (FOUR, 20.0))  # shape and mean count
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


def audit(folder: Path, shape: tuple[int, ...], mean: float) -> Work:
    """What is recoverable when only the small cells are hidden."""
    grid, primary = _table(shape, mean)

    def work() -> Callable[[], dict[str, object]]:
        known = recoverable(grid, primary)
        return lambda: {"recoverable": int((known & primary).sum()), "cells": _digest(known)}

    return work


def dense_audit(folder: Path, shape: tuple[int, ...], mean: float) -> Work:
    """The same the naive way."""
    grid, primary = _table(shape, mean)

    def work() -> Callable[[], dict[str, object]]:
        known = naive(grid, primary)
        return lambda: {"cells": _digest(known)}

    return work


def protection(folder: Path, shape: tuple[int, ...], mean: float, guarded: bool) -> Work:
    """Hide more until nothing is recoverable; guarded, also by who is alone in a cell."""
    grid, primary = _table(shape, mean)
    singletons = grid.values == 1 if guarded else None

    def work() -> Callable[[], dict[str, object]]:
        hidden = complete_suppression(grid, primary, singletons=singletons)
        return lambda: {
            "published": int((grid.values > 0).sum()),
            "primary": int(primary.sum()),
            "more_hidden": int((hidden & ~primary).sum()),
            "recoverable": int((recoverable(grid, hidden) & primary).sum()),
        }

    return work


def _table(shape: tuple[int, ...], mean: float) -> tuple[Grid, Flags]:
    """The grid and its small cells; the loops are compiled on a tiny one."""
    for size, average in ((TINY, 8.0), (tuple(shape), mean)):
        grid = with_margins(counts_of(size, average))
        primary = (grid.values > 0) & (grid.values < K)
        if size == TINY:
            recoverable(grid, complete_suppression(grid, primary, singletons=grid.values == 1))
    return grid, primary


def _digest(flags: Flags) -> str:
    return hashlib.sha256(np.packbits(flags).tobytes()).hexdigest()[:16]


def cases(scale: Scale) -> Iterator[Case]:
    """Large tables against one audit of them, a smaller one against the naive way."""
    for shape, mean in ((TINY, 8.0),) if scale.small else TABLES:
        asked = {"shape": shape, "mean": mean}
        yield Case(
            f"{_name(shape)}, mean count {mean:g}",
            jobs=(
                Job("audit", audit, asked, "one audit of the same table"),
                Job("protect", protection, asked | {"guarded": False}),
                Job("guard", protection, asked | {"guarded": True}),
            ),
            figures=(
                Figure("protected", ("protect",), ("audit",)),
                Figure("protected, singletons too", ("guard",), ("audit",)),
            ),
        )
    asked = {"shape": TINY if scale.small else MIDDLE, "mean": 22.0}
    yield Case(
        f"{_name(asked['shape'])}, against the naive way",
        jobs=(
            Job("naive", dense_audit, asked, "dense elimination in NumPy"),
            Job("audit", audit, asked),
            Job("protect", protection, asked | {"guarded": False}),
        ),
        figures=(Figure("audited", ("audit",), ("naive",)), Figure("protected", ("protect",), ("naive",))),
        same=(Same("cells", ("naive", "audit")),),
    )


def _name(shape: tuple[int, ...]) -> str:
    return "×".join(str(size) for size in shape)


BENCH = Bench("tables", "Cross tables protected against recovery", cases)
