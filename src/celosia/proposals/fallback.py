"""Columns of which neither name nor values say what they are about.

Knows repetition and scale only, and prefers too much care to too little: a few-valued column may describe the person
and becomes a quasi-identifier; a number per row that nobody can explain is a strong one; a measured number that
outsiders cannot know is plain. No column is left without a role (M01).
"""

from __future__ import annotations

import numpy as np

from celosia.model.variables import Kind, MelLabel, Role, Scale
from celosia.proposals.shape import Shape
from celosia.proposals.topic import Topic

EMPTY = Topic("empty", Role.PLAIN, scale=Scale.CATEGORICAL, replicable=False, knowable=False)
CONSTANT = Topic("constant", Role.PLAIN, scale=Scale.CATEGORICAL, knowable=False)
SEQUENCE = Topic(
    "sequence", Role.IDENTIFIER, kind=Kind.IDENTIFICATION, scale=Scale.CATEGORICAL, mel=MelLabel.DIRECT, knowable=False
)
UNIQUE_CODE = Topic(
    "unique_code", Role.IDENTIFIER, kind=Kind.IDENTIFICATION, scale=Scale.CATEGORICAL, mel=MelLabel.DIRECT
)
UNIQUE_NUMBER = Topic("unique_number", Role.QUASI, kind=Kind.IDENTIFICATION, strong=True)
UNIQUE_TEXT = Topic("unique_text", Role.QUASI, kind=Kind.IDENTIFICATION, scale=Scale.CATEGORICAL, strong=True)
CASE_NUMBER = Topic(
    "case_number", Role.QUASI, kind=Kind.IDENTIFICATION, scale=Scale.CATEGORICAL, mel=MelLabel.DIRECT, strong=True
)
MEASURED = Topic("measured", Role.PLAIN, scale=Scale.CONTINUOUS, replicable=False, knowable=False)
MANY_NUMBERS = Topic("many_numbers", Role.PLAIN, replicable=False, knowable=False)
FEW_VALUES = Topic("few_values", Role.QUASI)
FALLBACKS = (
    *(EMPTY, CONSTANT, SEQUENCE, UNIQUE_CODE, UNIQUE_NUMBER, UNIQUE_TEXT),
    *(CASE_NUMBER, MEASURED, MANY_NUMBERS, FEW_VALUES),
)

_FEW_NUMBERS = 120  # distinct whole numbers up to here may be years of age, of school, of residence
_CASE_REPETITION = 0.2  # distinct values per row: a case of up to five rows on average
_KEY_LENGTH = 5  # shorter numbers repeat by themselves in a large file


def fallback(shape: Shape) -> Topic:
    """What a silent column is taken for."""
    if not shape.n_judged:
        return EMPTY
    if shape.distinct == 1 and shape.plain_rows == shape.facts.rows:
        return CONSTANT
    return _for_unique_values(shape) or _for_repeated_values(shape)


def _for_unique_values(shape: Shape) -> Topic | None:
    if shape.distinct < 20 or shape.repetition < 0.95:
        return None
    if is_sequence(shape):
        return SEQUENCE
    if shape.decimal_share > 0.02 and shape.numeric:
        return None
    if shape.numeric:
        return UNIQUE_NUMBER if float(np.median(shape.lengths)) >= _KEY_LENGTH and not _is_round(shape) else None
    return UNIQUE_CODE if _is_code(shape) else UNIQUE_TEXT


def is_sequence(shape: Shape) -> bool:
    """Whole numbers that run through an interval almost without gaps: the number of the row."""
    if not shape.whole or shape.distinct < 20:
        return False
    span = float(shape.numbers[-1] - shape.numbers[0]) + 1
    return span <= 1.2 * shape.distinct


def _is_round(shape: Shape) -> bool:
    return shape.share(shape.numbers % 10 == 0) >= 0.5


def _is_code(shape: Shape) -> bool:
    """One word with digits in it: `A-00123`."""
    return sum(any(c.isdigit() for c in v) and " " not in v.strip() for v in shape.values) >= 0.8 * shape.n_judged


def _for_repeated_values(shape: Shape) -> Topic:
    if shape.numeric and shape.decimal_share > 0.02 and shape.distinct > 20:
        return MEASURED
    if _numbers_cases(shape):
        return CASE_NUMBER
    if shape.numeric and shape.distinct > _FEW_NUMBERS and not shape.leading_zeros:
        return MANY_NUMBERS
    return FEW_VALUES


def _numbers_cases(shape: Shape) -> bool:
    """Long whole numbers of one size, each on a few rows: the docket or report that several rows belong to.

    Amounts of money spread over sizes and are round; a number given out in order is neither.
    """
    if not shape.whole or shape.distinct <= _FEW_NUMBERS or shape.repetition < _CASE_REPETITION:
        return False
    typical = float(np.median(shape.numbers))
    alike = shape.share((shape.numbers >= typical / 2) & (shape.numbers <= typical * 2))
    return float(np.median(shape.lengths)) >= _KEY_LENGTH and alike >= 0.95 and not _is_round(shape)


def scale_of(shape: Shape) -> Scale:
    """Scale read from the values: codes are categories, counts are discrete, measured numbers continuous (A05)."""
    if not shape.numeric or shape.leading_zeros:
        return Scale.CATEGORICAL
    if shape.decimal_share > 0.02:
        return Scale.CONTINUOUS
    if shape.distinct <= 12 and float(shape.numbers[0]) >= 1:
        return Scale.CATEGORICAL  # 1, 2, 3…: a code list begins at one, a count at zero
    if shape.distinct == 2:
        return Scale.CATEGORICAL
    return Scale.DISCRETE if shape.distinct <= 1_000 else Scale.CONTINUOUS
