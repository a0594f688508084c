"""Traces of the source: sequence numbers, free text, and cells written unlike the rest of their column.

Knows labels and how often they occur. Ignores what they mean. A trace discloses nobody by itself; it lets records be
followed into another file (a sequence number), may name people (free text) or tells which rows came by another way
(three decimals among whole numbers, blanks at the end, zeros in front of some codes only).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from celosia.attacks._view import View, running_numbers
from celosia.attacks.disguise import check_digits
from celosia.model.attacks import Finding

_NEARLY_ALL = 0.95
_MINORITY = 0.2  # a way of writing this rare is a trace
_MOSTLY = 0.9
_BEYOND = 3  # standard deviations that chance does not pass
_RUN = re.compile(r"(\d{1,2}\.?\d{3}\.?\d{3})-?([0-9kK])")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_NAME = re.compile(r"[^\W\d_][\w.'-]*,?(?:\s+[\w.'-]+){1,5}")
_SENTENCE = re.compile(r"\S+(?:\s+\S+){3,}")


def traces(view: View) -> tuple[Finding, ...]:
    """Every trace in the published columns."""
    found: list[Finding] = []
    for place, name in enumerate(view.names):
        found += _sequence(view, place, name)
        found += _free_text(view, place, name)
        found += _plain_identifier(view, place, name)
        found += _formats(view, place, name)
    return tuple(found)


def _sequence(view: View, place: int, name: str) -> Iterator[Finding]:
    """Whole numbers, nearly one per row, nearly without gaps, and more of them than chance would leave apart.

    Where they stand in the file says nothing: a release lies in the order of its published values.
    """
    counts = np.bincount(view.codes[:, place], minlength=len(view.labels[place]))
    told = np.array(running_numbers(view.labels[place]), np.int64)
    numbers = told[(told >= 0) & (counts > 0)]
    if len(numbers) < max(_NEARLY_ALL * view.rows, 10):
        return
    spread = int(numbers.max() - numbers.min()) + 1
    if len(numbers) >= spread / 4 and not _by_chance(len(numbers), int(counts[told >= 0].sum()), spread):
        rows = view.telling[place]
        yield Finding(kind="sequence_number", columns=(name,), cells=int(rows.sum()), persons=view.people(rows),
                      severity="medium", remedy=name)  # fmt: skip


def _by_chance(different: int, rows: int, spread: int) -> bool:
    """Whether measured numbers could be as different by chance: ten people may well have ten ages.

    Of `spread` equally frequent values so many rows show S(1 - e^-a) with a deviation of √(S(e^-a - (1+a)e^-2a)), a
    being rows by value (Johnson, Kotz 1977, occupancy); values of unequal frequency repeat more.
    """
    crowd = rows / spread
    expected = spread * -math.expm1(-crowd)
    deviation = math.sqrt(spread * (math.exp(-crowd) - (1 + crowd) * math.exp(-2 * crowd)))
    return different - expected < _BEYOND * deviation


def _free_text(view: View, place: int, name: str) -> Iterator[Finding]:
    """Sentences that hardly repeat: somebody wrote them, and may have written names."""
    counts = np.bincount(view.codes[:, place], minlength=len(view.labels[place]))
    written = np.array([_SENTENCE.fullmatch(label) is not None for label in view.labels[place]], np.bool_)
    sentences, different = int(counts[written].sum()), int((counts[written] > 0).sum())
    if sentences >= 3 and sentences > view.rows / 100 and different > sentences / 2:
        rows = written[view.codes[:, place]]
        yield Finding(kind="free_text", columns=(name,), cells=int(rows.sum()), persons=view.people(rows),
                      severity="high", remedy=name)  # fmt: skip


def _plain_identifier(view: View, place: int, name: str) -> Iterator[Finding]:
    """Identity numbers with a right verifying digit, mail addresses, or names of people, as they are."""
    labels, rows = [label for label in view.labels[place] if label.strip("* ")], view.telling[place]
    if len(labels) < 10:
        return
    shown = labels[:: max(1, len(labels) // 1_000)]
    ways = (("run", _run_shares(shown)), ("mail", _share(shown, _MAIL)),
            ("name", _share(shown, _NAME) if len(labels) > rows.sum() / 2 else 0.0))  # fmt: skip
    space, share = max(ways, key=lambda way: way[1])
    if share >= _MOSTLY:
        yield Finding(kind="plain_identifier", columns=(name,), cells=int(rows.sum()), persons=view.people(rows),
                      severity="high", remedy=name, detail={"space": space})  # fmt: skip


def _share(labels: list[str], pattern: re.Pattern[str]) -> float:
    return sum(pattern.fullmatch(label) is not None for label in labels) / len(labels)


def _run_shares(labels: list[str]) -> float:
    """Share of labels that are a Chilean RUN with its verifying digit."""
    found = [match for label in labels if (match := _RUN.fullmatch(label.strip())) is not None]
    if not found:
        return 0.0
    right = check_digits(np.array([int(match[1].replace(".", "")) for match in found], np.int64))
    return sum(match[2].upper() == digit for match, digit in zip(found, right, strict=True)) / len(labels)


def _formats(view: View, place: int, name: str) -> Iterator[Finding]:
    """Cells whose way of writing is rare in a column that has one usual way."""
    labels = view.labels[place]
    counts = np.bincount(view.codes[:, place], minlength=len(labels))
    padded = len({len(label.strip()) for label in labels if label.strip().isdecimal()}) == 1
    ways = [_way(label, padded) for label in labels]
    total: Counter[str] = Counter()
    for way, count in zip(ways, counts.tolist(), strict=True):
        total[way] += count
    total.pop("", None)
    if not total:
        return
    usual, often = total.most_common(1)[0]
    rare = [way for way, count in total.items() if 0 < count <= _MINORITY * often and way[0] == usual[0]]
    rows = np.array([way in rare for way in ways], np.bool_)[view.codes[:, place]]
    if rows.any():
        yield Finding(kind="format_trace", columns=(name,), cells=int(rows.sum()), persons=view.people(rows),
                      severity="low", remedy=name, detail={"formats": len(rare) + 1})  # fmt: skip


def _way(label: str, padded: bool = False) -> str:
    """How a cell is written, as its kind and the marks of the hand; empty where it says nothing.

    Where whole numbers are `padded` to one length, a zero in front is no mark: 05302 beside 13101.
    """
    text = label.strip()
    if not text or "*" in text:
        return ""
    blanks = "b" if text != label else ""
    number = re.fullmatch(r"[+-]?(\d+)(?:[.,](\d+))?", text)
    if number is not None:
        zeros = "z" if len(number[1]) > 1 and number[1][0] == "0" and not padded else ""
        return f"n{len(number[2] or '')}{zeros}{blanks}"
    letters = "u" if text.isupper() else "l" if text.islower() else "m"
    return f"t{letters}{blanks}"
