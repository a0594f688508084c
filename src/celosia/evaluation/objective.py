"""What a search minimises (metric, mean and weights of variables), and the loss of a recoding by that definition.

In a local recoding, a recipe or a mask every tuple has its own levels: the loss is the same sum over its labels.

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

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.plan import MEANS, METRICS
from celosia.model.value_errors import ValueOutOfRange
from celosia.tuples.table import Tuples


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


def variable_losses(
    quasi: Tuples, hierarchies: Sequence[CompiledHierarchy], levels: NDArray[np.integer], suppressed: NDArray[np.bool_]
) -> list[float]:
    """Loss of each variable, 0..1; `suppressed` tells which tuples lose everything, or which cells do."""
    rows = quasi.n_rows
    lost = suppressed if suppressed.ndim == 2 else np.broadcast_to(suppressed[:, None], quasi.codes.shape)
    losses = []
    for v, hierarchy in enumerate(hierarchies):
        shares = np.stack([hierarchy.shares[j][hierarchy.maps[j]] for j in range(hierarchy.height + 1)])
        share = np.where(lost[:, v], 1.0, shares[levels[:, v], quasi.codes[:, v]])
        least = rows / max(hierarchy.leaf_count, 1)
        span = rows - least
        losses.append((math.fsum((share * quasi.rows).tolist()) - least) / span if span > 0 else 0.0)
    return losses


def recoding_loss(
    quasi: Tuples,
    hierarchies: Sequence[CompiledHierarchy],
    levels: NDArray[np.integer],
    suppressed: NDArray[np.bool_],
    objective: Objective,
) -> float:
    """The variables' losses put together as the objective says."""
    losses = variable_losses(quasi, hierarchies, levels, suppressed)
    weights = [objective.weight(hierarchy.variable) for hierarchy in hierarchies]
    total = sum(weights) or 1.0
    if objective.mean == "arithmetic":
        return math.fsum(w * x for w, x in zip(weights, losses, strict=True)) / total
    return math.prod((1 + x) ** (w / total) for w, x in zip(weights, losses, strict=True)) - 1
