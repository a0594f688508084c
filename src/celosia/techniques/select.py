"""Selection as the request says: rows by the values of columns and by a period, and the columns to keep.

Knows texts and dates. Ignores why a selection was asked for. A period includes both of its days. Rows without a date
are not in a period that anyone could show, so they leave unless `undated = "keep"`.
Source: ATENEA 4.1 (needs of the users: periods, coverage, level of detail).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.model.errors import UnknownVariable
from celosia.model.parameters import Many, Text, TomlTable
from celosia.techniques._calendar import DAY_FORMATS, days_in, parse_day
from celosia.techniques._checks import wrong_setting
from celosia.techniques._conditions import columns_named, conditions, count_unmatched_values, lines_where
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._parameters import UNKNOWN, ZONE

_NAME = "select"
_EARLIEST, _LATEST = 1_01_01, 9999_12_31


def _uses(settings: Settings) -> tuple[str, ...]:
    dates = (settings["dates"],) if settings["dates"] is not None else ()
    return (*columns_named(conditions(_NAME, "keep", settings["keep"])), *dates)


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    if settings["keep"] is None and settings["dates"] is None and settings["columns"] is None:
        raise wrong_setting(_NAME, "keep, dates, columns", "selection")
    removed = _columns_to_remove(given, settings)
    selected, notes = _select_lines(given, settings)
    notes |= {"rows_kept": int(given.rows[selected].sum()), "columns_kept": len(given.names) - len(removed)}
    return StepOutcome(removed=removed, dropped=~selected, notes=notes)


def _columns_to_remove(given: StepInput, settings: Settings) -> tuple[str, ...]:
    chosen = settings["columns"]
    if chosen is None:
        return ()
    if not given.names:
        raise AssertionError("select by lines without their names")
    for name in chosen:
        if name not in given.names:
            raise UnknownVariable(variable=name, known=", ".join(given.names))
    return tuple(name for name in given.names if name not in chosen)


def _select_lines(given: StepInput, settings: Settings) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    selected, notes = np.ones(given.lines, bool), {}
    tables = conditions(_NAME, "keep", settings["keep"])
    if tables:
        selected &= lines_where(given, tables)
        notes["values_not_found"] = count_unmatched_values(given, tables)
    if _has_period(settings):
        inside, undated = _period(given, settings)
        notes["rows_without_date"] = int(given.rows[selected & undated].sum())
        selected &= inside | (undated & (settings["undated"] == "keep"))
    return selected, notes


def _has_period(settings: Settings) -> bool:
    limits = settings["from"] is not None or settings["until"] is not None
    if limits != (settings["dates"] is not None):
        raise wrong_setting(_NAME, "dates, from, until", "period")
    return limits


def _period(given: StepInput, settings: Settings) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The lines inside the period and those without a date."""
    first = _EARLIEST if settings["from"] is None else parse_day(_NAME, "from", settings["from"])
    last = _LATEST if settings["until"] is None else parse_day(_NAME, "until", settings["until"])
    if first > last:
        raise wrong_setting(_NAME, "from, until", "period")
    days = days_in(_NAME, given, settings["dates"], settings)
    return days.present & (first <= days.numbers) & (days.numbers <= last), ~days.present


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "keep": TomlTable(),
        "dates": Text(),
        "from": Text(),
        "until": Text(),
        "formats": Many(Text(choices=DAY_FORMATS), default=("yyyy-mm-dd",)),
        "zone": ZONE,
        "undated": Text(default="drop", choices=("drop", "keep")),
        "unknown": UNKNOWN,
        "columns": Many(Text()),
    },
    uses=_uses,
    apply=_apply,
    norms=("A01",),
)
