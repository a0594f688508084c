"""Delimiter, quote and decimal mark of delimited text, judged on its first records.

Knows how regularly a sample splits. Ignores encodings and what the columns mean.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import islice

from celosia.data.sniffing._records import Record, records

DELIMITERS = (",", ";", "\t", "|")
_ENOUGH = 1000
_COMMA = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})*,\d+|[+-]?\d+,\d+")
_POINT = re.compile(r"[+-]?\d{1,3}(?:,\d{3})*\.\d+|[+-]?\d+\.\d+")


def first_records(text: str, delimiter: str, quote: str, whole: bool) -> list[Record]:
    """The first records of a sample; the last one is left out when the sample may have cut it."""
    first = list(islice(records(io.StringIO(text, newline=""), delimiter, quote), _ENOUGH))
    cut = not whole and len(first) < _ENOUGH and len(first) > 1
    return first[:-1] if cut else first


def guess_delimiter(text: str, quote: str, whole: bool) -> str:
    """The delimiter that splits the records most regularly; the wider split when two do equally well."""
    scores = [(_regularity(text, mark, quote, whole), mark) for mark in DELIMITERS]
    (share, width), best = max(scores, key=lambda scored: scored[0])
    if width > 1 and share > 0:
        return best
    return next((mark for mark in DELIMITERS if mark not in text), DELIMITERS[0])


def _regularity(text: str, delimiter: str, quote: str, whole: bool) -> tuple[float, int]:
    """Share of the records as wide as the first one, and that width."""
    widths = [len(record.fields) for record in first_records(text, delimiter, quote, whole)]
    if not widths or widths[0] < 2:
        return 0.0, 1
    return widths.count(widths[0]) / len(widths), widths[0]


def guess_quote(text: str) -> str:
    """The double quote, unless only apostrophes stand at the borders of fields."""
    borders = re.compile(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|]|\r?$)", re.MULTILINE)
    return "'" if '"' not in text and len(borders.findall(text)) > 2 else '"'


def count_decimals(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Cells that are numbers with a decimal comma, and with a decimal point."""
    cells = [cell.strip() for row in rows for cell in row]
    comma = sum(1 for cell in cells if _COMMA.fullmatch(cell))
    point = sum(1 for cell in cells if _POINT.fullmatch(cell))
    return comma, point


def guess_decimal(rows: Sequence[Sequence[str]]) -> str:
    """The decimal mark most numbers use."""
    comma, point = count_decimals(rows)
    return "," if comma > point else "."
