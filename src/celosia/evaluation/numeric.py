"""What masking cost numbers whose rows are matched: IL1s, SSE/SST, eigenvalues, and originals still within reach.

Knows two matrices with the same records in the same rows. Ignores how the records were matched.
Sources: Mateo-Sanz, Sebé and Domingo-Ferrer 2004 (IL1s); Domingo-Ferrer and Mateo-Sanz 2002 (SSE/SST);
Templ, Kowarik and Meindl 2015 (sdcMicro's dUtility and dRisk).

Eigenvalues are those of the correlation matrix, so that the unit of money does not decide. Where variables add up to
each other an eigenvalue is zero and dividing by it gives noise of any sign: it is left out, and how many were is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from celosia.evaluation.sample import Floats

REACH = 0.05  # share of a standard deviation within which an original counts as disclosed
_SINGULAR = 1e-10  # eigenvalues below this share of the largest are zero


@dataclass(frozen=True, slots=True)
class Eigenvalues:
    """Σ |before - after| ÷ before over the eigenvalues that are not zero."""

    difference: float | None
    used: int
    zero: int


def il1s(before: Floats, after: Floats) -> float | None:
    """Σ |x - x'| ÷ (√2 · sd(x)) over the records and variables; a variable that does not vary is left out."""
    parts = [_il1s(before[:, j], after[:, j]) for j in range(before.shape[1])]
    known = [part for part in parts if part is not None]
    return math.fsum(known) if known else None


def il1s_per_cell(before: Floats, after: Floats) -> float | None:
    """IL1s divided by the number of cells: comparable between files of different size."""
    summed, cells = il1s(before, after), int((np.isfinite(before) & np.isfinite(after)).sum())
    return summed / cells if summed is not None and cells else None


def squared_error_share(before: Floats, after: Floats) -> float | None:
    """SSE ÷ SST on z-scores: 0 nothing lost, 1 as much as putting the mean everywhere."""
    errors, spread = [], 0.0
    for j in range(before.shape[1]):
        x, y = _pairs(before[:, j], after[:, j])
        deviation = _deviation(x)
        if deviation:
            errors.append(math.fsum((((x - y) / deviation) ** 2).tolist()))
            spread += len(x) - 1
    return math.fsum(errors) / spread if spread else None


def eigenvalues(before: Floats, after: Floats) -> Eigenvalues:
    """How much the eigenvalues of the correlation matrix changed, over complete records."""
    complete = np.isfinite(before).all(axis=1) & np.isfinite(after).all(axis=1)
    x, y = before[complete], after[complete]
    varies = [j for j in range(x.shape[1]) if _deviation(x[:, j])]
    if len(varies) < 2:
        return Eigenvalues(None, 0, 0)
    first, second = _spectrum(x[:, varies]), _spectrum(y[:, varies])
    real = first > _SINGULAR * first[0]
    difference = np.abs(first[real] - second[real]) / first[real]
    return Eigenvalues(math.fsum(difference.tolist()), int(real.sum()), int((~real).sum()))


def within_reach(before: Floats, after: Floats, reach: float = REACH) -> float | None:
    """Share of records whose original lies, in every variable, within `reach` standard deviations of the masked one."""
    complete = np.isfinite(before).all(axis=1) & np.isfinite(after).all(axis=1)
    x, y = before[complete], after[complete]
    if not len(x):
        return None
    margins = np.array([reach * (_deviation(y[:, j]) or 0.0) for j in range(y.shape[1])])
    return float((np.abs(x - y) <= margins).all(axis=1).mean())


def _il1s(x: Floats, y: Floats) -> float | None:
    x, y = _pairs(x, y)
    deviation = _deviation(x)
    if not deviation:
        return 0.0 if len(x) and (x == y).all() else None
    return math.fsum((np.abs(x - y) / (math.sqrt(2) * deviation)).tolist())


def _pairs(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both]


def _deviation(x: Floats) -> float | None:
    """Sample standard deviation; None with fewer than two numbers."""
    if len(x) < 2:
        return None
    centre = math.fsum(x.tolist()) / len(x)
    return math.sqrt(math.fsum(((x - centre) ** 2).tolist()) / (len(x) - 1))


def _spectrum(x: Floats) -> Floats:
    """Eigenvalues of the correlation matrix, largest first; a variable that lost its variation correlates with none."""
    scale = np.array([_deviation(x[:, j]) or 0.0 for j in range(x.shape[1])])
    centred = x - np.array([math.fsum(x[:, j].tolist()) / len(x) for j in range(x.shape[1])])
    z = np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 0)
    return np.linalg.eigvalsh(z.T @ z / (len(x) - 1))[::-1]
