"""A criterion written on the command line as celosia.toml writes it: {criterion = "t", variable = "dx", t = 0.2}."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria import criterion_from

_EXAMPLE = '{criterion = "k", k = 5}'


def read_criteria(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The criteria, each checked by name."""
    criteria = [_read_criterion(text) for text in texts]
    for data in criteria:
        criterion_from(data)
    return criteria


def _read_criterion(text: str) -> dict[str, Any]:
    try:
        data = tomllib.loads(f"criterion = {text}")["criterion"]
    except tomllib.TOMLDecodeError:
        data = None
    if not isinstance(data, dict):
        raise ValueOutOfRange(parameter="criterion", given=text, allowed=_EXAMPLE)
    return data
