"""Privacy criteria: k-anonymity and its kin. One small class each, described as data, judged by one suite.

`CRITERIA` is the explicit list; `criterion_from` reads one from its data form.
"""

from __future__ import annotations

from collections.abc import Mapping

from celosia.errors import ValueOutOfRange
from celosia.risk.criteria._alpha_k import AlphaK
from celosia.risk.criteria._beta_likeness import BetaLikeness
from celosia.risk.criteria._classes import Classes, Domain, ValueCounts, ValueExtremes, Values, ValueSets
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._delta_disclosure import DeltaDisclosure
from celosia.risk.criteria._distinct_l import DistinctL
from celosia.risk.criteria._entropy_l import EntropyL
from celosia.risk.criteria._k import KAnonymity
from celosia.risk.criteria._k_map import KMap
from celosia.risk.criteria._parameters import declared
from celosia.risk.criteria._population_uniqueness import PopulationUniqueness
from celosia.risk.criteria._recursive_l import RecursiveL
from celosia.risk.criteria._reidentification import AverageRisk, HighestRisk
from celosia.risk.criteria._t_closeness import TCloseness

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
    "RecursiveL",
    "TCloseness",
    "ValueCounts",
    "ValueExtremes",
    "ValueSets",
    "Values",
    "criterion_from",
    "declared",
]
