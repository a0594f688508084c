"""Loss of a recoding in which every tuple has its own levels (local recoding, the recipe, masked cells).

The same definition as the full-domain loss: share of leaves behind each published label, 1 for a suppressed row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.evaluation._objective import Objective
from celosia.hierarchy import CompiledHierarchy
from celosia.tuples import Tuples


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
        least = rows / hierarchy.leaf_count
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
