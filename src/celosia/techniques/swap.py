"""Random swapping: the values of one or several columns pass among records (ATENEA 4.2.4, «permutación»).

Knows columns of text and strata. Ignores what the values mean: missing and masked cells travel like any other. The
chosen records of a stratum form a random circle and each takes the value of the next one, so none keeps its own and
the multiset of values of each stratum is the same. Several columns travel together, which preserves their joint
distribution, or each in a circle of its own.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.model.parameters import Flag, Number
from celosia.techniques._association import swap_outcome
from celosia.techniques._checks import check_columns, refuse_not_share
from celosia.techniques._columns import strata_of
from celosia.techniques._contract import Settings, StepInput, StepOutcome
from celosia.techniques._draws import Draws
from celosia.techniques._families import perturbation

Rows = NDArray[np.int64]


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    check_columns("swap", settings)
    refuse_not_share("swap", "share", settings["share"])
    strata, count = strata_of(given, settings["strata"])
    sizes = np.bincount(strata, minlength=count)
    columns: dict[str, pa.Array] = {}
    for name in settings["columns"]:
        if not columns or not settings["together"]:
            source = circle(draws.raw(given.lines), strata, chosen_sizes(sizes, settings["share"]))
        columns[name] = given.columns[name].take(pa.array(source))
    notes = {
        "rows_moved": int((source != np.arange(given.lines)).sum()),
        "strata": count,
        "rows_alone": int((sizes == 1).sum()),
    }
    joint = ("joint_distribution",) if settings["together"] and len(columns) > 1 else ()
    return swap_outcome(given, columns, settings, notes, *joint)


def chosen_sizes(sizes: Rows, share: Decimal) -> Rows:
    """Records that move in each stratum: the share rounded up, two at least, none where a record is alone."""
    part = Fraction(share)
    chosen = [0 if size < 2 else max(2, math.ceil(part * size)) for size in sizes.tolist()]
    return np.array(chosen, np.int64)


def circle(keys: NDArray[np.uint64], strata: Rows, chosen: Rows) -> Rows:
    """The line each line takes its value from: the chosen ones of a stratum, by their keys, in a circle."""
    order = np.lexsort((keys, strata))
    sizes = np.bincount(strata, minlength=len(chosen))
    start = np.cumsum(sizes) - sizes
    rank = np.arange(len(order)) - start[strata[order]]
    ring = order[rank < chosen[strata[order]]]
    ends = np.cumsum(chosen)
    following = np.arange(1, len(ring) + 1)
    some = chosen > 0
    following[ends[some] - 1] = (ends - chosen)[some]
    source = np.arange(len(keys))
    source[ring] = ring[following]
    return source


TECHNIQUE = perturbation(
    "swap",
    {"together": Flag(default=True), "share": Number(default=Decimal(1))},
    _apply,
    shared="strata compare decimal unknown",
    refuses=("one_row",),
    norms=("A21",),
)
