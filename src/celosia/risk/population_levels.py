"""A population table beside a file: how many of its units share each tuple, at any level of the hierarchies.

Knows the population's tuples and, for each level, the file's group that each of its values goes to (−1 when the file
has no such group). Groups are the same when their labels are. Ignores where the table comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.errors import PopulationLevelsDiffer
from celosia.tuples.table import Tuples, group_codes

Counts = NDArray[np.int64]
Codes = NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class PopulationLevels:
    """The population under the hierarchies of a file."""

    names: tuple[str, ...]
    codes: NDArray[np.int32]
    rows: Counts
    labels: tuple[tuple[tuple[str, ...], ...], ...]  # of the file: variable, level, group
    maps: tuple[tuple[NDArray[np.int64], ...], ...]  # variable, level: the file's group of each population value

    @property
    def total(self) -> int:
        """Units of the population."""
        return int(self.rows.sum())

    def population_of_classes(self, groups: Codes, levels: Sequence[int]) -> Counts:
        """Units of the population in each class, given by its groups at these levels."""
        if not len(groups):
            return np.zeros(0, np.int64)
        columns = [maps[level] for maps, level in zip(self.maps, levels, strict=True)]
        others = np.stack([column[self.codes[:, v]] for v, column in enumerate(columns)], axis=1)
        sizes = tuple(len(names[level]) for names, level in zip(self.labels, levels, strict=True))
        return matched_codes(groups, others, self.rows, sizes)

    def population_of_texts(self, codes: Codes, vocabularies: Sequence[Sequence[str]], levels: Sequence[int]) -> Counts:
        """The same for published tuples; a text that is no group at its level has none."""
        groups = np.empty(codes.shape, np.int64)
        for v, (vocabulary, level) in enumerate(zip(vocabularies, levels, strict=True)):
            group_of = {text: group for group, text in enumerate(self.labels[v][level])}
            groups[:, v] = np.array([group_of.get(text, -1) for text in vocabulary], np.int64)[codes[:, v]]
        known = (groups >= 0).all(axis=1)
        units = np.zeros(len(codes), np.int64)
        units[known] = self.population_of_classes(groups[known], levels)
        return units


def population_levels(
    population: Tuples, own: Mapping[str, CompiledHierarchy], joined: Mapping[str, CompiledHierarchy]
) -> PopulationLevels:
    """The population under a file's hierarchies; `joined` are the same over the values of both.

    A hierarchy that moves values of the file once others are there could count people who are not alike: refused.
    """
    order = [population.position(name) for name in own]
    maps = []
    for (name, hierarchy), position in zip(own.items(), order, strict=True):
        _refuse_moved(name, hierarchy, joined[name])
        maps.append(_level_maps(hierarchy, joined[name], population.vocabularies[position]))
    labels = tuple(hierarchy.labels for hierarchy in own.values())
    return PopulationLevels(tuple(own), population.codes[:, order], population.rows, labels, tuple(maps))


def _refuse_moved(name: str, own: CompiledHierarchy, joined: CompiledHierarchy) -> None:
    values = own.labels[0]
    if joined.height != own.height:
        raise PopulationLevelsDiffer(variable=name, values=len(values))
    code_of = {text: code for code, text in enumerate(joined.labels[0])}
    moved = np.zeros(len(own.maps[0]), bool)
    for level in range(own.height + 1):
        for code, group in enumerate(own.maps[level]):
            there = joined.maps[level][code_of[values[own.maps[0][code]]]]
            moved[code] |= joined.labels[level][there] != own.labels[level][group]
    if moved.any():
        raise PopulationLevelsDiffer(variable=name, values=int(moved.sum()))


def _level_maps(
    own: CompiledHierarchy, joined: CompiledHierarchy, vocabulary: Sequence[str]
) -> tuple[NDArray[np.int64], ...]:
    """For each level, the file's group of every value of the population.

    A value is in a group only if it is also in the group above it, so that what a class holds, a coarser one holds.
    """
    first = {text: code for code, text in enumerate(joined.labels[0])}
    codes = np.array([first[text] for text in vocabulary], np.int64)
    maps: list[NDArray[np.int64]] = []
    for level in reversed(range(own.height + 1)):
        group_of = {text: group for group, text in enumerate(own.labels[level])}
        own_group = np.array([group_of.get(text, -1) for text in joined.labels[level]], np.int64)
        groups = own_group[joined.maps[level][codes]]
        if maps:
            above = np.full(len(own.labels[level]) + 1, -1, np.int64)
            above[own.maps[level]] = own.maps[level + 1]
            groups = np.where((groups >= 0) & (above[groups] == maps[-1]), groups, -1)
        maps.append(groups)
    return tuple(reversed(maps))


def matched_sizes(quasi: Tuples, population: Tuples) -> Counts:
    """How many units of the population hold each tuple of the file, compared by their text."""
    order = [population.position(name) for name in quasi.names]
    codes_in_file = np.empty((len(population.rows), len(order)), np.int64)
    for column, position in enumerate(order):
        code_of = {text: code for code, text in enumerate(quasi.vocabularies[column])}
        known = np.array([code_of.get(text, -1) for text in population.vocabularies[position]], np.int64)
        codes_in_file[:, column] = known[population.codes[:, position]] if len(known) else -1
    return matched_codes(quasi.codes, codes_in_file, population.rows, quasi.sizes)


def matched_codes(
    codes: NDArray[np.integer], others: NDArray[np.integer], rows: Counts, sizes: tuple[int, ...]
) -> Counts:
    """Rows behind the tuples of `others` that equal each tuple of `codes`; a code of −1 equals none."""
    within = (others >= 0).all(axis=1)
    first, label = group_codes(np.concatenate([codes, others[within]]), sizes)
    counts = np.bincount(label[len(codes) :], weights=rows[within], minlength=len(first))
    return counts[label[: len(codes)]].astype(np.int64)
