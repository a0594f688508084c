"""The third step of the wizard: which columns stay out of the project. They appear nowhere later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celosia.web._widgets import button, card, check, line, note, paragraph, table, tag, word
from celosia.web.pages._rows import role_word

if TYPE_CHECKING:
    from celosia.web.pages._new import Wizard


def columns_step(wizard: Wizard) -> None:
    """One line a column, with what it seems to be and why."""
    columns = wizard.found.preview.columns
    impossible = [column.name for column in columns if column.refused]
    wizard.dropped |= set(impossible)
    with card(word("web_new.columns.title")):
        paragraph(word("web_new.columns.opening"))
        if impossible:
            note(word("web_new.columns.impossible", names=", ".join(impossible)), "warning")
        titles = [word(f"web_new.columns.{key}") for key in ("out", "name")]
        table(titles, [_row(wizard, column) for column in columns], word("web_new.columns.table"), row_heads=False)
    with line():
        button(word("web_new.next"), lambda: _go_on(wizard, warning), "primary")
    warning = tag("div", aria_live="assertive")


def _row(wizard: Wizard, column: Any) -> list[Any]:
    def change(out: bool) -> None:
        wizard.dropped = wizard.dropped | {column.name} if out else wizard.dropped - {column.name}

    def box() -> None:
        label = word("web_new.columns.leave", name=column.name)
        if column.refused:
            tag("span", word("web_new.columns.out"), "c-state c-warning")
        else:
            check(label, column.name in wizard.dropped, change, hidden_label=True)

    def described() -> None:
        with tag("div", classes="c-described"):
            with tag("div", classes="c-name"):
                tag("strong", column.name)
                tag("span", role_word(column.role), f"c-role c-role-{column.role or 'none'} c-padded")
            tag("small", word("web_new.columns.holds", kind=column.refused) if column.refused else column.evidence)

    return [box, described]


def _go_on(wizard: Wizard, warning: Any) -> None:
    if len(wizard.dropped) == len(wizard.found.preview.columns):
        warning.clear()
        with warning:
            note(word("web_new.columns.none"), "bad")
        return
    wizard.show("finish")
