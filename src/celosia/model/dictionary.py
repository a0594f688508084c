"""The annotated dictionary as a file: one line per variable, in the user's language.

Knows the text of `dictionary.csv` and its words in both languages; a reader accepts either. Ignores folders.
The first cell names the format. Sources: MINSAL Planificación 2; MEL protocol IV.2 (two added columns).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache, partial
from typing import Any

from celosia import messages
from celosia.model.errors import (
    DictionaryColumnMissing,
    DictionaryDisagrees,
    DictionaryRepeats,
    DictionaryWordUnknown,
    UnknownFormat,
)
from celosia.model.variables import Kind, MelLabel, Role, Scale, Traits, Treatment, Variable

FORMAT = "celosia/dictionary/1"
COLUMNS = tuple(
    "name label role strong scale kind replicable distinguishable knowable mel_label special purpose treatment"
    " missing unknown value_labels evidence".split()
)
_ENUMS: dict[str, type[StrEnum]] = {"role": Role, "scale": Scale, "kind": Kind}
_ENUMS |= {"mel_label": MelLabel, "treatment": Treatment}
_NAME_WORDS = ("variable", "nombre", "nombre variable", "nombre de la variable", "name", "campo", "columna", "field")
_LABEL_WORDS = ("etiqueta", "descripcion", "descripción", "label", "description", "definicion", "definición")
_ANSWERS = {"yes": True, "no": False}
_TRAITS = ("replicable", "distinguishable", "knowable")


def rows_of(variables: Iterable[Variable]) -> list[list[str]]:
    """The dictionary as rows of cells: format, header in the current language, one row per variable."""
    header = [messages.text(f"dictionary.column.{column}") for column in COLUMNS]
    return [[FORMAT], header, *[[_cell(variable, column) for column in COLUMNS] for variable in variables]]


def variables_of(rows: Sequence[Sequence[str]], place: str) -> tuple[Variable, ...]:
    """The variables a dictionary's rows describe; `place` names the file in errors."""
    format_name = rows[0][0].strip() if rows and rows[0] else ""
    if format_name != FORMAT:
        raise UnknownFormat(
            path=place, found=format_name[:40] if format_name.startswith("celosia/") else "?", expected=FORMAT
        )
    if len(rows) < 2:
        raise DictionaryColumnMissing(path=place, column=messages.text("dictionary.column.name"))
    positions = _positions(rows[1], place)
    filled = [(line, row) for line, row in enumerate(rows[2:], start=3) if any(cell.strip() for cell in row)]
    variables = tuple(_variable(row, positions, place, line) for line, row in filled)
    _refuse_repeats(variables, place)
    return variables


def dump(variables: Iterable[Variable]) -> str:
    """Text of dictionary.csv."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows_of(variables))
    return buffer.getvalue()


def load(content: str, place: str) -> tuple[Variable, ...]:
    """Variables from the text of dictionary.csv; `;` is accepted since spreadsheets write it."""
    body = content.removeprefix("\ufeff")
    header = body.split("\n", 2)[1] if body.count("\n") else ""
    delimiter = ";" if header.count(";") > header.count(",") else ","
    return variables_of(list(csv.reader(io.StringIO(body), delimiter=delimiter)), place)


def labels_of(rows: Sequence[Sequence[str]], place: str) -> dict[str, str]:
    """Name and label of each variable in a dictionary of ours or of anybody's: a header with both is enough."""
    if rows and rows[0] and rows[0][0].strip() == FORMAT:
        return {variable.name: variable.label for variable in variables_of(rows, place)}
    header = [_normalise(cell) for cell in rows[0]] if rows else []
    name = next((i for i, word in enumerate(header) if word in _NAME_WORDS), None)
    if name is None:
        raise DictionaryColumnMissing(path=place, column=messages.text("dictionary.column.name"))
    label = next((i for i, word in enumerate(header) if word in _LABEL_WORDS), name)
    filled = [row for row in rows[1:] if len(row) > name and row[name].strip()]
    return {row[name].strip(): row[label].strip() if len(row) > label else "" for row in filled}


def refuse_disagreement(variables: Iterable[Variable], columns: Sequence[str], place: str) -> None:
    """Demand that dictionary and table name the same columns (M08, P01)."""
    described = [variable.name for variable in variables]
    absent = [name for name in columns if name not in set(described)]
    unknown = [name for name in described if name not in set(columns)]
    if absent or unknown:
        raise DictionaryDisagrees(path=place, absent=_joined_names(absent), unknown=_joined_names(unknown))


def without_role(variables: Iterable[Variable]) -> tuple[str, ...]:
    """Variables nobody gave a role: none may pass (M01)."""
    return tuple(variable.name for variable in variables if variable.role is None)


def publishable_variables(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    """Variables that may be published: a stated purpose, and neither identifier nor proposed for removal (M06)."""
    return tuple(
        variable
        for variable in variables
        if variable.purpose.strip() and variable.role != Role.IDENTIFIER and variable.treatment != Treatment.REMOVE
    )


def combined_quasi(variables: Iterable[Variable]) -> tuple[str, ...]:
    """The quasi-identifiers that are combined to look for somebody: those proposed for removal are not published."""
    return tuple(v.name for v in variables if v.role == Role.QUASI and v.treatment != Treatment.REMOVE)


def uncombined_quasi(variables: Iterable[Variable]) -> tuple[str, ...]:
    """The quasi-identifiers that no combination holds, because they are to be removed."""
    return tuple(v.name for v in variables if v.role == Role.QUASI and v.treatment == Treatment.REMOVE)


def _joined_names(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "–"


def _cell(variable: Variable, column: str) -> str:
    if column in _TRAITS:
        return _answer(getattr(variable.traits, column))
    value = getattr(variable, column)
    if column == "value_labels":
        return "|".join(f"{_escape(code)}={_escape(label)}" for code, label in value)
    if isinstance(value, tuple):
        return "|".join(_escape(text) for text in value)
    if isinstance(value, bool):
        return _answer(value)
    if value is None:
        return ""
    return messages.text(f"dictionary.{column}.{value.value}") if column in _ENUMS else str(value)


def _answer(value: bool | None) -> str:
    return "" if value is None else messages.text(f"dictionary.answer.{'yes' if value else 'no'}")


def _escape(text: str) -> str:
    return re.sub(r"([\\|=])", r"\\\1", text)


def _split(text: str, mark: str) -> list[str]:
    """Parts between unescaped marks, still escaped."""
    return re.findall(rf"(?:\\.|[^\\{mark}])+", text) if text else []


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


@cache
def _words(group: str) -> Mapping[str, str]:
    """Every accepted word of a group, in both languages, to its own id."""
    words: dict[str, str] = {}
    for code in messages.LANGUAGES:
        for key, word in messages.section(code, "dictionary").items():
            if key.startswith(f"{group}."):
                words[_normalise(word)] = words[key.removeprefix(f"{group}.")] = key.removeprefix(f"{group}.")
    return words


def _normalise(word: str) -> str:
    return " ".join(word.strip().lower().replace("í", "i").split())


def _positions(header: Sequence[str], place: str) -> dict[str, int]:
    words = _words("column")
    positions = {words[_normalise(cell)]: i for i, cell in enumerate(header) if _normalise(cell) in words}
    for column in ("name", "role"):
        if column not in positions:
            raise DictionaryColumnMissing(path=place, column=messages.text(f"dictionary.column.{column}"))
    return positions


def _variable(row: Sequence[str], positions: Mapping[str, int], place: str, line: int) -> Variable:
    values: dict[str, Any] = {}
    for column, i in positions.items():
        text = row[i].strip() if i < len(row) else ""
        values[column] = _parse_cell(column, text, partial(_unknown_word, place, line, column))
    traits = Traits(**{trait: values.pop(trait, None) for trait in _TRAITS})
    return Variable(**values, traits=traits)


def _parse_cell(column: str, text: str, refuse: Callable[[str], DictionaryWordUnknown]) -> Any:
    """What a cell says, in the type of its column."""
    if column in _ENUMS:
        word = _word(column, text, refuse)
        return _ENUMS[column](word) if word else None
    if column in (*_TRAITS, "strong", "special"):
        word = _word("answer", text, refuse)
        return _ANSWERS[word] if word else (None if column in _TRAITS else False)
    if column == "value_labels":
        pairs = [[_unescape(part) for part in _split(pair, "=")] for pair in _split(text, "|")]
        return tuple((pair[0], "=".join(pair[1:])) for pair in pairs)
    if column in ("missing", "unknown"):
        return tuple(_unescape(part) for part in _split(text, "|"))
    return text


def _word(group: str, text: str, refuse: Callable[[str], DictionaryWordUnknown]) -> str:
    if not text:
        return ""
    word = _words(group).get(_normalise(text))
    if word is None:
        raise refuse(group)
    return word


def _unknown_word(place: str, line: int, column: str, group: str) -> DictionaryWordUnknown:
    known = messages.section(messages.language(), "dictionary")
    allowed = [word for key, word in known.items() if key.startswith(f"{group}.")]
    return DictionaryWordUnknown(
        path=place, line=line, column=messages.text(f"dictionary.column.{column}"), allowed=", ".join(allowed)
    )


def _refuse_repeats(variables: Sequence[Variable], place: str) -> None:
    seen: set[str] = set()
    for variable in variables:
        if variable.name in seen:
            raise DictionaryRepeats(path=place, variable=variable.name)
        seen.add(variable.name)
