"""Which original values may stand behind which published labels, as a sparse matrix labels × values.

Knows hierarchies (level maps: label ↔ values) and, for the rest, the text of labels (`_label_meaning`). Ignores
rows. Both sides are read alike, so two generalised columns are compared as well: `30 a 39` may be `35 a 44`. Only
asterisks may be anything. A missing value is itself, unless `blanks` says that an empty cell tells nothing. Compatible
means *possible*: where a text can be read in two ways, both count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks.label_meaning import Meaning, Span, compact_day, finer_than_a_year, meaning_of
from celosia.hierarchy.model import CompiledHierarchy, Hierarchy
from celosia.model.values import MISSING, is_masked

AnyHierarchy = Hierarchy | CompiledHierarchy
Longs = NDArray[np.int64]
Pairs = tuple[Longs, Longs]  # labels and values that go together

_NONE = np.empty(0, np.int64)
_DATED = 0.5  # share of texts that must be dates for a column to be read as one


def compatible(
    labels: Sequence[str],
    values: Sequence[str],
    hierarchy: AnyHierarchy | None = None,
    *,
    tolerance: float = 0.0,
    blanks: Collection[str] = (),
) -> sparse.csr_array:
    """True where a published label may stand for a value; `tolerance` widens numbers at both ends.

    `blanks` are the texts that tell nothing on either side (the empty one, unknown codes): they go with everything.
    """
    anything = _uninformative_pairs(labels, values, frozenset(blanks))
    if hierarchy is None:
        return _matrix([*anything, *_pairs_by_text(labels, values, tolerance)], len(labels), len(values))
    known_label, known_value, pairs = _pairs_by_hierarchy(labels, values, hierarchy)
    texts = _pairs_by_text_among(labels, values, ~known_label, np.ones(len(values), bool), tolerance)
    others = _pairs_by_text_among(labels, values, known_label, ~known_value, tolerance)
    near = _pairs_by_text(labels, values, tolerance) if tolerance else []
    return _matrix([*anything, pairs, *texts, *others, *near], len(labels), len(values))


def _matrix(pairs: Iterable[Pairs], n_rows: int, n_columns: int) -> sparse.csr_array:
    rows_of_pairs, columns_of_pairs = zip(*pairs, strict=True)
    row, column = np.concatenate(rows_of_pairs), np.concatenate(columns_of_pairs)
    keys = np.unique(row * max(n_columns, 1) + column)
    row, column = keys // max(n_columns, 1), keys % max(n_columns, 1)
    starts = np.searchsorted(row, np.arange(n_rows + 1))
    return sparse.csr_array((np.ones(len(keys), bool), column, starts), shape=(n_rows, n_columns))


def _product(some: Longs, others: Longs) -> Pairs:
    return np.repeat(some, len(others)), np.tile(others, len(some))


def _uninformative_pairs(labels: Sequence[str], values: Sequence[str], blanks: frozenset[str]) -> list[Pairs]:
    """Labels or values made only of asterisks, or without information, are compatible with everything."""
    open_labels = _where(labels, lambda text: text in blanks or _is_open(text))
    open_values = _where(values, lambda text: text in blanks or _is_open(text))
    return [_product(open_labels, np.arange(len(values))), _product(np.arange(len(labels)), open_values)]


def _is_open(text: str) -> bool:
    # The first character spares most texts the regular expression.
    return text[:1] == "*" and is_masked(text)


def _where(texts: Sequence[str], test: Callable[[str], bool]) -> Longs:
    return np.asarray([row for row, text in enumerate(texts) if test(text)], np.int64)


# --- by hierarchy ---------------------------------------------------------------------------------------


def _pairs_by_hierarchy(
    labels: Sequence[str], values: Sequence[str], hierarchy: AnyHierarchy
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Pairs]:
    """Which labels and values the hierarchy holds, and the pairs that share a leaf."""
    over, under = _leaves_of(labels, hierarchy), _leaves_of(values, hierarchy)
    shared = (over @ under.T).tocoo()
    known = tuple(np.asarray(side.sum(axis=1)).reshape(-1) > 0 for side in (over, under))
    return known[0], known[1], (shared.row.astype(np.int64), shared.col.astype(np.int64))


def _leaves_of(texts: Sequence[str], hierarchy: AnyHierarchy) -> sparse.csr_array:
    """Texts × leaves: the leaves that become the text at some level; only asterisks: see `_uninformative_pairs`."""
    row_by_text = {text: row for row, text in enumerate(texts) if not _is_open(text)}
    rows, columns = [_NONE], [_NONE]
    for names, codes in zip(hierarchy.labels, hierarchy.maps, strict=True):
        row_of = np.asarray([row_by_text.get(name, -1) for name in names], np.int64)
        row = row_of[codes] if len(codes) else _NONE
        rows.append(row[row >= 0])
        columns.append(np.flatnonzero(row >= 0))
    shape = (len(texts), len(hierarchy.labels[0]))
    row, column = np.concatenate(rows), np.concatenate(columns)
    return sparse.csr_array((np.ones(len(row), np.int32), (row, column)), shape=shape)


# --- by text --------------------------------------------------------------------------------------------


def _pairs_by_text_among(
    labels: Sequence[str], values: Sequence[str], some: NDArray[np.bool_], others: NDArray[np.bool_], tolerance: float
) -> list[Pairs]:
    """The pairs by text of a part of the labels and a part of the values."""
    row, column = np.flatnonzero(some), np.flatnonzero(others)
    if not len(row) or not len(column):
        return []
    pairs = _pairs_by_text([labels[i] for i in row.tolist()], [values[i] for i in column.tolist()], tolerance)
    return [(row[pair_rows], column[pair_columns]) for pair_rows, pair_columns in pairs]


def _pairs_by_text(labels: Sequence[str], values: Sequence[str], tolerance: float) -> list[Pairs]:
    """Pairs by what the texts say; a label for the rest takes the values that no other label goes with."""
    if not tolerance and _are_codes([*labels, *values]):
        return [_equal(labels, values)]
    over, under = [meaning_of(label) for label in labels], [meaning_of(value) for value in values]
    if _mostly_dates(over) or _mostly_dates(under):
        spans = _overlaps(_spans([meaning.days for meaning in over]), _spans([meaning.days for meaning in under]))
    else:
        spans = _pairs_by_number(over, under, tolerance)
    pairs = [
        _equal(labels, values),
        spans,
        _mask_pairs(over, under),
        _mask_pairs(under, over)[::-1],
        _masked_pairs(over, under),
        _member_pairs(over, under),
        _member_pairs(under, over)[::-1],
        _pairs_by_code(over, under),
    ]
    rest = np.asarray([row for row, meaning in enumerate(over) if meaning.rest], np.int64)
    if not len(rest):
        return pairs
    free = np.ones(len(values), bool)
    for _, taken in pairs:
        free[taken] = False
    plain = np.asarray([not (meaning.anything or meaning.text == MISSING) for meaning in under], bool)
    return [*pairs, _product(rest, np.flatnonzero(free & plain))]


def _are_codes(texts: Sequence[str]) -> bool:
    """Whether all texts are digits that mean the same only when they are the same: no reading is needed.

    So of one length, or without zeros in front; eight digits among others may be a date.
    """
    plain = [text for text in texts if text != MISSING and not _is_open(text)]
    widths = set(map(len, plain))
    digits = all(text.isascii() and text.isdigit() for text in plain)
    return digits and (len(widths) <= 1 or (8 not in widths and not any(t[0] == "0" and t != "0" for t in plain)))


def _equal(labels: Sequence[str], values: Sequence[str]) -> Pairs:
    column_of = {value: column for column, value in enumerate(values)}
    pairs = [(row, column_of[label]) for row, label in enumerate(labels) if label in column_of]
    return _pair_arrays(pairs)


def _pair_arrays(pairs: Sequence[tuple[int, int]]) -> Pairs:
    table = np.asarray(pairs, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


# --- numbers and dates ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Spans:
    """Spans of some texts, as arrays, and the positions of those texts."""

    row: Longs
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    low_closed: NDArray[np.bool_]
    high_closed: NDArray[np.bool_]

    def select(self, selection: NDArray[np.bool_]) -> _Spans:
        return _Spans(*(getattr(self, field)[selection] for field in self.__slots__))

    @property
    def wide(self) -> NDArray[np.bool_]:
        return self.low < self.high


def _spans(spans: Sequence[Span | None]) -> _Spans:
    rows = [row for row, span in enumerate(spans) if span is not None]
    present = [span for span in spans if span is not None]
    low, high = np.asarray([(span.low, span.high) for span in present], np.float64).reshape(-1, 2).T
    low_closed, high_closed = np.asarray([(s.low_closed, s.high_closed) for s in present], bool).reshape(-1, 2).T
    return _Spans(np.asarray(rows, np.int64), low, high, low_closed, high_closed)


def _mostly_dates(meanings: Sequence[Meaning]) -> bool:
    """Whether most texts are dates or periods within a year."""
    readable = [meaning for meaning in meanings if not (meaning.anything or meaning.masked or meaning.text == MISSING)]
    days = sum(finer_than_a_year(meaning) or compact_day(meaning) for meaning in readable)
    return days > 0 and days >= _DATED * len(readable)


def _pairs_by_number(over: Sequence[Meaning], under: Sequence[Meaning], tolerance: float) -> Pairs:
    """Numbers inside intervals; a number as written means itself where the other side has the same text.

    So `5302` of a damaged file finds `05302`, and `007` is not `7` in a file that holds both.
    """
    some, others = _spans(_half_open(over)), _spans(_half_open(under))
    if tolerance:
        return _overlaps(_widen(some, tolerance), others)
    here, there = {meaning.text for meaning in over}, {meaning.text for meaning in under}
    alone_here = np.asarray([over[row].text in there for row in some.row], bool) & ~some.wide
    alone_there = np.asarray([under[row].text in here for row in others.row], bool) & ~others.wide
    wide = _overlaps(some.select(some.wide), others)
    banded = _overlaps(some.select(~some.wide), others.select(others.wide))
    points = _overlaps(some.select(~some.wide & ~alone_here), others.select(~others.wide & ~alone_there))
    return np.concatenate([wide[0], banded[0], points[0]]), np.concatenate([wide[1], banded[1], points[1]])


def _half_open(meanings: Sequence[Meaning]) -> list[Span | None]:
    """The upper end of a band lies outside where another label begins there: 100-500 beside 500-1000."""
    spans = [meaning.numbers for meaning in meanings]
    begins = {span.low for span in spans if span is not None and span.wide and span.low_closed}
    return [
        replace(span, high_closed=False) if span is not None and span.wide and span.high in begins else span
        for span in spans
    ]


def _widen(spans: _Spans, tolerance: float) -> _Spans:
    closed = np.ones(len(spans.row), bool)
    return _Spans(spans.row, spans.low - tolerance, spans.high + tolerance, closed, closed)


def _overlaps(some: _Spans, others: _Spans) -> Pairs:
    """Pairs of spans that share a point: points by searching a sorted list, the few wide ones one by one."""
    points, bands = others.select(~others.wide), others.select(others.wide)
    order = np.argsort(points.low, kind="stable")
    line = points.low[order]
    first = _search(line, some.low, some.low_closed)
    last = _search(line, some.high, ~some.high_closed)
    count = np.maximum(last - first, 0)
    row = np.repeat(some.row, count)
    inside = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    column = points.row[order[np.repeat(first, count) + inside]] if len(row) else _NONE
    rows, columns = [row], [column]
    for band in range(len(bands.row)):
        touched = some.row[_overlaps_band(some, bands, band)]
        rows.append(touched)
        columns.append(np.full(len(touched), bands.row[band], np.int64))
    return np.concatenate(rows), np.concatenate(columns)


def _search(line: NDArray[np.float64], ends: NDArray[np.float64], before: NDArray[np.bool_]) -> Longs:
    left, right = np.searchsorted(line, ends, "left"), np.searchsorted(line, ends, "right")
    return np.where(before, left, right).astype(np.int64)


def _overlaps_band(some: _Spans, bands: _Spans, band: int) -> NDArray[np.bool_]:
    low, high = bands.low[band], bands.high[band]
    above = (some.high > low) | ((some.high == low) & some.high_closed & bands.low_closed[band])
    below = (some.low < high) | ((some.low == high) & some.low_closed & bands.high_closed[band])
    return np.asarray(above & below, bool)


# --- masks, sets and ranges of codes --------------------------------------------------------------------


def _mask_pairs(masked: Sequence[Meaning], plain: Sequence[Meaning]) -> Pairs:
    """Partly masked texts against whole ones: equal characters at the visible places, digits completed with zeros."""
    by_shape: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for row, meaning in enumerate(masked):
        if meaning.masked:
            text = meaning.text
            by_shape.setdefault((len(text), tuple(i for i, c in enumerate(text) if c != "*")), []).append(row)
    whole = [(column, meaning.text) for column, meaning in enumerate(plain) if _is_whole(meaning)]
    matches: list[tuple[int, int]] = []
    for (width, visible_positions), rows in by_shape.items():
        holders: dict[str, list[int]] = {}
        for column, text in whole:
            full = text.zfill(width) if len(text) < width and text.isascii() and text.isdigit() else text
            if len(full) == width:
                holders.setdefault("".join([full[i] for i in visible_positions]), []).append(column)
        for row in rows:
            visible = "".join([masked[row].text[i] for i in visible_positions])
            matches += [(row, column) for column in holders.get(visible, ())]
    return _pair_arrays(matches + _prefixes(masked, whole, {row for row, _ in matches}))


def _is_whole(meaning: Meaning) -> bool:
    return not (meaning.masked or meaning.anything or meaning.text == MISSING)


def _prefixes(
    masked: Sequence[Meaning], whole: Sequence[tuple[int, str]], settled: Collection[int]
) -> list[tuple[int, int]]:
    """`K3*` written by hand, where no value has that length: any value that begins so."""
    ordered = sorted((text, column) for column, text in whole)
    texts = [text for text, _ in ordered]
    matches: list[tuple[int, int]] = []
    for row, meaning in enumerate(masked):
        prefix = meaning.text.rstrip("*")
        if not meaning.masked or row in settled or not prefix or "*" in prefix:
            continue
        position = bisect_left(texts, prefix)
        while position < len(texts) and texts[position].startswith(prefix):
            matches.append((row, ordered[position][1]))
            position += 1
    return matches


def _masked_pairs(over: Sequence[Meaning], under: Sequence[Meaning]) -> Pairs:
    """Two masked texts of one length that no visible place contradicts."""
    by_width: dict[int, list[tuple[int, str]]] = {}
    for column, meaning in enumerate(under):
        if meaning.masked:
            by_width.setdefault(len(meaning.text), []).append((column, meaning.text))
    matches = [
        (row, column)
        for row, meaning in enumerate(over)
        if meaning.masked
        for column, text in by_width.get(len(meaning.text), ())
        if all(a == b or "*" in (a, b) for a, b in zip(meaning.text, text, strict=True))
    ]
    return _pair_arrays(matches)


def _member_pairs(sets: Sequence[Meaning], texts: Sequence[Meaning]) -> Pairs:
    """Sets against texts, and sets that share a member."""
    if not any(meaning.members for meaning in sets):
        return _NONE, _NONE
    holders: dict[str, list[int]] = {}
    for column, meaning in enumerate(texts):
        for text in meaning.members or (meaning.text,):
            holders.setdefault(text, []).append(column)
    matches = [
        (row, column)
        for row, meaning in enumerate(sets)
        for member in meaning.members
        for column in holders.get(member, ())
    ]
    return _pair_arrays(matches)


def _pairs_by_code(over: Sequence[Meaning], under: Sequence[Meaning]) -> Pairs:
    """Ranges of three-character categories (`I00-I99`, ICD-10) against codes and other ranges."""
    if not any(meaning.codes for meaning in (*over, *under)):
        return _NONE, _NONE
    some = [(row, span) for row, meaning in enumerate(over) if (span := _category(meaning)) is not None]
    others = [(column, span) for column, meaning in enumerate(under) if (span := _category(meaning)) is not None]
    matches = []
    for row, (low, high) in some:
        ranged = over[row].codes is not None
        matches += [
            (row, column)
            for column, (first, last) in others
            if (ranged or under[column].codes is not None) and low <= last and first <= high
        ]
    return _pair_arrays(matches)


def _category(meaning: Meaning) -> tuple[str, str] | None:
    if meaning.codes is not None:
        return meaning.codes
    text = meaning.text.strip().upper()
    shaped = len(text) >= 3 and text[0].isalpha() and text[1:3].isdigit() and not meaning.masked
    return (text[:3], text[:3]) if shaped else None
