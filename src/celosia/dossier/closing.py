"""A closing evaluation in words: which property is not kept and by how much, and the ways out.

Knows figures and names of variables. Source: ATENEA 4.2.1 (the use shows alternatives) and 4.2.5.
"""

from __future__ import annotations

from celosia import messages
from celosia.dossier.evaluation import figure_text, percent_text, result_text
from celosia.model.reports.closing import ClosingReport
from celosia.model.reports.evaluation import PropertyCheck


def failing_text(closing: ClosingReport) -> str:
    """Everything that stops a closing evaluation, each with its figures."""
    parts = [_failing(check) for check in closing.properties if not check.passes]
    if closing.limited:
        parts.append(messages.text("evaluation.closing.limited", names=", ".join(closing.limited)))
    if not closing.properties:
        parts.append(messages.text("evaluation.closing.nothing"))
    return "; ".join(parts)


def ways_out() -> str:
    """What may be done where a property is not kept."""
    return messages.text("evaluation.closing.ways")


def _failing(check: PropertyCheck) -> str:
    name = messages.text(f"evaluation.measure.{check.property}.name")
    if check.relative is None and check.difference is None:
        return messages.text("evaluation.closing.not_measurable", property=name, variable=check.variable)
    if check.tolerance is None:
        fields = {"property": name, "variable": check.variable, "result": result_text(check)}
        return messages.text("evaluation.closing.changed", **fields)
    by = percent_text(check.relative) if check.relative is not None else figure_text(check.difference)
    return messages.text(
        "evaluation.closing.failing",
        property=name,
        variable=check.variable,
        before=figure_text(check.before),
        after=figure_text(check.after),
        relative=by,
        tolerance=percent_text(check.tolerance),
    )
