"""Microaggregation of four columns: MDAV through the tree and by blocks, against a plain scan of all records.

The scan is MDAV as it is described, compiled by the same compiler: every round looks at every record left. It gives
the same groups, which is checked. Seconds run from numbers to groups, the least of the runs, kernels warm.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import groups, mdav
from celosia.kernels._jit import compiled
from celosia.techniques._groups import EXACT_ROWS, Grouping, grouped

K, COLUMNS, SEED = 3, 4, 20_240_131
SCANNED = 10_000
EXACT = (10_000, 100_000)
BLOCKS = 1_000_000
UNIT = 2.0**32
Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


@compiled
def _scan_nearest(points: Floats, around: int, k: int, group: int, label: Longs) -> None:
    for _ in range(k):
        best, found = np.inf, -1
        for i in range(len(points)):
            if label[i] < 0:
                gap = ((points[i, 0] - points[around, 0]) ** 2 + (points[i, 1] - points[around, 1]) ** 2) + (
                    points[i, 2] - points[around, 2]
                ) ** 2
                gap += (points[i, 3] - points[around, 3]) ** 2
                if gap < best:
                    best, found = gap, i
        label[found] = group


@compiled
def _scan_farthest(points: Floats, target: Floats, label: Longs) -> int:
    best, found = -1.0, -1
    for i in range(len(points)):
        if label[i] < 0:
            gap = 0.0
            for axis in range(len(target)):
                gap += (points[i, axis] - target[axis]) ** 2
            if gap > best:
                best, found = gap, i
    return found


@compiled
def scan(points: Floats, k: int, label: Longs) -> None:
    """MDAV by looking at every record in every round."""
    label[:] = -1
    left, group = len(points), 0
    while left >= 2 * k:
        centre = np.zeros(points.shape[1])
        for axis in range(len(centre)):
            total = np.int64(0)
            for i in range(len(points)):
                if label[i] < 0:
                    total += np.int64(np.rint(points[i, axis] * UNIT))
            centre[axis] = total / (left * UNIT)
        one = _scan_farthest(points, centre, label)
        _scan_nearest(points, one, k, group, label)
        left, group = left - k, group + 1
        if left >= 2 * k:
            _scan_nearest(points, _scan_farthest(points, points[one], label), k, group, label)
            left, group = left - k, group + 1
    label[label < 0] = group


def table(rows: int, kind: str) -> Floats:
    """Amounts as in a survey of households, or the bell curve, which is the hardest case for a tree."""
    rng = np.random.default_rng(SEED)
    common = rng.normal(size=(rows, 1))
    own = rng.normal(size=(rows, COLUMNS))
    return own if kind == "normal" else np.asarray(np.round(np.exp(8 + 0.6 * common + 0.6 * own)), np.float64)


def timed(work: Callable[[], Grouping], runs: int) -> tuple[Grouping, float]:
    """What some work gives and the least of its seconds."""
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        found = work()
        taken.append(time.perf_counter() - start)
    return found, min(taken)


def lost(values: Floats, grouping: Grouping) -> float:
    """SSE/SST in percent."""
    order, starts = np.argsort(grouping.label, kind="stable"), grouping.starts()
    means = [groups.group_means(column[order], starts)[grouping.label] for column in values.T.copy()]
    shares = [mdav.share_lost(column, mean) for column, mean in zip(values.T.copy(), means, strict=True)]
    return 100 * float(np.mean(shares))


def scanned(values: Floats) -> tuple[Grouping, float]:
    """The plain scan and its seconds."""

    def work() -> Grouping:
        label = np.empty(len(values), np.int64)
        scan(mdav.standard_scores(values, np.array([0, len(values)])), K, label)
        return Grouping(label, np.bincount(label), 1)

    return timed(work, 2)


def main() -> None:
    """Print seconds, loss and the ratio to the scan for each size."""
    for rows in (100, EXACT_ROWS + 1):  # compile
        grouped(table(rows, "amounts"), np.zeros(rows, np.int64), K, None)
    for kind in ("amounts", "normal"):
        values = table(SCANNED, kind)
        plain, seconds = scanned(values)
        print(f"{kind}: {COLUMNS} columns, k = {K}", flush=True)
        print(f"  {'scan':10} {SCANNED:9,} rows  {seconds:7.3f} s  SSE/SST {lost(values, plain):.4f} %", flush=True)
        for rows in (*EXACT, BLOCKS):
            values = table(rows, kind)
            found, taken = timed(partial(grouped, values, np.zeros(rows, np.int64), K, None), 2)
            how = "exact" if found.blocks == 1 else f"{found.blocks} blocks"
            ratio = f"{taken / seconds:6.2f} × the scan of {SCANNED:,}"
            share = lost(values, found)
            print(f"  {how:10} {rows:9,} rows  {taken:7.3f} s  SSE/SST {share:.4f} %  {ratio}", flush=True)
            if rows == SCANNED:
                same = lost(values, found) == lost(values, plain) and same_groups(found.label, plain.label)
                print(f"             the same groups as the scan: {'yes' if same else 'NO'}", flush=True)


def same_groups(one: Longs, other: Longs) -> bool:
    """Whether two labellings join the same records."""
    pairs = np.unique(np.stack([one, other]), axis=1).shape[1]
    return bool(pairs == one.max() + 1 == other.max() + 1)


if __name__ == "__main__":
    main()
