"""The published form of each tuple, and the equivalence classes of the published tuples.

A class is what shares the same *published* text: labels of different levels are put into one vocabulary per
variable, so that a value left alone and the same text reached by generalising are the same (REQUIREMENTS X1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.values import is_masked
from celosia.risk.criteria import Classes, Criterion, Domain, KAnonymity, ValueCounts
from celosia.tuples.table import Tuples, group_codes, labels_over, persons_in_groups, pick

Mask = NDArray[np.bool_]
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PublishedTuples:
    """The published codes of each quasi-identifier tuple, and where sensitive values are masked."""

    names: tuple[str, ...]
    vocabularies: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int32]
    suppressed: Mask
    masked_sensitive: Mapping[str, Mask] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class LevelLabels:
    """One vocabulary per variable over the labels of all its levels; `maps[v][level][code]` points into it."""

    vocabularies: tuple[tuple[str, ...], ...]
    maps: tuple[tuple[NDArray[np.int32], ...], ...]

    @property
    def sizes(self) -> list[int]:
        """Number of labels of each variable."""
        return [len(vocabulary) for vocabulary in self.vocabularies]

    def publish(self, codes: NDArray[np.int32], levels: NDArray[np.integer]) -> NDArray[np.int32]:
        """Published codes of tuples, each variable at the level given per tuple."""
        published = np.empty_like(codes)
        for variable, maps in enumerate(self.maps):
            stacked = np.stack(maps)
            published[:, variable] = stacked[levels[:, variable], codes[:, variable]]
        return published


def level_labels(hierarchies: Sequence[CompiledHierarchy]) -> LevelLabels:
    """The labels of all levels of each variable, as one vocabulary in code-point order."""
    vocabularies, maps = [], []
    for hierarchy in hierarchies:
        vocabulary = tuple(sorted({label for level in hierarchy.labels for label in level}))
        position = {label: i for i, label in enumerate(vocabulary)}
        recoded = [np.array([position[label] for label in level], np.int32) for level in hierarchy.labels]
        maps.append(tuple(recoded[j][hierarchy.maps[j]] for j in range(len(hierarchy.maps))))
        vocabularies.append(vocabulary)
    return LevelLabels(tuple(vocabularies), tuple(maps))


class ClassCounter:
    """Counts the classes of any assignment of tuples to published tuples, with all that criteria need."""

    def __init__(
        self,
        quasi: Tuples,
        sensitive: Mapping[str, Tuples],
        hierarchies: Mapping[str, CompiledHierarchy] | None = None,
        domains: Mapping[str, Domain] | None = None,
        population: Labels | None = None,
    ):
        self.quasi = quasi
        self._population = population  # units of a population table behind the published form of each tuple
        self._sensitive = dict(sensitive)
        self._parents = {name: labels_over(table, quasi.names) for name, table in sensitive.items()}
        self._domains = {
            name: (domains or {}).get(name) or domain_of(name, table, (hierarchies or {}).get(name))
            for name, table in sensitive.items()
        }

    def classes(self, label: Labels, count: int, visible: Mapping[str, Mask] | None = None) -> Classes:
        """The classes when tuple i goes to class label[i]; `visible[name]` tells where a sensitive value is visible."""
        rows = np.bincount(label, weights=self.quasi.rows, minlength=count).astype(np.int64)
        persons = None
        if self.quasi.persons is not None:
            persons = persons_in_groups(self.quasi.persons, label, count)
        values = {name: self._values(name, label, count, (visible or {}).get(name)) for name in self._sensitive}
        return Classes(rows, persons, values, self._domains, self._population_of_classes(label, count))

    def _population_of_classes(self, label: Labels, count: int) -> Labels | None:
        """The population of each class: the same for all its tuples, or the least of what they say."""
        if self._population is None:
            return None
        least = np.full(count, np.iinfo(np.int64).max)
        np.minimum.at(least, label, self._population)
        return least

    def decides_by_rows(self, criteria: Sequence[Criterion]) -> bool:
        """Whether every criterion is k-anonymity counted in rows, so that the rows of a class decide."""
        by_rows = self.quasi.persons is None
        return all(isinstance(c, KAnonymity) and (c.unit == "rows" or by_rows) for c in criteria)

    def with_suppressed(self, suppressed: Mask, total: int) -> ClassCounter:
        """The counter when some tuples publish nothing: the whole population is behind them."""
        if self._population is None:
            return self
        part = self.subset(np.arange(len(self.quasi.rows)))
        part._population = np.where(suppressed, total, self._population)
        return part

    def domain(self, name: str) -> Domain | None:
        """The values of a sensitive variable; None for a criterion that looks at sizes alone."""
        return self._domains.get(name)

    def subset(self, index: Labels) -> ClassCounter:
        """The counter over some of the tuples, given by ascending positions."""
        part = object.__new__(ClassCounter)
        part.quasi = pick(self.quasi, index)
        part._domains = self._domains
        part._population = None if self._population is None else self._population[index]
        position = np.full(len(self.quasi.rows), -1, np.int64)
        position[index] = np.arange(len(index))
        part._sensitive, part._parents = {}, {}
        for name, table in self._sensitive.items():
            chosen = np.flatnonzero(position[self._parents[name]] >= 0)
            part._sensitive[name] = pick(table, chosen)
            part._parents[name] = position[self._parents[name][chosen]]
        return part

    def _values(self, name: str, label: Labels, count: int, shown_tuples: Mask | None) -> ValueCounts:
        table, parent = self._sensitive[name], self._parents[name]
        visible = ~self._domains[name].masked[table.codes[:, -1]]
        if shown_tuples is not None:
            visible &= shown_tuples[parent]
        entries = np.flatnonzero(visible)
        pairs = np.stack([label[parent[entries]], table.codes[entries, -1].astype(np.int64)], axis=1)
        first, group = group_codes(pairs, [count, table.sizes[-1]])
        owner = pairs[first, 0]
        rows = np.bincount(group, weights=table.rows[entries], minlength=len(first)).astype(np.int64)
        behind = pick(table, entries).persons
        persons = None if behind is None else persons_in_groups(behind, group, len(first))
        offsets = np.searchsorted(owner, np.arange(count + 1)).astype(np.int64)
        holders = None
        if behind is not None and len(entries) < len(visible):
            holders = persons_in_groups(behind, pairs[:, 0], count)
        return ValueCounts(offsets, pairs[first, 1].astype(np.int32), rows, persons, holders)


def domain_of(name: str, table: Tuples, hierarchy: CompiledHierarchy | None = None) -> Domain:
    """The values of a sensitive variable and the rows behind each, as the reference of criteria."""
    rows = np.bincount(table.codes[:, -1], weights=table.rows, minlength=table.sizes[-1]).astype(np.int64)
    masked = np.array([is_masked(value) for value in table.vocabularies[-1]], bool)
    return Domain(name, table.vocabularies[-1], np.where(masked, 0, rows), rows > 0, hierarchy)


def judge_all(criteria: Sequence[Criterion], classes: Classes, published: Mask | None = None) -> Mask:
    """Which classes pass every criterion; `published` are those that a criterion on the release compares with."""
    passes = np.ones(len(classes), bool)
    for criterion in criteria:
        judged = classes
        if criterion.on_release and published is not None:
            judged = with_published_reference(classes, published, criterion.variable)
        passes &= criterion.judge(judged)
    return passes


def with_published_reference(classes: Classes, published: Mask, variable: str) -> Classes:
    """The classes with the distribution of a variable over the published ones as its reference."""
    counts, domain = classes.counts(variable), classes.domains[variable]
    stays = published[counts.owner]
    rows = np.bincount(counts.values[stays], counts.rows[stays], len(domain.vocabulary)).astype(np.int64)
    return replace(classes, domains={variable: replace(domain, reference=rows, prepared={})})


def class_labels(published: NDArray[np.int32], sizes: Sequence[int]) -> tuple[Labels, int]:
    """The class of each tuple, and how many classes there are."""
    first, label = group_codes(published, sizes)
    return label, len(first)
