"""What `celosia risk` is made of: parts that bring their options, their figures and their piece of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

Asked = Mapping[str, Any]  # the values of all options, by name
Watch = Callable[[str, float], None] | None


@dataclass(frozen=True, slots=True)
class RiskPart:
    """One part of the report.

    `figures` gives keys of the document `celosia/risk/1`, from an opened table; `show` prints them from that
    document. `explained` are the ids under `risk.explained` that `--explain` defines.
    """

    options: Callable[[], Sequence[click.Parameter]]
    figures: Callable[[Any, Asked, Watch], dict[str, Any]]
    show: Callable[[dict[str, Any], Asked], None]
    explained: tuple[str, ...] = ()
    is_asked: Callable[[Asked], bool] = lambda asked: True
    needs_roles: Callable[[Asked], bool] = lambda asked: False  # whether a file's columns must be looked at first
