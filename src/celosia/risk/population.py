"""Population uniqueness: how many people of a file are unique in the population behind it.

Knows sizes of classes and how large the population is. Ignores files and population tables.
Estimates of uniqueness, from n units in classes of sizes f drawn from N (s_i classes of size i, u in all):
- Zayatz 1991: sizes in the population are spread as in the sample; Bayes with hypergeometric draws gives the
  chance that a sample unique is one of the population.
- Pitman (Hoshino 2001): the sample follows Pitman's formula; theta and alpha by maximum likelihood, then
  E(S1) = N·∏(theta + alpha + i − 1)/(theta + i), i = 1 … N − 1.
- Slide negative binomial (Chen, Keller-McNulty 1998): size = 1 + negative binomial, each unit sampled with n/N;
  both parameters so that the expected u and s1 are those observed, and the population adds up to N.
- Dankar et al. 2012: Pitman up to a sampling fraction of 0.1; above, the smaller of Zayatz and slide negative
  binomial. Where the chosen model does not fit, Zayatz, which always exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize
from scipy.special import gammaln

Counts = NDArray[np.int64]
Values = NDArray[np.float64]
_SMALL_FRACTION = 0.1
_LEAST_ALPHA, _MOST_ALPHA = 1e-4, 1 - 1e-9
_FITS = 1e-3  # relative distance between expected and observed figures that counts as a fit
_DIGITS = 6  # what the fits know: beyond it the figures differ from one processor to another


class Model(StrEnum):
    """The estimators of population uniqueness."""

    DANKAR = "dankar"
    PITMAN = "pitman"
    ZAYATZ = "zayatz"
    SNB = "snb"


@dataclass(frozen=True, slots=True)
class SampleSizes:
    """The sizes of the classes of a sample, as how many there are of each, and the size of its population."""

    size: Counts  # ascending, distinct
    classes: Counts  # classes of that size
    population: float

    @property
    def units(self) -> int:
        """n."""
        return int((self.size * self.classes).sum())

    @property
    def uniques(self) -> int:
        """Classes of one unit."""
        return int(self.classes[self.size == 1].sum())

    @property
    def fraction(self) -> float:
        """n ÷ N."""
        return self.units / self.population


def sample_of(sizes: Counts, population: float) -> SampleSizes:
    """A sample from the sizes of its classes; empty classes count for nothing, N is at least n."""
    size, classes = np.unique(sizes[sizes > 0], return_counts=True)
    return SampleSizes(size.astype(np.int64), classes.astype(np.int64), max(float(population), float(sizes.sum())))


def estimated_uniques(sample: SampleSizes, model: Model) -> tuple[float | None, Model]:
    """Units expected to be unique in the population, and the model that says so; None where it does not fit."""
    if sample.uniques == 0:
        return 0.0, model
    if sample.units >= sample.population:
        return float(sample.uniques), model
    if model is Model.DANKAR:
        return _apply_decision_rule(sample)
    estimate = {Model.PITMAN: pitman, Model.ZAYATZ: zayatz, Model.SNB: slide_negative_binomial}[model](sample)
    return (None if estimate is None else min(float(f"{estimate:.{_DIGITS}g}"), sample.population)), model


def _apply_decision_rule(sample: SampleSizes) -> tuple[float | None, Model]:
    if sample.fraction <= _SMALL_FRACTION:
        fitted, _ = estimated_uniques(sample, Model.PITMAN)
        return (fitted, Model.PITMAN) if fitted is not None else estimated_uniques(sample, Model.ZAYATZ)
    by_zayatz, _ = estimated_uniques(sample, Model.ZAYATZ)
    by_snb, _ = estimated_uniques(sample, Model.SNB)
    assert by_zayatz is not None
    return (by_snb, Model.SNB) if by_snb is not None and by_snb <= by_zayatz else (by_zayatz, Model.ZAYATZ)


def zayatz(sample: SampleSizes) -> float:
    """s1·N/n·P(F = 1 | f = 1)."""
    total, units = sample.population, sample.units
    share = sample.classes / sample.classes.sum()
    reachable = sample.size <= total - units + 1
    size = np.where(reachable, sample.size, 1).astype(float)
    log_chance = np.log(size) + _log_binomial(total - size, units - 1) - _log_binomial(total, units)
    once = np.where(reachable, np.exp(log_chance), 0.0)
    chance = share[0] * once[0] / (share * once).sum()
    return float(sample.uniques / sample.fraction * chance)


def _log_binomial(of: float | Values, many: int) -> Values:
    """ln of the binomial coefficient, also for a population that is an estimate."""
    return np.asarray(gammaln(np.asarray(of) + 1) - gammaln(many + 1) - gammaln(np.asarray(of) - many + 1))


def pitman(sample: SampleSizes) -> float | None:
    """Expected uniques among N under Pitman's sampling formula fitted to the sample."""
    fitted = _pitman_parameters(sample)
    if fitted is None:
        return None
    theta, alpha = fitted
    total = sample.population
    rise = gammaln(theta + alpha + total - 1) - gammaln(theta + alpha) - gammaln(theta + total) + gammaln(theta + 1)
    return float(total * np.exp(rise))


def _pitman_parameters(sample: SampleSizes) -> tuple[float, float] | None:
    """theta and alpha of greatest likelihood, theta above −alpha."""
    size, classes = sample.size.astype(float), sample.classes.astype(float)
    units, groups = sample.units, float(sample.classes.sum())

    def unlikeliness(point: Values) -> float:
        theta, alpha = _pitman_point(point)
        ratio = theta / alpha
        new = (groups - 1) * np.log(alpha) + gammaln(ratio + groups) - gammaln(ratio + 1)
        joined = (classes * (gammaln(size - alpha) - gammaln(1 - alpha))).sum()
        return float(gammaln(theta + units) - gammaln(theta + 1) - new - joined)

    starts = [np.array([slope, np.log(many)]) for slope in (-1.0, 1.0) for many in (1.0, groups)]
    options = {"xatol": 1e-7, "fatol": 1e-7, "maxiter": 2000, "maxfev": 2000}
    fits = [minimize(unlikeliness, start, method="Nelder-Mead", options=options) for start in starts]
    best = min((fit for fit in fits if np.isfinite(fit.fun)), key=lambda fit: float(fit.fun), default=None)
    return None if best is None else _pitman_point(best.x)


def _pitman_point(point: Values) -> tuple[float, float]:
    """theta and alpha from two numbers without bounds."""
    alpha = _LEAST_ALPHA + (_MOST_ALPHA - _LEAST_ALPHA) / (1 + np.exp(-np.clip(point[0], -50, 50)))
    return float(np.exp(np.clip(point[1], -30, 30)) - alpha + 1e-12), float(alpha)


def slide_negative_binomial(sample: SampleSizes) -> float | None:
    """Expected uniques among N when sizes are 1 + negative binomial; None where no parameters fit."""
    observed = np.log([float(sample.classes.sum()), float(sample.uniques)])

    def distance(point: Values) -> Values:
        return _snb_expectations(point, sample.population, sample.fraction)[:2] - observed

    starts = [np.array([np.log(shape), np.log(odds)]) for shape in (0.05, 1.0) for odds in (0.01, 1.0)]
    fits = [least_squares(distance, start, xtol=1e-12, ftol=1e-12, max_nfev=400) for start in starts]
    best = min(fits, key=lambda fit: float(fit.cost))
    if not np.abs(best.fun).max() <= _FITS:
        return None
    return float(np.exp(_snb_expectations(best.x, sample.population, sample.fraction)[2]))


def _snb_expectations(point: Values, population: float, fraction: float) -> Values:
    """ln of the expected sample classes, sample uniques and population uniques; p = odds/(1 + odds)."""
    shape, odds = np.exp(np.clip(point, -25, 25))
    stop, go = odds / (1 + odds), 1 / (1 + odds)
    groups = np.log(population) - np.log1p(shape * go / stop)
    unseen, among = 1 - fraction, stop + go * fraction
    never = shape * (np.log(stop) - np.log(among))
    seen = -np.expm1(np.log(unseen) + never)
    once = np.log(fraction) + never + np.log1p(unseen * shape * go / among)
    return groups + np.array([np.log(max(seen, 1e-300)), once, shape * np.log(stop)])
