"""How often a population table holds each tuple of a file.

Knows both as codes or text. Ignores what the counts are for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.tuples import Tuples, group_codes

Counts = NDArray[np.int64]


def matched_sizes(quasi: Tuples, population: Tuples) -> Counts:
    """How many units of the population hold each tuple of the file, compared by their text."""
    order = [population.position(name) for name in quasi.names]
    moved = np.empty((len(population.rows), len(order)), np.int64)
    for column, position in enumerate(order):
        place = {text: code for code, text in enumerate(quasi.vocabularies[column])}
        known = np.array([place.get(text, -1) for text in population.vocabularies[position]], np.int64)
        moved[:, column] = known[population.codes[:, position]] if len(known) else -1
    return matched_codes(quasi.codes, moved, population.rows, quasi.sizes)


def matched_codes(
    codes: NDArray[np.integer], others: NDArray[np.integer], rows: Counts, sizes: tuple[int, ...]
) -> Counts:
    """Rows behind the tuples of `others` that equal each tuple of `codes`; a code of −1 equals none."""
    within = (others >= 0).all(axis=1)
    first, label = group_codes(np.concatenate([codes, others[within]]), sizes)
    held = np.bincount(label[len(codes) :], weights=rows[within], minlength=len(first))
    return held[label[: len(codes)]].astype(np.int64)
