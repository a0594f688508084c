"""Checks of settings that several perturbations share: numbers in their range, columns named once."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from celosia.errors import RepeatedVariable, WrongParameter
from celosia.model.parameters import conflict


def wrong(technique: str, parameter: str, reason: str) -> WrongParameter:
    """The error of a parameter that does not fit; `reason` is a key of `techniques.reason`."""
    return conflict(technique, parameter, reason, "techniques")


def above_zero(technique: str, parameter: str, value: Decimal) -> None:
    """Refuse zero and less."""
    if value <= 0:
        raise wrong(technique, parameter, "positive")


def share_above_zero(technique: str, parameter: str, value: Decimal) -> None:
    """Refuse what is no share of something."""
    if not 0 < value <= 1:
        raise wrong(technique, parameter, "share")


def named_once(*lists: Sequence[str]) -> None:
    """Refuse a column named twice: a step cannot treat it twice, nor within itself."""
    seen: set[str] = set()
    for name in (name for names in lists for name in names):
        if name in seen:
            raise RepeatedVariable(variable=name)
        seen.add(name)


def some_column(technique: str, columns: Sequence[str]) -> None:
    """Refuse an empty list of columns."""
    if not columns:
        raise wrong(technique, "columns", "some_column")
