"""A hierarchy: for each value, what it becomes at each level.

Knows labels and integer maps. Ignores data files: `compile_for` fits it to the vocabulary of a table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Level maps from leaves to labels; level 0 is the identity.

    `labels[j]` are the distinct labels of level j, `maps[j][leaf]` the position of a leaf's label in it.
    """

    variable: str
    labels: tuple[tuple[str, ...], ...]
    maps: tuple[NDArray[np.int32], ...]

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values at level 0."""
        return self.labels[0]

    @property
    def height(self) -> int:
        """The highest level; 0 when only the identity exists."""
        return len(self.maps) - 1


@dataclass(frozen=True, slots=True)
class CompiledHierarchy:
    """A hierarchy fitted to a vocabulary: what the solver works with.

    `maps[j][code]` is the label code of a vocabulary value at level j; `shares[j][label]` is the share of the
    hierarchy's leaves behind a label, which the loss metric needs (of all leaves, also those not in the data).
    """

    variable: str
    labels: tuple[tuple[str, ...], ...]
    maps: tuple[NDArray[np.int32], ...]
    shares: tuple[NDArray[np.float64], ...]
    leaf_count: int

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.maps) - 1
