"""Whether the first line of a table names its columns or is already a person's row.

Knows the looks of numbers, dates, national ids and addresses. Ignores what a column is for.
A row taken for a header would put somebody's data into column names, which are shown freely; so the first
line is a header only when something speaks for it and nothing against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from celosia.data.sniffing._records import Record

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
_IDENTIFIER = re.compile(r"[^\W\d]\w*_\w*|[a-záéíóúñü]+[A-ZÁÉÍÓÚÑ]\w*")
_WORDS = re.compile(
    r"\b(id|rut|run|dni|cedula|documento|pasaporte|nombre|nombres|apellido|apellidos|name|sexo|sex|genero|gender|edad"
    r"|age|fecha|date|ano|anio|mes|dia|year|month|comuna|municipio|provincia|departamento|distrito|pais|country"
    r"|codigo|code|cod|nacionalidad|ocupacion|estado|tipo|diagnostico|causa|glosa|establecimiento|prevision|telefono"
    r"|phone|correo|email|direccion|address|valor|value|total|peso|grupo|etnia|educacion|ingreso|egreso|texto"
    r"|descripcion|observacion|clave|key|numero)\b"
)
_PLAIN = str.maketrans("áéíóúüñ", "aeiouun")


def looks_like_data(cell: str) -> bool:
    """Whether a cell could not be the name of a column: a number, date, id, e-mail…"""
    text = cell.strip()
    return bool(text) and any(pattern.fullmatch(text) for pattern in _DATA)


def guess_header(found: Sequence[Record]) -> tuple[bool, bool]:
    """Whether the first record is a header, and whether that is more than a safe default."""
    first = found[0].fields
    if any(looks_like_data(cell) for cell in first):
        return False, True
    columns = [_below(found, position) for position in range(len(first))]
    if any(cell.strip() and cell in column for cell, column in zip(first, columns, strict=True)):
        return False, True
    if any(_mostly_data(column) for column in columns) or _speaks_like_a_header(first):
        return True, True
    return False, False


def _below(found: Sequence[Record], position: int) -> list[str]:
    return [record.fields[position] for record in found[1:] if position < len(record.fields)]


def _mostly_data(column: Sequence[str]) -> bool:
    filled = [cell for cell in column if cell.strip()]
    return bool(filled) and 2 * sum(map(looks_like_data, filled)) > len(filled)


def _speaks_like_a_header(first: Sequence[str]) -> bool:
    filled = [cell.strip() for cell in first if cell.strip()]
    speaking = sum(1 for cell in filled if _IDENTIFIER.fullmatch(cell) or _known_words(cell))
    return bool(filled) and 2 * speaking >= len(filled)


def _known_words(cell: str) -> bool:
    return _WORDS.search(cell.lower().translate(_PLAIN)) is not None
