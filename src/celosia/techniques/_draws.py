"""Chance as an argument: draws keyed by (seed, step, rank), the same on every machine, engine and number of threads.

Knows a counter-based generator (Philox, Salmon et al. 2011) and how raw numbers become draws. Ignores what they are
for. The conversion is our own because NumPy promises stable raw numbers only, not stable distributions.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Draws:
    """The chance of one step: each call takes the next numbers of its own stream, the i-th for the i-th row."""

    def __init__(self, seed: bytes, step: str = ""):
        digest = hashlib.sha256(b"celosia\x00" + len(seed).to_bytes(4, "big") + seed + step.encode("utf-8")).digest()
        self._key = digest
        self._source = np.random.Philox(key=int.from_bytes(digest[:16], "big"))

    def split(self, part: str) -> Draws:
        """An independent stream for a part of the step, such as one stratum or one block."""
        return Draws(self._key, part)

    def raw(self, count: int) -> NDArray[np.uint64]:
        """Whole numbers of 64 bits."""
        return np.asarray(self._source.random_raw(count), np.uint64)

    def uniform(self, count: int) -> Floats:
        """Numbers in [0, 1)."""
        return (self.raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, count: int) -> Floats:
        """Numbers of the standard normal distribution, by its inverse at the middle of 2^52 steps, never 0 or 1."""
        from scipy.special import ndtri

        middle = ((self.raw(count) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        return np.asarray(ndtri(middle), np.float64)

    def below(self, limit: NDArray[np.int64] | int, count: int) -> NDArray[np.int64]:
        """Whole numbers in [0, limit); the bias is below limit / 2^53."""
        return np.asarray(np.floor(self.uniform(count) * limit), np.int64)

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A random order of 0 … count - 1."""
        return np.argsort(self.raw(count), kind="stable")
