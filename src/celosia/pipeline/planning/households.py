"""Rows that the release itself ties together: those that show the same household or person number.

A value masked on one of them must not be read off another. So a household is suppressed whole, a value that is
the same in the whole household is masked in all of it, and the numbers shown say nothing about the original ones.
Knows tuples split by household, criteria and classes. Ignores files and levels.
Source: REQUIREMENTS X17 (ids that only group rows stay, renumbered); DESIGN §3 (masks follow dependencies).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.data.table import Table
from celosia.model.values import MISSING, is_masked
from celosia.pipeline.planning.functional_dependencies import determines
from celosia.risk.criteria import Criterion
from celosia.solver.published import ClassCounter, judge_all
from celosia.tuples.finer import tuples_with_each
from celosia.tuples.table import Tuples, pack_keys

Mask = NDArray[np.bool_]
Groups = NDArray[np.int64]  # the household of each tuple or row; -1 where it shows none
NOBODY = -1


@dataclass(frozen=True, slots=True)
class LinkedTuples:
    """The compressed source split by the columns that tie rows together."""

    quasi: Tuples  # the quasi-identifiers, then the link columns
    sensitive: Mapping[str, Tuples]
    dependent_tuples: Mapping[str, Tuples]
    dependents: Mapping[str, tuple[str, ...]]
    constant: Mapping[str, Mapping[str, Groups]]  # link: columns with one value per group, and groups read as masked


def split_by_links(
    table: Table,
    quasi: Sequence[str],
    links: Sequence[str],
    person: str | None,
    sensitive: Sequence[str],
    dependents: Mapping[str, tuple[str, ...]],
) -> LinkedTuples:
    """Ask the table for its tuples household by household."""
    keys = (*quasi, *links)
    on_quasi = sorted(name for name, determinants in dependents.items() if set(determinants) & set(quasi))
    by_household, sensitive_by_household = tuples_with_each(table, keys, sensitive, person)
    return LinkedTuples(
        quasi=by_household,
        sensitive=sensitive_by_household,
        dependent_tuples={name: table.tuples((*keys, name)) for name in on_quasi},
        dependents=dependents,
        constant={link: _constant_columns(table, link, sensitive, dependents) for link in links},
    )


def _constant_columns(
    table: Table, link: str, sensitive: Sequence[str], dependents: Mapping[str, tuple[str, ...]]
) -> dict[str, Groups]:
    """Columns to be masked household by household; one that only discloses such a column counts as well."""
    pairs = {name: table.tuples((link, name)) for name in dict.fromkeys([*sensitive, *dependents])}
    constant = {name for name, pair in pairs.items() if has_one_value_each(pair)}
    constant |= {column for name in constant for column in dependents.get(name, ()) if column in sensitive}
    return {name: groups_of(pair, link)[masked_values(pair, 1)] for name, pair in pairs.items() if name in constant}


def has_one_value_each(pair: Tuples) -> bool:
    """Whether every group of the first column shows at most one value of the second, or nearly every one.

    One household that disagrees does not make what the others share unreadable.
    """
    group = groups_of(pair, pair.names[0])
    shown = ~hidden_values(pair, 1) & (group != NOBODY)
    if len(np.unique(group[shown])) == int(shown.sum()):
        return True
    return determines(group[shown], pair.codes[shown, 1], pair.rows[shown])


def groups_of(tuples: Tuples, link: str) -> Groups:
    """The household of each tuple; a missing or masked number ties nobody to anybody."""
    column = tuples.position(link)
    return np.where(hidden_values(tuples, column), NOBODY, tuples.codes[:, column].astype(np.int64))


def hidden_values(tuples: Tuples, column: int) -> Mask:
    """Tuples whose value in a column is missing or masked."""
    missing = np.array([text == MISSING for text in tuples.vocabularies[column]], bool)
    return missing[tuples.codes[:, column]] | masked_values(tuples, column)


def masked_values(tuples: Tuples, column: int) -> Mask:
    """Tuples whose value in a column is made of asterisks."""
    return np.array([is_masked(text) for text in tuples.vocabularies[column]], bool)[tuples.codes[:, column]]


def fully_masked(tuples: Tuples, width: int | None = None) -> Mask:
    """Tuples whose first `width` columns (all without it) hold asterisks only: they form no class (X6)."""
    masked = np.ones(len(tuples.rows), bool)
    for column in range(len(tuples.vocabularies[:width])):
        masked &= masked_values(tuples, column)
    return masked


def whole_groups(mask: Mask, group: Groups) -> Mask:
    """The mask and everybody in the group of somebody in it."""
    touched = np.zeros(int(group.max(initial=NOBODY)) + 2, bool)
    touched[group[mask]] = True
    touched[NOBODY] = False  # the last place, which no group has
    return mask | touched[group]


def contradicting_groups(tuples: Tuples, link: str, hidden: Mask, shown: Mask) -> tuple[int, int]:
    """Groups that hide something on one row and show it on another, and their rows."""
    group = groups_of(tuples, link)
    broken = whole_groups(hidden, group) & whole_groups(shown, group) & (group != NOBODY)
    return len(np.unique(group[broken])), int(tuples.rows[broken].sum())


def extend_suppression(
    counter: ClassCounter, criteria: Sequence[Criterion], label: Groups, suppressed: Mask, links: Sequence[Groups]
) -> Mask:
    """The tuples to suppress so that households go whole and every class still passes on what stays."""
    while True:
        grown = suppressed
        for group in links:
            grown = whole_groups(grown, group)
        grown = grown | _failing_tuples(counter, criteria, label, grown)
        if grown.sum() == suppressed.sum():
            return suppressed
        suppressed = grown


def _failing_tuples(counter: ClassCounter, criteria: Sequence[Criterion], label: Groups, suppressed: Mask) -> Mask:
    """Published tuples whose class fails when counted on the published tuples alone."""
    published = np.flatnonzero(~suppressed)
    names, dense = np.unique(label[published], return_inverse=True)
    dense = dense.reshape(-1).astype(np.int64)
    classes = counter.subset(published).classes(dense, len(names))
    passes = judge_all(criteria, classes, np.ones(len(names), bool))
    failing = np.zeros(len(label), bool)
    failing[published] = ~passes[dense]
    return failing


def extend_masks(
    counter: ClassCounter,
    criteria: Sequence[Criterion],
    linked: LinkedTuples,
    label: Groups,
    suppressed: Mask,
    masks: Mapping[str, Mask],
) -> dict[str, Mask]:
    """Masks grown until no household shows a value that it masks elsewhere and every class still passes."""
    count = int(label.max(initial=-1)) + 1
    apart = np.zeros(count, bool)
    apart[label[suppressed]] = True
    masks = _extend_masks_by_source(linked, masks, len(label))
    while True:
        grown = _extend_once(linked, label, masks)
        classes = counter.classes(label, count, {name: ~mask for name, mask in grown.items()})
        fails = {c: ~judge_all((c,), classes, ~apart) for c in criteria if c.variable}
        for criterion, failing in fails.items():
            grown[criterion.variable] = grown[criterion.variable] | failing[label]
        if any((failing & apart).any() for failing in fails.values()):
            grown |= {name: grown[name] | apart[label] for name in linked.sensitive}
        if all(grown[name].sum() == mask.sum() for name, mask in masks.items()):
            return grown
        masks = grown


def _extend_masks_by_source(linked: LinkedTuples, masks: Mapping[str, Mask], size: int) -> dict[str, Mask]:
    """The masks, and households that came with a masked value: another row of theirs must not disclose it."""
    names = dict.fromkeys([*masks, *linked.sensitive, *linked.dependents])
    masks_by_name = {name: masks.get(name, np.zeros(size, bool)) for name in names}
    for link, columns in linked.constant.items():
        group = groups_of(linked.quasi, link)
        for name, masked in columns.items():
            masks_by_name[name] = masks_by_name[name] | (np.isin(group, masked) & (group != NOBODY))
    return masks_by_name


def _extend_once(linked: LinkedTuples, label: Groups, masks: Mapping[str, Mask]) -> dict[str, Mask]:
    """Masks extended to the whole household and to the dependent columns."""
    grown = dict(masks)
    for link, columns in linked.constant.items():
        group = groups_of(linked.quasi, link)
        grown |= {name: whole_groups(grown[name], group) for name in columns}
    for name, determinants in linked.dependents.items():
        for determinant in determinants:
            grown[name] = grown[name] | grown.get(determinant, np.zeros(len(label), bool))
        if name in linked.dependent_tuples:
            grown[name] = whole_groups(grown[name], label)  # shown in a part of a class, it would split it
    return grown


def renumber_households(table: Table, published: Sequence[str], links: Sequence[str], scratch: Path) -> Table:
    """The table with its households numbered by what is published of them: the same whatever their old numbers."""
    shown = [name for name in published if name not in links]
    rank, texts = table.positions_among(shown, links, scratch)
    codes = [column.dictionary_encode() for column in texts]
    groups = []
    for column in codes:
        hidden = np.array([text == MISSING or is_masked(text) for text in column.dictionary.to_pylist()], bool)
        position = column.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        groups.append(np.where(hidden[position], NOBODY, position) if len(hidden) else position)
    for link, column, numbers in zip(links, codes, numbers_from(rank, groups), strict=True):
        old = column.dictionary.to_pylist()
        table = table.map_values(link, {old[i]: str(number) for i, number in enumerate(numbers.tolist()) if number})
    return table


def numbers_from(rank: NDArray[np.int64], links: Sequence[Groups]) -> list[NDArray[np.int64]]:
    """For each link, a number 1… for each of its groups, by the published rows of the group; 0 where it has none.

    Groups that show the same rows are interchangeable: numbering them either way gives the same file.
    """
    numbers = []
    colour = rank
    for own in links:
        colour = _refine_colours(colour, links) if len(links) > 1 else colour
        group_ranks = _rank_of_groups(colour, own)
        order = np.argsort(group_ranks, kind="stable")
        number = np.zeros(len(group_ranks), np.int64)
        number[order] = np.arange(1, len(group_ranks) + 1) - int((group_ranks == NOBODY).sum())
        numbers.append(np.maximum(number, 0))
        colour = _pair_colours(colour, np.append(number, 0)[own])
    return numbers


def _refine_colours(colour: NDArray[np.int64], links: Sequence[Groups]) -> NDArray[np.int64]:
    """Rows distinguished by their groups' rows as well, until that distinguishes no more of them."""
    while True:
        finer = colour
        for own in links:
            finer = _pair_colours(finer, np.append(_rank_of_groups(finer, own), NOBODY)[own])
        if finer.max(initial=0) == colour.max(initial=0):
            return finer
        colour = finer


def _pair_colours(colour: NDArray[np.int64], by: NDArray[np.int64]) -> NDArray[np.int64]:
    """Dense colours of the pairs, in order."""
    pairs = np.stack([colour, by + 1], axis=1)
    sizes = [int(colour.max(initial=0)) + 1, int(by.max(initial=0)) + 2]
    return np.unique(pack_keys(pairs, sizes), return_inverse=True)[1].reshape(-1).astype(np.int64)


def _rank_of_groups(colour: NDArray[np.int64], group: Groups) -> NDArray[np.int64]:
    """Rank of each group by its rows' colours in ascending order; -1 for a group without rows."""
    order = np.lexsort((colour, group))
    order = order[int((group == NOBODY).sum()) :]
    start = np.searchsorted(group[order], np.arange(int(group.max(initial=NOBODY)) + 2)) * 8
    packed = colour[order].astype(">i8").tobytes()  # big-endian: bytes compare as the numbers do
    keys = [packed[a:b] for a, b in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)]
    rank = {key: i for i, key in enumerate(sorted({key for key in keys if key}))}
    return np.array([rank.get(key, NOBODY) for key in keys], np.int64)
