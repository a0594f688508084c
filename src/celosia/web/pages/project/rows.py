"""Veiled rows on a page: a table with what each column is, in words and colour."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from celosia.messages import text
from celosia.model.preview import Preview, PreviewColumn
from celosia.model.sources import Notice
from celosia.web.ui import html

_VEILED_SIGN = "◌"
_PLAIN_NOTICES = ("encoding", "sheet", "index_dropped", "line_ends", "user_missing")  # the others ask for a look


def show_notices(notices: Sequence[Notice]) -> None:
    """What was noticed while reading, each in a box."""
    for notice in notices:
        html.note(notice.text(), "info" if notice.key in _PLAIN_NOTICES else "warning")


def role_text(role: str) -> str:
    """A role in words; what has none says so."""
    return text(f"dictionary.role.{role}") if role else text("web_data.no_role")


def rows_table(preview: Preview, caption: str) -> ui.element:
    """A table of veiled rows, with the role of each column below its name."""
    box = html.tag("div", classes="c-scroll c-tall", tabindex="0", role="region", aria_label=caption)
    with box, html.tag("table", classes="c-table c-rows"):
        html.tag("caption", caption, "c-hidden")
        with html.tag("thead"), html.tag("tr"):
            html.tag("th", text("web_data.row"), "c-number", scope="col")
            for column in preview.columns:
                _column_head(column)
        with html.tag("tbody"):
            for number, row in enumerate(preview.rows, preview.offset + 1):
                with html.tag("tr"):
                    html.tag("th", str(number), "c-number", scope="row")
                    for cell, column in zip(row, preview.columns, strict=True):
                        html.tag("td", cell, "c-veil" if column.veiled else "")
    return box


def _column_head(column: PreviewColumn) -> None:
    with html.tag("th", classes=f"c-role c-role-{column.role or 'none'}", scope="col", title=column.label or None):
        html.tag("span", column.name)
        html.tag("small", role_text(column.role))
        if column.veiled:
            html.tag("small", f"{_VEILED_SIGN} {text('web_data.veiled')}")
