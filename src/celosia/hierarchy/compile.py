"""Fitting a hierarchy to the vocabulary of a table: the integer maps and shares that the search uses.

Shares are those of the hierarchy's leaves, also of leaves that the data lack (METRICS, loss). Masked, missing
and declared unknown values that the hierarchy does not list are added to it as leaves of their own, in their
own category at every level until its top `*`; so they count as leaves. Any other value that it does not list
is a gap: an error, or with `gap="suppress"` a leaf that becomes `*` from level 1 on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.errors import HierarchyGap, LevelOutsideHierarchy
from celosia.hierarchy.model import CompiledHierarchy, Hierarchy
from celosia.hierarchy.rows import NewLeafLabels, from_rows, has_star_top, to_rows
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import SUPPRESSED, CellKind, kind_of

GAP_POLICIES = ("error", "suppress")


def gaps(hierarchy: Hierarchy, vocabulary: Sequence[str], unknown: Sequence[str] = ()) -> tuple[str, ...]:
    """The values that the hierarchy does not cover, to be shown on request only."""
    known = set(hierarchy.leaves)
    return tuple(
        value for value in dict.fromkeys(vocabulary) if value not in known and kind_of(value, unknown) is CellKind.PLAIN
    )


def compile_for(
    hierarchy: Hierarchy, vocabulary: Sequence[str], *, unknown: Sequence[str] = (), gap: str = "error", file: str = ""
) -> CompiledHierarchy:
    """The hierarchy over the codes of a vocabulary.

    `maps[0]` is the identity and `labels[0]` the vocabulary; higher levels hold the labels that occur, in code
    point order.
    """
    if gap not in GAP_POLICIES:
        raise ValueOutOfRange(parameter="gap", given=gap, allowed=", ".join(GAP_POLICIES))
    uncovered = gaps(hierarchy, vocabulary, unknown)
    if uncovered and gap == "error":
        name = file or f"{hierarchy.variable}.csv"
        raise HierarchyGap(variable=hierarchy.variable, missing=len(uncovered), file=name)
    full = _add_missing_leaves(hierarchy, vocabulary, frozenset(uncovered))
    position = {leaf: number for number, leaf in enumerate(full.leaves)}
    leaves = np.asarray([position[value] for value in vocabulary], np.int64)
    shares = np.full(len(leaves), 1.0 / max(len(full.leaves), 1))
    levels = [(tuple(vocabulary), np.arange(len(leaves), dtype=np.int32), shares)]
    levels += [_fit_level(labels, codes, leaves) for labels, codes in zip(full.labels[1:], full.maps[1:], strict=True)]
    labels, maps, shares = zip(*levels, strict=True)
    return CompiledHierarchy(hierarchy.variable, labels, maps, shares, len(full.leaves))


def _add_missing_leaves(hierarchy: Hierarchy, vocabulary: Sequence[str], uncovered: frozenset[str]) -> Hierarchy:
    """The hierarchy with a leaf for every value of the vocabulary."""
    known = set(hierarchy.leaves)
    added = [value for value in dict.fromkeys(vocabulary) if value not in known]
    if not added:
        return hierarchy
    rows = to_rows(hierarchy)
    new_labels = NewLeafLabels(rows, hierarchy.height)
    top = (hierarchy.labels[-1][0],) if has_star_top(hierarchy) else ()
    for value in added:
        labels = new_labels.labels(SUPPRESSED if value in uncovered else value)
        rows.append((value, *labels[: len(labels) - len(top)], *top))
    return from_rows(hierarchy.variable, rows)


def _fit_level(
    labels: tuple[str, ...], codes: NDArray[np.int32], leaves: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int32], NDArray[np.float64]]:
    """A level restricted to the labels of the vocabulary; shares still count every leaf."""
    used = sorted({int(code) for code in codes[leaves]}, key=lambda code: labels[code])
    renumbered = np.full(len(labels), -1, np.int32)
    renumbered[used] = np.arange(len(used), dtype=np.int32)
    sizes = np.bincount(codes, minlength=len(labels))
    shares = sizes[used].astype(np.float64) / max(len(codes), 1)
    return tuple(labels[code] for code in used), renumbered[codes[leaves]], shares


def level_range(
    hierarchy: Hierarchy | CompiledHierarchy, minimum: int | None = None, maximum: int | None = None
) -> range:
    """The levels allowed between a minimum and a maximum; both included, both optional."""
    low = 0 if minimum is None else minimum
    high = hierarchy.height if maximum is None else maximum
    if not 0 <= low <= high <= hierarchy.height:
        raise LevelOutsideHierarchy(variable=hierarchy.variable, minimum=low, maximum=high, height=hierarchy.height)
    return range(low, high + 1)
