"""How variables, losses, shares, criteria, metrics and suppressed records are written, in the current language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from celosia import messages
from celosia.model.reports.profile import VariableProfile
from celosia.model.variables import Variable
from celosia.model.verdict import Suppression

_DIGITS = {"discernibility": 0, "non_uniform_entropy": 0, "average_class_size": 2}


def variable_title(variable: Variable | VariableProfile) -> str:
    """The name of a variable, with its label where that says more."""
    label = variable.label.strip()
    return f"{variable.name}: {label}" if label and label != variable.name else variable.name


def loss_text(metric: str, loss: float) -> str:
    """A loss with the digits its metric deserves."""
    digits = _DIGITS.get(metric, 4)
    return messages.decimal(loss, digits) if digits else messages.integer(round(loss))


def metric_text(metric: str) -> str:
    """The metric in words."""
    return messages.text(f"explain.metric.{re.sub(r'[^a-z_]+', '_', metric).strip('_')}")


def limit_text(limit: Fraction) -> str:
    """A limit as a percentage; rounded up, so that what is printed is enough."""
    hundredths = -(-limit.numerator * 10_000 // limit.denominator)
    digits = 0 if hundredths % 100 == 0 else 2
    return f"{messages.decimal(hundredths / 100, digits)} %"


def criterion_text(criterion: Mapping[str, Any], person_key: bool) -> str:
    """A criterion in words, with its parameters; without a person key it counts records, whatever it asked."""
    counted = criterion if person_key else {**criterion, "unit": "rows"}
    fields = {name: _parameter(name, value) for name, value in counted.items() if name != "criterion"}
    return messages.text(f"explain.criterion.{criterion['criterion']}", **fields)


def _parameter(name: str, value: object) -> str:
    if name == "unit":
        return messages.text(f"explain.unit.{value}")
    if isinstance(value, float):
        return messages.decimal(value, 6).rstrip("0").rstrip(",.")
    return messages.integer(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def suppression_text(suppression: Suppression) -> str:
    """The counts in a few words: «600 (7,30 %) por el plan y 48 (0,58 %) que llegaron enmascarados»."""
    suppressed = count_text(suppression.suppressed, suppression.records)
    if not suppression.otherwise:
        return suppressed
    otherwise = count_text(suppression.otherwise, suppression.records)
    return messages.text("documents.suppression.both", suppressed=suppressed, otherwise=otherwise)


def suppression_sentences(suppression: Suppression) -> Iterator[str]:
    """The counts, each in a sentence that says what it counts."""
    fields = {"rows": suppression.suppressed, "total": suppression.records}
    key = "dropped" if suppression.dropped else "kept"
    share = _part_text(suppression.suppressed, suppression.records)
    yield messages.text(f"documents.suppression.{key if suppression.suppressed else 'nobody'}", **fields, share=share)
    if suppression.otherwise:
        share = _part_text(suppression.otherwise, suppression.records)
        yield messages.text("documents.suppression.otherwise", rows=suppression.otherwise, share=share)
    if suppression.otherwise and suppression.suppressed and not suppression.dropped:
        share = _part_text(suppression.masked, suppression.rows)
        counts = {"rows": suppression.masked, "total": suppression.rows}
        yield messages.text("documents.suppression.together", **counts, share=share)


def count_text(rows: int, total: int) -> str:
    """A count of records and its share; a small share never reads as none."""
    return f"{messages.integer(rows)} ({_part_text(rows, total)})"


def _part_text(rows: int, total: int) -> str:
    return messages.part(rows / total if total else 0.0)
