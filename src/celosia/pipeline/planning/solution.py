"""What is published for each tuple, and the masks that follow from it: suppressed groups, dependents, households.

Knows published tuples, criteria and dependencies. Ignores how levels were found and files.
Sources: DESIGN §3 (the suppressed group is judged too); REQUIREMENTS X7 (masks follow dependencies).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.model.values import SUPPRESSED
from celosia.pipeline.planning.households import extend_masks, masked_values, whole_groups
from celosia.pipeline.planning.pre_generalisation import Representatives, positions_in
from celosia.pipeline.planning.search_input import SearchInput
from celosia.risk.classes import fully_masked
from celosia.solver.published import ClassCounter, PublishedTuples, class_labels, judge_all
from celosia.tuples.table import Tuples, labels_over

Mask = NDArray[np.bool_]
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Solution:
    """What is published for each tuple, and the figures of how it was found."""

    tuples: Tuples  # what `published` and `masks` speak of: quasi-identifiers, then the columns that tie rows
    published: PublishedTuples
    masks: Mapping[str, Mask]  # columns that become `*`, per tuple
    levels: Mapping[str, int]
    loss: float
    metric: str
    classes: int
    nodes: int
    nodes_checked: int
    optimal: bool
    bound: float | None
    notes: Mapping[str, Any]
    representatives: Representatives = field(default_factory=Representatives)  # what the tuples hold for other values

    @property
    def outcome(self) -> str:
        """Digest of all that is published for all tuples together."""
        digest = hashlib.sha256("\x00".join(self.tuples.names).encode("utf-8"))
        for vocabulary in self.published.vocabularies:
            digest.update("\x00".join(vocabulary).encode("utf-8") + b"\x01")
        digest.update(np.ascontiguousarray(self.published.codes, np.int32).tobytes())
        digest.update(np.packbits(self.published.suppressed).tobytes())
        for name in sorted(self.masks):
            digest.update(name.encode("utf-8") + np.packbits(self.masks[name]).tobytes())
        return "sha256:" + digest.hexdigest()

    @property
    def otherwise_masked_rows(self) -> int:
        """Rows that are not suppressed and show no quasi-identifier: they came masked, or their levels left them so."""
        masked = fully_masked(self.published.codes, self.published.vocabularies)
        return int(self.tuples.rows[masked & ~self.published.suppressed].sum())


def labels_of(published: PublishedTuples) -> tuple[Labels, int]:
    """The equivalence class of each published tuple, and how many classes there are."""
    return class_labels(published.codes, [len(vocabulary) for vocabulary in published.vocabularies])


def complete_solution(
    search_input: SearchInput,
    counter: ClassCounter,
    published: PublishedTuples,
    *,
    is_part: bool = False,
    **figures: Any,
) -> Solution:
    """The solution with suppressed rows starred, their group judged, and masks extended to the dependents."""
    final = replace(published, masked_sensitive={})
    if search_input.policy.method in ("full-domain", "local"):
        final = star_suppressed(final, published.suppressed)
    label, _ = labels_of(final)
    masks = {name: mask.copy() for name, mask in published.masked_sensitive.items()}
    if not is_part:
        masks |= _masks_of_suppressed_group(search_input, counter, final, masks)
    masks |= _masks_of_dependents(search_input, label, published.suppressed, masks)
    if search_input.linked is not None:
        masks = extend_masks(counter, search_input.criteria, search_input.linked, label, published.suppressed, masks)
    classes = len(np.unique(label[~published.suppressed]))
    return Solution(tuples=search_input.quasi, published=final, masks=masks, classes=classes, **figures)


def star_suppressed(published: PublishedTuples, suppressed: Mask) -> PublishedTuples:
    """Suppressed tuples with `*` in every quasi-identifier; vocabularies stay in code-point order."""
    codes = np.empty_like(published.codes)
    vocabularies = []
    for v, vocabulary in enumerate(published.vocabularies):
        wider = tuple(sorted({*vocabulary, SUPPRESSED}))
        moved = positions_in(wider, vocabulary)
        codes[:, v] = np.where(suppressed, wider.index(SUPPRESSED), moved[published.codes[:, v]])
        vocabularies.append(wider)
    return replace(published, codes=codes, vocabularies=tuple(vocabularies))


def _masks_of_suppressed_group(
    search_input: SearchInput, counter: ClassCounter, published: PublishedTuples, masks: Mapping[str, Mask]
) -> dict[str, Mask]:
    """The fully suppressed rows are a group of their own: if it fails, its sensitive values are masked too (DESIGN §3).

    It is judged as the check will see it: without what is masked already, and beside the rows that show something
    where a criterion compares with the release.
    """
    if not published.suppressed.any():
        return {}
    label, count = labels_of(published)
    shows = np.zeros(count, bool)
    shows[label[~fully_masked(published.codes, published.vocabularies)]] = True
    classes = counter.classes(label, count, {name: ~mask for name, mask in masks.items()})
    passes = judge_all(search_input.criteria, classes, shows)
    # Rows that came masked from the source share the group's published text, so they lose the value with it.
    failing = whole_groups(published.suppressed, label) & ~passes[label]
    nobody = np.zeros(len(label), bool)
    return {name: masks.get(name, nobody) | failing for name in search_input.sensitive}


def _masks_of_dependents(
    search_input: SearchInput, label: Labels, suppressed: Mask, masks: Mapping[str, Mask]
) -> dict[str, Mask]:
    """A column that discloses others is shown only where it discloses no more than the class does (X7).

    One tied to a quasi-identifier is shown or masked for a whole class, so that it never splits one.
    """
    nobody = np.zeros(len(label), bool)
    masks_of_dependents: dict[str, Mask] = {}
    for name, determinants in search_input.dependents.items():
        mask = masks.get(name, nobody).copy()
        for determinant in determinants:
            mask |= masks.get(determinant, nobody)
        if name in search_input.dependent_tuples:
            for determinant in determinants:
                mask |= _tuples_masked_in_source(search_input, determinant)
            varies = _classes_with_several_values(search_input, search_input.dependent_tuples[name], label)
            mask = whole_groups(mask, label) | varies | suppressed
        masks_of_dependents[name] = mask
    return masks_of_dependents


def _tuples_masked_in_source(search_input: SearchInput, name: str) -> Mask:
    """Tuples with a row whose sensitive value came masked from the source."""
    masked = np.zeros(len(search_input.quasi.rows), bool)
    if name in search_input.sensitive:
        table = search_input.sensitive[name]
        parent = labels_over(table, search_input.quasi.names)
        masked[parent[masked_values(table, len(table.names) - 1)]] = True
    return masked


def _classes_with_several_values(search_input: SearchInput, table: Tuples, label: Labels) -> Mask:
    """Tuples whose class holds more than one value of the last column of a table."""
    parent = labels_over(table, search_input.quasi.names)
    pairs = np.unique(np.stack([label[parent], table.codes[:, -1].astype(np.int64)], axis=1), axis=0)
    several = np.bincount(pairs[:, 0], minlength=int(label.max(initial=-1)) + 1) > 1
    return several[label]
