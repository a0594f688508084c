"""Intervals of a rate and of an excess: published examples, exact coverage, laws."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy
from scipy.stats import binom

from celosia.attacks.estimates import Trials, _control_rate, estimate, excess_interval, not_measured, rate_interval
from celosia.model.reports.attacks import AttackReport, Control, Estimate, Finding


@pytest.mark.parametrize(
    ("successes", "attempts", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_rate_interval_is_wilsons(successes: int, attempts: int, low: float, high: float) -> None:
    """Newcombe 1998, table I, method 3."""
    assert rate_interval(Trials(attempts, successes)) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("attack", "control", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0528, 0.3382),
        ((9, 10), (3, 10), 0.1700, 0.8406),
        ((6, 7), (2, 7), 0.0342, 0.8534),
        ((5, 56), (0, 29), -0.0326, 0.1933),
    ],
)
def test_the_excess_interval_is_that_of_miettinen_and_nurminen(
    attack: tuple[int, int], control: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe 1998, table II, the Miettinen–Nurminen rows."""
    found = excess_interval(Trials(attack[1], attack[0]), Trials(control[1], control[0]))
    assert found == pytest.approx((low, high), abs=5e-5)


def _exact_coverage(attempts: int, controls: int, rate: float) -> float:
    """Chance that the interval covers zero when both rates are the same, over all outcomes that matter."""
    total = 0.0
    chances = [binom.pmf(np.arange(n + 1), n, rate) for n in (attempts, controls)]
    for x in np.flatnonzero(chances[0] > 1e-4):
        for y in np.flatnonzero(chances[1] > 1e-4):
            low, high = excess_interval(Trials(attempts, int(x)), Trials(controls, int(y)))
            total += chances[0][x] * chances[1][y] * (low <= 0 <= high)
    return total


@pytest.mark.parametrize("controls", [40, 100])
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.3, 0.5])
def test_equal_rates_are_covered_in_93_to_97_percent_of_all_outcomes(rate: float, controls: int) -> None:
    assert 0.93 <= _exact_coverage(150, controls, rate) <= 0.97


TRIALS = st.integers(1, 400).flatmap(lambda n: st.builds(Trials, st.just(n), st.integers(0, n)))


@given(TRIALS, TRIALS)
def test_the_interval_holds_the_excess_and_turns_with_the_sides(attack: Trials, control: Trials) -> None:
    low, high = excess_interval(attack, control)
    gap = attack.successes / attack.attempts - control.successes / control.attempts
    assert -1 <= low <= gap + 1e-12
    assert gap - 1e-12 <= high <= 1
    assert excess_interval(control, attack) == pytest.approx((-high, -low), abs=1e-7)


@given(TRIALS, TRIALS, st.floats(-0.95, 0.95))
def test_the_supposed_control_rate_is_the_most_likely_one(attack: Trials, control: Trials, excess: float) -> None:
    def likelihood(rate: np.ndarray | float) -> np.ndarray | float:
        mine = np.clip(np.asarray(rate) + excess, 0, 1)
        lost = xlogy(attack.attempts - attack.successes, 1 - mine) + xlogy(
            control.attempts - control.successes, 1 - rate
        )
        return xlogy(attack.successes, mine) + xlogy(control.successes, rate) + lost

    grid = np.linspace(max(0.0, -excess), min(1.0, 1.0 - excess), 2001)
    assert likelihood(_control_rate(attack, control, excess)) >= np.max(likelihood(grid)) - 1e-4


def test_an_attack_that_could_not_be_tried_has_no_rate_and_a_reason() -> None:
    found = not_measured("two_views", "linkability", "one_view_only", variables=("edad",))
    assert (found.measured, found.works, found.rate, found.excess) == (False, False, None, None)
    assert found.reason == "one_view_only"
    assert estimate("x", "inference", Trials(0, 0), control=Control.MARGINS).reason == "no_attempts"


def test_an_attack_without_anybody_in_its_control_does_not_count_as_working() -> None:
    found = estimate("x", "inference", Trials(10, 10), control=Control.HELD_OUT, baseline=Trials(0, 0), reach=10)
    assert found.reason == "no_control"
    assert not found.works


def test_people_reached_are_those_beyond_the_control() -> None:
    found = estimate("x", "inference", Trials(100, 60), control=Control.HELD_OUT, baseline=Trials(50, 10), reach=1_000)
    assert (found.persons, found.excess) == (400, pytest.approx(0.4))
    below = estimate("x", "inference", Trials(100, 10), control=Control.HELD_OUT, baseline=Trials(50, 30), reach=1_000)
    assert (below.persons, below.works) == (0, False)


def _with(persons: int, low: float) -> Estimate:
    return Estimate(
        attack="a", risk="inference", attempts=9, successes=5, rate=0.5, low=0.1, high=0.9, control=Control.MARGINS,
        excess=0.2, excess_low=low, excess_high=0.4, persons=persons, variables=("edad", "sexo"), detail={"lineup": 10},
    )  # fmt: skip


def test_the_strongest_attack_reaches_most_people_among_those_that_work() -> None:
    there = Finding(kind="hash", columns=("run",), cells=70, persons=70, severity="high", remedy="run")
    weak = Finding(kind="format", columns=("run",), cells=900, persons=900, severity="low")
    report = AttackReport(
        target="sha256:0", seed=1, rows=100, persons=None, estimates=(_with(90, -0.1), _with(50, 0.1)),
        findings=(weak, there),
    )  # fmt: skip
    assert report.strongest is there
    assert AttackReport(target="", seed=1, rows=0, persons=None).strongest is None


def test_a_report_is_plain_data_with_its_format_first() -> None:
    report = AttackReport(target="sha256:0", seed=1, rows=9, persons=8, estimates=(_with(9, 0.1),), notes=("n",))
    data = json.loads(json.dumps(report.as_dict()))
    assert next(iter(data.items())) == ("format", "celosia/intruder/1")
    assert data["estimates"][0]["control"] == "margins"
    assert data["estimates"][0]["variables"] == ["edad", "sexo"]
    assert data["estimates"][0]["works"] is True
