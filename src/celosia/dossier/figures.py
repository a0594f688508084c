"""How variables, losses, shares, criteria and metrics are written in documents, in the current language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from celosia import messages
from celosia.model.reports.profile import VariableProfile
from celosia.model.variables import Variable

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
