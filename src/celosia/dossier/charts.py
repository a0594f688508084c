"""The pictures of an evaluation as files: class sizes, risk by scenario, distributions, associations, risk and loss."""

from __future__ import annotations

from celosia.model.reports.evaluation import EvaluationReport


def pictures(report: EvaluationReport) -> dict[str, str]:
    """Every picture of a report as SVG text, by the name of its file."""
    return {name: draw().svg() for name, draw in report.drawings().items()}
