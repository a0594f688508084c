"""Saved reports as typed values: the JSON of a report decoded into the dataclass that a page shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Saved(Generic[T]):
    """A report that was saved, when it was made, and whether what it was made from changed since."""

    report: T
    when: str
    stale: bool
    asked: Mapping[str, Any] = field(default_factory=dict)  # the parameters it was made with


def saved_report_of(
    kind: type[T], data: Any, when: str, stale: bool, asked: Mapping[str, Any] | None = None
) -> Saved[T] | None:
    """A saved report of a kind; None where its JSON is not of that kind."""
    try:
        return Saved(decode(kind, data), when, stale, asked or {})
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def decode(kind: type[T], data: Any) -> T:
    """A value of a type from its JSON; keys that a dataclass has no field for are ignored."""
    value: T = _decode(kind, data)
    return value


def _decode(kind: Any, data: Any) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if origin is UnionType:
        others = [part for part in args if part is not NoneType]
        return None if data is None else _decode(others[0], data) if len(others) == 1 else data
    if origin is tuple and args[-1] is Ellipsis:
        return tuple(_decode(args[0], item) for item in data)
    if origin is tuple:
        return tuple(_decode(part, item) for part, item in zip(args, data, strict=True))
    if origin is Mapping:
        return {_decode(args[0], key): _decode(args[1], item) for key, item in data.items()}
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        names = [part.name for part in fields(kind) if part.name in data]
        return kind(**{name: _decode(hints[name], data[name]) for name in names})
    return kind(data) if isinstance(kind, type) and issubclass(kind, Enum | Fraction) else data
