"""What a published label says about the value behind it, read from its text alone.

Knows the labels that hierarchies and techniques write (`30 a 39`, `100-500`, `<18`, `90+`, `≥ 65`, `053**`, `2024-Q1`,
`2020-2024`, `{a, b}`, `Otros`, `I00-I99`) and those that people write (`[30, 40)`, `80 años y más`, `menos de 5`).
Ignores hierarchies and data files. A text may have several readings: `2020` is itself, a number and a year; which of
them counts is decided against the other side, by `_compatible`. What has no reading means itself.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from math import inf

from celosia.model.values import MISSING, is_masked

_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_UNIT = r"(?:\s*(?:años?|anos?|years?|meses|mes|months?|días?|dias?|days?|horas?|hours?))?"
_BETWEEN = r"\s*(?:a|to|hasta|-|–|—|\.\.\.?|…|\||,|;|_|~|y|and)\s*"
_POINT = re.compile(rf"({_NUMBER}){_UNIT}", re.IGNORECASE)
_BAND = re.compile(
    rf"(?:[^\W\d_]+\.?\s+){{0,3}}([\[(\]]?)\s*({_NUMBER}){_UNIT}{_BETWEEN}({_NUMBER}){_UNIT}\s*([\])\[]?)",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"(<=|≤|=<|<|>=|≥|=>|>|menos de|menor(?:es)? (?:de|a|que)|hasta|under|below|less than|up to|"
    rf"más de|mas de|mayor(?:es)? (?:de|a|que)|over|more than|desde|from)\s*({_NUMBER}){_UNIT}",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"({_NUMBER}){_UNIT}\s*(\+|y más|y mas|o más|o mas|and over|and more|or more|y menos|o menos|or less|and under)"
    rf"{_UNIT}",
    re.IGNORECASE,
)
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?|(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?:[T ].*)?", re.ASCII)
_COMPACT_DAY = re.compile(r"((?:18|19|20)\d{2})(\d{2})(\d{2})", re.ASCII)
_PERIOD = re.compile(r"(\d{4})-(\d{2})|(\d{4})[- ]?([^\W\d_]{1,12})[- ]?(\d{1,2})", re.ASCII)
_YEARS = re.compile(r"((?:18|19|20)\d{2})(?:-((?:18|19|20)\d{2}))?", re.ASCII)
_CODES = re.compile(r"([A-Z]\d{2})\s*[-–]\s*([A-Z]\d{2})")
_REST = frozenset({"otro", "otra", "otros", "otras", "other", "others", "resto", "rest", "the rest"})
_LOWER = frozenset("<= ≤ =< < menos menor menores hasta under below less up".split())
_STRICT = frozenset("< > menos menor menores under below less más mas mayor mayores over more".split())


@dataclass(frozen=True, slots=True)
class Span:
    """From low to high; an end that is not `closed` lies outside."""

    low: float
    high: float
    low_closed: bool = True
    high_closed: bool = True

    @property
    def wide(self) -> bool:
        """Whether it holds more than one point."""
        return self.low < self.high


@dataclass(frozen=True, slots=True)
class Meaning:
    """The readings of one label; a label without any stands for itself."""

    text: str
    anything: bool = False  # only asterisks
    rest: bool = False  # whatever no other label names
    numbers: Span | None = None
    days: Span | None = None  # proleptic ordinals, both ends inside
    codes: tuple[str, str] | None = None  # first and last three-character category
    members: tuple[str, ...] = ()
    masked: bool = False  # some characters are asterisks

    @property
    def plain(self) -> bool:
        """Whether the label can only be one value as written."""
        wide = self.numbers is not None and self.numbers.wide
        return not (self.anything or self.rest or self.members or self.masked or self.codes or wide)


@lru_cache(maxsize=1 << 16)
def meaning_of(label: str) -> Meaning:
    """Every reading of a label."""
    if label == MISSING:
        return Meaning(label)
    if is_masked(label):
        return Meaning(label, anything=True)
    if "*" in label:
        return Meaning(label, masked=True)
    # Most labels are digits: no regular expression needs to look at them.
    if label.isascii() and label.isdigit():
        number = float(label)
        return Meaning(label, numbers=Span(number, number), days=_days(label) if len(label) in (4, 8) else None)
    text = label.strip()
    codes = _CODES.fullmatch(text)
    return Meaning(
        label,
        rest=text.casefold() in _REST,
        numbers=_numbers(text),
        days=_days(text),
        codes=(codes[1], codes[2]) if codes is not None and codes[1] <= codes[2] else None,
        members=_members(text),
    )


def _members(text: str) -> tuple[str, ...]:
    """`{a, b}` as hierarchies by order write it, with or without the number that tells equal names apart."""
    inside = re.fullmatch(r"\{(.*)\}(?: \(\d+\))*", text, re.DOTALL)
    return tuple(inside[1].split(", ")) if inside else ()


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _numbers(text: str) -> Span | None:
    if not any(mark.isdecimal() for mark in text):
        return None
    point = _POINT.fullmatch(text)
    if point is not None:
        return Span(_number(point[1]), _number(point[1]))
    return _band(text) or _half_line(text)


def _band(text: str) -> Span | None:
    band = _BAND.fullmatch(text)
    if band is None:
        return None
    low, high = _number(band[2]), _number(band[3])
    return Span(low, high, band[1] not in ("(", "]"), band[4] not in (")", "[")) if low <= high else None


def _half_line(text: str) -> Span | None:
    before, after = _BEFORE.fullmatch(text), _AFTER.fullmatch(text)
    if before is not None:
        word, number = before[1].casefold().split()[0], _number(before[2])
        inside = word not in _STRICT
        return Span(-inf, number, True, inside) if word in _LOWER else Span(number, inf, inside)
    if after is not None:
        number, down = _number(after[1]), after[2].casefold().endswith(("menos", "less", "under"))
        return Span(-inf, number) if down else Span(number, inf)
    return None


def _days(text: str) -> Span | None:
    if not text[:1].isdecimal():
        return None
    return _day_span(text) or _period(text) or _years(text)


def _day_span(text: str) -> Span | None:
    day, compact = _DAY.fullmatch(text), _COMPACT_DAY.fullmatch(text)
    if compact is not None:
        return _calendar(int(compact[1]), int(compact[2]), int(compact[3]))
    if day is None:
        return None
    if day[1] is not None:
        return _calendar(int(day[1]), int(day[2]), int(day[3]))
    # Day first, as the region writes it; month first only where it cannot be otherwise.
    first, second, year = int(day[4]), int(day[5]), int(day[6])
    return _calendar(year, second, first) if second <= 12 else _calendar(year, first, second)


def _calendar(year: int, month: int, day: int) -> Span | None:
    try:
        ordinal = date(year, month, day).toordinal()
    except ValueError:
        return None
    return Span(ordinal, ordinal)


def _months(year: int, first: int, last: int) -> Span | None:
    if not (1 <= year <= 9999 and 1 <= first <= last <= 12):
        return None
    return Span(date(year, first, 1).toordinal(), date(year, last, monthrange(year, last)[1]).toordinal())


def _period(text: str) -> Span | None:
    """A month, a quarter, a semester or a week; marks other than those of weeks and semesters name quarters."""
    match = _PERIOD.fullmatch(text)
    if match is None:
        return None
    if match[1] is not None:
        return _months(int(match[1]), int(match[2]), int(match[2]))
    year, mark, number = int(match[3]), match[4].casefold(), int(match[5])
    if mark == "w" or len(match[5]) == 2:
        return _week(year, number)
    width = 6 if mark.startswith(("s", "h")) else 3
    return _months(year, width * (number - 1) + 1, width * number)


def _week(year: int, number: int) -> Span | None:
    try:
        first = date.fromisocalendar(year, number, 1).toordinal()
    except ValueError:
        return None
    return Span(first, first + 6)


def _years(text: str) -> Span | None:
    match = _YEARS.fullmatch(text)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return Span(date(first, 1, 1).toordinal(), date(last, 12, 31).toordinal()) if first <= last else None


def finer_than_a_year(meaning: Meaning) -> bool:
    """Whether a text is a date or a period within a year: what makes a column one of dates."""
    return meaning.days is not None and meaning.days.high - meaning.days.low < 365 and not meaning.text.isdigit()


def compact_day(meaning: Meaning) -> bool:
    """Whether a text is a date without marks, which is also a number of eight digits."""
    return meaning.days is not None and len(meaning.text) == 8 and meaning.text.isdigit()
