"""Masking of digits or characters from one end: 05302 to 053**.

Knows texts. Ignores what the digits mean. With a width, shorter numbers are first completed with zeros ('5302' is
'05302') and any other length is refused with its count; unknown codes (99999) stay. Without one, a value no longer
than `keep` goes out whole, and the report counts it.
Source: MINSAL, Implementación and Anexo II.2 (CUT: two digits of region, one of province, two of comuna).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from celosia.model.parameters import Param, conflict
from celosia.techniques._contract import (
    COLUMNS,
    INTO,
    UNKNOWN,
    Given,
    Lines,
    Outcome,
    Settings,
    Technique,
    columns_of,
    unknown_in,
)
from celosia.techniques._draws import Draws
from celosia.techniques._values import each_value, new_names, plain_lines, recoded, refuse_unreadable

_NAME = "mask"


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    if (settings["keep"] is None) == (settings["steps"] is None):
        raise conflict(_NAME, "keep, steps", "keep_or_steps", "techniques")
    names = new_names(_NAME, settings)
    made = {name: _masked(given, name, settings) for name in names}
    return recoded(names, made, {"rows_kept_whole": _kept_whole(given, made, settings)})


def _masked(given: Given, name: str, settings: Settings) -> pa.Array:
    made = each_value(given.columns[name], unknown_in(settings, name), lambda values: _published(values, settings))
    refuse_unreadable(_NAME, given, name, made.failed, "width", width=settings["width"])
    return made.cells


def _published(values: Sequence[str], settings: Settings) -> list[str | None]:
    width, published = settings["width"], []
    for value in values:
        digits = value.isascii() and value.isdigit()
        text = value.zfill(width) if width is not None and digits else value
        published.append(_hidden(text, settings) if width is None or len(text) == width else None)
    return published


def _hidden(text: str, settings: Settings) -> str:
    keep, steps = settings["keep"], settings["steps"]
    count = max(len(text) - keep, 0) if keep is not None else min(steps, len(text))
    if settings["side"] == "left":
        return "*" * count + text[count:]
    return text[: len(text) - count] + "*" * count


def _kept_whole(given: Given, made: dict[str, pa.Array], settings: Settings) -> int:
    """Rows whose value lost no character: shorter than what is kept."""
    total = 0
    for name, cells in made.items():
        whole = np.asarray(pc.invert(pc.match_substring(cells, "*")).to_numpy(zero_copy_only=False), bool)
        total += int(given.rows[whole & plain_lines(given.columns[name], unknown_in(settings, name))].sum())
    return total


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        "keep": Param("whole", minimum=0),
        "steps": Param("whole", minimum=1),
        "side": Param("text", default="right", choices=("right", "left")),
        "width": Param("whole", minimum=1),
        "into": INTO,
        "unknown": UNKNOWN,
    },
    uses=columns_of,
    apply=_apply,
    apart=True,
    norms=("M17",),
)
