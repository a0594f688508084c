"""Rank swapping: pairs of records whose ranks are near exchange their values (Moore 1996; ATENEA 4.2.4).

Knows columns of numbers, their strata and a window in PERCENT of the rows. Ignores what the numbers measure. In each
stratum the n cells with a number are sorted, equal ones in random order; from the lowest on, each one not yet exchanged
takes by chance one of those not yet exchanged at most w = max(1, ⌊n·percent/100⌋) ranks above. So no value travels more
than w ranks, and the multiset is the same. Cells without a number stay where they are. A few of the highest cells may
find no partner: they are counted. The cells travel as they are written.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.model.parameters import Number
from celosia.techniques._association import swap_outcome
from celosia.techniques._checks import check_columns, wrong_setting
from celosia.techniques._columns import numbers_in, strata_of
from celosia.techniques._contract import Settings, StepInput, StepOutcome
from celosia.techniques._draws import Draws
from celosia.techniques._families import perturbation

Rows = NDArray[np.int64]


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    check_columns("rank_swap", settings)
    if not 0 < settings["percent"] <= 100:
        raise wrong_setting("rank_swap", "percent", "percent")
    strata, count = strata_of(given, settings["strata"])
    columns: dict[str, pa.Array] = {}
    notes: dict[str, Any] = {"cells_moved": {}, "cells_without_partner": {}, "window": {}}
    for name in settings["columns"]:
        column = numbers_in(given, name, settings, "rank_swap")
        windows = window_sizes(np.bincount(strata[column.plain], minlength=count), settings["percent"])
        source = _source(column.values, column.plain, strata, windows, draws)
        columns[name] = given.columns[name].take(pa.array(source))
        moved = int((source != np.arange(given.lines)).sum())
        notes["cells_moved"][name] = moved
        notes["cells_without_partner"][name] = int(column.plain.sum()) - moved
        notes["window"][name] = int(windows.max(initial=0))
    return swap_outcome(given, columns, settings, notes, "missing")


def window_sizes(sizes: Rows, percent: Decimal) -> Rows:
    """How many ranks a value may travel in each stratum: the percentage of its cells, rounded down, one at least."""
    share = Fraction(percent) / 100
    return np.array([max(1, int(share * size)) for size in sizes.tolist()], np.int64)


def _source(values: NDArray[np.float64], plain: NDArray[np.bool_], strata: Rows, windows: Rows, draws: Draws) -> Rows:
    """The line each line takes its value from."""
    from celosia.kernels.pairs import pair_up  # numba is loaded when a step needs it

    ties, chance = draws.raw(len(values)), draws.uniform(len(values))
    lines = np.flatnonzero(plain)
    ranked = lines[np.lexsort((ties[lines], values[lines], strata[lines]))]
    above = np.arange(1, len(ranked) + 1)
    ends = np.cumsum(np.bincount(strata[lines], minlength=len(windows)))[strata[ranked]]
    high = np.minimum(above + windows[strata[ranked]], ends)
    free = np.ones(len(ranked), bool)
    partner = pair_up(above - 1, free, above, high, high, high, chance[ranked], len(ranked))
    paired = partner >= 0
    source = np.arange(len(values))
    source[ranked[paired]] = ranked[partner[paired]]
    return source


TECHNIQUE = perturbation(
    "rank_swap",
    {"percent": Number(required=True)},
    _apply,
    shared="strata compare decimal unknown",
    refuses=("one_row",),
    norms=("A21",),
)
