"""The referee: every node of the lattice evaluated in plain NumPy, one after another.

Shares no code with the optimal search: no packed keys, no roll-up, no bounds, no compiled kernels; criteria by
their plain `judge`, metrics from the definitions row by row. Slow on purpose; for lattices of some thousand nodes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.risk.criteria import Classes, Criterion, Domain, Need, ValueCounts
from celosia.solver.problem import FailingCriterion, NoSolution, SearchProblem, SearchResult
from celosia.tuples.table import Persons

Mask = NDArray[np.bool_]
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Node:
    """What the referee finds at one node."""

    levels: tuple[int, ...]
    loss: float
    suppressed_rows: int
    classes: int
    feasible: bool


def scan(problem: SearchProblem) -> Iterator[Node]:
    """Every node, in the order of its levels."""
    ranges = [range(low, high + 1) for low, high in zip(problem.lowest, problem.highest, strict=True)]
    for levels in itertools.product(*ranges):
        yield evaluate(problem, levels)


def exhaustive(problem: SearchProblem) -> SearchResult | NoSolution:
    """The best of all nodes, by the same order among ties as the search."""
    nodes = list(scan(problem))
    rows = max(problem.quasi.n_rows, 1)
    feasible = [node for node in nodes if node.feasible]
    if not feasible:
        least = min(nodes, key=lambda node: (node.suppressed_rows, sum(node.levels), node.levels))
        failing = (FailingCriterion(c, broken_rows(problem, least.levels, c)) for c in problem.criteria)
        return NoSolution(
            problem.names,
            least.levels,
            least.suppressed_rows,
            least.suppressed_rows / rows,
            problem.allowed_rows,
            tuple(f for f in failing if f.rows),
            problem.nodes,
            len(nodes),
            True,
        )
    lowest = min(node.loss for node in feasible)
    ties = [node for node in feasible if node.loss <= lowest + 1e-11 * max(abs(lowest), 1e-3)]
    best = min(ties, key=lambda node: (node.suppressed_rows, sum(node.levels), node.levels))
    return SearchResult(
        problem.names,
        best.levels,
        problem.objective.name,
        best.loss,
        best.suppressed_rows,
        best.suppressed_rows / rows,
        best.classes,
        problem.nodes,
        len(nodes),
        True,
        lowest,
    )


def evaluate(problem: SearchProblem, levels: tuple[int, ...]) -> Node:
    """One node from scratch."""
    classes, label, codes = classes_at(problem, levels)
    passes = keep(problem, classes)
    suppressed = int(classes.rows[~passes].sum())
    loss = _loss(problem, levels, classes, passes, label, codes)
    feasible = suppressed * problem.limit.denominator <= problem.limit.numerator * problem.quasi.n_rows
    return Node(levels, loss, suppressed, int(passes.sum()), feasible)


def broken_rows(problem: SearchProblem, levels: tuple[int, ...], criterion: Criterion) -> int:
    """Rows in classes that break one criterion."""
    classes, _, _ = classes_at(problem, levels)
    alone = [c for c in problem.criteria if c == criterion]
    return int(classes.rows[~_keep(alone, classes)].sum())


def classes_at(problem: SearchProblem, levels: tuple[int, ...]) -> tuple[Classes, Labels, NDArray[np.int64]]:
    """The classes of a node, the class of each tuple, and the generalised codes of the tuples."""
    maps = [problem.hierarchies[name].maps[level] for name, level in zip(problem.names, levels, strict=True)]
    codes = np.stack([m[c] for m, c in zip(maps, problem.quasi.codes.T, strict=True)], axis=1).astype(np.int64)
    label = _group(codes)
    many = int(label.max(initial=-1)) + 1
    rows = np.bincount(label, problem.quasi.rows, many).astype(np.int64)
    persons = problem.quasi.persons
    counted = None if persons is None else _distinct_persons(persons, label, many)
    values: dict[str, ValueCounts] = {}
    domains: dict[str, Domain] = {}
    for name in {c.variable for c in problem.criteria if c.variable}:
        values[name], domains[name] = _sensitive(problem, name, maps, codes, label, many)
    behind = None if problem.population is None else _population(problem, levels, codes, label, many)
    return Classes(rows, counted, values, domains, behind), label, codes


def _population(
    problem: SearchProblem, levels: tuple[int, ...], codes: NDArray[np.int64], label: Labels, many: int
) -> NDArray[np.int64]:
    """Units of the population in each class, counted one tuple of it after another."""
    assert problem.population is not None
    table = problem.population
    number = {tuple(group): int(at) for group, at in zip(codes.tolist(), label, strict=True)}
    population = np.zeros(many, np.int64)
    for values, rows in zip(table.codes.tolist(), table.rows.tolist(), strict=True):
        groups = tuple(int(table.maps[v][levels[v]][value]) for v, value in enumerate(values))
        if groups in number:
            population[number[groups]] += rows
    return population


def _group(codes: NDArray[np.int64]) -> Labels:
    spans = [int(column.max(initial=0)) + 1 for column in codes.T]
    if math.prod(spans) < 2**62:
        key = np.zeros(len(codes), np.int64)
        for column, span in zip(codes.T, spans, strict=True):
            key = key * span + column
        return np.unique(key, return_inverse=True)[1].reshape(-1)
    return np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)


def _distinct_persons(persons: Persons, label: Labels, many: int) -> NDArray[np.int64]:
    pairs = np.unique(np.stack([label[persons.tuple_index], persons.ordinal], axis=1), axis=0)
    alone = np.bincount(label, persons.settled, many).astype(np.int64)
    return alone + np.bincount(pairs[:, 0], minlength=many)


def _sensitive(
    problem: SearchProblem,
    name: str,
    maps: list[NDArray[np.int32]],
    quasi_codes: NDArray[np.int64],
    quasi_label: Labels,
    many: int,
) -> tuple[ValueCounts, Domain]:
    table = problem.sensitive[name]
    codes = np.stack([m[c] for m, c in zip(maps, table.codes.T, strict=False)], axis=1).astype(np.int64)
    both = _group(np.concatenate([quasi_codes, codes]))
    number = np.empty(int(both.max(initial=-1)) + 1, np.int64)
    number[both[: len(quasi_codes)]] = quasi_label
    label, value = number[both[len(quasi_codes) :]], table.codes[:, -1].astype(np.int64)
    vocabulary = table.vocabularies[-1]
    counts = np.bincount(value, table.rows, len(vocabulary)).astype(np.int64)
    plain = Domain(name, vocabulary, counts, counts > 0, problem.sensitive_hierarchies.get(name))
    domain = replace(plain, reference=np.where(plain.masked, 0, counts), prepared={})
    shown = ~plain.masked[value]
    pair, entry = np.unique(label[shown] * len(vocabulary) + value[shown], return_inverse=True)
    rows = np.bincount(entry.reshape(-1), table.rows[shown], len(pair)).astype(np.int64)
    offsets = np.searchsorted(pair // len(vocabulary), np.arange(many + 1))
    persons = holders = None
    if table.persons is not None:
        everywhere = np.full(len(value), len(pair), np.int64)
        everywhere[shown] = entry.reshape(-1)
        persons = _distinct_persons(table.persons, everywhere, len(pair) + 1)[: len(pair)]
        holders = _distinct_persons(table.persons, np.where(shown, label, many), many + 1)[:many]
    return ValueCounts(offsets, (pair % len(vocabulary)).astype(np.int32), rows, persons, holders), domain


def keep(problem: SearchProblem, classes: Classes) -> Mask:
    """The classes that stay."""
    return _keep(list(problem.criteria), classes)


def _keep(criteria: list[Criterion], classes: Classes) -> Mask:
    passes = np.ones(len(classes), bool)
    later = []
    for criterion in criteria:
        if criterion.need is Need.ALL_CLASSES or criterion.on_release:
            later.append(criterion)
        else:
            passes &= criterion.judge(classes)
    before = -1
    while later and passes.sum() != before:
        before = passes.sum()
        for criterion in later:
            passes = passes & _judge_kept(criterion, classes, passes)
    return passes


def _judge_kept(criterion: Criterion, classes: Classes, passes: Mask) -> Mask:
    if criterion.need is Need.ALL_CLASSES:
        persons = None if classes.persons is None else classes.persons[passes]
        stays = np.zeros(len(classes), bool)
        stays[passes] = criterion.judge(Classes(classes.rows[passes], persons))
        return stays
    name = criterion.variable
    counts, domain = classes.counts(name), classes.domains[name]
    rows = np.zeros(len(domain.vocabulary), np.int64)
    for value, many, owner in zip(counts.values, counts.rows, counts.owner, strict=True):
        rows[value] += many if passes[owner] else 0
    published_domain = replace(domain, reference=rows, prepared={})
    judged: Mask = criterion.judge(replace(classes, domains={name: published_domain}))
    return judged


def _loss(
    problem: SearchProblem,
    levels: tuple[int, ...],
    classes: Classes,
    passes: Mask,
    label: Labels,
    codes: NDArray[np.int64],
) -> float:
    """The loss from its definition (METRICS: share, size, level, bits)."""
    n = problem.quasi.n_rows
    gone = int(classes.rows[~passes].sum())
    metric = problem.objective.metric
    if metric == "discernibility":
        return float((classes.rows[passes] ** 2).sum() + gone * n)
    if metric == "average_class_size":
        return n / max(int(passes.sum()) + (gone > 0), 1)
    weights = np.array([problem.objective.weight(name) for name in problem.names])
    parts = np.array(
        [
            _variable_loss(problem, column, levels[column], passes[label], codes[:, column], gone)
            for column in range(len(levels))
        ]
    )
    if metric == "non_uniform_entropy":
        return float((parts * weights).sum())
    share = weights / weights.sum() if weights.sum() else weights
    if metric == "loss" and problem.objective.mean == "geometric":
        return float(np.prod((1 + parts) ** share) - 1)
    return float((parts * share).sum())


def _variable_loss(
    problem: SearchProblem, column: int, level: int, stays: Mask, codes: NDArray[np.int64], gone: int
) -> float:
    hierarchy = problem.hierarchies[problem.names[column]]
    rows, n = problem.quasi.rows, problem.quasi.n_rows
    if problem.objective.metric == "precision":
        return (level / max(hierarchy.height, 1) * (n - gone) + gone) / n
    if problem.objective.metric == "loss":
        total = float((rows * np.where(stays, hierarchy.shares[level][codes], 1.0)).sum())
        floor = n / hierarchy.leaf_count
        return (total - floor) / (n - floor) if hierarchy.leaf_count > 1 else 0.0
    original = np.bincount(problem.quasi.codes[:, column], rows)[problem.quasi.codes[:, column]]
    merged = np.bincount(codes, rows)[codes]
    bits = -(rows * np.log2(original / merged)).sum()
    if gone:
        inside = np.bincount(codes[~stays], rows[~stays])[codes[~stays]]
        bits -= (rows[~stays] * np.log2(inside / gone)).sum()
    return float(bits)
