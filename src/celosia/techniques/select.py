"""Selection as the request says: rows by the values of columns and by a period, and the columns to keep.

Knows texts and dates. Ignores why a selection was asked for. A period includes both of its days. Rows without a date
are not in a period that anyone could show, so they leave unless `undated = "keep"`.
Source: ATENEA 4.1 (needs of the users: periods, coverage, level of detail).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import InternalFault, UnknownVariable
from celosia.model.parameters import Param, conflict
from celosia.techniques._calendar import DAY_FORMATS, ZONE, days_in, stated_day
from celosia.techniques._conditions import columns_named, conditions, holding, values_not_found
from celosia.techniques._contract import UNKNOWN, Given, Lines, Outcome, Settings, Technique
from celosia.techniques._draws import Draws

_NAME = "select"
_EARLIEST, _LATEST = 1_01_01, 9999_12_31


def _uses(settings: Settings) -> tuple[str, ...]:
    dates = (settings["dates"],) if settings["dates"] is not None else ()
    return (*columns_named(conditions(_NAME, "keep", settings["keep"])), *dates)


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    if settings["keep"] is None and settings["dates"] is None and settings["columns"] is None:
        raise conflict(_NAME, "keep, dates, columns", "selection", "techniques")
    removed = _removed(given, settings)
    kept, notes = _kept(given, settings)
    notes |= {"rows_kept": int(given.rows[kept].sum()), "columns_kept": len(given.names) - len(removed)}
    return Outcome(removed=removed, dropped=~kept, notes=notes)


def _removed(given: Given, settings: Settings) -> tuple[str, ...]:
    chosen = settings["columns"]
    if chosen is None:
        return ()
    if not given.names:
        raise InternalFault(where=f"techniques.{_NAME}")
    for name in chosen:
        if name not in given.names:
            raise UnknownVariable(variable=name, known=", ".join(given.names))
    return tuple(name for name in given.names if name not in chosen)


def _kept(given: Given, settings: Settings) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    kept, notes = np.ones(given.lines, bool), {}
    asked = conditions(_NAME, "keep", settings["keep"])
    if asked:
        kept &= holding(given, asked)
        notes["values_not_found"] = values_not_found(given, asked)
    if _has_period(settings):
        inside, undated = _period(given, settings)
        notes["rows_without_date"] = int(given.rows[kept & undated].sum())
        kept &= inside | (undated & (settings["undated"] == "keep"))
    return kept, notes


def _has_period(settings: Settings) -> bool:
    limits = settings["from"] is not None or settings["until"] is not None
    if limits != (settings["dates"] is not None):
        raise conflict(_NAME, "dates, from, until", "period", "techniques")
    return limits


def _period(given: Given, settings: Settings) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The lines inside the period and those without a date."""
    first = _EARLIEST if settings["from"] is None else stated_day(_NAME, "from", settings["from"])
    last = _LATEST if settings["until"] is None else stated_day(_NAME, "until", settings["until"])
    if first > last:
        raise conflict(_NAME, "from, until", "period", "techniques")
    days = days_in(_NAME, given, settings["dates"], settings)
    return days.known & (first <= days.numbers) & (days.numbers <= last), ~days.known


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "keep": Param("table"),
        "dates": Param("text"),
        "from": Param("text"),
        "until": Param("text"),
        "formats": Param("texts", default=("yyyy-mm-dd",), choices=DAY_FORMATS),
        "zone": ZONE,
        "undated": Param("text", default="drop", choices=("drop", "keep")),
        "unknown": UNKNOWN,
        "columns": Param("texts"),
    },
    uses=_uses,
    apply=_apply,
    norms=("A01",),
)
