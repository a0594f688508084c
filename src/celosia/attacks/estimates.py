"""From counts to an estimate: the interval of a rate, the interval of an excess over a control.

Knows successes and attempts. Ignores which attack they come from.
- A rate has Wilson's interval (1927).
- The excess of a rate over the rate of its control has Miettinen and Nurminen's interval (1985): the differences that
  the score test does not reject at 5 %, the variance taken at the most likely rates with that difference, times
  N/(N − 1). Where nothing works it covers zero in 95 % of runs even with few controls and rare successes, where the
  plain interval misses (Newcombe 1998, method 10 against method 1).
Attempts must be independent of each other given the release: the attacks try each person once, and no person is both
attacked and a control.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from celosia.model.reports.attacks import Control, Estimate, Risk

_Z = 1.959963984540054  # two-sided 95 %
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Trials:
    """How many times something was tried, and how many times it succeeded."""

    attempts: int
    successes: int

    @property
    def rate(self) -> float | None:
        """Share of successes; None when nothing was tried."""
        return self.successes / self.attempts if self.attempts else None


def rate_interval(trials: Trials) -> tuple[float, float]:
    """Wilson's 95 % interval of a success rate."""
    n, share = trials.attempts, trials.successes / trials.attempts
    spread = 1 + _Z * _Z / n
    centre = (share + _Z * _Z / (2 * n)) / spread
    half = _Z * math.sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n)) / spread
    low = 0.0 if trials.successes == 0 else centre - half
    return max(low, 0.0), 1.0 if trials.successes == n else min(centre + half, 1.0)


def excess_interval(attack: Trials, control: Trials) -> tuple[float, float]:
    """Miettinen and Nurminen's 95 % interval of the attack's rate minus the control's."""
    gap = attack.successes / attack.attempts - control.successes / control.attempts
    low = _boundary(lambda excess: _score(attack, control, excess) > _Z, -1.0, gap)
    high = _boundary(lambda excess: _score(attack, control, excess) >= -_Z, gap, 1.0)
    return low, high


def _boundary(before: Callable[[float], bool], low: float, high: float) -> float:
    """The point between low and high where `before` stops holding."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if before(middle) else (low, middle)
    return (low + high) / 2


def _score(attack: Trials, control: Trials, excess: float) -> float:
    """Score statistic of the difference of two rates against a supposed difference."""
    n, m = attack.attempts, control.attempts
    base = _control_rate(attack, control, excess)
    variance = _binomial(base + excess) / n + _binomial(base) / m
    gap = attack.successes / n - control.successes / m - excess
    if variance <= 0:
        return math.copysign(math.inf, gap) if gap else 0.0
    together = n + m
    return gap / math.sqrt(variance * together / max(together - 1, 1))


def _binomial(rate: float) -> float:
    rate = min(max(rate, 0.0), 1.0)
    return rate * (1 - rate)


def _control_rate(attack: Trials, control: Trials, excess: float) -> float:
    """The most likely control rate if the attack's is `excess` above it (closed form of the cubic)."""
    n, m, x, y = attack.attempts, control.attempts, attack.successes, control.successes
    third, total = 3.0 * (n + m), x + y
    quadratic = (n + 2 * m) * excess - (n + m) - total
    linear = (m * excess - (n + m) - 2 * y) * excess + total
    constant = y * excess * (1 - excess)
    turn = (quadratic / third) ** 3 - linear * quadratic / (2 * third * (n + m)) + 3 * constant / (2 * third)
    length = math.copysign(math.sqrt(max((quadratic / third) ** 2 - linear / third, 0.0)), turn)
    angle = 0.0 if length == 0 else min(max(turn / length**3, -1.0), 1.0)
    root = 2 * length * math.cos((math.pi + math.acos(angle)) / 3) - quadratic / third
    return min(max(root, 0.0, -excess), 1.0, 1.0 - excess)


def estimate(
    attack: str,
    risk: Risk,
    tried: Trials,
    *,
    control: Control,
    baseline: Trials | None = None,
    reach: int = 0,
    variables: tuple[str, ...] = (),
    remedy: str | None = None,
    reason: str | None = None,
    detail: Mapping[str, int | float | str] | None = None,
) -> Estimate:
    """The estimate of an attack tried so many times on a file of `reach` people within its reach."""
    rest: dict[str, Any] = {"variables": variables, "detail": dict(detail or {})}
    if tried.attempts == 0:
        return not_measured(attack, risk, reason or "no_attempts", control=control, **rest)
    low, high = rate_interval(tried)
    share = tried.successes / tried.attempts
    against, excess = _control_fields(tried, baseline if control is not Control.NONE else None)
    beyond = max(share if excess is None else excess, 0.0)
    return Estimate(
        attack=attack,
        risk=risk,
        attempts=tried.attempts,
        successes=tried.successes,
        rate=share,
        low=low,
        high=high,
        control=control,
        persons=round(beyond * reach),
        remedy=remedy,
        reason=reason if excess is not None or control is Control.NONE else reason or "no_control",
        **against,
        **rest,
    )


def _control_fields(tried: Trials, baseline: Trials | None) -> tuple[dict[str, Any], float | None]:
    """The fields of an estimate that say how the control fared, and the excess."""
    if baseline is None or baseline.attempts == 0:
        return {}, None
    low, high = excess_interval(tried, baseline)
    excess = tried.successes / tried.attempts - baseline.successes / baseline.attempts
    return {
        "control_attempts": baseline.attempts,
        "control_successes": baseline.successes,
        "control_rate": baseline.rate,
        "excess": excess,
        "excess_low": low,
        "excess_high": high,
    }, excess


def not_measured(
    attack: str,
    risk: Risk,
    reason: str,
    *,
    control: Control = Control.NONE,
    variables: tuple[str, ...] = (),
    detail: Mapping[str, int | float | str] | None = None,
) -> Estimate:
    """The estimate of an attack that could not be tried, and the key of the sentence that says why."""
    return Estimate(
        attack=attack,
        risk=risk,
        attempts=0,
        successes=0,
        rate=None,
        low=None,
        high=None,
        control=control,
        variables=variables,
        reason=reason,
        detail=dict(detail or {}),
    )
