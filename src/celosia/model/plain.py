"""Reports as plain data, as JSON holds them.

Knows dataclasses, enumerations, fractions, tuples and mappings. Ignores what a report means and its format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any


def plain(value: Any) -> Any:
    """A value as JSON holds it; a report that has its own written form (`as_dict`) keeps it."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, tuple | list) else value


def plain_fields(report: Any, names: str = "") -> dict[str, Any]:
    """The named fields and properties of a report in this order (all its fields, without names), as plain data."""
    wanted = names.split() or [field.name for field in fields(report)]
    return {name: plain(getattr(report, name)) for name in wanted}
