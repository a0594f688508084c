"""Propensity score: can a model tell the rows of the released file from those of the source?

Knows two samples over the same columns. A logistic regression with main effects (numbers as they are, the frequent
categories one by one) guesses which file a row comes from; pMSE is the mean squared distance of its guesses from the
share of released rows. Under the null, where the second file is drawn from a right model of the first, the expected
value is (k - 1)(1 - c)² c ÷ N with k parameters, N rows and c the share of released rows; two samples drawn apart from
one population give 1 ÷ (1 - c) times as much, about twice.
Sources: Woo, Reiter, Oganian and Karr 2009; Snoke, Raab, Nowok, Dibben and Slavković 2018.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from celosia.evaluation.sample import Floats, Integers, Sample, both_numeric

MOST_VARIABLES = 20
MOST_CATEGORIES = 8
MOST_ROWS = 100_000  # combinations taken from each file, evenly over their order
_ROUNDS, _CLOSE, _RIDGE = 30, 1e-10, 1e-9
_DEPENDENT = 1e-10  # share of a column's square below which it depends on the others


@dataclass(frozen=True, slots=True)
class PropensityScore:
    """pMSE, what it would be by chance, and how many times or standard deviations it is that."""

    pmse: float
    expected: float
    ratio: float | None
    standardised: float | None
    parameters: int
    rows: int
    variables: tuple[str, ...]


def propensity_score(before: Sample, after: Sample, names: Sequence[str]) -> PropensityScore | None:
    """pMSE of the two files over some variables; None without variables or rows."""
    chosen = tuple(names[:MOST_VARIABLES])
    if not chosen or not before.n_rows or not after.n_rows:
        return None
    first, second = _thin_positions(before), _thin_positions(after)
    constant = np.ones((first.size + second.size, 1))
    terms = _terms(before, after, first, second, chosen)
    design = _independent_columns(np.concatenate([constant, *terms], axis=1))
    rows = np.concatenate([before.rows[first], after.rows[second]]).astype(np.float64)
    released = np.concatenate([np.zeros(first.size), np.ones(second.size)])
    total, share = float(rows.sum()), float(rows[first.size :].sum() / rows.sum())
    alike, released, rows = _merge_equal_rows(design, released, rows)
    guesses = fitted_shares(alike, released, rows)
    pmse = math.fsum((rows * (guesses - share) ** 2).tolist()) / total
    free = design.shape[1] - 1
    expected = free * (1 - share) ** 2 * share / total
    spread = math.sqrt(2 * free) * (1 - share) ** 2 * share / total
    return PropensityScore(
        pmse=_round_portably(pmse),
        expected=expected,
        ratio=_round_portably(pmse / expected) if expected else None,
        standardised=_round_portably((pmse - expected) / spread) if spread else None,
        parameters=design.shape[1],
        rows=int(total),
        variables=chosen,
    )


def fitted_shares(design: Floats, outcome: Floats, rows: Floats) -> Floats:
    """Probabilities of a logistic regression by Newton's steps, halved while they do not help.

    A hair of ridge keeps the steps finite where the two files are told apart completely.
    """
    slopes = np.zeros(design.shape[1])
    share = float((rows * outcome).sum() / rows.sum())
    slopes[0] = math.log(share / (1 - share))
    penalty = _RIDGE * float(rows.sum())
    reached = _penalised_likelihood(design, outcome, rows, slopes, penalty)
    for _ in range(_ROUNDS):
        guesses = _logistic(design @ slopes)
        gradient = design.T @ (rows * (outcome - guesses)) - penalty * slopes
        bend = (design * (rows * guesses * (1 - guesses))[:, None]).T @ design
        step: Floats = np.linalg.solve(bend + penalty * np.eye(len(slopes)), gradient).astype(np.float64)
        slopes, gained, reached = _best_halved_step(design, outcome, rows, slopes, step, penalty, reached)
        if gained <= _CLOSE * (1 + abs(reached)):
            break
    return _logistic(design @ slopes)


def _best_halved_step(
    design: Floats, outcome: Floats, rows: Floats, slopes: Floats, step: Floats, penalty: float, reached: float
) -> tuple[Floats, float, float]:
    """The slopes after the largest halving of the step that helps, what was gained, and the new height."""
    for halving in range(20):
        moved = slopes + step / 2**halving
        height = _penalised_likelihood(design, outcome, rows, moved, penalty)
        if height > reached:
            return moved, height - reached, height
    return slopes, 0.0, reached


def _penalised_likelihood(design: Floats, outcome: Floats, rows: Floats, slopes: Floats, penalty: float) -> float:
    score = design @ slopes
    fit = outcome * score - np.logaddexp(0.0, score)
    return float((rows * fit).sum()) - penalty * float(slopes @ slopes) / 2


def _logistic(score: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(score, -500, 500))))


def _terms(before: Sample, after: Sample, first: Integers, second: Integers, names: Sequence[str]) -> list[Floats]:
    """The columns of the design of each variable, over the rows of both files."""
    return [
        _number_terms(before, after, first, second, name)
        if both_numeric(before, after, name)
        else _category_terms(before, after, first, second, name)
        for name in names
    ]


def _number_terms(before: Sample, after: Sample, first: Integers, second: Integers, name: str) -> Floats:
    """The number in standard deviations of the source, and whether there is one."""
    values = np.concatenate([before.columns[name].values[first], after.columns[name].values[second]])
    real = np.isfinite(values)
    known = before.columns[name].values[first]
    known = known[np.isfinite(known)]
    centre, scale = (float(known.mean()), float(known.std())) if len(known) else (0.0, 1.0)
    z = np.where(real, (np.where(real, values, centre) - centre) / (scale or 1.0), 0.0)
    return np.stack([z, (~real).astype(np.float64)], axis=1)


def _category_terms(before: Sample, after: Sample, first: Integers, second: Integers, name: str) -> Floats:
    """One column for each of the most frequent categories of both files together."""
    counts: dict[str, float] = {}
    for sample in (before, after):
        for text, rows in zip(sample.columns[name].vocabulary, sample.tally_rows(name), strict=True):
            counts[text] = counts.get(text, 0) + int(rows)
    top = sorted(counts, key=lambda text: (-counts[text], text))[:MOST_CATEGORIES]
    parts = []
    for sample, chosen in ((before, first), (after, second)):
        column = sample.columns[name]
        flags = np.array([[text == category for category in top] for text in column.vocabulary], np.float64)
        parts.append(flags.reshape(len(column.vocabulary), len(top))[column.codes[chosen]])
    return np.concatenate(parts)


def _independent_columns(design: Floats) -> Floats:
    """The columns that do not depend on earlier ones: a Cholesky factorisation of their products, in their order."""
    lengths = np.sqrt((design * design).sum(axis=0))
    unit = design / np.where(lengths > 0, lengths, 1.0)
    products = unit.T @ unit
    chosen: list[int] = []
    steps = np.zeros_like(products)  # row j: the column in terms of the directions kept so far
    for j in range(design.shape[1]):
        for i, other in enumerate(chosen):
            explained = float(steps[j, :i] @ steps[other, :i])
            steps[j, i] = (products[j, other] - explained) / steps[other, i]
        own = float(products[j, j] - steps[j] @ steps[j])  # square of what is left of a column of length one
        if own > _DEPENDENT:
            steps[j, len(chosen)] = math.sqrt(own)
            chosen.append(j)
    return design[:, chosen]


def _merge_equal_rows(design: Floats, released: Floats, rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Equal rows of the same file merged, in the order in which they first appear."""
    whole = np.ascontiguousarray(np.column_stack([released, design]))
    lines = whole.view(np.dtype((np.void, whole.itemsize * whole.shape[1]))).reshape(-1)
    _, first, label = np.unique(lines, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    representatives = first[order]
    together = np.bincount(rank[label], weights=rows, minlength=len(order)).astype(np.float64)
    return design[representatives], released[representatives], together


def _thin_positions(sample: Sample) -> Integers:
    """Places of the combinations used: all, or so many evenly over their order."""
    n = len(sample.rows)
    if n <= MOST_ROWS:
        return np.arange(n)
    return (np.arange(MOST_ROWS, dtype=np.int64) * n) // MOST_ROWS


def _round_portably(value: float) -> float:
    """Twelve significant digits: what a linear algebra library may do otherwise on another machine stays below."""
    return float(f"{value:.12g}")
