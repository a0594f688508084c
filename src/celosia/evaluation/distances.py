"""How far the distribution of a variable moved: total variation, Hellinger, Kolmogorov-Smirnov, earth mover.

Knows two distributions of one variable. Ignores which row became which. Masked and missing cells are categories of
their own. A number with many values is cut at the quantiles of the first file for total variation and Hellinger,
which know no order; the other two use every value. The earth mover's distance is divided by the range of the first
file, so that it does not depend on the unit of money.
Sources: Gibbs and Su 2002 (choosing and bounding probability metrics); Rubner, Tomasi and Guibas 2000.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from celosia.evaluation.sample import Floats, Sample, SampleColumn, both_numeric
from celosia.evaluation.statistics import Numbers, numbers_of, quantile

BINS = 20  # a number with more values than this is cut into as many parts of equal weight


@dataclass(frozen=True, slots=True)
class Distances:
    """Four distances between the two distributions of a variable; the last two need an order."""

    total_variation: float | None
    hellinger: float | None
    kolmogorov_smirnov: float | None = None
    earth_mover: float | None = None


def distances(before: Sample, after: Sample, name: str) -> Distances:
    """How far a variable's distribution moved; None where one of the files has no row."""
    if not before.n_rows or not after.n_rows:
        return Distances(None, None)
    p, q = aligned_shares(before, after, name)
    ordered = _ordered_distances(before, after, name)
    return Distances(total_variation(p, q), hellinger(p, q), *ordered)


def total_variation(p: Floats, q: Floats) -> float:
    """Half the sum of the differences of the shares: 0 equal, 1 nothing in common."""
    return min(math.fsum(np.abs(p - q).tolist()) / 2, 1.0)


def hellinger(p: Floats, q: Floats) -> float:
    """Length of the difference of the square roots of the shares over √2: 0 equal, 1 nothing in common."""
    return min(math.sqrt(math.fsum(((np.sqrt(p) - np.sqrt(q)) ** 2).tolist()) / 2), 1.0)


def kolmogorov_smirnov(first: Numbers, second: Numbers) -> float:
    """Largest difference of the two accumulated distributions."""
    _, f, g = _cumulative_shares(first, second)
    return float(np.abs(f - g).max())


def earth_mover(first: Numbers, second: Numbers) -> float | None:
    """Area between the accumulated distributions over the range of the first; None if that range is a point."""
    points, f, g = _cumulative_shares(first, second)
    span = float(first.values[-1] - first.values[0])
    area = math.fsum((np.abs(f - g)[:-1] * np.diff(points)).tolist())
    if span == 0:
        return 0.0 if area == 0 else None
    return area / span


def aligned_shares(before: Sample, after: Sample, name: str) -> tuple[Floats, Floats]:
    """Shares of both files over the same categories."""
    _, p, q = categories(before, after, name)
    return p, q


def categories(before: Sample, after: Sample, name: str) -> tuple[list[str], Floats, Floats]:
    """The categories of a variable in both files, numbers cut into parts, and their shares in each."""
    edges = _edges(before, after, name)
    first, second = _labels(before.columns[name], edges), _labels(after.columns[name], edges)
    known = sorted({*first, *second}, key=lambda label: (not label.startswith("\0"), label))
    position = {label: i for i, label in enumerate(known)}
    shares: list[Floats] = []
    for sample, labels in ((before, first), (after, second)):
        codes = np.array([position[label] for label in labels], np.int64)
        weights = np.bincount(codes, sample.tally(name), len(known)).astype(np.float64)
        total = float(weights.sum())
        shares.append(weights / total if total else weights)
    return [_part_text(label, edges) for label in known], shares[0], shares[1]


def _edges(before: Sample, after: Sample, name: str) -> Floats | None:
    """Where a number with many values is cut; None keeps every value as it is."""
    if not both_numeric(before, after, name):
        return None
    numbers = numbers_of(before, name)
    if len(numbers.values) <= BINS and len(numbers_of(after, name).values) <= BINS:
        return None
    marks = [quantile(numbers, part / BINS) for part in range(1, BINS)]
    return np.unique(np.array([mark for mark in marks if mark is not None], np.float64))


def _labels(column: SampleColumn, edges: Floats | None) -> list[str]:
    """The category of each value: its part (after a mark that sorts first), or itself."""
    if edges is None or column.numbers is None:
        return list(column.vocabulary)
    parts = np.searchsorted(edges, column.numbers, side="left")
    real = np.isfinite(column.numbers)
    cells = zip(parts, real, column.vocabulary, strict=True)
    return [f"\0{part:04d}" if is_number else text for part, is_number, text in cells]


def _part_text(label: str, edges: Floats | None) -> str:
    if edges is None or not label.startswith("\0"):
        return label
    part = int(label[1:])
    low = f"{edges[part - 1]:.6g}" if part else ""
    high = f"{edges[part]:.6g}" if part < len(edges) else ""
    return f"≤ {high}" if not low else f"> {low}" if not high else f"{low}–{high}"


def _ordered_distances(before: Sample, after: Sample, name: str) -> tuple[float | None, float | None]:
    if not both_numeric(before, after, name):
        return None, None
    first, second = numbers_of(before, name), numbers_of(after, name)
    if not len(first.values) or not len(second.values):
        return None, None
    return kolmogorov_smirnov(first, second), earth_mover(first, second)


def _cumulative_shares(first: Numbers, second: Numbers) -> tuple[Floats, Floats, Floats]:
    points = np.union1d(first.values, second.values)
    return points, _cumulative_share(first, points), _cumulative_share(second, points)


def _cumulative_share(numbers: Numbers, points: Floats) -> Floats:
    ends = np.concatenate([[0.0], np.cumsum(numbers.weights)])
    return np.asarray(ends[np.searchsorted(numbers.values, points, side="right")] / ends[-1])
