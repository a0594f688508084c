"""How much information a released file gave up.

Knows two samples over the same columns; with hierarchies, also what each published label stands for. Two readings:
- from distributions: a cell says log2(n ÷ rows of its value) bits, counted in the source where the value occurs there
  and in the release where it is new (a group); a masked cell or a row that left says none. Loss = 1 - bits after ÷ bits
  before. Identical files lose 0, everything masked loses 1, a coarser level never loses less.
- from labels (hierarchies known): the search's own metrics, read from the released file (METRICS: loss, precision,
  discernibility, average class size, non-uniform entropy).
Sources: Gionis and Tassa 2009 (entropy); Iyengar 2002 (loss); Bayardo and Agrawal 2005 (discernibility);
LeFevre et al. 2006 (average class size); Sweeney 2002 (precision).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.evaluation.sample import Flags, Integers, Sample
from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.values import is_masked
from celosia.tuples.table import Tuples


def entropy_loss(before: Sample, after: Sample, name: str) -> float:
    """Share of a variable's information that is gone, from both distributions; 0..1."""
    rows = before.n_rows
    if not rows:
        return 0.0
    known = _plain_rows(before, name)
    had = math.fsum(count * math.log2(rows / count) for count in known.values())
    published = _plain_rows(after, name)
    if had <= 0:
        # A constant carries no information: what counts is how many of its cells are left.
        return min(max(1 - sum(published.values()) / max(sum(known.values()), 1), 0.0), 1.0) if known else 0.0
    left = math.fsum(count * _bits(rows, known.get(text, count)) for text, count in published.items())
    return min(max(1 - left / had, 0.0), 1.0)


def masked_cells(before: Sample, after: Sample, name: str) -> int:
    """Cells of a variable that are masked after and were not before."""
    return max(masked_rows(after, [name]) - masked_rows(before, [name]), 0)


def masked_rows(sample: Sample, names: Sequence[str]) -> int:
    """Rows with at least one masked cell among the variables."""
    if not names:
        return 0
    flags = np.logical_or.reduce([sample.columns[name].masked_cells for name in names])
    return int(sample.rows[flags].sum())


def fully_masked_rows(sample: Sample, names: Sequence[str]) -> int:
    """Rows in which every one of the variables is masked."""
    if not names:
        return 0
    flags = np.logical_and.reduce([sample.columns[name].masked_cells for name in names])
    return int(sample.rows[flags].sum())


def label_shares(hierarchy: CompiledHierarchy) -> dict[str, tuple[float, int]]:
    """Share of the leaves and level of every label; one that stands at several levels is read at the finest."""
    by_label: dict[str, tuple[float, int]] = {}
    for level, (labels, shares) in enumerate(zip(hierarchy.labels, hierarchy.shares, strict=True)):
        for label, share in zip(labels, shares, strict=True):
            by_label.setdefault(label, (float(share), level))
    return by_label


def released_loss(hierarchy: CompiledHierarchy, released: Mapping[str, int], rows: int) -> float | None:
    """The search's loss of one variable, from the labels of the released file; a row that left loses everything."""
    shares = label_shares(hierarchy)
    if not _are_labels(released, shares):
        return None
    lost = [count * (1.0 if is_masked(label) else shares[label][0]) for label, count in released.items()]
    gone = rows - sum(released.values())
    least = rows / hierarchy.leaf_count
    span = rows - least
    return (math.fsum([*lost, float(gone)]) - least) / span if span > 0 else 0.0


def released_precision(hierarchy: CompiledHierarchy, released: Mapping[str, int], rows: int) -> float | None:
    """Mean height of the published labels over the hierarchy's height, 1 for a masked cell or a row that left."""
    shares, height = label_shares(hierarchy), max(hierarchy.height, 1)
    if not _are_labels(released, shares) or not rows:
        return None
    raised = [count * (1.0 if is_masked(label) else shares[label][1] / height) for label, count in released.items()]
    return math.fsum([*raised, float(rows - sum(released.values()))]) / rows


def _are_labels(released: Mapping[str, int], shares: Mapping[str, tuple[float, int]]) -> bool:
    """Whether the hierarchy knows every label: otherwise the file was not made with it."""
    return all(label in shares or is_masked(label) for label in released)


def discernibility(released: Tuples, rows: int) -> float:
    """Σ size² over the classes that stay, plus n for every suppressed row."""
    published = ~_suppressed_tuples(released)
    sizes = released.rows[published].astype(object)
    return float(sum(size * size for size in sizes) + (rows - int(released.rows[published].sum())) * rows)


def average_class_size(released: Tuples, rows: int) -> float | None:
    """n ÷ classes, the suppressed rows together being one."""
    published = ~_suppressed_tuples(released)
    classes = int(published.sum()) + (int(released.rows[published].sum()) < rows)
    return rows / classes if classes else None


def released_metrics(
    released: Tuples, hierarchies: Mapping[str, CompiledHierarchy], rows: int
) -> dict[str, float | None]:
    """The search's metrics, measured on the released file alone; None where a label is not the hierarchy's."""
    parts, heights = [], []
    for v, name in enumerate(released.names):
        counts = _label_counts(released, v)
        parts.append(released_loss(hierarchies[name], counts, rows))
        heights.append(released_precision(hierarchies[name], counts, rows))
    return {
        "loss": _geometric(parts),
        "loss_arithmetic": _arithmetic(parts),
        "precision": _arithmetic(heights),
        "discernibility": discernibility(released, rows),
        "average_class_size": average_class_size(released, rows),
    }


def _label_counts(released: Tuples, v: int) -> dict[str, int]:
    """Rows behind each label of one column; a fully masked row counts as masked."""
    counts = np.bincount(released.codes[:, v], released.rows, len(released.vocabularies[v]))
    return {label: int(count) for label, count in zip(released.vocabularies[v], counts, strict=True) if count}


def _geometric(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return math.prod((1 + part) ** (1 / len(known)) for part in known) - 1


def _arithmetic(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(parts) else None


def _suppressed_tuples(released: Tuples) -> Flags:
    flags = np.full(len(released.rows), bool(released.names))
    for v, vocabulary in enumerate(released.vocabularies):
        masked = np.fromiter((is_masked(text) for text in vocabulary), bool, len(vocabulary))
        flags &= masked[released.codes[:, v]]
    return flags


def _plain_rows(sample: Sample, name: str) -> dict[str, int]:
    """Rows behind each value that is not masked; missing is a value: it was missing before as well."""
    rows: Integers = sample.tally_rows(name)
    column = sample.columns[name]
    return {column.vocabulary[code]: int(rows[code]) for code in np.flatnonzero((rows > 0) & ~column.masked)}


def _bits(rows: int, behind: int) -> float:
    return max(math.log2(rows / behind), 0.0)


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
    published = set(_texts(released.vocabularies, released.codes))
    gone = np.array([texts not in published for texts in _texts(labels, codes)])
    suppressed = int(quasi.rows[gone].sum()) if len(gone) else 0
    parts = []
    for i in range(len(maps)):
        own, group = _rows_of_code(quasi.codes[:, i], quasi.rows), _rows_of_code(codes[:, i], quasi.rows)
        parts.append(math.fsum((-quasi.rows * np.log2(own / group)).tolist()))
        if suppressed:
            inside = _rows_of_code(codes[gone, i], quasi.rows[gone])
            parts.append(math.fsum((-quasi.rows[gone] * np.log2(inside / suppressed)).tolist()))
    return math.fsum(parts)


def _texts(vocabularies: Sequence[Sequence[str]], codes: NDArray[np.integer]) -> list[tuple[str, ...]]:
    return [tuple(v[c] for v, c in zip(vocabularies, line, strict=True)) for line in codes.tolist()]


def _rows_of_code(codes: NDArray[np.integer], rows: Integers) -> Integers:
    """Rows that share each one's code."""
    return np.bincount(codes, rows)[codes].astype(np.int64) if len(codes) else np.zeros(0, np.int64)
