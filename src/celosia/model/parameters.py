"""Parameters of builders and techniques, declared once as data.

Knows their kinds, defaults and limits. Ignores what their owner does with them. Validation, the project file, the
command line and the reference pages are made from these declarations; the sentence of each is
`hierarchy.parameter.<name>` or `techniques.parameter.<name>`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from celosia import messages
from celosia.errors import UnknownParameter, WrongParameter

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter: its kind, its default and what it may be.

    Kinds: flag, whole, number, text, texts, wholes, numbers, table (a TOML table or list of tables).
    """

    kind: str
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    minimum: int | None = None


def settle(owner: str, params: Mapping[str, Param], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every declared parameter with its value: the given one, checked, or the default."""
    for name in given:
        if name not in params:
            raise UnknownParameter(owner=owner, parameter=name, known=", ".join(params))
    return {name: _settled(owner, name, param, given.get(name)) for name, param in params.items()}


def _settled(owner: str, name: str, param: Param, value: Any) -> Any:
    if value is None:
        if param.required:
            raise refused(owner, name, param)
        return param.default
    try:
        return _read(param, value)
    except (TypeError, ValueError):
        raise refused(owner, name, param) from None


def refused(owner: str, name: str, param: Param) -> WrongParameter:
    """The error that says what a parameter may be."""
    allowed = ", ".join(param.choices) or messages.text(f"parameters.kind.{param.kind}")
    if param.minimum is not None:
        allowed += " " + messages.text("parameters.at_least", minimum=param.minimum)
    return WrongParameter(owner=owner, parameter=name, allowed=allowed)


def conflict(owner: str, parameter: str, reason: str, section: str = "hierarchy") -> WrongParameter:
    """The error for parameters that do not fit each other; `reason` is a key of `<section>.reason`."""
    return WrongParameter(owner=owner, parameter=parameter, allowed=messages.text(f"{section}.reason.{reason}"))


def _read(param: Param, value: Any) -> Any:
    single, many = _READERS.get(param.kind), _READERS.get(param.kind.removesuffix("s"))
    if single is not None:
        return _within(param, single(value))
    if not isinstance(value, list | tuple) or many is None:
        raise TypeError
    return tuple(_within(param, many(item)) for item in value)


def _within(param: Param, value: Any) -> Any:
    if param.choices and value not in param.choices:
        raise ValueError
    if param.minimum is not None and value < param.minimum:
        raise ValueError
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise TypeError
    text = f"{Decimal(repr(value)):f}" if isinstance(value, float) and math.isfinite(value) else str(value)
    if _NUMBER.fullmatch(text) is None:
        raise ValueError
    return Decimal(text)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _table(value: Any) -> Any:
    if not isinstance(value, dict | list | tuple) or not value:
        raise TypeError
    return value


_READERS = {"flag": _flag, "whole": _whole, "number": _number, "text": _text, "table": _table}
