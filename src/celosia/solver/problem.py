"""A search problem (tuples, hierarchies, criteria, suppression limit, objective) and the two answers a search gives.

The problem is checked here, once; the other modules of the search rely on it. An answer is the best node with its
proof, or the nearest miss with its reasons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from celosia.evaluation.objective import Objective
from celosia.hierarchy.errors import HierarchyGap, HierarchySplit, LevelOutsideHierarchy
from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.errors import NothingChosen, RepeatedVariable, UnknownVariable
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria import Criterion
from celosia.risk.population_levels import PopulationLevels
from celosia.solver.errors import TuplesDisagree
from celosia.tuples.table import Tuples


@dataclass(frozen=True, slots=True, eq=False)
class SearchProblem:
    """Find the levels that lose least while every class that breaks a criterion is suppressed.

    `sensitive[name]` holds the tuples over the quasi-identifiers and that variable, with the vocabularies of
    `quasi`; `limit` is the share of rows that may be suppressed.
    """

    quasi: Tuples
    hierarchies: Mapping[str, CompiledHierarchy]
    criteria: tuple[Criterion, ...]
    limit: Fraction = Fraction(0)
    objective: Objective = field(default_factory=Objective)
    sensitive: Mapping[str, Tuples] = field(default_factory=lambda: MappingProxyType({}))
    sensitive_hierarchies: Mapping[str, CompiledHierarchy] = field(default_factory=lambda: MappingProxyType({}))
    minimum: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    maximum: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    population: PopulationLevels | None = None  # what k-map counts in

    def __post_init__(self) -> None:
        check(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order of levels in results."""
        return self.quasi.names

    @property
    def lowest(self) -> tuple[int, ...]:
        """Least level of each variable."""
        return tuple(self.minimum.get(name, 0) for name in self.names)

    @property
    def highest(self) -> tuple[int, ...]:
        """Greatest level of each variable."""
        return tuple(self.maximum.get(name, self.hierarchies[name].height) for name in self.names)

    @property
    def nodes(self) -> int:
        """Nodes in the lattice."""
        return math.prod(high - low + 1 for low, high in zip(self.lowest, self.highest, strict=True))

    @property
    def allowed_rows(self) -> int:
        """Rows that may be suppressed, in whole numbers."""
        return self.limit.numerator * self.quasi.n_rows // self.limit.denominator


def check(problem: SearchProblem) -> None:
    """Refuse what cannot be searched, with the reason."""
    if not problem.names:
        raise NothingChosen(option="quasi")
    if not 0 <= problem.limit <= 1:
        raise ValueOutOfRange(parameter="limit", given=str(problem.limit), allowed="0–1")
    for name in problem.names:
        _check_hierarchy(problem, name)
    for criterion in problem.criteria:
        _check_sensitive(problem, criterion)
    _check_names(problem)


def _check_names(problem: SearchProblem) -> None:
    known = ", ".join(problem.names)
    for name in (*problem.minimum, *problem.maximum, *problem.objective.weights):
        if name not in problem.names:
            raise UnknownVariable(variable=name, known=known)
    for name in problem.names:
        if problem.names.count(name) > 1 or name in problem.sensitive:
            raise RepeatedVariable(variable=name)


def _check_hierarchy(problem: SearchProblem, name: str) -> None:
    if name not in problem.hierarchies:
        raise UnknownVariable(variable=name, known=", ".join(problem.hierarchies))
    hierarchy = problem.hierarchies[name]
    low, high = problem.minimum.get(name, 0), problem.maximum.get(name, hierarchy.height)
    if not 0 <= low <= high <= hierarchy.height:
        raise LevelOutsideHierarchy(variable=name, minimum=low, maximum=high, height=hierarchy.height)
    missing = problem.quasi.sizes[problem.quasi.position(name)] - len(hierarchy.maps[0])
    if missing > 0:
        raise HierarchyGap(variable=name, missing=missing, file=name)
    for level in range(low, high):
        split = _split_groups(hierarchy.maps[level], hierarchy.maps[level + 1])
        if split:
            raise HierarchySplit(file=name, level=level + 1, groups=split)


def _split_groups(finer: NDArray[np.int32], coarser: NDArray[np.int32]) -> int:
    pairs = np.unique(finer.astype(np.int64) * (int(coarser.max(initial=0)) + 1) + coarser)
    return len(pairs) - len(np.unique(finer))


def _check_sensitive(problem: SearchProblem, criterion: Criterion) -> None:
    name = criterion.variable
    if not name:
        return
    if name in problem.names:
        raise RepeatedVariable(variable=name)
    if name not in problem.sensitive:
        raise UnknownVariable(variable=name, known=", ".join(problem.sensitive))
    table = problem.sensitive[name]
    if table.names != (*problem.names, name) or table.vocabularies[:-1] != problem.quasi.vocabularies:
        raise TuplesDisagree(variable=name)
    if table.n_rows != problem.quasi.n_rows:
        raise TuplesDisagree(variable=name)
    hierarchical = criterion.as_dict().get("distance") == "hierarchical"
    if hierarchical and name not in problem.sensitive_hierarchies:
        raise UnknownVariable(variable=name, known=", ".join(problem.sensitive_hierarchies))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best node. Ties: least loss (to 1e-12), then fewest suppressed rows, then the lowest sum of levels,
    then the first levels in order.
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    metric: str
    loss: float
    suppressed_rows: int
    suppressed_share: float
    classes: int
    nodes: int
    nodes_checked: int
    optimal: bool
    bound: float  # no node has a loss below this


@dataclass(frozen=True, slots=True)
class FailingCriterion:
    """A criterion and the rows in classes that break it."""

    criterion: Criterion
    rows: int


@dataclass(frozen=True, slots=True)
class NoSolution:
    """No node keeps within the limit: the node that suppresses fewest rows, and which criteria require it."""

    names: tuple[str, ...]
    levels: tuple[int, ...]
    suppressed_rows: int
    suppressed_share: float
    allowed_rows: int
    failing: tuple[FailingCriterion, ...]
    nodes: int
    nodes_checked: int
    proved: bool  # False when time ran out before every node was excluded
