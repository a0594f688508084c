"""From what another cell of the row may be guessed: the other columns, the beginnings of codes, the parts of dates.

Knows labels. Ignores what they mean. A beginning says more than the whole: a region follows from the first two digits
of a comuna also where that comuna was never seen with its region.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from celosia.attacks._view import Codes, Flags, View

_LONGEST_PREFIX = 4
_CODE = re.compile(r"[0-9A-Z]+\**")
_LONGEST_CODE = 9
_NOTHING = ""
_DATE = re.compile(r"(\d{4})-(\d{2})-\d{2}")


@dataclass(frozen=True, slots=True)
class Leader:
    """One or more published columns read as groups of rows; -1 where the row says nothing."""

    name: str
    columns: tuple[str, ...]
    groups: Codes
    size: int


def leaders(view: View, target: int) -> Iterator[Leader]:
    """Everything in a row that may betray the cell of the target column."""
    for place, name in enumerate(view.names):
        if place != target:
            yield from _leaders_of(view, place, name)


def _leaders_of(view: View, place: int, name: str) -> Iterator[Leader]:
    labels = view.labels[place]
    speaks = np.array([bool(label.strip("* ")) for label in labels], np.bool_)  # `053**` still tells the region
    codes = np.where(speaks[view.codes[:, place]], view.codes[:, place], -1)
    yield Leader(name, (name,), codes, len(labels))
    shown = [label for label in labels if label.strip("* ")]
    for part, texts in _parts(labels, shown):
        yield _regrouped(name, part, codes, texts)


def _parts(labels: tuple[str, ...], shown: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Shorter readings of every label, where all are codes of one length or dates; nothing where masked."""
    if not shown:
        return
    if all(_DATE.fullmatch(label) for label in shown):
        yield "[:4]", [label[:4] for label in labels]
        yield "[5:7]", [label[5:7] for label in labels]
    elif _one_length(shown) and all(_CODE.fullmatch(label) for label in shown):
        for length in range(1, min(_LONGEST_PREFIX, len(shown[0]) - 1) + 1):
            yield f"[:{length}]", [_NOTHING if "*" in label[:length] else label[:length] for label in labels]


def _one_length(shown: list[str]) -> bool:
    return len({len(label) for label in shown}) == 1 and 2 <= len(shown[0]) <= _LONGEST_CODE


def _regrouped(name: str, part: str, codes: Codes, texts: list[str]) -> Leader:
    found = sorted(set(texts))
    number = {text: group for group, text in enumerate(found)}
    group_of = np.array([number[text] for text in texts], np.int64)
    says = np.array([text != _NOTHING for text in texts], np.bool_)
    return Leader(name + part, (name,), np.where((codes >= 0) & says[codes], group_of[codes], -1), len(found))


def pairs(view: View, target: int, most: int) -> Iterator[Leader]:
    """Two columns together, those with few labels first, at most so many pairs."""
    places = sorted((place for place in range(len(view.names)) if place != target), key=lambda p: len(view.labels[p]))
    combos = [(one, two) for position, two in enumerate(places) for one in places[:position]][:most]
    for one, two in combos:
        known: Flags = view.telling[one] & view.telling[two]
        together = view.codes[:, one] * len(view.labels[two]) + view.codes[:, two]
        _, groups = np.unique(together, return_inverse=True)
        names = (view.names[one], view.names[two])
        yield Leader(" + ".join(names), names, np.where(known, groups, -1), int(groups.max(initial=-1)) + 1)
