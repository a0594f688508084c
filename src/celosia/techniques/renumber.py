"""Renumbering of group identifiers: households, hospitals or schools become 1 … n in an order drawn by chance.

Knows the distinct identifiers. Rows that shared one share the new one; the old ones and their order are gone, and no
table from old to new is kept. Missing, masked and declared unknown codes stay. Source: MINSAL, Marco normativo.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from celosia.model.parameters import Flag
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._identifiers import chosen_columns, replace_identifiers, unknown_of
from celosia.techniques._parameters import COLUMNS, UNKNOWN


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    names = settings["columns"]
    groups = [names] if settings["together"] else [[name] for name in names]

    def new_numbers(known: pa.Array, group: Sequence[str]) -> pa.Array:
        source = draws if settings["together"] else draws.split(group[0])
        return _numbers(len(known), unknown_of(settings, group), source)

    result = replace_identifiers(given, groups, settings, new_numbers)
    return StepOutcome(columns=result.columns, preserved=("rows", "groups"), notes={"identifiers": result.distinct})


def _numbers(count: int, unknown: Sequence[str], draws: Draws) -> pa.Array:
    """1 … count in an order drawn by chance; a number that reads like a declared unknown code is passed over."""
    taken = {int(code) for code in unknown if code.isascii() and code.isdigit() and str(int(code)) == code}
    numbers = np.arange(1, count + len(taken) + 1)
    free = numbers[~np.isin(numbers, list(taken))][:count]
    return pa.array(free[draws.permutation(count)], pa.int64()).cast(pa.large_string())


TECHNIQUE = Technique(
    name="renumber",
    lines=Lines.VALUES,
    params={"columns": COLUMNS, "together": Flag(default=False), "unknown": UNKNOWN},
    uses=chosen_columns,
    apply=_apply,
    random=True,
    norms=("M36",),
)
