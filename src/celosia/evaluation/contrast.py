"""MEL's contrast: both bases say exactly the same about variables that stay as they are.

Knows two samples and the label of each variable. Needs at least four variables, and both kinds (other and geographic)
when both stay. A number is equal when its mean, variance, minimum, maximum and median agree to 1e-12 of their size and
every value occurs as often; a category when the frequency tables are equal. Anything recoded differs.
Source: MEL protocol IV.3.ii.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from celosia import messages
from celosia.evaluation import statistics as _statistics
from celosia.evaluation.errors import ContrastOneKind, ContrastTooSmall
from celosia.evaluation.sample import Sample, both_numeric
from celosia.evaluation.statistics import numbers_of
from celosia.model.reports.evaluation import ContrastLine
from celosia.model.variables import MelLabel

LEAST = 4
CLOSE = 1e-12
_KINDS = (MelLabel.OTHER.value, MelLabel.GEOGRAPHIC.value)
_STATISTICS = {
    "mean": _statistics.mean,
    "variance": _statistics.variance,
    "minimum": _statistics.minimum,
    "maximum": _statistics.maximum,
    "median": _statistics.median,
}


def contrast(
    before: Sample, after: Sample, variables: Sequence[str], labels: Mapping[str, str]
) -> tuple[ContrastLine, ...]:
    """The contrast of the variables chosen; `labels` are those of every variable that stays."""
    chosen = tuple(dict.fromkeys(variables))
    if len(chosen) < LEAST:
        raise ContrastTooSmall(chosen=len(chosen), needed=LEAST)
    for kind in _KINDS:
        if kind in labels.values() and kind not in {labels.get(name) for name in chosen}:
            raise ContrastOneKind(kind=messages.text(f"dictionary.mel_label.{kind}"))
    return tuple(_line(before, after, name, labels.get(name, "")) for name in chosen)


def _line(before: Sample, after: Sample, name: str, label: str) -> ContrastLine:
    same_values = _frequencies(before, name) == _frequencies(after, name)
    if not both_numeric(before, after, name):
        moved = {"categories": (float(len(_frequencies(before, name))), float(len(_frequencies(after, name))))}
        return ContrastLine(name, label, "categorical", same_values, moved)
    first, second = numbers_of(before, name), numbers_of(after, name)
    pairs = {key: (compute(first), compute(second)) for key, compute in _STATISTICS.items()}
    equal = same_values and all(_equal(*pair) for pair in pairs.values())
    return ContrastLine(name, label, "continuous", equal, pairs)


def _frequencies(sample: Sample, name: str) -> dict[object, int]:
    """Rows behind each value; numbers written in two ways (1 and 1.0) are one."""
    column = sample.columns[name]
    counts: dict[object, int] = {}
    numbers = column.numbers
    for code, (text, rows) in enumerate(zip(column.vocabulary, sample.tally_rows(name).tolist(), strict=True)):
        value: object = text
        if numbers is not None and math.isfinite(numbers[code]):
            value = float(numbers[code])
        if rows:
            counts[value] = counts.get(value, 0) + rows
    return counts


def _equal(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(a - b) <= CLOSE * max(abs(a), abs(b))
