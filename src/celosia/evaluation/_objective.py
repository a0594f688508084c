"""What a search minimises: the metric, how variables are put together, their weights.

Definitions (n rows, m variables, S suppressed rows; a suppressed row loses everything):
- loss: per variable L = (Σ share - n/|H|) ÷ (n - n/|H|), share = leaves behind a label ÷ all leaves |H|; together
  ∏(1 + L)^(w/Σw) - 1 (geometric) or Σ w·L ÷ Σw (arithmetic).
- discernibility: Σ size² over kept classes + S·n.
- average_class_size: n ÷ (kept classes + 1 if anything is suppressed).
- precision: per variable (level ÷ height · kept + S) ÷ n, weighted mean.
- non_uniform_entropy: per variable -Σ log2(count of the value ÷ count of its label) over all rows, plus
  -Σ log2(count inside the suppressed ÷ S) over suppressed rows; weighted sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from celosia.errors import ValueOutOfRange
from celosia.model.plan import MEANS, METRICS


@dataclass(frozen=True, slots=True)
class Objective:
    """A declared loss; variables without a weight have weight 1."""

    metric: str = "loss"
    mean: str = "geometric"
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise ValueOutOfRange(parameter="metric", given=self.metric, allowed=", ".join(METRICS))
        if self.mean not in MEANS:
            raise ValueOutOfRange(parameter="mean", given=self.mean, allowed=", ".join(MEANS))
        for name, weight in self.weights.items():
            if not 0 <= weight <= 1e6:
                raise ValueOutOfRange(parameter=f"weight {name}", given=weight, allowed="0–1000000")

    def weight(self, variable: str) -> float:
        """Weight of a variable."""
        return float(self.weights.get(variable, 1.0))

    @property
    def name(self) -> str:
        """The metric as results name it."""
        return f"{self.metric} ({self.mean})" if self.metric == "loss" else self.metric

    def as_dict(self) -> dict[str, object]:
        """The objective as data."""
        return {"metric": self.metric, "mean": self.mean, "weights": dict(self.weights)}
