"""The figures that a person signs, each with its name, as they are read aloud.

Knows figures that somebody already measured. Ignores what they are figures of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia import messages


def signed_lines(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each figure with its name; a k beside a unit is in that unit."""
    names = {"k": "k_units"} if "unit" in figures else {}
    return [(_name(names.get(key, key)), _value(key, value)) for key, value in figures.items()]


def _name(key: str) -> str:
    return messages.text(f"people.figure.{key}") if messages.has(f"people.figure.{key}") else key


def _value(key: str, value: Any) -> str:
    """A figure as it is read aloud: a unit by its word, a share in percent."""
    if key == "unit":
        return messages.text(f"people.unit.{value}")
    if key == "threshold":
        return messages.decimal(float(value), 1)
    return messages.percent(value) if key == "share" else _words(value)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return messages.text(f"dictionary.answer.{'yes' if value else 'no'}")
    if isinstance(value, int):
        return messages.integer(value)
    if isinstance(value, float):
        return messages.decimal(value, 4)
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {words}" for name, words in signed_lines(value)) or "–"
    return ", ".join(_words(item) for item in value) if isinstance(value, list | tuple) else str(value or "–")
