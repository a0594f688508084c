"""The published file as codes: what everybody will see, and nothing else.

Knows columns, their labels and the code of each cell. Ignores the original, roles and files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.model.values import MISSING, is_masked

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class View:
    """Columns of labels in the order of the file."""

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]  # per column, in any order
    codes: Codes  # (rows, columns)
    persons: Codes | None = None  # whose row it is, for counting people; no attack looks at it

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(self.codes)

    def place(self, name: str) -> int:
        """Which column it is."""
        return self.names.index(name)

    def people(self, rows: Flags) -> int:
        """Distinct persons behind some of the rows; the rows themselves where persons are unknown."""
        return int(rows.sum()) if self.persons is None else len(np.unique(self.persons[rows]))

    @cached_property
    def masked(self) -> tuple[Flags, ...]:
        """Per column: rows whose cell is masked, wholly or in part."""
        return tuple(_told(labels, _has_mask)[self.codes[:, place]] for place, labels in enumerate(self.labels))

    @cached_property
    def telling(self) -> tuple[Flags, ...]:
        """Per column: rows whose cell is neither masked nor missing."""
        return tuple(_told(labels, _tells)[self.codes[:, place]] for place, labels in enumerate(self.labels))


def _told(labels: tuple[str, ...], test: Callable[[str], bool]) -> Flags:
    return np.fromiter((test(label) for label in labels), np.bool_, len(labels))


def _has_mask(label: str) -> bool:
    return is_masked(label) or "*" in label


def _tells(label: str) -> bool:
    return label != MISSING and not _has_mask(label)


def running_numbers(labels: Sequence[str]) -> list[int]:
    """The whole number of each label after the letters that all begin with (F-0001, F-0002); -1 where there is none."""
    telling = [label for label in labels if _tells(label)]
    start = shared_start(telling).rstrip("0123456789") if len(telling) > 1 else ""
    texts = [label.removeprefix(start) if _tells(label) else "" for label in labels]
    return [int(text) if text.isdecimal() and len(text) < 16 else -1 for text in texts]


def shared_start(texts: Sequence[str]) -> str:
    """What all the texts begin with."""
    first, last = min(texts, default=""), max(texts, default="")
    differ = (place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(differ, min(len(first), len(last)))]
