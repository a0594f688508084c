"""A policy as a form shows it: what is in force, where each part comes from, what a norm demands, what may be asked.

Knows names of variables, thresholds and declared parameters. Ignores files and data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from celosia.model.parameters import ParameterForm


@dataclass(frozen=True, slots=True)
class CriterionForm:
    """A criterion that may be asked for, as the form that asks for it."""

    name: str
    parameters: tuple[ParameterForm, ...]

    @property
    def per_variable(self) -> bool:
        """Whether it protects one sensitive variable."""
        return any(parameter.name == "variable" for parameter in self.parameters)


@dataclass(frozen=True, slots=True)
class CriterionInForce:
    """A criterion of the policy, and who put it there: the project, a norm, or nobody (the usual one)."""

    data: Mapping[str, Any]
    origin: str  # project, norm or default
    least: int | None = None  # the smallest k or l that the norms accept here


@dataclass(frozen=True, slots=True)
class Demand:
    """What a rule of a norm asks of a policy, as the norm has it and as the project asks it."""

    protocol: str
    rule: str
    section: str
    measure: str  # k, l or observations
    norm: int | None  # what the norm asks
    asked: int | None  # what is asked here, after an override
    compulsory: bool
    reason: str = ""  # the written reason of the override


@dataclass(frozen=True, slots=True)
class PolicyView:
    """Everything that the form of a policy needs."""

    digest: str  # of celosia.toml as it was read: what an edit must find unchanged
    protocols: tuple[str, ...]
    rows: int
    person: bool  # whether k counts persons
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    links: tuple[str, ...]
    criteria: tuple[CriterionInForce, ...]
    limit: Fraction
    method: str
    metric: str
    mean: str
    order: tuple[str, ...]
    weights: Mapping[str, float]
    mask_sensitive: bool
    suppressed: str
    reading: str
    time_limit: float | None
    stated: tuple[str, ...]  # keys that celosia.toml writes; the others are the usual ones
    demands: tuple[Demand, ...]
    forms: tuple[CriterionForm, ...]
    blocked: str = ""  # why no search can begin, as a sentence

    def strictest_demand(self, measure: str) -> Demand | None:
        """The compulsory demand that asks most of `k` or `l`."""
        asked = [demand for demand in self.demands if demand.compulsory and demand.measure == measure and demand.asked]
        return max(asked, key=lambda demand: demand.asked or 0, default=None)
