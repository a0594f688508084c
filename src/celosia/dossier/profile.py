"""The profile as a page: dimensions, exposure, and a small picture per variable."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.dossier.page import render
from celosia.model.reports.profile import NumberSummary, ProfileReport, VariableProfile

_WIDTH = 260


@dataclass(frozen=True, slots=True)
class _Box:
    """A box plot in pixels: whiskers at 1 % and 99 %, box at the quartiles, line at the median."""

    low: float
    first: float
    middle: float
    third: float
    high: float


def profile_page(report: ProfileReport) -> str:
    """The profile as one self-contained HTML page."""
    return render(
        "profile.html.j2",
        report=report,
        boxes={variable.name: _box(variable.numbers) for variable in report.variables if variable.numbers},
        largest={variable.name: _largest(variable) for variable in report.variables},
        width=_WIDTH,
    )


def _largest(variable: VariableProfile) -> int:
    return max((category.rows for category in variable.categories), default=1)


def _box(numbers: NumberSummary) -> _Box:
    span = numbers.maximum - numbers.minimum
    marks = [numbers.quantiles[key] for key in ("0.01", "0.25", "0.5", "0.75", "0.99")]
    return _Box(*[(mark - numbers.minimum) / span * _WIDTH if span else _WIDTH / 2 for mark in marks])
