"""The order of the rows: a file that was sorted by a date before the date was blurred still tells which came first.

Knows published labels and, where it is at hand, the original row by row. Ignores how the order came to be. A column of
intervals (`30 a 39`, `2024-Q1`) that runs along the file gives away the order inside each interval, unless the rest of
the published values explains that order too: a file sorted by what it shows tells nothing more. The original, where it
is known, says whether the order is really that of the values; without it the order is a trace only.
Source: WP29 opinion 05/2014, annex; MINSAL, Anexo II (what an intruder reads besides the cells).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.attacks.attack_input import Codes, View
from celosia.attacks.label_meaning import Span, meaning_of
from celosia.model.reports.attacks import Finding, Severity

_FEWEST = 3  # different intervals that must follow one another
_MOST = 10_000  # labels beyond which a column is not one of intervals
_RUNS = 0.99  # share of neighbouring rows that must not go back
_OPEN = 0.5  # share of neighbours alike in the column whose order nothing published explains

Ranks = NDArray[np.float64]


def ordered_rows(view: View, truth: View | None = None) -> tuple[Finding, ...]:
    """Columns of intervals in whose order the file is, though what it shows does not explain that order."""
    findings = []
    for column, name in enumerate(view.names):
        ranks = _interval_ranks(view.labels[column])
        if ranks is None or not _runs_along_file(ranks[view.codes[:, column]]) or _order_is_explained(view, column):
            continue
        severity = _order_severity(view, truth, name)
        if severity is not None:
            rows = view.readable[column]
            findings.append(view.finding("ordered_rows", (name,), rows, severity))
    return tuple(findings)


def _interval_ranks(labels: Sequence[str]) -> Ranks | None:
    """Where each label begins, nothing for masks; None where the labels are not intervals."""
    spans = [_span(label) for label in labels] if len(labels) <= _MOST else []
    if sum(span is not None and span.wide for span in spans) < _FEWEST:
        return None
    return np.array([np.nan if span is None else span.low for span in spans], np.float64)


def _span(label: str) -> Span | None:
    meaning = meaning_of(label)
    return meaning.days if meaning.days is not None and meaning.days.wide else meaning.numbers


def _runs_along_file(values: Ranks) -> bool:
    """Whether the values go up, or down, along the file, and repeat: several rows in each interval."""
    steps = np.diff(values[np.isfinite(values)])
    if len(steps) < 2 * _FEWEST or not (_FEWEST - 1 <= np.count_nonzero(steps) <= len(steps) / 2):
        return False
    return bool(max((steps >= 0).mean(), (steps <= 0).mean()) >= _RUNS)


def _order_is_explained(view: View, first: int) -> bool:
    """Whether rows alike in a column are in the order of the other published columns, one after the other."""
    alike = view.codes[1:, first] == view.codes[:-1, first]
    start, columns = (
        int(alike.sum()),
        [column_index for column_index in range(len(view.names)) if column_index != first],
    )
    while columns:
        sorted_by = [column_index for column_index in columns if _is_in_order(view, column_index, alike)]
        if not sorted_by:
            break
        columns.remove(sorted_by[0])
        column = view.codes[:, sorted_by[0]]
        alike &= column[1:] == column[:-1]
    same = np.all(view.codes[1:] == view.codes[:-1], axis=1)
    return int((alike & ~same).sum()) < _OPEN * start


def _is_in_order(view: View, column: int, alike: NDArray[np.bool_]) -> bool:
    """Whether a column goes up, or down, by text or by number, among neighbours that are alike so far."""
    for ranks in _orders(view.labels[column]):
        steps = np.diff(ranks[view.codes[:, column]])[alike]
        if (steps != 0).any() and max((steps >= 0).mean(), (steps <= 0).mean()) >= _RUNS:
            return True
    return False


def _orders(labels: Sequence[str]) -> tuple[Codes, Codes]:
    """The rank of each label by its text, and by its number before its text."""
    by_text = np.argsort(np.argsort(np.array(labels, dtype=object), kind="stable"), kind="stable")
    spans = [meaning_of(label).numbers for label in labels]
    numbers = np.array([np.inf if span is None else span.low for span in spans])
    by_number = np.empty(len(labels), np.int64)
    by_number[np.lexsort((by_text, numbers))] = np.arange(len(labels))
    return by_text.astype(np.int64), by_number


def _order_severity(view: View, truth: View | None, name: str) -> Severity | None:
    """A trace where the original is unknown, a disclosure where it is in this order, nothing where it is not."""
    if truth is None or name not in truth.names:
        return "low"
    spans = [_span(label) for label in truth.labels[truth.column_index(name)]]
    exact = [meaning_of(label).days for label in truth.labels[truth.column_index(name)]]
    begins = [day if day is not None else span for day, span in zip(exact, spans, strict=True)]
    values = np.array([np.nan if begin is None else begin.low for begin in begins], np.float64)
    steps = np.diff(values[truth.codes[:, truth.column_index(name)]])
    inside = view.codes[1:, view.column_index(name)] == view.codes[:-1, view.column_index(name)]
    steps = steps[inside & np.isfinite(steps)]
    moving = steps[steps != 0]
    return "medium" if len(moving) and max((moving > 0).mean(), (moving < 0).mean()) >= _RUNS else None
