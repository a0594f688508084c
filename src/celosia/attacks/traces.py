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

from celosia.attacks.attack_input import View, running_numbers
from celosia.attacks.disguise import check_digits
from celosia.model.reports.attacks import Finding

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
    findings: list[Finding] = []
    for column, name in enumerate(view.names):
        findings += _sequence(view, column, name)
        findings += _free_text(view, column, name)
        findings += _plain_identifier(view, column, name)
        findings += _formats(view, column, name)
    return tuple(findings)


def _sequence(view: View, column: int, name: str) -> Iterator[Finding]:
    """Whole numbers, nearly one per row, nearly without gaps, and more of them than chance would leave apart.

    Where they stand in the file says nothing: a release lies in the order of its published values.
    """
    counts = np.bincount(view.codes[:, column], minlength=len(view.labels[column]))
    running = np.array(running_numbers(view.labels[column]), np.int64)
    numbers = running[(running >= 0) & (counts > 0)]
    if len(numbers) < max(_NEARLY_ALL * view.rows, 10):
        return
    spread = int(numbers.max() - numbers.min()) + 1
    if len(numbers) >= spread / 4 and not _may_be_chance(len(numbers), int(counts[running >= 0].sum()), spread):
        rows = view.readable[column]
        yield view.finding("sequence_number", (name,), rows, "medium", name)


def _may_be_chance(different: int, rows: int, spread: int) -> bool:
    """Whether measured numbers could be as different by chance: ten people may well have ten ages.

    Of `spread` equally frequent values so many rows show S(1 - e^-a) with a deviation of √(S(e^-a - (1+a)e^-2a)), a
    being rows by value (Johnson, Kotz 1977, occupancy); values of unequal frequency repeat more.
    """
    crowd = rows / spread
    expected = spread * -math.expm1(-crowd)
    deviation = math.sqrt(spread * (math.exp(-crowd) - (1 + crowd) * math.exp(-2 * crowd)))
    return different - expected < _BEYOND * deviation


def _free_text(view: View, column: int, name: str) -> Iterator[Finding]:
    """Sentences that hardly repeat: somebody wrote them, and may have written names."""
    counts = np.bincount(view.codes[:, column], minlength=len(view.labels[column]))
    written = np.array([_SENTENCE.fullmatch(label) is not None for label in view.labels[column]], np.bool_)
    sentences, different = int(counts[written].sum()), int((counts[written] > 0).sum())
    if sentences >= 3 and sentences > view.rows / 100 and different > sentences / 2:
        rows = written[view.codes[:, column]]
        yield view.finding("free_text", (name,), rows, "high", name)


def _plain_identifier(view: View, column: int, name: str) -> Iterator[Finding]:
    """Identity numbers with a right check digit, mail addresses, or names of people, as they are."""
    labels, rows = [label for label in view.labels[column] if label.strip("* ")], view.readable[column]
    if len(labels) < 10:
        return
    sample = labels[:: max(1, len(labels) // 1_000)]
    ways = (
        ("run", _run_shares(sample)),
        ("mail", _share(sample, _MAIL)),
        ("name", _share(sample, _NAME) if len(labels) > rows.sum() / 2 else 0.0),
    )
    space, share = max(ways, key=lambda way: way[1])
    if share >= _MOSTLY:
        yield view.finding("plain_identifier", (name,), rows, "high", name, {"space": space})


def _share(labels: list[str], pattern: re.Pattern[str]) -> float:
    return sum(pattern.fullmatch(label) is not None for label in labels) / len(labels)


def _run_shares(labels: list[str]) -> float:
    """Share of labels that are a Chilean RUN with its check digit."""
    matches = [match for label in labels if (match := _RUN.fullmatch(label.strip())) is not None]
    if not matches:
        return 0.0
    right = check_digits(np.array([int(match[1].replace(".", "")) for match in matches], np.int64))
    return sum(match[2].upper() == digit for match, digit in zip(matches, right, strict=True)) / len(labels)


def _formats(view: View, column: int, name: str) -> Iterator[Finding]:
    """Cells whose way of writing is rare in a column that has one usual way."""
    labels = view.labels[column]
    counts = np.bincount(view.codes[:, column], minlength=len(labels))
    padded = len({len(label.strip()) for label in labels if label.strip().isdecimal()}) == 1
    ways = [_writing_style(label, padded) for label in labels]
    total: Counter[str] = Counter()
    for way, count in zip(ways, counts.tolist(), strict=True):
        total[way] += count
    total.pop("", None)
    if not total:
        return
    usual, often = total.most_common(1)[0]
    rare = [way for way, count in total.items() if 0 < count <= _MINORITY * often and way[0] == usual[0]]
    rows = np.array([way in rare for way in ways], np.bool_)[view.codes[:, column]]
    if rows.any():
        yield view.finding("format_trace", (name,), rows, "low", name, {"formats": len(rare) + 1})


def _writing_style(label: str, padded: bool = False) -> str:
    """How a cell is written: its kind and its peculiarities; empty where it says nothing.

    Where whole numbers are `padded` to one length, a leading zero is no peculiarity: 05302 beside 13101.
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
