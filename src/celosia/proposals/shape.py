"""The look of a column: numbers, lengths, words, repetition.

Knows the values judged and their rows. Ignores the column's name and what the values mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.model.values import MISSING
from celosia.proposals.facts import ColumnFacts, evenly_spaced, masked_positions, plain_positions, row_count
from celosia.proposals.header import plain_text

_INTEGER = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(r"[+-]?(\d+[.,]\d+|\d{1,3}(\.\d{3})+,\d+|\d{1,3}(,\d{3})+\.\d+|[.,]\d+)([eE][+-]?\d+)?")
NEUTRAL = frozenset(
    """
    otro otra otros otras ninguno ninguna no sabe nosabe ns nr nc s i si n a na nd ignorado ignorada desconocido
    desconocida aplica responde contesta sin informacion dato declarado informado registro especificado not other none
    unknown refused refiere prefiero decirlo
    """.split()
)
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Shape:
    """Values judged (plain, spread over the vocabulary) with their rows, and figures about them."""

    facts: ColumnFacts
    values: tuple[str, ...]
    counts: NDArray[np.int64]
    missing_rows: int
    masked_rows: int

    @property
    def n_judged(self) -> int:
        """Values looked at."""
        return len(self.values)

    @cached_property
    def distinct(self) -> int:
        """Distinct plain values in the whole column."""
        return max(self.facts.distinct - (self.missing_rows > 0) - len(masked_positions(self.facts)), 0)

    @property
    def plain_rows(self) -> int:
        """Rows that hold a plain value."""
        return self.facts.rows - self.missing_rows - self.masked_rows

    @property
    def repetition(self) -> float:
        """Distinct plain values per row that holds one: 1.0 when no value repeats."""
        return self.distinct / self.plain_rows if self.plain_rows else 0.0

    @cached_property
    def normal(self) -> tuple[str, ...]:
        """Values in lower case, without accents or punctuation."""
        return tuple(normal(v) for v in self.values)

    @cached_property
    def informative(self) -> list[int]:
        """Positions of the values that say something: not "otro", "no sabe" and the like."""
        return [i for i, text in enumerate(self.normal) if not all(word in NEUTRAL for word in text.split())]

    @cached_property
    def integer_share(self) -> float:
        """Share of the judged values that are whole numbers."""
        return self._share(_INTEGER)

    @cached_property
    def decimal_share(self) -> float:
        """Share of the judged values written with decimals."""
        return self._share(_DECIMAL)

    @property
    def numeric(self) -> bool:
        """Whether nearly all values are numbers."""
        return self.integer_share + self.decimal_share >= 0.98 and self.n_judged > 0

    @property
    def whole(self) -> bool:
        """Whether nearly all values are whole numbers."""
        return self.integer_share >= 0.98 and self.n_judged > 0

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The judged values that are numbers, in order of value."""
        return np.sort(np.array([n for n in map(number, self.values) if n is not None], dtype=np.float64))

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each judged value."""
        return np.array([len(v) for v in self.values], dtype=np.int64)

    @cached_property
    def leading_zeros(self) -> bool:
        """Whether some value is digits that begin with a zero: a code, not a number."""
        return any(len(v) > 1 and v[0] == "0" and v.isdigit() for v in self.values)

    @cached_property
    def words(self) -> float:
        """Mean number of words of two letters or more per value."""
        return float(np.mean([len(_WORD.findall(v)) for v in self.values])) if self.values else 0.0

    @cached_property
    def letter_share(self) -> float:
        """Share of the judged values that hold a letter."""
        return float(np.mean([bool(_LETTER.search(v)) for v in self.values])) if self.values else 0.0

    def share(self, predicate: NDArray[np.bool_]) -> float:
        """Share of true answers; 0 for none."""
        return float(predicate.mean()) if predicate.size else 0.0

    def _share(self, pattern: re.Pattern[str]) -> float:
        return sum(pattern.fullmatch(v.strip()) is not None for v in self.values) / max(self.n_judged, 1)


def shape_of(facts: ColumnFacts) -> Shape:
    """Look at a column once; every detector asks this."""
    chosen = evenly_spaced(plain_positions(facts))
    counts = np.asarray(facts.counts, dtype=np.int64)
    masked = int(counts[masked_positions(facts)].sum())
    return Shape(facts, tuple(facts.values[i] for i in chosen), counts[chosen], row_count(facts, MISSING), masked)


def normal(value: str) -> str:
    """A value in lower case without accents, punctuation turned into single spaces."""
    return " ".join(re.findall(r"[a-z0-9]+", plain_text(value)))


def number(value: str) -> float | None:
    """A number as text, decimal comma or point; None if it is not one."""
    text = value.strip()
    if _INTEGER.fullmatch(text):
        return float(text)
    if not _DECIMAL.fullmatch(text):
        return None
    point = max(text.rfind("."), text.rfind(","))
    whole = text[:point].replace(".", "").replace(",", "")
    return float(f"{whole or '0'}.{text[point + 1 :]}") if whole not in ("-", "+") else None
