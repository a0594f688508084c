"""The outsider's page: the candidate to download, the records to be tried, and a form to fill, keep and hand over.

Shows what `attempt_view` gives and nothing else: whoever reads it knows no more of the project than the public will.
Source: MINSAL, Verificación y Validación 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.model.intruder_desk import CONFIDENCES, Answer, Attempt
from celosia.model.worksheet import ExposedRecord
from celosia.web._frame import Desk, page, tell
from celosia.web._widgets import (
    button,
    card,
    details,
    figures,
    labelled,
    lasting,
    line,
    note,
    paragraph,
    single,
    state,
    table,
    tag,
    word,
)
from celosia.web.pages._signing import heads

# Reads the whole form when it is submitted, with the button that did it.
_READ = """(event) => {
  event.preventDefault();
  emit({...Object.fromEntries(new FormData(event.target)), act: event.submitter ? event.submitter.value : "draft"});
}"""
_TEXTS = ("source_used", "claim", "confidence", "minutes", "note")
_LONGEST = 500


@page("attempt")
async def attempt_page(desk: Desk) -> None:
    """The test with a person, for that person."""
    found: Attempt = await desk.ask("attempt_view", desk.folder, desk.session.name)
    if not found.open:
        note(word("web_intruder.attempt.closed"), "info")
        return
    _instructions()
    _candidate(desk, found)
    _worksheet(desk, found)


def _instructions() -> None:
    with card(word("web_intruder.attempt.task")):
        for key in ("intro", "how_long", "do_not", "write_down"):
            paragraph(word(f"intruder.worksheet.{key}"))


def _candidate(desk: Desk, found: Attempt) -> None:
    async def download() -> None:
        path = desk.scratch(f"{word('web_intruder.attempt.file')}-{desk.name}.zip")
        await desk.ask("attempt_file", desk.folder, path)
        desk.offer(path)

    with card(word("web_intruder.attempt.candidate")):
        figures([
            (word("web_intruder.attempt.rows"), messages.integer(found.rows)),
            (word("web_intruder.attempt.columns"), messages.integer(len(found.columns))),
        ])  # fmt: skip
        with line():
            button(word("web_intruder.attempt.download"), download, "primary")
        with details(word("web_intruder.attempt.what")):
            rows = [[one.name, one.label or "–"] for one in found.columns]
            table(heads("web_intruder.attempt", "name", "label"), rows, word("web_intruder.attempt.what"))


# --- the form -------------------------------------------------------------------------------------


def _worksheet(desk: Desk, found: Attempt) -> None:
    written = {one.row: one for one in found.answers}
    left = [one for one in found.records if one.row not in found.sent]
    with card(word("web_intruder.attempt.records")):
        if not found.records:
            paragraph(word("intruder.worksheet.none"))
            return
        paragraph(word("intruder.worksheet.order"))
        if found.sent:
            note(word("web_intruder.attempt.sent", count=len(found.sent)), "good")
            _sent([one for one in found.records if one.row in found.sent], written)
        if left:
            _form(desk, found, left, written)


def _sent(records: Sequence[ExposedRecord], written: Mapping[int, Answer]) -> None:
    rows = []
    for record in records:
        one = written.get(record.row, Answer(record.row))
        sure = word(f"intruder.severity.{one.confidence}") if one.confidence else "–"
        target = word("intruder.worksheet.target", row=record.row)
        rows.append([target, one.source_used or "–", one.claim or "–", sure, one.minutes or "–"])
    columns = heads("web_intruder.claims", "target", "source", "claim", "confidence", "minutes")
    with details(word("web_intruder.attempt.see_sent")):
        table(columns, rows, word("web_intruder.attempt.see_sent"), numbers=(4,))


def _form(desk: Desk, found: Attempt, left: Sequence[ExposedRecord], written: Mapping[int, Answer]) -> None:
    with tag("form", classes="i-form") as form:
        for record in left:
            _record(record, written.get(record.row, Answer(record.row)))
        with tag("div", classes="c-savebar"):
            with tag("label", classes="c-check"):
                tag("input", type="checkbox", name="independent", value="yes")
                tag("span", word("web_intruder.attempt.independent"))
            tag("button", word("web_intruder.attempt.draft"), "c-button", type="submit", value="draft")
            tag("button", word("web_intruder.attempt.send"), "c-button c-primary", type="submit", value="send")
            tag("small", word("web_intruder.attempt.final"))

    async def submitted(given: Any) -> None:
        await _submitted(desk, found, left, given if isinstance(given, Mapping) else {})

    send = single(submitted)
    form.on("submit", lambda event: lasting(send(event.args)), js_handler=_READ)


def _record(record: ExposedRecord, one: Answer) -> None:
    with tag("fieldset", classes="i-record"):
        tag("legend", word("intruder.worksheet.fill", row=record.row))
        with tag("dl", classes="i-values"):
            for name, value in record.values:
                with tag("div"):
                    tag("dt", name)
                    tag("dd", value or "–")
        words = word("web_intruder.attempt.alone" if record.alike == 1 else "web_intruder.attempt.alike",
                     count=record.alike)  # fmt: skip
        state(words, "info")
        with tag("div", classes="i-fields"):
            _field(record.row, "source_used", one.source_used)
            _field(record.row, "claim", one.claim)
            _confidence(record.row, one.confidence)
            _field(record.row, "minutes", one.minutes, "number", min=0, max=999_999, step=1)
            _field(record.row, "note", one.note)


def _field(row: int, key: str, value: str, kind: str = "text", **attributes: Any) -> None:
    limits = attributes or {"maxlength": _LONGEST}
    with labelled(word(f"intruder.worksheet.{key}")) as name:
        tag("input", classes="c-input", id=name, name=f"{key}-{row}", type=kind, autocomplete="off",
            **{"^value": value}, **limits)  # fmt: skip


def _confidence(row: int, value: str) -> None:
    with (
        labelled(word("web_intruder.attempt.confidence")) as name,
        tag("select", classes="c-select", id=name, name=f"confidence-{row}"),
    ):
        tag("option", word("web_intruder.attempt.unsaid"), value="", selected=True if not value else None)
        for key in CONFIDENCES:
            chosen = True if key == value else None
            tag("option", word(f"intruder.severity.{key}"), value=key, selected=chosen)


async def _submitted(desk: Desk, found: Attempt, left: Sequence[ExposedRecord], given: Mapping[str, Any]) -> None:
    answers = [
        Answer(one.row, **{key: str(given.get(f"{key}-{one.row}") or "").strip() for key in _TEXTS}) for one in left
    ]
    asked: dict[str, Any] = {"expected": found.expected, "name": desk.session.name}
    if given.get("act") == "send":
        independent = given.get("independent") == "yes"
        await desk.ask("send_claims", desk.folder, answers, independent=independent, **asked)
        tell(word("web_intruder.attempt.thanks"), "good")
    else:
        await desk.ask("save_attempt", desk.folder, answers, **asked)
        tell(word("web_intruder.attempt.kept"), "good")
    ui.navigate.reload()
