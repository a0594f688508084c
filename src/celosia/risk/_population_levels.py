"""A population table beside the levels of a search: how many of its units fall into each class of a node.

Knows the population's tuples and, for each level, the file's group that each of its values goes to (−1 when the file
has no such group). Groups are the same when their labels are. Ignores where the table comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.errors import PopulationLevelsDiffer
from celosia.hierarchy import CompiledHierarchy
from celosia.risk._matched import matched_codes
from celosia.tuples import Tuples

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

    def behind(self, groups: Codes, levels: Sequence[int]) -> Counts:
        """Units of the population in each class, given by its groups at these levels."""
        if not len(groups):
            return np.zeros(0, np.int64)
        columns = [maps[level] for maps, level in zip(self.maps, levels, strict=True)]
        others = np.stack([column[self.codes[:, v]] for v, column in enumerate(columns)], axis=1)
        sizes = tuple(len(names[level]) for names, level in zip(self.labels, levels, strict=True))
        return matched_codes(groups, others, self.rows, sizes)

    def behind_texts(self, codes: Codes, vocabularies: Sequence[Sequence[str]], levels: Sequence[int]) -> Counts:
        """The same for published tuples; a text that is no group at its level has nobody behind."""
        groups = np.empty(codes.shape, np.int64)
        for v, (vocabulary, level) in enumerate(zip(vocabularies, levels, strict=True)):
            place = {text: group for group, text in enumerate(self.labels[v][level])}
            groups[:, v] = np.array([place.get(text, -1) for text in vocabulary], np.int64)[codes[:, v]]
        known = (groups >= 0).all(axis=1)
        found = np.zeros(len(codes), np.int64)
        found[known] = self.behind(groups[known], levels)
        return found


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
    place = {text: code for code, text in enumerate(joined.labels[0])}
    moved = np.zeros(len(own.maps[0]), bool)
    for level in range(own.height + 1):
        for code, group in enumerate(own.maps[level]):
            there = joined.maps[level][place[values[own.maps[0][code]]]]
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
    found: list[NDArray[np.int64]] = []
    for level in reversed(range(own.height + 1)):
        place = {text: group for group, text in enumerate(own.labels[level])}
        moved = np.array([place.get(text, -1) for text in joined.labels[level]], np.int64)
        groups = moved[joined.maps[level][codes]]
        if found:
            above = np.full(len(own.labels[level]) + 1, -1, np.int64)
            above[own.maps[level]] = own.maps[level + 1]
            groups = np.where((groups >= 0) & (above[groups] == found[-1]), groups, -1)
        found.append(groups)
    return tuple(reversed(found))
