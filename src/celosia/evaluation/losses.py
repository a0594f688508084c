"""How much information a released file gave up.

Knows two samples over the same columns; with hierarchies, also what each published label stands for. Three readings:
- from distributions: a cell says log2(n ÷ rows of its value) bits, counted in the source where the value occurs there
  and in the release where it is new (a group); a masked cell or a row that left says none. Loss = 1 - bits after ÷ bits
  before. Identical files lose 0, everything masked loses 1, a coarser level never loses less.
- from labels (hierarchies known): the search's own metrics, read from the released file (METRICS: loss, precision,
  discernibility, average class size, non-uniform entropy).
- from matched records: the share of cells that changed.
Sources: Gionis and Tassa 2009 (entropy); Iyengar 2002 (loss); Bayardo and Agrawal 2005 (discernibility);
LeFevre et al. 2006 (average class size); Sweeney 2002 (precision).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.evaluation._sample import Flags, Integers, Sample
from celosia.hierarchy import CompiledHierarchy
from celosia.model.values import is_masked
from celosia.tuples import Tuples


def entropy_loss(before: Sample, after: Sample, name: str) -> float:
    """Share of a variable's information that is gone, from both distributions; 0..1."""
    rows = before.n_rows
    if not rows:
        return 0.0
    known = _plain_rows(before, name)
    had = math.fsum(count * math.log2(rows / count) for count in known.values())
    published = _plain_rows(after, name)
    if had <= 0:  # a constant says nothing: what counts is how many of its cells are left
        return min(max(1 - sum(published.values()) / max(sum(known.values()), 1), 0.0), 1.0) if known else 0.0
    left = math.fsum(count * _bits(rows, known.get(text, count)) for text, count in published.items())
    return min(max(1 - left / had, 0.0), 1.0)


def masked_cells(before: Sample, after: Sample, name: str) -> int:
    """Cells of a variable that are masked after and were not before."""
    return max(_masked_rows(after, name) - _masked_rows(before, name), 0)


def masked_rows(sample: Sample, names: Sequence[str]) -> int:
    """Rows with at least one masked cell among the variables."""
    return int(sample.rows[_any_masked(sample, names)].sum())


def fully_masked_rows(sample: Sample, names: Sequence[str]) -> int:
    """Rows in which every one of the variables is masked."""
    if not names:
        return 0
    flags = np.ones(len(sample.rows), bool)
    for name in names:
        flags &= _masked(sample, name)
    return int(sample.rows[flags].sum())


@dataclass(frozen=True, slots=True)
class LabelShare:
    """What a published label stands for: its share of the leaves, and its level."""

    share: float
    level: int


def label_shares(hierarchy: CompiledHierarchy) -> dict[str, LabelShare]:
    """Every label of a hierarchy; one that stands at several levels is read at the finest."""
    found: dict[str, LabelShare] = {}
    for level, (labels, shares) in enumerate(zip(hierarchy.labels, hierarchy.shares, strict=True)):
        for label, share in zip(labels, shares, strict=True):
            found.setdefault(label, LabelShare(float(share), level))
    return found


def released_loss(hierarchy: CompiledHierarchy, released: Mapping[str, int], rows: int) -> float | None:
    """The search's loss of one variable, from the labels of the released file; a row that left loses everything."""
    shares = label_shares(hierarchy)
    if any(label not in shares and not is_masked(label) for label in released):
        return None  # a label that the hierarchy does not know: the file was not made with it
    lost = [count * (1.0 if is_masked(label) else shares[label].share) for label, count in released.items()]
    gone = rows - sum(released.values())
    least = rows / hierarchy.leaf_count
    span = rows - least
    return (math.fsum([*lost, float(gone)]) - least) / span if span > 0 else 0.0


def released_precision(hierarchy: CompiledHierarchy, released: Mapping[str, int], rows: int) -> float | None:
    """Mean height of the published labels over the hierarchy's height, 1 for a masked cell or a row that left."""
    shares = label_shares(hierarchy)
    if any(label not in shares and not is_masked(label) for label in released) or not rows:
        return None
    height = max(hierarchy.height, 1)
    raised = [count * (1.0 if is_masked(label) else shares[label].level / height) for label, count in released.items()]
    return math.fsum([*raised, float(rows - sum(released.values()))]) / rows


def discernibility(released: Tuples, rows: int) -> float:
    """Σ size² over the classes that stay, plus n for every suppressed row."""
    kept = ~_suppressed(released)
    sizes = released.rows[kept].astype(object)
    return float(sum(size * size for size in sizes) + (rows - int(released.rows[kept].sum())) * rows)


def average_class_size(released: Tuples, rows: int) -> float | None:
    """n ÷ classes, the suppressed rows together being one."""
    kept = ~_suppressed(released)
    classes = int(kept.sum()) + (int(released.rows[kept].sum()) < rows)
    return rows / classes if classes else None


def released_metrics(
    released: Tuples, hierarchies: Mapping[str, CompiledHierarchy], rows: int
) -> dict[str, float | None]:
    """The search's metrics, measured on the released file alone; None where a label is not the hierarchy's."""
    parts, heights = [], []
    for place, name in enumerate(released.names):
        counts = _label_counts(released, place)
        parts.append(released_loss(hierarchies[name], counts, rows))
        heights.append(released_precision(hierarchies[name], counts, rows))
    return {
        "loss": _geometric(parts),
        "loss_arithmetic": _arithmetic(parts),
        "precision": _arithmetic(heights),
        "discernibility": discernibility(released, rows),
        "average_class_size": average_class_size(released, rows),
    }


def changed_cells(before: Sequence[str], after: Sequence[str]) -> int:
    """Cells of matched records that do not say the same."""
    return sum(a != b for a, b in zip(before, after, strict=True))


def _label_counts(released: Tuples, place: int) -> dict[str, int]:
    """Rows behind each label of one column; a fully masked row counts as masked."""
    counts = np.bincount(released.codes[:, place], released.rows, len(released.vocabularies[place]))
    return {label: int(count) for label, count in zip(released.vocabularies[place], counts, strict=True) if count}


def _geometric(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return math.prod((1 + part) ** (1 / len(known)) for part in known) - 1


def _arithmetic(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(parts) else None


def _suppressed(released: Tuples) -> Flags:
    flags = np.full(len(released.rows), bool(released.names))
    for place, vocabulary in enumerate(released.vocabularies):
        masked = np.fromiter((is_masked(text) for text in vocabulary), bool, len(vocabulary))
        flags &= masked[released.codes[:, place]]
    return flags


def _plain_rows(sample: Sample, name: str) -> dict[str, int]:
    """Rows behind each value that is not masked; missing is a value: it was missing before as well."""
    rows: Integers = sample.tally_rows(name)
    column = sample.columns[name]
    return {column.vocabulary[place]: int(rows[place]) for place in np.flatnonzero((rows > 0) & ~column.masked)}


def _bits(rows: int, behind: int) -> float:
    return max(math.log2(rows / behind), 0.0)


def _masked(sample: Sample, name: str) -> Flags:
    column = sample.columns[name]
    return np.asarray(column.masked[column.codes] if len(column.vocabulary) else np.zeros(0, bool))


def _any_masked(sample: Sample, names: Sequence[str]) -> Flags:
    flags = np.zeros(len(sample.rows), bool)
    for name in names:
        flags |= _masked(sample, name)
    return flags


def _masked_rows(sample: Sample, name: str) -> int:
    return int(sample.rows[_masked(sample, name)].sum())


def released_entropy(
    quasi: Tuples, hierarchies: Mapping[str, CompiledHierarchy], levels: Mapping[str, int], released: Tuples
) -> float | None:
    """Non-uniform entropy of a release with one level per variable; None where a variable has no level.

    A class of the source that the release does not show is a suppressed one.
    """
    if set(levels) != set(quasi.names) or released.names != quasi.names:
        return None
    maps = [hierarchies[name].maps[levels[name]] for name in quasi.names]
    labels = [hierarchies[name].labels[levels[name]] for name in quasi.names]
    codes = np.stack([level[quasi.codes[:, i]] for i, level in enumerate(maps)], axis=1)
    shown = {tuple(v[c] for v, c in zip(released.vocabularies, line, strict=True)) for line in released.codes.tolist()}
    gone = np.array([tuple(v[c] for v, c in zip(labels, line, strict=True)) not in shown for line in codes.tolist()])
    suppressed = int(quasi.rows[gone].sum()) if len(gone) else 0
    parts = []
    for i in range(len(maps)):
        own, group = _behind(quasi.codes[:, i], quasi.rows), _behind(codes[:, i], quasi.rows)
        parts.append(math.fsum((-quasi.rows * np.log2(own / group)).tolist()))
        if suppressed:
            inside = _behind(codes[gone, i], quasi.rows[gone])
            parts.append(math.fsum((-quasi.rows[gone] * np.log2(inside / suppressed)).tolist()))
    return math.fsum(parts)


def _behind(codes: NDArray[np.integer], rows: Integers) -> Integers:
    """Rows that share each one's code."""
    return np.bincount(codes, rows)[codes].astype(np.int64) if len(codes) else np.zeros(0, np.int64)
