"""What a masked cell may be predicted from: the other columns, the prefixes of codes, the parts of dates.

Knows labels. Ignores what they mean. A prefix says more than the whole: a region follows from the first two digits of a
comuna also where that comuna was never seen with its region.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from celosia.attacks.attack_input import Codes, Flags, View

_LONGEST_PREFIX = 4
_CODE = re.compile(r"[0-9A-Z]+\**")
_LONGEST_CODE = 9
_NOTHING = ""
_DATE = re.compile(r"(\d{4})-(\d{2})-\d{2}")


@dataclass(frozen=True, slots=True)
class Predictor:
    """One or more published columns read as groups of rows; -1 where the row says nothing."""

    name: str
    columns: tuple[str, ...]
    groups: Codes
    size: int


def single_predictors(view: View, target: int) -> Iterator[Predictor]:
    """Every other column, whole and in parts, as a predictor of the target column."""
    for column, name in enumerate(view.names):
        if column != target:
            yield from _column_predictors(view, column, name)


def _column_predictors(view: View, column: int, name: str) -> Iterator[Predictor]:
    labels = view.labels[column]
    # A partly masked code like `053**` still tells the region.
    readable = np.array([bool(label.strip("* ")) for label in labels], np.bool_)
    codes = np.where(readable[view.codes[:, column]], view.codes[:, column], -1)
    yield Predictor(name, (name,), codes, len(labels))
    visible = [label for label in labels if label.strip("* ")]
    for part, texts in _label_parts(labels, visible):
        yield _part_predictor(name, part, codes, texts)


def _label_parts(labels: tuple[str, ...], visible: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Shorter readings of every label, where all are codes of one length or dates; nothing where masked."""
    if not visible:
        return
    if all(_DATE.fullmatch(label) for label in visible):
        yield "[:4]", [label[:4] for label in labels]
        yield "[5:7]", [label[5:7] for label in labels]
    elif _have_one_length(visible) and all(_CODE.fullmatch(label) for label in visible):
        for length in range(1, min(_LONGEST_PREFIX, len(visible[0]) - 1) + 1):
            yield f"[:{length}]", [_NOTHING if "*" in label[:length] else label[:length] for label in labels]


def _have_one_length(visible: list[str]) -> bool:
    return len({len(label) for label in visible}) == 1 and 2 <= len(visible[0]) <= _LONGEST_CODE


def _part_predictor(name: str, part: str, codes: Codes, texts: list[str]) -> Predictor:
    distinct, group_of = np.unique(np.array(texts, object), return_inverse=True)
    says = np.array([text != _NOTHING for text in texts], np.bool_)
    return Predictor(name + part, (name,), np.where((codes >= 0) & says[codes], group_of[codes], -1), len(distinct))


def predictor_pairs(view: View, target: int, most: int) -> Iterator[Predictor]:
    """Two columns together, those with few labels first, at most so many pairs."""
    others = [column for column in range(len(view.names)) if column != target]
    columns = sorted(others, key=lambda column: len(view.labels[column]))
    combos = [(first, second) for position, second in enumerate(columns) for first in columns[:position]][:most]
    for first, second in combos:
        known: Flags = view.readable[first] & view.readable[second]
        together = view.codes[:, first] * len(view.labels[second]) + view.codes[:, second]
        _, groups = np.unique(together, return_inverse=True)
        names = (view.names[first], view.names[second])
        yield Predictor(" + ".join(names), names, np.where(known, groups, -1), int(groups.max(initial=-1)) + 1)
