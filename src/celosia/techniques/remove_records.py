"""Removal of records, the last measure: it asks for a reason and a confirmation, and says how totals change.

Knows conditions on values and the numbers of the columns whose totals matter. Ignores whether another technique
would do. Source: ATENEA 4.2.4 (only after every other step).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia import messages
from celosia.model.parameters import Flag, Many, Text, TomlTable
from celosia.techniques._columns import numbers_in, total_of
from celosia.techniques._conditions import columns_named, conditions, count_unmatched_values, lines_where
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._parameters import DECIMAL, UNKNOWN
from celosia.techniques.errors import RemovalUnconfirmed

_NAME = "remove_records"


def _uses(settings: Settings) -> tuple[str, ...]:
    return (*columns_named(conditions(_NAME, "where", settings["where"])), *settings["totals"])


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    tables = conditions(_NAME, "where", settings["where"])
    dropped = lines_where(given, tables)
    _refuse_unconfirmed(given, dropped, settings)
    notes = {
        "rows_removed": int(given.rows[dropped].sum()),
        "values_not_found": count_unmatched_values(given, tables),
        "totals": {name: _figures(given, name, settings, ~dropped) for name in settings["totals"]},
    }
    return StepOutcome(dropped=dropped, notes=notes)


def _refuse_unconfirmed(given: StepInput, dropped: NDArray[np.bool_], settings: Settings) -> None:
    lacks = {"reason": not settings["reason"].strip(), "confirmed": not settings["confirmed"]}
    if any(lacks.values()):
        words = [messages.text(f"techniques.expected.{name}") for name, lacking in lacks.items() if lacking]
        rows, total = int(given.rows[dropped].sum()), int(given.rows.sum())
        raise RemovalUnconfirmed(rows=rows, total=total, lacking=", ".join(words))


def _figures(given: StepInput, name: str, settings: Settings, left: NDArray[np.bool_]) -> dict[str, Any]:
    """Total and mean before and after, over the cells that hold a number."""
    column = numbers_in(given, name, settings, _NAME)
    figures: dict[str, Any] = {}
    for moment, where in (("before", column.plain), ("after", column.plain & left)):
        total, rows = total_of(_NAME, given, name, column, where), int(given.rows[where].sum())
        figures |= {f"total_{moment}": total, f"mean_{moment}": total / rows if rows else None}
    return figures


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "where": TomlTable(required=True),
        "reason": Text(default=""),
        "confirmed": Flag(default=False),
        "totals": Many(Text(), default=()),
        "decimal": DECIMAL,
        "unknown": UNKNOWN,
    },
    uses=_uses,
    apply=_apply,
    norms=("A24",),
)
