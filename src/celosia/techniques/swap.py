"""Random swapping: the values of one or several columns pass among records (ATENEA 4.2.4, «permutación»).

Knows columns of text and strata. Ignores what the values mean: missing and masked cells travel like any other. The
chosen records of a stratum stand in a random circle and each takes the value of the next one, so nobody keeps his own
record and the multiset of values of each stratum is the same. Several columns travel together, which keeps how they go
with one another, or each in a circle of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.model.parameters import Param
from celosia.techniques._association import associations_lost
from celosia.techniques._contract import (
    COLUMNS,
    DECIMAL,
    STRATA,
    UNKNOWN,
    Given,
    Lines,
    Outcome,
    Settings,
    Technique,
    strata_of,
)
from celosia.techniques._draws import Draws
from celosia.techniques._settings import named_once, share_above_zero, some_column

Rows = NDArray[np.int64]
COMPARE = Param("texts", default=())


def uses(settings: Settings) -> tuple[str, ...]:
    """The columns to swap, the strata, and the variables whose association is reported."""
    return (*settings["columns"], *settings["strata"], *settings["compare"])


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    columns = settings["columns"]
    some_column("swap", columns)
    named_once(columns, settings["strata"])
    share_above_zero("swap", "share", settings["share"])
    strata, count = strata_of(given, settings["strata"])
    sizes = np.bincount(strata, minlength=count)
    made: dict[str, pa.Array] = {}
    source: Rows | None = None
    for name in columns:
        if source is None or not settings["together"]:
            source = circle(draws.raw(given.lines), strata, chosen_sizes(sizes, settings["share"]))
        made[name] = given.columns[name].take(pa.array(source))
    preserved = ("distribution", "distribution_by_stratum") if settings["strata"] else ("distribution",)
    notes: dict[str, Any] = {
        "rows_moved": 0 if source is None else int((source != np.arange(given.lines)).sum()),
        "strata": count,
        "rows_alone": int((sizes == 1).sum()),
    }
    together = ("joint_distribution",) if settings["together"] and len(columns) > 1 else ()
    return Outcome(made, preserved=(*preserved, *together), notes={**notes, **_lost(given, made, settings)})


def _lost(given: Given, made: Mapping[str, pa.Array], settings: Settings) -> dict[str, Any]:
    if not settings["compare"]:
        return {}
    return {"association": associations_lost(given.columns, made, settings["compare"], settings)}


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
    place = np.arange(len(order)) - start[strata[order]]
    ring = order[place < chosen[strata[order]]]
    ends = np.cumsum(chosen)
    following = np.arange(1, len(ring) + 1)
    some = chosen > 0
    following[ends[some] - 1] = (ends - chosen)[some]
    source = np.arange(len(keys))
    source[ring] = ring[following]
    return source


TECHNIQUE = Technique(
    name="swap",
    lines=Lines.ROWS,
    params={
        "columns": COLUMNS,
        "together": Param("flag", default=True),
        "share": Param("number", default=Decimal(1)),
        "strata": STRATA,
        "compare": COMPARE,
        "decimal": DECIMAL,
        "unknown": UNKNOWN,
    },
    uses=uses,
    apply=_apply,
    random=True,
    refuses=("one_row",),
    norms=("A21",),
)
