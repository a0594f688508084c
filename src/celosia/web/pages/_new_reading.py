"""The second step of the wizard: how the source is to be read, with its first rows as they would come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celosia import messages
from celosia.web._widgets import button, card, check, choice, line, note, paragraph, tag, word
from celosia.web.pages._rows import notices, shown_rows

if TYPE_CHECKING:
    from celosia.web.pages._new import Wizard

_WORKBOOKS = ("xlsx", "xls", "ods")
_ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "latin-1", "windows-1252", "cp850", "mac-roman")
_DELIMITERS = (",", ";", "\t", "|")
_QUOTES = ('"', "'", "")
_DECIMALS = (".", ",")
_HEADER = {"yes": True, "no": False}


def reading_step(wizard: Wizard) -> None:
    """The choices, each with what was detected, and the rows."""
    with card(word("web_new.reading.title", source=wizard.shown)):
        paragraph(word("web_new.reading.opening"))
        with line("c-top"):
            _choices(wizard)
        renamed = bool(wizard.reading.get("rename_duplicates"))
        check(word("web_new.reading.rename"), renamed, lambda on: _change(wizard, "rename_duplicates", on or None))
    rows = tag("div", aria_live="polite")
    with rows:
        _rows(wizard)


def _choices(wizard: Wizard) -> None:
    format = wizard.choices.format
    if len(wizard.tables) > 1:
        _choice(wizard, "sheet", {name: name for name in wizard.tables})
    if format == "csv":
        _choice(wizard, "delimiter", _words("delimiter", _DELIMITERS, wizard))
        _choice(wizard, "encoding", {name: name for name in _with(_ENCODINGS, wizard.choices.encoding)})
    if format == "csv" or format in _WORKBOOKS:
        words = {key: word(f"dictionary.answer.{key}") for key in _HEADER}
        _choice(wizard, "header", words, "yes" if wizard.choices.header else "no")
    if format == "csv":
        _choice(wizard, "decimal", _words("decimal", _DECIMALS, wizard))
        _choice(wizard, "quote", _words("quote", _QUOTES, wizard))


def _choice(wizard: Wizard, name: str, options: dict[str, str], value: str | None = None) -> None:
    guessed = name in wizard.choices.guessed
    hint = word("web_new.reading.guessed") if guessed else ""
    held = str(getattr(wizard.choices, name)) if value is None else value
    if name == "sheet":
        held = held or str(wizard.reading.get("table", ""))
    choice(
        word(f"reading.choices.{name}").capitalize(), options, held, lambda given: _change(wizard, name, given), hint
    )


def _words(name: str, known: tuple[str, ...], wizard: Wizard) -> dict[str, str]:
    signs = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", '"': "double", "'": "single", "": "none",
             ".": "point"}  # fmt: skip
    held = str(getattr(wizard.choices, name))
    return {one: word(f"web_new.sign.{signs[one]}") if one in signs else one for one in _with(known, held)}


def _with(known: tuple[str, ...], held: str) -> tuple[str, ...]:
    return known if held in known else (*known, held)


async def _change(wizard: Wizard, name: str, given: Any) -> None:
    value = _HEADER.get(given, True) if name == "header" else given
    async with wizard.turn:
        wizard.reading = {key: held for key, held in {**wizard.reading, name: value}.items() if held is not None}
        if name == "sheet":
            wizard.reading.pop("table", None)
        wizard.dropped = set()
        with wizard.waiting():
            await wizard.look()
        wizard.show("reading")


def _rows(wizard: Wizard) -> None:
    if wizard.fault:
        note(wizard.fault, "bad", word("web_new.reading.fault"))
        return
    notices(wizard.choices.notes)
    with card(word("web_new.reading.rows")):
        paragraph(word("web_new.reading.veiled", rows=messages.integer(wizard.found.looked_at)))
        shown_rows(wizard.found.preview, word("web_new.reading.table"))
    button(word("web_new.next"), lambda: wizard.go("columns"), "primary")
