"""Rows on a page, already veiled by the one door: a table with what each column is, in words and colour."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from celosia.web._widgets import note, tag, word

_VEILED_SIGN = "◌"
_PLAIN_NOTICES = ("encoding", "sheet", "index_dropped", "line_ends", "user_missing")  # the others ask for a look


def notices(notes: Any) -> None:
    """What was noticed while reading, each in a box."""
    for one in notes:
        note(one.text(), "info" if one.key in _PLAIN_NOTICES else "warning")


def role_word(role: str) -> str:
    """A role in words; what has none says so."""
    return word(f"dictionary.role.{role}") if role else word("web_data.no_role")


def shown_rows(preview: Any, caption: str) -> ui.element:
    """A table of veiled rows, with the role of each column below its name."""
    box = tag("div", classes="c-scroll c-tall", tabindex="0", role="region", aria_label=caption)
    with box, tag("table", classes="c-table c-rows"):
        tag("caption", caption, "c-hidden")
        with tag("thead"), tag("tr"):
            tag("th", word("web_data.row"), "c-number", scope="col")
            for column in preview.columns:
                _head(column)
        with tag("tbody"):
            for number, row in enumerate(preview.rows, preview.offset + 1):
                _row(number, row, preview.columns)
    return box


def _head(column: Any) -> None:
    with tag("th", classes=f"c-role c-role-{column.role or 'none'}", scope="col", title=column.label or None):
        tag("span", column.name)
        tag("small", role_word(column.role))
        if column.veiled:
            tag("small", f"{_VEILED_SIGN} {word('web_data.veiled')}")


def _row(number: int, row: tuple[str, ...], columns: Any) -> None:
    with tag("tr"):
        tag("th", str(number), "c-number", scope="row")
        for cell, column in zip(row, columns, strict=True):
            tag("td", cell, "c-veil" if column.veiled else "")
