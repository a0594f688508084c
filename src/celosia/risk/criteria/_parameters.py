"""Parameters of criteria, declared as data: kind, range, default.

Validation, command-line options, forms and reference pages are made from the same lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from celosia.errors import ValueOutOfRange

REQUIRED = object()
_FINEST = 10**6  # thresholds of up to six decimals keep every comparison within whole numbers


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    minimum: int
    maximum: int = 10**9
    default: object = REQUIRED

    def read(self, name: str, given: object) -> int:
        """The value, checked."""
        if isinstance(given, bool) or not isinstance(given, int) or not self.minimum <= given <= self.maximum:
            raise ValueOutOfRange(parameter=name, given=given, allowed=f"{self.minimum}–{self.maximum}")
        return given


@dataclass(frozen=True, slots=True)
class Ratio:
    """A number kept as an exact fraction; 0.2 means one fifth, not its nearest binary neighbour."""

    minimum: Fraction
    maximum: Fraction
    above_minimum: bool = False
    default: object = REQUIRED

    def read(self, name: str, given: object) -> Fraction:
        """The value, exact and checked."""
        value = _exact(given)
        low = value is not None and (value > self.minimum if self.above_minimum else value >= self.minimum)
        if value is None or not low or value > self.maximum or value.denominator > _FINEST:
            raise ValueOutOfRange(parameter=name, given=given, allowed=self.allowed)
        return value

    @property
    def allowed(self) -> str:
        """The range as text."""
        return f"{'>' if self.above_minimum else '≥'} {float(self.minimum):g}, ≤ {float(self.maximum):g}"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]
    default: object = REQUIRED

    def read(self, name: str, given: object) -> str:
        """The value, checked."""
        if not isinstance(given, str) or given not in self.options:
            raise ValueOutOfRange(parameter=name, given=given, allowed=", ".join(self.options))
        return given


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no."""

    default: object = REQUIRED

    def read(self, name: str, given: object) -> bool:
        """The value, checked."""
        if not isinstance(given, bool):
            raise ValueOutOfRange(parameter=name, given=given, allowed="true, false")
        return given


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a variable or of a table."""

    default: object = REQUIRED
    optional: bool = False

    def read(self, name: str, given: object) -> str:
        """The value, checked."""
        if not isinstance(given, str) or not (given or self.optional):
            raise ValueOutOfRange(parameter=name, given=given, allowed="…")
        return given


Parameter = Whole | Ratio | Choice | Flag | Name
_KINDS: Mapping[type, str] = {Whole: "whole", Ratio: "number", Choice: "choice", Flag: "flag", Name: "name"}


def declared(parameter: Parameter) -> dict[str, Any]:
    """A declaration as plain data, from which a form is made."""
    required = parameter.default is REQUIRED
    found: dict[str, Any] = {"kind": _KINDS[type(parameter)], "required": required}
    found["default"] = None if required else as_plain(parameter.default)
    if isinstance(parameter, Whole | Ratio):
        found |= {"minimum": float(parameter.minimum), "maximum": float(parameter.maximum)}
    if isinstance(parameter, Ratio):
        found["above_minimum"] = parameter.above_minimum
    return found | ({"options": parameter.options} if isinstance(parameter, Choice) else {})


def _exact(given: object) -> Fraction | None:
    if isinstance(given, Fraction):
        return given
    if isinstance(given, bool) or not isinstance(given, int | float | str | Decimal):
        return None
    try:
        return Fraction(repr(given) if isinstance(given, float) else given)
    except (ValueError, ZeroDivisionError, InvalidOperation, OverflowError):
        return None


def as_plain(value: object) -> object:
    """A value as it is written in a file: fractions as decimals where exact, else as text."""
    if not isinstance(value, Fraction):
        return value
    return float(value) if Fraction(repr(float(value))) == value else str(value)
