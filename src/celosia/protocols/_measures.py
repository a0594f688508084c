"""The measures that a rule may name: from which stage of the walk each can be answered, and what it is asked.

Knows ids and kinds of thresholds. Ignores how anything is measured: `pipeline` holds the function of each id, and a
test holds both lists together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, Callable[[Any], bool]] = MappingProxyType({})


class Stage(IntEnum):
    """The moments at which rules are judged; a rule once judged stays judged at every later one."""

    RUN = 1
    RELEASE = 2
    PUBLISH = 3
    STATISTICS = 4  # rules over tables of counts, judged by the statistics alone


@dataclass(frozen=True, slots=True)
class Measure:
    """When a measure can be answered first, and the thresholds a project may change, each with what it accepts."""

    since: Stage
    demands: tuple[str, ...] = ()  # parts of `asked` that no project may change
    thresholds: Mapping[str, Callable[[Any], bool]] = field(default_factory=lambda: _NONE)

    @property
    def keys(self) -> frozenset[str]:
        """Everything that `asked` must hold."""
        return frozenset((*self.demands, *self.thresholds))


def _from(least: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _share(value: Any) -> bool:
    try:
        return isinstance(value, str) and 0 < Fraction(value) <= 1
    except (ValueError, ZeroDivisionError):
        return False


MEASURES: Mapping[str, Measure] = MappingProxyType({
    "k": Measure(Stage.RUN, thresholds={"k": _from(1)}),
    "l": Measure(Stage.RUN, thresholds={"l": _from(1)}),
    "identifiers": Measure(Stage.RUN, thresholds={"allowed": _names}),
    "free_text": Measure(Stage.RUN, thresholds={"allowed": _names}),
    "columns": Measure(Stage.RUN),
    "roles": Measure(Stage.RUN),
    "purposes": Measure(Stage.RUN),
    "pseudonyms": Measure(Stage.RUN),
    "limited_variables": Measure(Stage.RUN),
    "microaggregation": Measure(Stage.RUN, thresholds={"size": _from(1)}),
    "risk_index": Measure(Stage.RUN, thresholds={"threshold": _share}),
    "residual_risk": Measure(Stage.RUN),
    "labels": Measure(Stage.RUN, thresholds={"allowed": _names}),
    "geography": Measure(Stage.RUN, thresholds={"units": _from(0), "allowed": _names}),
    "direct_labels": Measure(Stage.RUN),
    "kept_variables": Measure(Stage.RUN),
    "dictionary_approval": Measure(Stage.RUN, demands=("roles",)),
    "observations": Measure(Stage.RUN),
    "request_items": Measure(Stage.RELEASE, demands=("items",)),
    "dictionary": Measure(Stage.RELEASE),
    "properties": Measure(Stage.RELEASE),
    "contrast": Measure(Stage.RELEASE, thresholds={"variables": _from(1)}),
    "intruder": Measure(Stage.RELEASE, thresholds={"rows": _from(1), "correct": _from(0)}),
    "plan_approval": Measure(Stage.RELEASE, demands=("roles",)),
    "residual_approval": Measure(Stage.RELEASE, demands=("roles",)),
    "second_person": Measure(Stage.RELEASE),
    "signatures": Measure(Stage.PUBLISH, demands=("roles",)),
    "publication_items": Measure(Stage.PUBLISH, demands=("items",)),
    "delivery": Measure(Stage.PUBLISH, demands=("files",)),
    "stats_identifiers": Measure(Stage.STATISTICS),
    "stats_rules": Measure(Stage.STATISTICS),
    "stats_generalised": Measure(Stage.STATISTICS, demands=("kind",)),
    "stats_k": Measure(Stage.STATISTICS, demands=("audience",), thresholds={"k": _from(1)}),
    "stats_recoverable": Measure(Stage.STATISTICS, demands=("cells",)),
    "stats_catalogue": Measure(Stage.STATISTICS),
    "stats_hashes": Measure(Stage.STATISTICS),
    "stats_log": Measure(Stage.STATISTICS),
})  # fmt: skip
