"""A group where nearly all share a rare value is seen; habits of the whole file and small groups are not."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.attacks.attack_input import View
from celosia.attacks.skew import skewed_classes
from tests.attacks.test_unmasking import view

KNOWN = ("sexo", "zona")


def made(seed: int, share: float, rare: bool = True, size: int = 4_000) -> View:
    """People by sex and zone; in one group so many have B24, which elsewhere few or nearly all have."""
    rng = np.random.Generator(np.random.Philox(seed))
    sexo, zona = rng.choice(["F", "M"], size), rng.choice(["a", "b", "c", "d"], size)
    usual = np.where(rng.random(size) < (0.02 if rare else 0.9), "B24", rng.choice(["A09", "I10", "J18"], size))
    there = (sexo == "F") & (zona == "a") & (rng.random(size) < share)
    return view(sexo=list(sexo), zona=list(zona), diag=list(np.where(there, "B24", usual)))


@pytest.mark.requirement("M28")
def test_a_group_where_nearly_all_share_a_rare_value_is_seen() -> None:
    found = skewed_classes(made(1, 0.95), KNOWN, "diag")
    assert found is not None
    assert found.detail["groups"] == 1
    assert 400 < found.persons < 600


def test_a_group_of_one_value_is_left_to_the_other_attack() -> None:
    assert skewed_classes(made(1, 1.0), KNOWN, "diag") is None


@pytest.mark.parametrize("seed", range(20))
def test_neither_chance_nor_a_habit_of_all_is_called_a_disclosure(seed: int) -> None:
    assert skewed_classes(made(seed, 0.0), KNOWN, "diag") is None
    assert skewed_classes(made(seed, 0.95, rare=False), KNOWN, "diag") is None
