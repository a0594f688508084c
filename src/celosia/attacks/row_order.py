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

from celosia.attacks._meaning import Span, meaning_of
from celosia.attacks._view import Codes, View
from celosia.model.attacks import Finding, Severity

_FEWEST = 3  # different intervals that must follow one another
_MOST = 10_000  # labels beyond which a column is not one of intervals
_RUNS = 0.99  # share of neighbouring rows that must not go back
_OPEN = 0.5  # share of neighbours alike in the column whose order nothing published explains

Ranks = NDArray[np.float64]


def ordered_rows(view: View, truth: View | None = None) -> tuple[Finding, ...]:
    """Columns of intervals in whose order the file is, though what it shows does not explain that order."""
    found = []
    for place, name in enumerate(view.names):
        ranks = _interval_ranks(view.labels[place])
        if ranks is None or not _along(ranks[view.codes[:, place]]) or _explained(view, place):
            continue
        severity = _severity(view, truth, name)
        if severity is not None:
            rows = view.telling[place]
            found.append(Finding(kind="ordered_rows", columns=(name,), cells=int(rows.sum()),
                                 persons=view.people(rows), severity=severity))  # fmt: skip
    return tuple(found)


def _interval_ranks(labels: Sequence[str]) -> Ranks | None:
    """Where each label begins, nothing for masks; None where the labels are not intervals."""
    spans = [_span(label) for label in labels] if len(labels) <= _MOST else []
    if sum(span is not None and span.wide for span in spans) < _FEWEST:
        return None
    return np.array([np.nan if span is None else span.low for span in spans], np.float64)


def _span(label: str) -> Span | None:
    meaning = meaning_of(label)
    return meaning.days if meaning.days is not None and meaning.days.wide else meaning.numbers


def _along(values: Ranks) -> bool:
    """Whether the values go up, or down, along the file, and repeat: several rows in each interval."""
    steps = np.diff(values[np.isfinite(values)])
    if len(steps) < 2 * _FEWEST or not (_FEWEST - 1 <= np.count_nonzero(steps) <= len(steps) / 2):
        return False
    return bool(max((steps >= 0).mean(), (steps <= 0).mean()) >= _RUNS)


def _explained(view: View, first: int) -> bool:
    """Whether rows alike in a column are in the order of the other published columns, one after the other."""
    alike = view.codes[1:, first] == view.codes[:-1, first]
    start, places = int(alike.sum()), [place for place in range(len(view.names)) if place != first]
    while places:
        sorted_by = [place for place in places if _in_order(view, place, alike)]
        if not sorted_by:
            break
        places.remove(sorted_by[0])
        column = view.codes[:, sorted_by[0]]
        alike &= column[1:] == column[:-1]
    same = np.all(view.codes[1:] == view.codes[:-1], axis=1)
    return int((alike & ~same).sum()) < _OPEN * start


def _in_order(view: View, place: int, alike: NDArray[np.bool_]) -> bool:
    """Whether a column goes up, or down, by text or by number, among neighbours that are alike so far."""
    for ranks in _orders(view.labels[place]):
        steps = np.diff(ranks[view.codes[:, place]])[alike]
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


def _severity(view: View, truth: View | None, name: str) -> Severity | None:
    """A trace where the original is unknown, a disclosure where it is in this order, nothing where it is not."""
    if truth is None or name not in truth.names:
        return "low"
    spans = [_span(label) for label in truth.labels[truth.place(name)]]
    exact = [meaning_of(label).days for label in truth.labels[truth.place(name)]]
    begins = [day if day is not None else span for day, span in zip(exact, spans, strict=True)]
    values = np.array([np.nan if one is None else one.low for one in begins], np.float64)
    steps = np.diff(values[truth.codes[:, truth.place(name)]])
    inside = view.codes[1:, view.place(name)] == view.codes[:-1, view.place(name)]
    steps = steps[inside & np.isfinite(steps)]
    moving = steps[steps != 0]
    return "medium" if len(moving) and max((moving > 0).mean(), (moving < 0).mean()) >= _RUNS else None
