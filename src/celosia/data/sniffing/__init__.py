"""How a source should be read, guessed from its bytes; every guess is named and can be overruled.

Knows formats, encodings, delimiters, headers. Ignores roles and what the columns mean.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack, cast
from urllib.parse import parse_qs, urlsplit

from celosia import messages
from celosia.data.limits import refuse_width
from celosia.data.sniffing import _format
from celosia.data.sniffing._dialect import count_decimals, first_records, guess_decimal, guess_delimiter, guess_quote
from celosia.data.sniffing._encoding import Sample, destroyed_accents, guess_encoding, known_encoding, take_sample
from celosia.data.sniffing._format import FORMATS, format_of
from celosia.data.sniffing._header import guess_header, header_notices, looks_like_data
from celosia.data.sniffing._records import Record, records
from celosia.hierarchy.errors import EmptyFile, WrongEncoding
from celosia.model.sources import Notice, ReadingChoices
from celosia.model.value_errors import ValueOutOfRange

__all__ = [
    "FORMATS",
    "Overrides",
    "Record",
    "apply_overrides",
    "holds_password",
    "is_database_address",
    "looks_like_data",
    "records",
    "sniff",
]


class Overrides(TypedDict, total=False):
    """The choices a user may make by hand instead of leaving them to be guessed."""

    format: str
    encoding: str
    delimiter: str
    quote: str
    header: bool
    decimal: str
    sheet: str
    table: str
    drop: Sequence[str]
    rename_duplicates: bool


_FIELD_OF = {"drop": "dropped", "table": "sheet"}
_WRITTEN_TAB = ("\\t", "tab")  # a shell hardly lets anybody type the character itself
_GUESSED = ("encoding", "delimiter", "quote", "header", "decimal")


def sniff(path: str | Path, **overrides: Unpack[Overrides]) -> ReadingChoices:
    """How to read a source; what the caller chose stands, the rest is guessed and listed as such."""
    if is_database_address(path):
        return apply_overrides(ReadingChoices(format=_format.POSTGRESQL), **overrides)
    chosen = _check_overrides(overrides)
    file = Path(path)
    format = str(chosen.get("format") or format_of(file))
    guessed = ("format", "header") if format in _format.WORKBOOKS else ("format",)
    start = ReadingChoices(format=format, guessed=guessed)
    if format != _format.CSV:
        return _replace_choices(start, chosen)
    return _sniff_text(file, _replace_choices(start, chosen), frozenset(chosen))


def holds_password(address: str) -> bool:
    """Whether a database address carries a password, which must be kept nowhere."""
    try:
        parts = urlsplit(address)
        return bool(parts.password) or "password" in parse_qs(parts.query)
    except ValueError:  # what cannot be read may hold one
        return True


def is_database_address(source: object) -> bool:
    """Whether a source is the address of a PostgreSQL database."""
    return isinstance(source, str) and source.startswith(("postgresql://", "postgres://"))


def apply_overrides(choices: ReadingChoices, **overrides: Unpack[Overrides]) -> ReadingChoices:
    """The choices with those the caller makes by hand."""
    return _replace_choices(choices, _check_overrides(overrides))


def _replace_choices(choices: ReadingChoices, chosen: dict[str, object]) -> ReadingChoices:
    left = tuple(name for name in choices.guessed if name not in chosen)
    return replace(choices, **(chosen | {"guessed": left}))  # type: ignore[arg-type]


def _check_overrides(overrides: Overrides) -> dict[str, object]:
    unknown = set(overrides) - set(Overrides.__annotations__)
    if unknown:
        raise TypeError(f"unknown reading choices: {sorted(unknown)}")
    chosen = {_FIELD_OF.get(name, name): value for name, value in overrides.items() if value is not None}
    if "encoding" in chosen:
        chosen["encoding"] = known_encoding(str(chosen["encoding"]))
    if "dropped" in chosen:
        chosen["dropped"] = tuple(cast(Sequence[str], chosen["dropped"]))
    if str(chosen.get("delimiter")).lower() in _WRITTEN_TAB:
        chosen["delimiter"] = "\t"
    _refuse_unlisted_choice(chosen, "format", FORMATS)
    _refuse_unlisted_choice(chosen, "decimal", (".", ","))
    _refuse_unfit_character(chosen, "delimiter", empty=False)
    _refuse_unfit_character(chosen, "quote", empty=True)
    return chosen


def _refuse_unlisted_choice(chosen: dict[str, object], name: str, allowed: Sequence[str]) -> None:
    if name in chosen and chosen[name] not in allowed:
        raise ValueOutOfRange(parameter=name, given=str(chosen[name]), allowed=" ".join(allowed))


def _refuse_unfit_character(chosen: dict[str, object], name: str, empty: bool) -> None:
    if name not in chosen:
        return
    character = str(chosen[name])
    sound = (len(character) == 1 and character.isascii() and character not in "\r\n\0 ") or (empty and character == "")
    if not sound:
        raise ValueOutOfRange(parameter=name, given=character, allowed=messages.text(f"reading.allowed.{name}"))


def _sniff_text(path: Path, choices: ReadingChoices, chosen: frozenset[str]) -> ReadingChoices:
    sample = take_sample(path)
    guesses = {name for name in _GUESSED if name not in chosen}
    if "encoding" in guesses:
        choices = replace(choices, encoding=guess_encoding(sample))
    if not choices.encoding.startswith("utf-16"):
        _format.refuse_binary(path, sample.prefix)
    text = _decode_sample(path, sample, choices.encoding)
    if not text.strip():
        raise EmptyFile(path=str(path))
    if "quote" in guesses:
        choices = replace(choices, quote=guess_quote(text))
    if "delimiter" in guesses:
        choices = replace(choices, delimiter=guess_delimiter(text, choices.quote, sample.whole))
    choices = _sniff_columns(text, sample, choices, guesses)
    order = tuple(name for name in ("format", *_GUESSED) if name in guesses or name in choices.guessed)
    return replace(choices, guessed=order, notes=_notes(sample, choices, guesses))


def _decode_sample(path: Path, sample: Sample, encoding: str) -> str:
    stream = io.TextIOWrapper(io.BytesIO(sample.prefix), encoding, errors="replace", newline="")
    try:
        return stream.read()
    except UnicodeError:  # UTF-16 without its mark is refused whatever is to be done with errors
        raise WrongEncoding(path=str(path), encoding=encoding, line=1) from None


def _sniff_columns(text: str, sample: Sample, choices: ReadingChoices, guesses: set[str]) -> ReadingChoices:
    first = first_records(text, choices.delimiter, choices.quote, sample.whole)
    rows = [record.fields for record in first]
    refuse_width(max(map(len, rows), default=0))
    if "decimal" in guesses:
        choices = replace(choices, decimal=guess_decimal(rows))
    notes: tuple[Notice, ...] = ()
    if "header" in guesses:
        header, sure = guess_header(first)
        choices = replace(choices, header=header)
        notes = header_notices(header, sure)
    elif choices.header and any(looks_like_data(cell) for cell in rows[0]):
        notes = (Notice.of("header_looks_like_data"),)
    if min(count_decimals(rows)) > 0:
        notes += (Notice.of("decimal_mixed", decimal=choices.decimal),)
    return replace(choices, notes=notes)


def _notes(sample: Sample, choices: ReadingChoices, guesses: set[str]) -> tuple[Notice, ...]:
    notes = choices.notes
    if "encoding" in guesses and choices.encoding != "utf-8":
        notes = (Notice.of("encoding", encoding=choices.encoding), *notes)
    if choices.encoding.startswith("utf-8") and any(map(destroyed_accents, sample.blocks)):
        notes += (Notice.of("destroyed_accents"),)
    return notes
