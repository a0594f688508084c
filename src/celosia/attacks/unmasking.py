"""Undoing masks: a masked cell that the rest of the file still determines.

Knows the published labels. Ignores how they were made. Every attack guesses a cell from the other rows where it is
visible: by the rows that share another column (region from comuna, a household's value from another member), by a
number that goes along with it (age from birth year, within one), by its neighbours in the order of the file or of a
sequence number. It is judged on visible cells as if each were masked (leave one out) and, where the original is known,
on the masked ones themselves. The control is the best guess from the column alone, so that a column where nearly
everybody has one value is not called a disclosure.
Source: MINSAL, Anexo II (REGION masked beside a visible COMUNA); functional dependencies after Wong et al. (2007).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.attacks.attack_input import Codes, Flags, View, running_numbers
from celosia.attacks.estimates import Trials, estimate
from celosia.attacks.predictors import Predictor, predictor_pairs, single_predictors
from celosia.model.reports.attacks import Control, Estimate, Finding
from celosia.model.values import is_masked

SURE = 0.95  # share of right guesses from which a mask counts as undone
_LUCK = 1e-3  # chance that some group agrees by accident
_PAIRS = 30
_FEW_LABELS = 2  # a number with fewer different values is a category
_DATE = re.compile(  # 1980-03-25, 25/03/1980, 19800325
    r"(\d{4})[-/]\d{1,2}(?:[-/]\d{1,2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4})|((?:19|20)\d\d)(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])"
)


@dataclass(frozen=True, slots=True)
class _Guesses:
    """What an attack says of every row of one column; -1 where it says nothing."""

    visible: Codes  # guesses made without looking at the row itself
    masked: Codes
    sure: Flags  # masked rows whose guess is as good as certain


def unmask(view: View, truth: Codes | None = None) -> tuple[Estimate, ...]:
    """The best attack on each column with masked cells that does better than guessing from the column alone.

    `truth` holds the original codes in the view's own labels (-1 where the label is not published), for judging.
    """
    estimates = []
    for target, name in enumerate(view.names):
        if view.masked[target].any() and view.readable[target].any():
            tried = [_assess(view, target, name, *attack, truth) for attack in _attacks(view, target)]
            working = [attempt for attempt in tried if attempt is not None and attempt.works and attempt.persons]
            working.sort(key=lambda attempt: (-attempt.persons, len(attempt.variables), attempt.variables))
            estimates += working[:1]
    return tuple(estimates)


def _attacks(view: View, target: int) -> Iterator[tuple[str, tuple[str, ...], _Guesses]]:
    for predictor in single_predictors(view, target):
        yield "dependency", predictor.columns, _guess_by_group(view, target, predictor)
    for predictor in predictor_pairs(view, target, _PAIRS):
        yield "dependency", predictor.columns, _guess_by_group(view, target, predictor)
    yield "row_order", (), _guess_by_neighbours(view, target, np.arange(view.rows))
    for name, order in _sequences(view, target):
        yield "sequence", (name,), _guess_by_neighbours(view, target, order)


def _assess(
    view: View, target: int, name: str, attack: str, columns: tuple[str, ...], guesses: _Guesses, truth: Codes | None
) -> Estimate | None:
    """One attack as an estimate; None where it undoes no mask."""
    if not guesses.sure.any():
        return None
    own, readable = view.codes[:, target], view.readable[target]
    usual = np.bincount(own[readable]).argmax()
    if truth is None:
        assessed, right, column = guesses.visible >= 0, guesses.visible == own, own[readable]
    else:
        assessed, right, column = guesses.sure, guesses.masked == truth[:, target], truth[view.masked[target], target]
    tried = Trials(int(assessed.sum()), int((assessed & right).sum()))
    baseline = Trials(len(column), int((column == usual).sum()))
    result = estimate(
        attack,
        "unmasking",
        tried,
        control=Control.MARGINS,
        baseline=baseline,
        reach=view.count_persons(guesses.sure),
        variables=(name, *columns),
        remedy=columns[0] if columns else None,
        detail={"cells": int(guesses.sure.sum()), "masked": int(view.masked[target].sum())},
    )
    return result if result.rate is not None and result.rate >= SURE else None


def _guess_by_group(view: View, target: int, predictor: Predictor) -> _Guesses:
    """The most frequent label among the visible rows of the group, the row itself left out."""
    readable = view.readable[target] & (predictor.groups >= 0)
    width = len(view.labels[target])
    keys, counts = np.unique(predictor.groups[readable] * width + view.codes[readable, target], return_counts=True)
    group, label = keys // width, keys % width
    best, second = _two_most_frequent(group, label, counts, predictor.size)
    totals = np.bincount(group, counts, predictor.size).astype(np.int64)
    visible = np.full(view.rows, -1, np.int64)
    own, of = view.codes[readable, target], predictor.groups[readable]
    visible[readable] = _leave_one_out_guess(own, of, best, second, totals)
    masked = np.where(view.masked[target] & (predictor.groups >= 0), best.label[predictor.groups], -1)
    pooled = visible >= 0
    functional = pooled.any() and (visible[pooled] == view.codes[pooled, target]).mean() >= SURE
    certain = totals > 0 if functional else _agreeing_groups(view, target, best, totals)
    certain_rows = (predictor.groups >= 0) & certain[predictor.groups]
    return _Guesses(np.where(certain_rows, visible, -1), masked, (masked >= 0) & certain_rows)


@dataclass(frozen=True, slots=True)
class _MostFrequent:
    label: Codes  # per group, -1 where there is none
    count: Codes


def _two_most_frequent(group: Codes, label: Codes, counts: Codes, size: int) -> tuple[_MostFrequent, _MostFrequent]:
    """The most and the second most frequent label of each group; ties by code."""
    order = np.lexsort((label, -counts, group))
    ordered = group[order]
    rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    ranks = []
    for rank_ in (0, 1):
        chosen = order[rank == rank_]
        most = _MostFrequent(np.full(size, -1, np.int64), np.zeros(size, np.int64))
        most.label[group[chosen]], most.count[group[chosen]] = label[chosen], counts[chosen]
        ranks.append(most)
    return ranks[0], ranks[1]


def _leave_one_out_guess(own: Codes, group: Codes, best: _MostFrequent, second: _MostFrequent, totals: Codes) -> Codes:
    """The guess for each visible row from the others of its group; -1 where there is no other."""
    without = np.where(own == best.label[group], best.count[group] - 1, best.count[group])
    guess = np.where(second.count[group] > without, second.label[group], best.label[group])
    return np.where(totals[group] > 1, guess, -1)


def _agreeing_groups(view: View, target: int, best: _MostFrequent, totals: Codes) -> Flags:
    """Groups that agree on one label more than the whole column would let them by accident."""
    from scipy.stats import binom  # a second of imports, for this attack alone

    shares = np.bincount(view.codes[view.readable[target], target], minlength=len(view.labels[target]))
    share = shares[best.label] / max(shares.sum(), 1)
    accident = binom.sf(best.count - 1, totals, share) * max(int((totals > 0).sum()), 1)
    return (totals > 0) & (best.count >= SURE * totals) & (accident < _LUCK)


def _sequences(view: View, target: int) -> Iterator[tuple[str, Codes]]:
    """Orders of the rows by a column of numbers that are nearly all different."""
    for place, name in enumerate(view.names):
        labels = view.labels[place]
        if place == target or len(labels) < max(view.rows // 2, 3):
            continue
        numbers = running_numbers(labels)
        if sum(number >= 0 for number in numbers) >= SURE * len(numbers):
            yield name, np.argsort(np.array(numbers)[view.codes[:, place]], kind="stable")


def _guess_by_neighbours(view: View, target: int, order: Codes) -> _Guesses:
    """The label of the visible rows before and after in an order, where both agree."""
    own, seen = view.codes[order, target], view.readable[target][order]
    before, after = _last_seen(own, seen), _last_seen(own[::-1], seen[::-1])[::-1]
    agreed = np.where((before == after) & (before >= 0), before, -1)
    guess = np.empty(view.rows, np.int64)
    guess[order] = agreed
    visible, masked = view.readable[target], view.masked[target]
    return _Guesses(np.where(visible, guess, -1), np.where(masked, guess, -1), masked & (guess >= 0))


def _last_seen(own: Codes, seen: Flags) -> Codes:
    """For every row the label of the nearest visible row strictly before it; -1 at the beginning."""
    places = np.where(seen, np.arange(len(own)), -1)
    last = np.concatenate([[-1], np.maximum.accumulate(places)[:-1]]) if len(own) else places
    return np.where(last >= 0, own[last], -1)


def near_numbers(view: View, within: int = 1, truth: View | None = None) -> tuple[Finding, ...]:
    """Columns of numbers that another column of numbers gives within so much: an age beside a birth year.

    Where the original is known, only the masked cells that the other column really gives are counted.
    """
    findings = []
    for target, name in enumerate(view.names):
        if not view.masked[target].any():
            continue
        for other, other_name in enumerate(view.names):
            cells = (
                _cells_that_follow(view, target, other, within, truth)
                if other != target
                else np.zeros(view.rows, np.bool_)
            )
            if cells.any():
                findings.append(
                    view.finding("near_number", (name, other_name), cells, "high", other_name, {"within": within})
                )
    return tuple(findings)


def _cells_that_follow(view: View, target: int, other: int, within: int, truth: View | None) -> Flags:
    """Masked cells of the target that follow from the other column; none where the two do not go together."""
    nobody = np.zeros(view.rows, np.bool_)
    mine, theirs = _numbers(view, target), _numbers(view, other)
    both = np.isfinite(mine) & np.isfinite(theirs)
    if len(np.unique(mine[both])) <= _FEW_LABELS * (2 * within + 1):
        return nobody
    for sign in (1, -1):
        gap = mine[both] + sign * theirs[both]
        close = np.abs(gap - np.median(gap)) <= within
        alone = np.abs(mine[both] - np.median(mine[both])) <= within
        if close.mean() >= SURE > alone.mean():
            claimed = view.masked[target] & np.isfinite(theirs)
            return claimed & _is_right_number(view, target, sign * theirs, float(np.median(gap)), within, truth)
    return nobody


def _is_right_number(
    view: View, target: int, signed: np.ndarray, middle: float, within: int, truth: View | None
) -> Flags:
    """Cells whose original number is where the other column puts it; all of them where the original is unknown."""
    name = view.names[target]
    if truth is None or name not in truth.names:
        return np.ones(view.rows, np.bool_)
    gap = _numbers(truth, truth.column_index(name)) + signed
    return np.abs(gap - middle) <= within


def _numbers(view: View, column: int) -> np.ndarray:
    """The cells as numbers; a date counts by its year, however it is written; not a number where the label is none."""
    values = [_number(label) for label in view.labels[column]]
    return np.array(values, np.float64)[view.codes[:, column]]


def _number(label: str) -> float:
    date = _DATE.fullmatch(label)
    head = (date[1] or date[2] or date[3]) if date is not None else label
    return float(head) if head.isdecimal() and len(head) < 16 else np.nan


def revealed_recodings(
    view: View, universe: dict[str, Sequence[str]], few: int, truth: View | None = None
) -> tuple[Finding, ...]:
    """Partly masked codes among full ones: which codes can be under the mask.

    `universe` holds every value a column can take (an official list, the leaves of its hierarchy). Codes shown in full
    are taken away only where the original proves that each value has one label: a method that masks by record shows a
    code here and masks it there, and nothing can be excluded.
    """
    findings = []
    for column, name in enumerate(view.names):
        if name not in universe:
            continue
        left = _true_claims(view, column, recoding_candidates(view, column, universe[name], truth), truth)
        cells = np.isin(view.codes[:, column], [code for code, codes in left.items() if 0 < len(codes) < few])
        if cells.any():
            single = np.isin(view.codes[:, column], [code for code, codes in left.items() if len(codes) == 1])
            findings.append(
                view.finding(
                    "recoding_betrayed",
                    (name,),
                    cells,
                    "high" if single.any() else "medium",
                    name,
                    {"single": int(single.sum()), "few": few},
                )
            )
    return tuple(findings)


def recoding_candidates(
    view: View, column: int, universe: Sequence[str], truth: View | None = None
) -> dict[int, list[str]]:
    """Per code of a partly masked label, the values that the attack says can be under it."""
    return _candidates_left(view.labels[column], universe, _has_one_label_per_value(view, column, truth))


def _true_claims(view: View, column: int, left: dict[int, list[str]], truth: View | None) -> dict[int, list[str]]:
    """The claims that the original confirms: every value under the label is among those claimed to be possible.

    A value that no list knows (a former code, a mistake in the source) makes a claim about its label wrong.
    """
    name = view.names[column]
    if truth is None or name not in truth.names:
        return left
    place = truth.column_index(name)
    pairs = np.unique(np.stack([view.codes[:, column], truth.codes[:, place]], axis=1), axis=0)
    wrong = {int(code) for code, value in pairs if truth.labels[place][value] not in left.get(int(code), ())}
    return {code: codes for code, codes in left.items() if code not in wrong}


def _has_one_label_per_value(view: View, column: int, truth: View | None) -> bool:
    """Whether the label of every original value is the same in all rows; cells masked wholly say nothing."""
    name = view.names[column]
    if truth is None or name not in truth.names:
        return False
    shows_something = np.array([not is_masked(label) for label in view.labels[column]], np.bool_)
    values, rows = truth.codes[:, truth.column_index(name)], shows_something[view.codes[:, column]]
    pairs = np.unique(np.stack([values[rows], view.codes[rows, column]], axis=1), axis=0)
    return len(np.unique(pairs[:, 0])) == len(pairs)


def _candidates_left(labels: Sequence[str], universe: Sequence[str], one_label: bool) -> dict[int, list[str]]:
    """Per partly masked label, the values that can be under it."""
    visible = {label for label in labels if "*" not in label}
    rest = [value for value in universe if not one_label or value not in visible]
    remaining = {}
    for code, label in enumerate(labels):
        prefix = label.rstrip("*")
        if prefix and prefix != label and visible:
            remaining[code] = [value for value in rest if value.startswith(prefix) and len(value) == len(label)]
    return remaining


def visible_derivatives(view: View, sensitive: Sequence[str], truth: View | None = None) -> tuple[Finding, ...]:
    """Columns made from a sensitive one that stay visible where it is masked: the chapter beside a masked diagnosis.

    Where the original is known, only the masked cells whose value the other column really is a reading of are counted.
    """
    findings = []
    for name in sensitive:
        target = view.column_index(name)
        for other, derived in enumerate(view.names):
            cells = view.masked[target] & view.readable[other]
            if other == target or not cells.any() or not _is_coarser_reading(view, target, other):
                continue
            cells = cells & _read_rightly(view, target, other, truth)
            if cells.any():
                findings.append(view.finding("derived_shown", (name, derived), cells, "high", derived))
    return tuple(findings)


def _read_rightly(view: View, source: int, derived: int, truth: View | None) -> Flags:
    """Rows whose derived value is the one that their original value has where both are visible, or nobody can tell."""
    name = view.names[source]
    if truth is None or name not in truth.names:
        return np.ones(view.rows, np.bool_)
    shown = view.readable[source] & view.readable[derived]
    values = truth.codes[:, truth.column_index(name)]
    width = len(view.labels[derived])
    keys, counts = np.unique(values[shown] * width + view.codes[shown, derived], return_counts=True)
    usual, _ = _two_most_frequent(keys // width, keys % width, counts, len(truth.labels[truth.column_index(name)]))
    return (usual.label[values] < 0) | (usual.label[values] == view.codes[:, derived])


def _is_coarser_reading(view: View, source: int, derived: int) -> bool:
    """Whether one column is a coarser reading of another: it follows from it, and not from its own margin."""
    reading = View(
        (view.names[source], view.names[derived]),
        (view.labels[source], view.labels[derived]),
        view.codes[:, [source, derived]],
    )
    predictor = Predictor("", (), np.where(reading.readable[0], reading.codes[:, 0], -1), len(reading.labels[0]))
    guesses = _guess_by_group(reading, 1, predictor)
    assessed = guesses.visible >= 0
    alike = np.bincount(predictor.groups[predictor.groups >= 0], minlength=predictor.size)
    repeated = reading.readable[1] & (predictor.groups >= 0) & (alike[predictor.groups] > 1)
    # Some diagnoses determine the sex, but not all do.
    if not assessed.any() or assessed.sum() < SURE * repeated.sum():
        return False
    right = (guesses.visible[assessed] == reading.codes[assessed, 1]).mean()
    usual = np.bincount(reading.codes[assessed, 1]).max() / assessed.sum()
    return bool(right >= SURE and usual < SURE and len(reading.labels[1]) < len(reading.labels[0]))
