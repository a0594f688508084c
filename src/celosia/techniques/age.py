"""Birth date to completed years at a reference date, and to a band of ages.

Knows dates. Ignores who is behind them. The reference is a date or a column (age at the event). Who was born on 29
February completes the year on 1 March where the year has no such day. A birth after the reference is refused with
its count; where the reference is missing, the age is missing.
Bands with `cuts` are open at both ends («<18», «45+»); with `width` they start at 0 and, with `end`, are open above.
Source: YAPÓ 2.2 (18-24, 25-34, 35-44, 45+, or bands of 5 or 10 years).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.model.parameters import Many, Number, Text, Whole
from celosia.model.values import MISSING
from celosia.techniques._bands import band_labels
from celosia.techniques._calendar import DAY_FORMATS, days_in, parse_day
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import replace_cells, text_array
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._parameters import COLUMNS, INTO, UNKNOWN, ZONE
from celosia.techniques._values import new_names, recode_outcome
from celosia.techniques.errors import BirthAfterReference

_NAME = "age"


def _uses(settings: Settings) -> tuple[str, ...]:
    reference = () if settings["at_column"] is None else (settings["at_column"],)
    return (*settings["columns"], *reference)


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    names, reference = new_names(_NAME, settings), _reference(given, settings)
    columns = {name: _age_column(given, name, reference, settings) for name in names}
    return recode_outcome(names, columns, {"rows_without_reference": int(given.rows[reference == 0].sum())})


def _reference(given: StepInput, settings: Settings) -> NDArray[np.int64]:
    if (settings["at"] is None) == (settings["at_column"] is None):
        raise wrong_setting(_NAME, "at, at_column", "at_or_column")
    if settings["at"] is not None:
        return np.full(given.lines, parse_day(_NAME, "at", settings["at"]), np.int64)
    return days_in(_NAME, given, settings["at_column"], settings).numbers


def _age_column(given: StepInput, name: str, reference: NDArray[np.int64], settings: Settings) -> pa.Array:
    births = days_in(_NAME, given, name, settings)
    known = births.present & (reference > 0)
    late = known & (births.numbers > reference)
    if late.any():
        raise BirthAfterReference(variable=name, rows=int(given.rows[late].sum()))
    ages, index = np.unique((reference - births.numbers)[known] // 10000, return_inverse=True)
    labels = text_array(_labels(ages, settings)).take(pa.array(index.reshape(-1)))
    without = births.present & ~known
    cells = replace_cells(given.columns[name], without, text_array([MISSING] * int(without.sum())))
    return replace_cells(cells, known, labels)


def _labels(ages: NDArray[np.int64], settings: Settings) -> list[str]:
    texts = [str(age) for age in ages.tolist()]
    spec = _bands(settings, int(ages.max(initial=0)))
    # Bands reach from open end to open end, or from 0 to the oldest: every age has one.
    return texts if spec is None else [label for label in band_labels(texts, spec) if label is not None]


def _bands(settings: Settings, oldest: int) -> dict[str, Any] | None:
    cuts, width, end = settings["cuts"], settings["width"], settings["end"]
    if cuts is None and width is None and end is None:
        return None
    shared = {"cuts": cuts, "width": width, "label": settings["label"]}
    if cuts is not None:
        return {**shared, "open_low": True, "open_high": True}
    return {**shared, "end": max(oldest, width or 1) if end is None else end, "open_high": end is not None}


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        "at": Text(),
        "at_column": Text(),
        "cuts": Many(Number(minimum=0)),
        "width": Whole(minimum=1),
        "end": Whole(minimum=1),
        "label": Text(default="{low}-{high}"),
        "formats": Many(Text(choices=DAY_FORMATS), default=("yyyy-mm-dd",)),
        "zone": ZONE,
        "into": INTO,
        "unknown": UNKNOWN,
    },
    uses=_uses,
    apply=_apply,
    norms=("Y03",),
)
