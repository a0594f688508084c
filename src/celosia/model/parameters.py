"""Parameters declared once as data: of criteria, techniques, hierarchy builders, project settings and STATS.

Each class knows one kind of value: how it is read and checked, how it is written on the command line, and the form
and the reference that are made from it. Ignores what its owner does with the value. The sentence of a parameter is
in its owner's catalogue: `hierarchy.parameter.<name>`, `techniques.parameter.<name>`, `plan.expected.<wording>`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, ClassVar

from celosia import messages
from celosia.model.value_errors import UnknownParameter, WrongParameter

_DECIMAL = re.compile(r"[+-]?\d+(\.\d+)?")
# Thresholds of up to six decimals keep every comparison within whole numbers.
_LARGEST_DENOMINATOR = 10**6
_YES = ("true", "yes", "y", "on", "1", "si", "sí", "s", "verdadero", "cierto")
_NO = ("false", "no", "n", "off", "0", "falso")


class NotAccepted(ValueError):
    """A value that a parameter does not accept; the owner of the parameter words the error."""


@dataclass(frozen=True, slots=True)
class ParameterForm:
    """What a form needs to ask for a parameter."""

    name: str
    kind: str
    default: Any
    required: bool
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above_minimum: bool = False  # the minimum itself is not accepted


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """Base of the kinds; a parameter that is not required takes its default when nobody gives it."""

    kind: ClassVar[str]
    default: Any = None
    required: bool = False
    wording: str = ""  # key of `plan.expected`, where the kind alone does not say what a project's file may hold

    @property
    def choices(self) -> tuple[str, ...]:
        """The only texts accepted; empty where any is."""
        return ()

    @property
    def minimum(self) -> Any:
        """The smallest number accepted, or None."""
        return None

    def read(self, value: Any) -> Any:
        """The value, checked; raises NotAccepted."""
        raise NotImplementedError

    def accepts(self, value: Any) -> bool:
        """Whether a value can be read."""
        try:
            self.read(value)
        except NotAccepted:
            return False
        return True

    def from_text(self, text: str) -> Any:
        """The value written as one word of the command line; `read` checks it afterwards."""
        return text

    @property
    def limits(self) -> str:
        """What is accepted, in signs that need no language."""
        return ", ".join(self.choices) or "…"

    @property
    def allowed_text(self) -> str:
        """What is accepted, in the current language."""
        words = ", ".join(self.choices) or messages.text(f"parameters.kind.{self.kind}")
        if self.minimum is None:
            return words
        return f"{words} {messages.text('parameters.at_least', minimum=self.minimum)}"

    @property
    def expected_key(self) -> str:
        """The key of `plan.expected` that says what a key of a project's file may hold."""
        return self.wording or ("choice" if self.choices else self.kind)

    @property
    def expected_text(self) -> str:
        """What a key of a project's file may hold, in the current language."""
        return messages.text(f"plan.expected.{self.expected_key}", options=", ".join(self.choices))

    def form(self, name: str) -> ParameterForm:
        """The form that asks for it."""
        return ParameterForm(name, self.kind, as_plain(self.default), self.required, self.choices, self.minimum)

    def as_dict(self) -> dict[str, Any]:
        """The declaration as a reference page and `celosia techniques --json` show it."""
        default = self.default
        if isinstance(default, tuple):
            default = [str(item) for item in default]
        elif default is not None and not isinstance(default, bool | int):
            default = str(default)
        limits = {"choices": list(self.choices), "minimum": self.minimum}
        return {"kind": self.kind, "required": self.required, **limits, "default": default}


@dataclass(frozen=True, kw_only=True)
class Flag(Parameter):
    """Yes or no."""

    kind: ClassVar[str] = "flag"

    def read(self, value: Any) -> bool:
        """True or false, and nothing that merely looks like it."""
        if not isinstance(value, bool):
            raise NotAccepted
        return value

    def from_text(self, text: str) -> bool:
        """The usual words for yes and no in both languages."""
        word = unicodedata.normalize("NFC", text.strip().lower())
        if word not in (*_YES, *_NO):
            raise NotAccepted
        return word in _YES

    @property
    def limits(self) -> str:
        """Both values, as a file writes them."""
        return "true, false"


@dataclass(frozen=True, kw_only=True)
class Whole(Parameter):
    """A whole number."""

    kind: ClassVar[str] = "whole"
    minimum: int | None = None
    maximum: int | None = None

    def read(self, value: Any) -> int:
        """The number within its limits."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise NotAccepted
        if (self.minimum is not None and value < self.minimum) or (self.maximum is not None and value > self.maximum):
            raise NotAccepted
        return value

    def from_text(self, text: str) -> int:
        """The digits as a number."""
        try:
            return int(text)
        except ValueError:
            raise NotAccepted from None

    @property
    def limits(self) -> str:
        """The range."""
        return f"{self.minimum}–{self.maximum}"

    def form(self, name: str) -> ParameterForm:
        """With its range."""
        return ParameterForm(name, self.kind, self.default, self.required, (), self.minimum, self.maximum)


@dataclass(frozen=True, kw_only=True)
class Number(Parameter):
    """A decimal number exactly as written."""

    kind: ClassVar[str] = "number"
    minimum: int | None = None

    def read(self, value: Any) -> Decimal:
        """The number; one in scientific notation is refused unless it is a float of Python."""
        if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
            raise NotAccepted
        text = f"{Decimal(repr(value)):f}" if isinstance(value, float) and math.isfinite(value) else str(value)
        if _DECIMAL.fullmatch(text) is None:
            raise NotAccepted
        number = Decimal(text)
        if self.minimum is not None and number < self.minimum:
            raise NotAccepted
        return number


@dataclass(frozen=True, kw_only=True)
class Ratio(Parameter):
    """A number as an exact fraction; 0.2 means one fifth, not its nearest binary neighbour."""

    kind: ClassVar[str] = "number"
    minimum: int = 0
    maximum: int = 1
    above_minimum: bool = False

    def read(self, value: Any) -> Fraction:
        """The fraction within its limits."""
        fraction = exact_fraction(value)
        if fraction is None or fraction.denominator > _LARGEST_DENOMINATOR:
            raise NotAccepted
        if not self.minimum <= fraction <= self.maximum or (self.above_minimum and fraction == self.minimum):
            raise NotAccepted
        return fraction

    @property
    def limits(self) -> str:
        """The range."""
        return f"{'>' if self.above_minimum else '≥'} {self.minimum:g}, ≤ {self.maximum:g}"

    def form(self, name: str) -> ParameterForm:
        """With its range."""
        limits = ((), float(self.minimum), float(self.maximum), self.above_minimum)
        return ParameterForm(name, self.kind, as_plain(self.default), self.required, *limits)


@dataclass(frozen=True, kw_only=True)
class Text(Parameter):
    """A text, or one of a few; the default is accepted even if it is none of them."""

    kind: ClassVar[str] = "text"
    choices: tuple[str, ...] = ()

    def read(self, value: Any) -> str:
        """The text."""
        if not isinstance(value, str) or (self.choices and value not in (*self.choices, self.default)):
            raise NotAccepted
        return value


@dataclass(frozen=True, kw_only=True)
class Name(Parameter):
    """The name of a variable or of a table; it may be empty only where that is the default."""

    kind: ClassVar[str] = "name"

    def read(self, value: Any) -> str:
        """The name."""
        if not isinstance(value, str) or not (value or self.default == ""):
            raise NotAccepted
        return value


@dataclass(frozen=True, kw_only=True)
class TomlTable(Parameter):
    """A table or a list of tables of TOML that is not empty."""

    kind: ClassVar[str] = "table"

    def read(self, value: Any) -> Any:
        """The table; its owner reads what it holds."""
        if not isinstance(value, dict | list | tuple) or not value:
            raise NotAccepted
        return value


@dataclass(frozen=True)
class Many(Parameter):
    """A list of values of one kind."""

    item: Parameter

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The plural of its items' kind."""
        return f"{self.item.kind}s"

    @property
    def choices(self) -> tuple[str, ...]:
        """Those of each item."""
        return self.item.choices

    @property
    def minimum(self) -> Any:
        """That of each item."""
        return self.item.minimum

    def read(self, value: Any) -> tuple[Any, ...]:
        """Every item, checked."""
        if not isinstance(value, list | tuple):
            raise NotAccepted
        return tuple(self.item.read(item) for item in value)

    def from_text(self, text: str) -> list[Any]:
        """Items separated by commas."""
        return [self.item.from_text(part.strip()) for part in text.split(",") if part.strip()]


@dataclass(frozen=True)
class Custom(Parameter):
    """Whatever a function accepts; `wording` says what that is."""

    kind: ClassVar[str] = "custom"
    accepted: Callable[[Any], bool]
    options: tuple[str, ...] = ()

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that its sentence lists."""
        return self.options

    def read(self, value: Any) -> Any:
        """The value as it is."""
        if not self.accepted(value):
            raise NotAccepted
        return value


def read_parameters(owner: str, params: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every declared parameter with its value: the given one, checked, or the default."""
    for name in given:
        if name not in params:
            raise UnknownParameter(owner=owner, parameter=name, known=", ".join(params))
    return {name: _read_parameter(owner, name, param, given.get(name)) for name, param in params.items()}


def _read_parameter(owner: str, name: str, param: Parameter, value: Any) -> Any:
    if value is None and not param.required:
        return param.default
    try:
        return param.read(value)
    except NotAccepted:
        raise wrong_parameter(owner, name, param) from None


def wrong_parameter(owner: str, name: str, param: Parameter) -> WrongParameter:
    """The error that says what a parameter may be."""
    return WrongParameter(owner=owner, parameter=name, allowed=param.allowed_text)


def conflict(owner: str, parameter: str, reason: str, section: str = "hierarchy") -> WrongParameter:
    """The error for parameters that do not fit each other; `reason` is a key of `<section>.reason`."""
    return WrongParameter(owner=owner, parameter=parameter, allowed=messages.text(f"{section}.reason.{reason}"))


def exact_fraction(value: object) -> Fraction | None:
    """A number as the fraction that its digits say; None where it is no number."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        return Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, ZeroDivisionError, InvalidOperation, OverflowError):
        return None


def as_plain(value: object) -> object:
    """A value as a file or a form holds it: exact decimals as numbers, other fractions as text."""
    if isinstance(value, Decimal) and value == int(value):
        return int(value)
    if not isinstance(value, Fraction):
        return value
    return float(value) if Fraction(repr(float(value))) == value else str(value)
