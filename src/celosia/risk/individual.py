"""Individual risk: the chance that somebody who knows a row's keys finds its person in the population.

Knows fk and Fk (risk/frequencies), households as numbers, rows. Ignores files and where weights come from.
Given f rows of the sample, the population F behind them is taken as negative binomial with p = f/Fk, and the risk
is E(1/F | f) = ∫₀¹ s^(f−1)/(1 + z·s) ds with z = Fk/f − 1: closed for f = 1 and f = 2. Beyond 2 the usual
approximation p/(f − (1 − p)) is used. Between 1 and 2, which only 0 < alpha < 1 brings about, the integral itself
(a hypergeometric function) is taken: it meets both closed forms at the ends and falls from one to the other.
Weights that add up to no more than the rows say that the sample is the population: 1/f.
Source: Benedetti, Franconi 1998; Franconi, Polettini 2004; Templ, Kowarik, Meindl 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.risk.frequencies import Frequencies

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]
_MAD = 1.4826  # makes the median absolute deviation of a normal variable its standard deviation
_LEAST_HIGH = 0.1
_SMALL = 0.01  # z below which the closed form for f = 2 would lose digits
_TERMS = 12
_NOISE = 1e-9  # sums of alpha that miss a whole number by less are that number
VIOLATIONS = (2, 3, 5)


@dataclass(frozen=True, slots=True)
class GlobalRisk:
    """What individual risks add up to."""

    expected: float  # persons expected to be found
    rate: float | None  # that, divided by the rows
    high_threshold: float | None  # the larger of median + 3·mad and 0.1
    high_rows: int  # rows above it


def individual_risk(frequencies: Frequencies) -> Shares:
    """The risk of each key or row."""
    nearest = np.rint(frequencies.sample)
    sample = np.where(np.abs(frequencies.sample - nearest) < _NOISE, nearest, frequencies.sample)
    population = np.maximum(frequencies.population, sample)
    beyond = population / sample - 1
    rate = sample / population
    risk = rate / (sample - (1 - rate) + (sample <= 1))  # the last term only keeps f = p = 1 from dividing by zero
    for chosen, formula in (
        (sample == 1, _risk_of_unique),
        (sample == 2, _risk_of_pair),
        ((sample > 1) & (sample < 2), _risk_between),
    ):
        risk[chosen] = formula(sample[chosen], beyond[chosen])
    census = beyond <= 0
    risk[census] = 1 / sample[census]
    return risk


def _risk_of_unique(sample: Shares, beyond: Shares) -> Shares:
    """f = 1: ln(1 + z)/z, which is p/(1 − p)·ln(1/p)."""
    return np.log1p(beyond) / np.where(beyond > 0, beyond, 1)


def _risk_of_pair(sample: Shares, beyond: Shares) -> Shares:
    """f = 2: 1/z − ln(1 + z)/z², which is p/(1 − p) − (p/(1 − p))²·ln(1/p); a series where that cancels."""
    safe = np.where(beyond > _SMALL, beyond, 1)
    return np.where(beyond > _SMALL, (1 - np.log1p(safe) / safe) / safe, _series(sample, np.minimum(beyond, _SMALL)))


def _risk_between(sample: Shares, beyond: Shares) -> Shares:
    """1 < f < 2: the integral, as a hypergeometric function."""
    from scipy.special import hyp2f1

    return np.asarray(hyp2f1(1, sample, sample + 1, -beyond) / sample, np.float64)


def _series(sample: Shares, beyond: Shares) -> Shares:
    """The integral for small z: Σ (−z)^j/(f + j)."""
    total = np.zeros_like(sample)
    for term in reversed(range(_TERMS)):
        total = 1 / (sample + term) - beyond * total
    return total


def household_risk(risk: Shares, household: Counts, rows: Counts | None = None) -> Shares:
    """1 − ∏(1 − r) of each household: somebody of it is found. `rows` tells how many members share an entry."""
    times = np.ones(len(risk)) if rows is None else rows
    certain = risk >= 1
    hidden = np.where(certain, 0.0, np.log1p(-np.where(certain, 0.0, risk))) * times
    homes = int(household.max(initial=-1)) + 1
    exposed = np.bincount(household[certain & (times > 0)], minlength=homes) > 0
    return np.where(exposed, 1.0, -np.expm1(np.bincount(household, weights=hidden, minlength=homes)))


def global_risk(risk: Shares, rows: Counts | None = None) -> GlobalRisk:
    """Expected re-identifications, their rate, and the rows of conspicuously high risk."""
    times = np.ones(len(risk), np.int64) if rows is None else rows
    total = int(times.sum())
    if not total:
        return GlobalRisk(0.0, None, None, 0)
    expected = float((risk * times).sum())
    limit = max(high_risk_limit(risk, times), _LEAST_HIGH)
    return GlobalRisk(expected, expected / total, limit, int(times[risk > limit].sum()))


def high_risk_limit(risk: Shares, rows: Counts) -> float:
    """median + 3·mad of the risk over rows."""
    middle = _median(risk, rows)
    return middle + 3 * _MAD * _median(np.abs(risk - middle), rows)


def _median(values: Shares, rows: Counts) -> float:
    """The median of values, each held by some rows."""
    if (rows == 1).all():
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(rows[order])
    total = int(reached[-1])
    low, high = (np.searchsorted(reached, rank, side="right") for rank in ((total - 1) // 2, total // 2))
    return float((values[order][low] + values[order][high]) / 2)


def violations(
    frequencies: Frequencies, rows: Counts | None = None, limits: Sequence[int] = VIOLATIONS
) -> dict[int, int]:
    """Rows whose fk is below each k."""
    times = np.ones(len(frequencies.sample), np.int64) if rows is None else rows
    return {k: int(times[frequencies.sample < k].sum()) for k in limits}
