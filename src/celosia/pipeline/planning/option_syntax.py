"""What the options of `plan` say as text: criteria and hierarchies as in celosia.toml, levels and weights by name.

Knows how each is written: {criterion = "t", variable = "dx", t = 0.2}; COMUNA=cl-cut; EDAD=1; EDAD=0-2. Ignores what
they ask for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia.hierarchy.official import LISTS
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria import criterion_from

_CRITERION = '{criterion = "k", k = 5}'
_HIERARCHY = 'AGE=ages.csv, COMUNA=cl-cut, AGE={builder = "intervals", width = 10}'
_LEVEL, _WEIGHT = "AGE=1, AGE=0-2", "AGE=2"
_BOUNDS = re.compile(r"(\d{1,3})(?:-(\d{1,3}))?")


def read_criteria(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The criteria, each checked by name."""
    criteria = [_read_table("criterion", text, _CRITERION) for text in texts]
    for data in criteria:
        criterion_from(data)
    return criteria


def read_hierarchies(texts: Sequence[str]) -> dict[str, Mapping[str, Any] | str | Path]:
    """A description, the name of an official list or a file for each variable."""
    return _by_name("hierarchy", texts, _HIERARCHY, _read_hierarchy)


def read_levels(texts: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The lowest and the highest level of each variable."""
    return _by_name("level", texts, _LEVEL, _read_bounds)


def read_weights(texts: Sequence[str]) -> dict[str, float]:
    """The weight of each variable."""
    return _by_name("weight", texts, _WEIGHT, _read_weight)


def _by_name(option: str, texts: Sequence[str], example: str, read: Callable[[str], Any]) -> dict[str, Any]:
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        content = read(value.strip())
        if not name.strip() or content is None:
            raise ValueOutOfRange(parameter=option, given=text, allowed=example)
        values[name.strip()] = content
    return values


def _read_hierarchy(text: str) -> Mapping[str, Any] | str | Path | None:
    if text.startswith("{"):
        return _read_table("hierarchy", text, _HIERARCHY)
    return (text if text in LISTS else Path(text)) if text else None


def _read_bounds(text: str) -> tuple[int, int] | None:
    match = _BOUNDS.fullmatch(text)
    return None if match is None else (int(match[1]), int(match[2] or match[1]))


def _read_weight(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _read_table(option: str, text: str, example: str) -> dict[str, Any]:
    try:
        data = tomllib.loads(f"{option} = {text}")[option]
    except tomllib.TOMLDecodeError:
        data = None
    if not isinstance(data, dict):
        raise ValueOutOfRange(parameter=option, given=text, allowed=example)
    return data
