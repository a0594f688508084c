"""What every builder shares: its declaration, special values and the top level.

A builder places the *plain* values. Masked (`*`), missing (``) and declared unknown codes (99999) are left
out: at every level they stay categories of their own, and join the others only in the top level `*`,
which exists when declared (`top = true`, or a builder that ends in it). Values a builder cannot place are an
error that counts them, or with `uncovered = "suppress"` become `*` from level 1 on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.hierarchy.errors import ValuesOutsideBuilder, ValuesOutsideList
from celosia.hierarchy.model import Hierarchy
from celosia.hierarchy.rows import NewLeafLabels, from_rows
from celosia.model.parameters import Flag, Many, Parameter, Text
from celosia.model.values import SUPPRESSED, CellKind, kind_of

Labels = tuple[str, ...]  # the labels of a value at levels 1, 2, …
Detail = dict[str, str]  # what a level shows, without any value: its size, its unit


@dataclass(frozen=True, slots=True)
class LeafLabels:
    """The labels of the plain values that a builder can place, in the order of the leaves."""

    labels: Mapping[str, Labels]
    height: int  # levels above the value: the same whether or not any value is there
    closed: bool = False  # the builder ends in the top level, declared or not
    top: str = SUPPRESSED  # the label of the top level


def no_detail(settings: Mapping[str, Any], level: int) -> Detail:
    """Of a builder whose levels have neither size nor unit."""
    return {}


@dataclass(frozen=True, slots=True)
class Builder:
    """A way of making hierarchies: name, parameters, how plain values are placed, and what a level of its own shows."""

    name: str
    params: Mapping[str, Parameter]
    place: Callable[[Sequence[str], Mapping[str, Any]], LeafLabels]
    detail: Callable[[Mapping[str, Any], int], Detail] = no_detail

    @property
    def all_params(self) -> dict[str, Parameter]:
        """Own parameters and those common to all builders."""
        return {**self.params, **COMMON}


COMMON = {
    "unknown": Many(Text(), default=()),
    "uncovered": Text(default="error", choices=("error", "suppress")),
    "top": Flag(default=False),
}


def assemble(builder: Builder, variable: str, values: Sequence[str], settings: Mapping[str, Any]) -> Hierarchy:
    """The hierarchy over `values` and whatever more the builder's domain holds."""
    distinct = dict.fromkeys(values)
    plain = [value for value in distinct if kind_of(value, settings["unknown"]) is CellKind.PLAIN]
    placed = builder.place(plain, settings)
    uncovered = {value for value in plain if value not in placed.labels}
    if uncovered and settings["uncovered"] == "error":
        if builder.name == "official":
            raise ValuesOutsideList(variable=variable, list=settings["list"], count=len(uncovered))
        raise ValuesOutsideBuilder(variable=variable, builder=builder.name, count=len(uncovered))
    rows = [(value, *labels) for value, labels in placed.labels.items()]
    new_labels = NewLeafLabels(rows, placed.height)
    for value in distinct:
        if value not in placed.labels:
            own = SUPPRESSED if value in uncovered else value
            rows.append((value, *new_labels.labels(own)))
    closed = placed.closed or settings["top"]
    whole = [(*row, placed.top) for row in rows] if closed else rows
    return from_rows(variable, whole, height=placed.height + closed)
