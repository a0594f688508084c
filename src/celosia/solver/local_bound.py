"""How little any local recoding can lose: a lower bound of the loss, to be printed beside what was found.

Claim. A tuple published at the levels of a node N shares its class with no other rows than those with its labels at
N, if each label occurs at one level only. A class that passes has at least `smallest` rows, the largest
`smallest_class` of the criteria. So a row of the tuple costs at least the least cost of a node at which its labels
are shared by that many rows, or what a hidden row costs, whichever is less; the same holds for the nodes over some of
the variables, because the rows that share labels in all of them are among those. Where labels repeat over levels
(the value `*` beside the top), a level counts as the first one above which no label of it occurs again, which only
joins rows.

Blocks. The variables are divided into blocks; costs add up over the variables, so the sum over the blocks of a row's
least costs is below the cost of its levels, and the sum over the rows below that of any recoding. A suppressed row
loses share 1 in every variable, never less than a label does.

From costs to the loss. The arithmetic mean is linear in the shares. The geometric one is exp(Σ a_v log(1 + L_v)) - 1,
with Σ a_v = 1. A recoding that loses no more than the one found, f, has L_v ≤ U_v = (1 + f)^(1/a_v) - 1 (and ≤ 1) in
each variable, and there log(1 + L_v) ≥ L_v · log(1 + U_v) / U_v, the logarithm being concave. So these slopes, put
into the linear bound, give one of the logarithm; recodings that lose more than f are above f.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.solver.local_moves import partial_keys, share_parts
from celosia.solver.problem import SearchProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_WORK = 100_000_000  # tuples × nodes looked at
_ROUNDING = 1e-9


def lower_bound(problem: SearchProblem, loss: float, most_work: int = MOST_WORK) -> float:
    """No local recoding under this problem's criteria loses less, whatever it suppresses; `loss` is that of one."""
    hierarchies = [problem.hierarchies[name] for name in problem.names]
    rows = problem.quasi.rows
    if not len(rows):
        return 0.0
    slopes, constant = _linear(problem, hierarchies, loss)
    least = np.zeros(len(rows))
    for block in _blocks(problem, most_work):
        least += _least_costs(problem, hierarchies, block, slopes)
    total = math.fsum((least * rows).tolist()) - constant
    total -= _ROUNDING * (1 + abs(total))
    bound = math.expm1(total) if problem.objective.mean == "geometric" else total
    return min(max(bound, 0.0), loss)


def _linear(problem: SearchProblem, hierarchies: Sequence[CompiledHierarchy], loss: float) -> tuple[Floats, float]:
    """What a row's share of 1 costs in each variable, and what the sum of all costs is at no loss."""
    weights = [problem.objective.weight(name) for name in problem.names]
    total, n = sum(weights) or 1.0, problem.quasi.n_rows
    slopes, constant = [], 0.0
    for hierarchy, weight in zip(hierarchies, weights, strict=True):
        none = n / max(hierarchy.leaf_count, 1)
        part = weight / total
        slope = part * (_chord(loss, part) if problem.objective.mean == "geometric" else 1.0)
        slope = slope / (n - none) if n > none else 0.0
        slopes.append(slope)
        constant += slope * none
    return np.array(slopes), constant


def _chord(loss: float, part: float) -> float:
    """The slope of log(1 + L) from 0 to the most that a variable can lose where the loss is at most `loss`."""
    if part <= 0:
        return 0.0
    highest = min(math.log1p(loss) / part, math.log(2))
    return highest / math.expm1(highest) if highest > 0 else 1.0


def _blocks(problem: SearchProblem, most_work: int) -> list[list[int]]:
    """Variables put together, finest hierarchies first, as long as the nodes of a block can be looked at."""
    depth = [high - low + 1 for low, high in zip(problem.lowest, problem.highest, strict=True)]
    nodes = max(most_work // max(len(problem.quasi.rows), 1), 1)
    blocks: list[list[int]] = []
    for v in sorted(range(len(depth)), key=lambda v: -depth[v]):
        for block in blocks:
            if math.prod(depth[u] for u in block) * depth[v] <= nodes:
                block.append(v)
                break
        else:
            blocks.append([v])
    return blocks


def _least_costs(
    problem: SearchProblem, hierarchies: Sequence[CompiledHierarchy], block: Sequence[int], slopes: Floats
) -> Floats:
    """The least that a row of each tuple can cost in the variables of a block."""
    from celosia.kernels.cover import lower_costs
    from celosia.kernels.peel import label_node

    quasi, count = problem.quasi, len(problem.quasi.rows)
    smallest = max([int(criterion.smallest_class) for criterion in problem.criteria], default=1)
    partial, start, word = partial_keys(quasi, hierarchies)
    depth = [hierarchy.height + 1 for hierarchy in hierarchies]
    cost = share_parts(quasi, hierarchies) * np.repeat(slopes, depth)[:, None]
    shared = [_shared_level(hierarchy, high) for hierarchy, high in zip(hierarchies, problem.highest, strict=True)]
    best = np.full(count, float(slopes[list(block)].sum()))
    slots = np.zeros(1 << max((2 * count).bit_length(), 4), np.int64)
    scratch = (slots, np.empty((count, int(word.max()) + 1), np.int64), np.empty(count, np.int64))
    label, sizes = np.empty(count, np.int64), np.empty(count, np.int64)
    words, begins = word[list(block)], start[list(block)]
    for node in itertools.product(*(range(problem.lowest[v], problem.highest[v] + 1) for v in block)):
        counted = begins + [shared[v][level] for v, level in zip(block, node, strict=True)]
        label_node(partial, counted, words, quasi.rows.astype(np.int64), scratch, label, sizes)
        lower_costs(begins + node, cost, label, sizes, smallest, best)
    return best


def _shared_level(hierarchy: CompiledHierarchy, highest: int) -> list[int]:
    """For each level the first one, itself or above, that joins all values that show one of its labels anywhere."""
    codes = range(len(hierarchy.maps[0]))
    shown: dict[str, list[int]] = {}
    for level in range(highest + 1):
        for code in codes:
            shown.setdefault(hierarchy.labels[level][hierarchy.maps[level][code]], []).append(code)
    joined = []
    for level in range(highest + 1):
        labels = {hierarchy.labels[level][label] for label in set(hierarchy.maps[level].tolist())}
        joined.append(next((m for m in range(level, highest + 1) if _joins(hierarchy, m, shown, labels)), highest))
    return joined


def _joins(hierarchy: CompiledHierarchy, level: int, shown: dict[str, list[int]], labels: set[str]) -> bool:
    places = hierarchy.maps[level]
    return all(len(set(places[shown[label]].tolist())) == 1 for label in labels)
