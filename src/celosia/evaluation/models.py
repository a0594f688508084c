"""A model or test on a sample: linear regression and the chi-square test of independence.

Knows columns and weights. A number enters a regression as it is and is judged by the sign and significance of its
coefficient; a category enters as one column per value but the first, and is judged as a whole by an F test, so that
no value needs to be named. Sampling weights are scaled to the number of rows.
Sources: Draper and Smith 1998; Pearson 1900.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from celosia.evaluation.association import chi_square
from celosia.evaluation.sample import Flags, Floats, Sample, SampleColumn


@dataclass(frozen=True, slots=True)
class ModelTerm:
    """A term of a model: its coefficient (None for a category) and its p-value."""

    name: str
    coefficient: float | None
    p_value: float


def regression(sample: Sample, outcome: str, terms: Sequence[str]) -> list[ModelTerm] | None:
    """Ordinary least squares of the outcome on the terms; None where there is too little to fit."""
    columns = [sample.columns[name] for name in terms]
    used = np.isfinite(sample.columns[outcome].values) & _complete(columns)
    parts = [_design(column, used) for column in columns]
    design = np.concatenate([np.ones((int(used.sum()), 1)), *parts], axis=1)
    rows, weights = float(sample.rows[used].sum()), sample.weights[used]
    free = rows - design.shape[1]
    if free <= 0 or not float(weights.sum()):
        return None
    scaled = weights * (rows / float(weights.sum()))
    fitted = _least_squares(design, sample.columns[outcome].values[used], scaled, free)
    return None if fitted is None else _judge_terms(terms, columns, parts, *fitted, free)


def independence(sample: Sample, first: str, second: str) -> tuple[float, float] | None:
    """Chi-square of two variables and its p-value; None where one has a single value."""
    columns = [sample.columns[first], sample.columns[second]]
    used = columns[0].plain_cells & columns[1].plain_cells
    weights = sample.weights[used]
    total = float(weights.sum())
    scaled = weights * (float(sample.rows[used].sum()) / total) if total else weights
    value, r, c, _ = chi_square(columns[0].codes[used], columns[1].codes[used], scaled)
    if min(r, c) < 2:
        return None
    from scipy.special import chdtrc  # the tail that scipy.stats.chi2.sf gives, without a second of imports

    return value, float(chdtrc((r - 1) * (c - 1), value))


def _least_squares(design: Floats, y: Floats, weights: Floats, free: float) -> tuple[Floats, Floats] | None:
    """Coefficients and their covariance; None where the columns say the same."""
    gram = (design * weights[:, None]).T @ design
    if np.linalg.matrix_rank(gram / np.sqrt(np.outer(np.diag(gram), np.diag(gram)).clip(1e-300))) < len(gram):
        return None
    inverse = np.linalg.inv(gram).astype(np.float64)
    slopes = inverse @ (design.T @ (weights * y))
    residual = y - design @ slopes
    return slopes, inverse * (float((weights * residual * residual).sum()) / free)


def _judge_terms(
    terms: Sequence[str],
    columns: Sequence[SampleColumn],
    parts: Sequence[Floats],
    slopes: Floats,
    covariance: Floats,
    free: float,
) -> list[ModelTerm]:
    judged_terms, start = [], 1
    for name, column, part in zip(terms, columns, parts, strict=True):
        end = start + part.shape[1]
        b, v = slopes[start:end], covariance[start:end, start:end]
        judged_terms.append(ModelTerm(name, float(b[0]) if column.numbers is not None else None, _p_value(b, v, free)))
        start = end
    return judged_terms


def _p_value(b: Floats, v: Floats, free: float) -> float:
    """Wald's F test that all these coefficients are zero; for one it is the t test."""
    if not len(b):
        return 1.0
    if not np.any(v):  # a perfect fit: every coefficient that is not zero is certain
        return 0.0 if np.any(b) else 1.0
    statistic = float(b @ np.linalg.pinv(v) @ b) / len(b)
    from scipy.special import fdtrc  # the tail that scipy.stats.f.sf gives

    return float(fdtrc(len(b), free, max(statistic, 0.0)))


def _design(column: SampleColumn, used: Flags) -> Floats:
    if column.numbers is not None:
        return column.values[used][:, None]
    codes = column.codes[used]
    present = np.unique(codes)[1:]
    return (codes[:, None] == present[None, :]).astype(np.float64)


def _complete(columns: Sequence[SampleColumn]) -> Flags:
    flags = np.ones(len(columns[0].codes), bool)
    for column in columns:
        flags &= np.isfinite(column.values) if column.numbers is not None else column.plain_cells
    return flags
