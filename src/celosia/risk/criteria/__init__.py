"""Privacy criteria: k-anonymity, l-diversity, t-closeness and others, one small class each, declared as data.

`CRITERIA` is the explicit list; `criterion_from` reads one from its data form.
"""

from __future__ import annotations

from collections.abc import Mapping

from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria._class_size import (
    AverageRisk,
    AverageSize,
    HighestRisk,
    KAnonymity,
    KMap,
    PopulationUniqueness,
    Profitability,
    SampleUniqueness,
)
from celosia.risk.criteria._classes import Classes, Domain, ValueCounts, ValueExtremes, Values, ValueSets
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._diversity import DistinctL, EntropyL, RecursiveL
from celosia.risk.criteria._likeness import AlphaK, BetaLikeness, DeltaDisclosure, TCloseness

CRITERIA: tuple[type[Criterion], ...] = (
    KAnonymity,
    DistinctL,
    EntropyL,
    RecursiveL,
    TCloseness,
    DeltaDisclosure,
    BetaLikeness,
    AlphaK,
    HighestRisk,
    AverageRisk,
    AverageSize,
    SampleUniqueness,
    Profitability,
    KMap,
    PopulationUniqueness,
)


def criterion_from(data: Mapping[str, object]) -> Criterion:
    """A criterion from its data form, such as {"criterion": "k", "k": 5}."""
    known = {kind.name: kind for kind in CRITERIA}
    name = data.get("criterion")
    if not isinstance(name, str) or name not in known:
        raise ValueOutOfRange(parameter="criterion", given=name, allowed=", ".join(known))
    return known[name](**{key: value for key, value in data.items() if key != "criterion"})


__all__ = [
    "CRITERIA",
    "AlphaK",
    "AverageRisk",
    "AverageSize",
    "BetaLikeness",
    "Classes",
    "Criterion",
    "DeltaDisclosure",
    "DistinctL",
    "Domain",
    "EntropyL",
    "HighestRisk",
    "KAnonymity",
    "KMap",
    "Merging",
    "Need",
    "PopulationUniqueness",
    "Profitability",
    "RecursiveL",
    "SampleUniqueness",
    "TCloseness",
    "ValueCounts",
    "ValueExtremes",
    "ValueSets",
    "Values",
    "criterion_from",
]
