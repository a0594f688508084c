"""Whether the first line of a table names its columns or is already a person's row.

Knows the looks of numbers, dates, national ids and addresses, the words of headers (the suggester's) and frequent
names of people. Ignores what a column is for.
A row taken for a header would put somebody's data into column names, which are shown freely; so the first
line is a header only when something speaks for it and nothing against it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from celosia.data.sniffing._records import Record
from celosia.model.sources import Notice

if TYPE_CHECKING:
    from celosia.proposals.header import Vocabulary

_DATA = tuple(
    re.compile(pattern)
    for pattern in (
        r"[+-]?[\d.,\s]*\d[\d.,\s]*%?",  # a number, with or without marks
        r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?",  # a date
        r"\d{1,2}:\d{2}(:\d{2})?",  # a time
        r"[\d.]{1,12}-[\dkK]|\d{7,8}[kK]",  # RUN
        r"[^@\s]+@[^@\s]+\.[^@\s]+",  # e-mail
        r"\+?[\d\s()-]{7,}",  # phone
        r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{32,}",  # UUID, hash
        r"\*+",  # masked
    )
)
_PLAIN = str.maketrans("áéíóúüñ", "aeiouun")
_IDENTIFIER = re.compile(r"[^\W\d]\w*_\w*|[a-záéíóúñü]+[A-ZÁÉÍÓÚÑ]\w*")
_CAPITALS = re.compile(r"[A-ZÁÉÍÓÚÜÑ]+(?:[ _.][A-ZÁÉÍÓÚÜÑ]+)?")
_WORDS = frozenset(
    re.findall(
        r"\w+",
        """id rut run dni cedula documento pasaporte nombre nombres apellido apellidos name sexo sex genero gender edad
        age fecha date ano anio mes dia year month comuna municipio provincia departamento distrito pais country codigo
        code cod nacionalidad ocupacion estado tipo diagnostico causa glosa establecimiento prevision telefono phone
        correo email direccion address valor value total peso grupo etnia educacion ingreso egreso texto descripcion
        observacion clave key numero""",
    )
)
_JOINING = frozenset(re.findall(r"\w+", "de del la las el los y e en a al por para the of and"))
_NO_VALUE = frozenset(
    ("s/i", "n/a", "na", "nan", "null", "none", "-", ".", "?", "sin dato", "sin informacion", "ns/nr")
)
_SMALL_CHANCE = 0.01  # that a record holds only values which nobody below it holds


def looks_like_data(cell: str) -> bool:
    """Whether a cell could not be the name of a column: a number, date, id, e-mail…"""
    text = cell.strip()
    return bool(text) and any(pattern.fullmatch(text) for pattern in _DATA)


def guess_header(sample: Sequence[Record]) -> tuple[bool, bool]:
    """Whether the first record is a header, and whether that is beyond doubt."""
    first = [cell.strip() for cell in sample[0].fields]
    columns = [_cells_below(sample, position) for position in range(len(first))]
    under = list(zip(first, columns, strict=True))
    if any(map(looks_like_data, first)) or any(cell and cell in column for cell, column in under):
        return False, True
    filled = [cell for cell in first if cell]
    others = [cell for cell in filled if not _speaks(cell)]
    speaking = len(filled) - len(others)
    over_data = sum(_names_what_is_below(cell, column) for cell, column in under)
    if over_data < max(len(filled), 2) and _names_somebody(filled, others):
        return False, False
    if 2 * speaking > len(filled):
        return True, len(first) > 1 or _CAPITALS.fullmatch(filled[0]) is not None or filled[0].islower()
    if over_data:
        return True, True
    plain_words = not any(" " in cell or _name_words(cell) for cell in others)
    return bool(speaking and 2 * speaking == len(filled) and plain_words) or _has_distinct_head(filled, columns), False


def header_notices(header: bool, sure: bool) -> tuple[Notice, ...]:
    """What is said about a guess: nothing of a header beyond doubt, else how to overrule it."""
    if header:
        return () if sure else (Notice.of("header_likely"),)
    return (Notice.of("no_header" if sure else "header_uncertain"),)


def _cells_below(sample: Sequence[Record], position: int) -> list[str]:
    return [record.fields[position].strip() for record in sample[1:] if position < len(record.fields)]


def _names_what_is_below(cell: str, column: Sequence[str]) -> bool:
    """Whether a word stands over numbers, dates or ids; a sign for a missing value is no such word."""
    filled = [text for text in column if text]
    mostly_data = bool(filled) and 2 * sum(map(looks_like_data, filled)) > len(filled)
    return mostly_data and bool(cell) and cell.lower().translate(_PLAIN) not in _NO_VALUE


def _speaks(cell: str) -> bool:
    """Whether a cell reads as the name of a column: an identifier, or mostly words the suggester knows."""
    return _IDENTIFIER.fullmatch(cell) is not None or _is_known(cell)


def _is_known(cell: str) -> bool:
    """Whether most words of a cell are words of headers: «Nombre» alone, not a name that begins like it."""
    from celosia.proposals.judge import from_header, vocabulary  # only when needed: the suggester is large

    words = _words(cell)
    known = sum(word in _WORDS for word in words)
    if 2 * known > len(words) or not words:
        return bool(words)
    known = sum(word in _WORDS or (not _is_name(word) and _all_known(vocabulary(), word)) for word in words)
    return 2 * known > len(words) and from_header(cell) is not None


def _all_known(vocabulary: Vocabulary, word: str) -> bool:
    return all(map(vocabulary.knows, vocabulary.words(word)))


def _names_somebody(filled: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a cell is a person's full name, or a single word that is one where nothing speaks for a header."""
    if any(_is_full_name(cell) for cell in filled):
        return True
    return len(others) == len(filled) and any(_name_words(cell) for cell in others)


def _is_full_name(cell: str) -> bool:
    words = _words(cell)
    return len(words) > 1 and 2 * _name_words(cell) > len(words)


def _words(cell: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", cell.lower().translate(_PLAIN)) if word not in _JOINING]


def _name_words(cell: str) -> int:
    return sum(map(_is_name, _words(cell)))


def _is_name(word: str) -> bool:
    from celosia.proposals.names import frequent_names

    return word in frequent_names()


def _has_distinct_head(filled: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether capitals, each once, head columns whose values return so often that a record's would have returned.

    The chance that one more record brings a value nobody else has is about the share of values that occur once
    (Good 1953, The population frequencies of species).
    """
    if len(filled) != len(columns) or len(set(filled)) < len(filled):
        return False
    if not all(_CAPITALS.fullmatch(cell) for cell in filled):
        return False
    return prod(_chance_of_a_new_value(column) for column in columns) <= _SMALL_CHANCE


def _chance_of_a_new_value(column: Sequence[str]) -> float:
    once = sum(1 for count in Counter(column).values() if count == 1)
    return (once + 1) / (len(column) + 1)
