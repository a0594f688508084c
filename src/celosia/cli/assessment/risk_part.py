"""The parts of `celosia risk`: each declares its options, computes its figures and shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

# The values of all options, by name.
Settings = Mapping[str, Any]
Watch = Callable[[str, float], None] | None


@dataclass(frozen=True, slots=True)
class RiskPart:
    """One part of the report.

    `figures` gives keys of the document `celosia/risk/1`, from an open table; `show` prints them from that
    document. `explained` are the ids under `risk.explained` that `--explain` defines; `needs_roles` says whether the
    roles of a file's columns must be suggested first.
    """

    options: Callable[[], Sequence[click.Parameter]]
    figures: Callable[[Any, Settings, Watch], dict[str, Any]]
    show: Callable[[dict[str, Any], Settings], None]
    explained: tuple[str, ...] = ()
    is_requested: Callable[[Settings], bool] = lambda settings: True
    needs_roles: Callable[[Settings], bool] = lambda settings: False
