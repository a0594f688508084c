"""Checks of settings that several techniques share; a reason is a key of `techniques.reason`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from celosia.model.errors import RepeatedVariable
from celosia.model.parameters import conflict
from celosia.model.value_errors import WrongParameter


def wrong_setting(technique: str, parameter: str, reason: str) -> WrongParameter:
    """The error of a parameter that does not fit."""
    return conflict(technique, parameter, reason, "techniques")


def check_columns(technique: str, settings: Mapping[str, Any]) -> None:
    """Refuse a step without columns, or that names one twice among its columns and strata."""
    if not settings["columns"]:
        raise wrong_setting(technique, "columns", "some_column")
    refuse_repeated_names(settings["columns"], settings.get("strata", ()))


def refuse_repeated_names(*lists: Sequence[str]) -> None:
    """Refuse a column named twice: a step cannot treat it twice, nor within itself."""
    seen: set[str] = set()
    for name in (name for names in lists for name in names):
        if name in seen:
            raise RepeatedVariable(variable=name)
        seen.add(name)


def refuse_not_positive(technique: str, parameter: str, value: Decimal) -> None:
    """Refuse zero and less."""
    if value <= 0:
        raise wrong_setting(technique, parameter, "positive")


def refuse_not_share(technique: str, parameter: str, value: Decimal) -> None:
    """Refuse a number that is not above 0 and at most 1."""
    if not 0 < value <= 1:
        raise wrong_setting(technique, parameter, "share")
