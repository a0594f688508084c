"""Shuffling of rows: the order of a file may tell when or where each person was written down (MINSAL, Marco normativo).

Knows how many rows there are. The new order is drawn over the canonical order of the rows, so nothing of the order
they came in is left.
"""

from __future__ import annotations

from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    return StepOutcome(order=draws.permutation(given.lines), preserved=("rows", "every_value"))


TECHNIQUE = Technique(
    name="shuffle", lines=Lines.ROWS, params={}, uses=lambda settings: (), apply=_apply, random=True, norms=("M36",)
)
