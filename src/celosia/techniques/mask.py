"""Masking of digits or characters from one end: 05302 to 053**.

Knows texts. Ignores what the digits mean. With a width, shorter numbers are first completed with zeros ('5302' is
'05302') and any other length is refused with its count; unknown codes (99999) stay. Without one, a value no longer
than `keep` goes out whole, and the report counts it.
Source: MINSAL, Implementación and Anexo II.2 (CUT: two digits of region, one of province, two of comuna).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from celosia.model.parameters import Text, Whole
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import unknown_in
from celosia.techniques._contract import Settings, StepInput
from celosia.techniques._families import recoding
from celosia.techniques._values import each_value, plain_lines, refuse_unreadable

_NAME = "mask"


def _refuse_ambiguous_length(settings: Settings) -> None:
    if (settings["keep"] is None) == (settings["steps"] is None):
        raise wrong_setting(_NAME, "keep, steps", "keep_or_steps")


def _mask_column(given: StepInput, name: str, settings: Settings) -> pa.Array:
    column = each_value(given.columns[name], unknown_in(settings, name), lambda values: _mask_values(values, settings))
    refuse_unreadable(_NAME, given, name, column.failed, "width", width=settings["width"])
    return column.cells


def _mask_values(values: Sequence[str], settings: Settings) -> list[str | None]:
    width, published = settings["width"], []
    for value in values:
        digits = value.isascii() and value.isdigit()
        text = value.zfill(width) if width is not None and digits else value
        published.append(_mask_text(text, settings) if width is None or len(text) == width else None)
    return published


def _mask_text(text: str, settings: Settings) -> str:
    keep, steps = settings["keep"], settings["steps"]
    count = max(len(text) - keep, 0) if keep is not None else min(steps, len(text))
    if settings["side"] == "left":
        return "*" * count + text[count:]
    return text[: len(text) - count] + "*" * count


def _notes(given: StepInput, columns: Mapping[str, pa.Array], settings: Settings) -> dict[str, int]:
    """Rows whose value lost no character: no longer than `keep`."""
    total = 0
    for name, cells in columns.items():
        whole = np.asarray(pc.invert(pc.match_substring(cells, "*")).to_numpy(zero_copy_only=False), bool)
        total += int(given.rows[whole & plain_lines(given.columns[name], unknown_in(settings, name))].sum())
    return {"rows_kept_whole": total}


TECHNIQUE = recoding(
    _NAME,
    {
        "keep": Whole(minimum=0),
        "steps": Whole(minimum=1),
        "side": Text(default="right", choices=("right", "left")),
        "width": Whole(minimum=1),
    },
    _mask_column,
    check=_refuse_ambiguous_length,
    notes=_notes,
    norms=("M17",),
)
