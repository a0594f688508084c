"""Microaggregation of four columns: MDAV through the tree and by blocks, against a plain scan of all records.

The scan is MDAV as it is described, compiled by the same compiler: every round looks at every record left. It gives
the same groups, which is checked. Seconds run from numbers to groups, the least of two runs, kernels warm. All sizes
are compared with the scan of 10,000 records: it would take hours on a million.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.frame import Bench, Case, Figure, Job, Same, Scale, Work
from celosia.kernels import groups, mdav
from celosia.kernels._jit import kernel
from celosia.techniques._groups import EXACT_ROWS, Grouping, group_records

K, COLUMNS, SEED = 3, 4, 20_240_131
SCANNED = 10_000
EXACT = (10_000, 100_000)
BLOCKS = 1_000_000
UNIT = 2.0**32
Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


@kernel
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


@kernel
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


@kernel
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


def lost(values: Floats, grouping: Grouping) -> float:
    """SSE/SST in percent."""
    order, starts = np.argsort(grouping.label, kind="stable"), grouping.starts()
    means = [groups.group_means(column[order], starts)[grouping.label] for column in values.T.copy()]
    shares = [mdav.share_lost(column, mean) for column, mean in zip(values.T.copy(), means, strict=True)]
    return 100 * float(np.mean(shares))


def scanned(folder: Path, rows: int, kind: str) -> Work:
    """The plain scan."""
    values = table(rows, kind)
    _scores_scanned(table(100, kind))  # compiles

    def work() -> Callable[[], dict[str, object]]:
        label = _scores_scanned(values)
        return lambda: _facts(values, Grouping(label, np.bincount(label), 1))

    return work


def microaggregated(folder: Path, rows: int, kind: str) -> Work:
    """Ours: the tree up to some size, blocks beyond it."""
    values = table(rows, kind)
    for few in (100, EXACT_ROWS + 1):  # compiles
        group_records(table(few, "amounts"), np.zeros(few, np.int64), K, None)

    def work() -> Callable[[], dict[str, object]]:
        found = group_records(values, np.zeros(rows, np.int64), K, None)
        return lambda: _facts(values, found)

    return work


def _scores_scanned(values: Floats) -> Longs:
    label = np.empty(len(values), np.int64)
    scan(mdav.standard_scores(values, np.array([0, len(values)])), K, label)
    return label


def _facts(values: Floats, found: Grouping) -> dict[str, object]:
    """Loss, blocks, and the groups as a digest that does not depend on their numbers."""
    _, first, label = np.unique(found.label, return_index=True, return_inverse=True)
    digest = hashlib.sha256(first[label].tobytes()).hexdigest()[:16]
    return {"lost_percent": lost(values, found), "blocks": found.blocks, "groups": digest}


def cases(scale: Scale) -> Iterator[Case]:
    """Amounts of households and the bell curve."""
    least, *larger = scale.rows((SCANNED, *EXACT[1:], BLOCKS), (500, 2_000))
    for kind in ("amounts", "normal"):
        jobs = [Job("scan", scanned, {"rows": least, "kind": kind}, f"plain scan of {least:,}", best_of=2)]
        sizes = {f"{rows:,} rows": rows for rows in (least, *larger)}
        jobs += [Job(name, microaggregated, {"rows": rows, "kind": kind}, best_of=2) for name, rows in sizes.items()]
        first = f"{least:,} rows"
        yield Case(
            f"{kind}, {COLUMNS} columns, k = {K}, against {least:,} rows",
            jobs=tuple(jobs),
            figures=tuple(Figure(name, (name,), ("scan",), series=kind, rows=rows) for name, rows in sizes.items()),
            same=(Same("groups", ("scan", first)), Same("lost_percent", ("scan", first))),
        )


BENCH = Bench("techniques", "Microaggregation of four columns", cases)
