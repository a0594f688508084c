"""The values of a column with the rows behind each, whole or a sample that is the same wherever it is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Frequencies:
    """The distinct values of a column in code-point order, and how many rows hold each."""

    values: pa.Array
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)


def digest_bound(about: int, distinct: int) -> str:
    """A value is in a sample of about so many where its SHA-256, in hexadecimal, comes before this."""
    return f"{2**64 * about // distinct:016x}"
