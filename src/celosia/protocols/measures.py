"""The measures that a rule may name: from which stage of the workflow each can be answered, and its thresholds.

Knows ids and kinds of thresholds. Ignores how anything is measured: `pipeline` has the function of each id, and a
test compares both lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from celosia.model.parameters import Custom, Many, Parameter, Text, Whole

_NONE: Mapping[str, Parameter] = MappingProxyType({})


class Stage(IntEnum):
    """The moments at which rules are judged; a rule once judged stays judged at every later one."""

    RUN = 1
    RELEASE = 2
    PUBLISH = 3
    STATISTICS = 4  # rules over tables of counts, judged by the statistics alone


@dataclass(frozen=True, slots=True)
class RuleMeasure:
    """When a measure can be answered first, and the thresholds that a project may change."""

    since: Stage
    demands: tuple[str, ...] = ()  # parts of `asked` that no project may change
    thresholds: Mapping[str, Parameter] = field(default_factory=lambda: _NONE)

    @property
    def keys(self) -> frozenset[str]:
        """Everything that `asked` must hold."""
        return frozenset((*self.demands, *self.thresholds))

    def accepts(self, asked: Mapping[str, Any]) -> bool:
        """Whether a rule asks for all of them and each threshold is of its kind."""
        return set(asked) == self.keys and all(kind.accepts(asked[key]) for key, kind in self.thresholds.items())


def _is_share(value: Any) -> bool:
    """Whether a text is a share above 0, as 0.3 or 1/3."""
    try:
        return isinstance(value, str) and 0 < Fraction(value) <= 1
    except (ValueError, ZeroDivisionError):
        return False


_COUNT, _ANY_COUNT, _NAMES = Whole(minimum=1), Whole(minimum=0), Many(Text())
MEASURES: Mapping[str, RuleMeasure] = MappingProxyType(
    {
        "k": RuleMeasure(Stage.RUN, thresholds={"k": _COUNT}),
        "l": RuleMeasure(Stage.RUN, thresholds={"l": _COUNT}),
        "identifiers": RuleMeasure(Stage.RUN, thresholds={"allowed": _NAMES}),
        "free_text": RuleMeasure(Stage.RUN, thresholds={"allowed": _NAMES}),
        "columns": RuleMeasure(Stage.RUN),
        "roles": RuleMeasure(Stage.RUN),
        "purposes": RuleMeasure(Stage.RUN),
        "pseudonyms": RuleMeasure(Stage.RUN),
        "limited_variables": RuleMeasure(Stage.RUN),
        "microaggregation": RuleMeasure(Stage.RUN, thresholds={"size": _COUNT}),
        "risk_index": RuleMeasure(Stage.RUN, thresholds={"threshold": Custom(_is_share)}),
        "residual_risk": RuleMeasure(Stage.RUN),
        "labels": RuleMeasure(Stage.RUN, thresholds={"allowed": _NAMES}),
        "geography": RuleMeasure(Stage.RUN, thresholds={"units": _ANY_COUNT, "allowed": _NAMES}),
        "direct_labels": RuleMeasure(Stage.RUN),
        "kept_variables": RuleMeasure(Stage.RUN),
        "dictionary_approval": RuleMeasure(Stage.RUN, demands=("roles",)),
        "observations": RuleMeasure(Stage.RUN),
        "request_items": RuleMeasure(Stage.RELEASE, demands=("items",)),
        "dictionary": RuleMeasure(Stage.RELEASE),
        "properties": RuleMeasure(Stage.RELEASE),
        "contrast": RuleMeasure(Stage.RELEASE, thresholds={"variables": _COUNT}),
        "intruder": RuleMeasure(
            Stage.RELEASE, thresholds={"rows": _COUNT, "minutes": _ANY_COUNT, "correct": _ANY_COUNT}
        ),
        "intruder_approval": RuleMeasure(Stage.RELEASE, demands=("roles",)),
        "intruder_findings": RuleMeasure(Stage.RELEASE, demands=("roles", "run")),
        "plan_approval": RuleMeasure(Stage.RELEASE, demands=("roles",)),
        "residual_approval": RuleMeasure(Stage.RELEASE, demands=("roles",)),
        "second_person": RuleMeasure(Stage.RELEASE),
        "separate_people": RuleMeasure(Stage.RELEASE, demands=("roles",)),
        "signatures": RuleMeasure(Stage.PUBLISH, demands=("roles",)),
        "publication_items": RuleMeasure(Stage.PUBLISH, demands=("items",)),
        "delivery": RuleMeasure(Stage.PUBLISH, demands=("files",)),
        "stats_identifiers": RuleMeasure(Stage.STATISTICS),
        "stats_rules": RuleMeasure(Stage.STATISTICS),
        "stats_generalised": RuleMeasure(Stage.STATISTICS, demands=("kind",)),
        "stats_k": RuleMeasure(Stage.STATISTICS, demands=("audience",), thresholds={"k": _COUNT}),
        "stats_recoverable": RuleMeasure(Stage.STATISTICS, demands=("cells",)),
        "stats_catalogue": RuleMeasure(Stage.STATISTICS),
        "stats_hashes": RuleMeasure(Stage.STATISTICS),
        "stats_log": RuleMeasure(Stage.STATISTICS),
    }
)
