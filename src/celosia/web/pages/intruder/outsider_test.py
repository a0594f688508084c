"""The outsider's page: the candidate to download, the records to be tried, and a form to fill, save and hand over.

Shows what `attempt_view` gives and nothing else: whoever reads it knows no more of the project than the public will.
Source: MINSAL, Verificación y Validación 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.model.reports.worksheet import ExposedRecord
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify
from celosia.web.ui.page import project_page
from celosia.web.ui.verdicts import table_heads
from celosia.workbench.operations.intruder import attempt_file, attempt_view, save_attempt, send_claims
from celosia.workbench.views.intruder import CONFIDENCES, Answer, Attempt

# Reads the whole form when it is submitted, with the button that did it.
_READ = """(event) => {
  event.preventDefault();
  emit({...Object.fromEntries(new FormData(event.target)), act: event.submitter ? event.submitter.value : "draft"});
}"""
_TEXTS = ("source_used", "claim", "confidence", "minutes", "note")
_LONGEST = 500


@project_page("attempt")
async def attempt_page(page: PageContext) -> None:
    """The test with a person, for that person."""
    attempt = await page.ask(attempt_view, page.folder, page.session.name)
    if not attempt.open:
        html.note(text("web_intruder.attempt.closed"), "info")
        return
    _instructions_card()
    _candidate_card(page, attempt)
    _records_card(page, attempt)


def _instructions_card() -> None:
    with html.card(text("web_intruder.attempt.task")):
        for key in ("intro", "how_long", "do_not", "write_down"):
            html.paragraph(text(f"intruder.worksheet.{key}"))


def _candidate_card(page: PageContext, attempt: Attempt) -> None:
    async def download() -> None:
        path = page.scratch_path(f"{text('web_intruder.attempt.file')}-{page.name}.zip")
        await page.ask(attempt_file, page.folder, path)
        page.offer(path)

    with html.card(text("web_intruder.attempt.candidate")):
        html.figures(
            (text("web_intruder.attempt.rows"), messages.integer(attempt.rows)),
            (text("web_intruder.attempt.columns"), messages.integer(len(attempt.columns))),
        )
        with html.line():
            html.button(text("web_intruder.attempt.download"), download, "primary")
        with html.details(text("web_intruder.attempt.what")):
            rows = [[column.name, column.label or "–"] for column in attempt.columns]
            html.table(table_heads("web_intruder.attempt", "name", "label"), rows, text("web_intruder.attempt.what"))


# --- the form -------------------------------------------------------------------------------------


def _records_card(page: PageContext, attempt: Attempt) -> None:
    written = {answer.row: answer for answer in attempt.answers}
    left = [record for record in attempt.records if record.row not in attempt.sent]
    with html.card(text("web_intruder.attempt.records")):
        if not attempt.records:
            html.paragraph(text("intruder.worksheet.none"))
            return
        html.paragraph(text("intruder.worksheet.order"))
        if attempt.sent:
            html.note(text("web_intruder.attempt.sent", count=len(attempt.sent)), "good")
            _sent_table([record for record in attempt.records if record.row in attempt.sent], written)
        if left:
            _answers_form(page, attempt, left, written)


def _sent_table(records: Sequence[ExposedRecord], written: Mapping[int, Answer]) -> None:
    rows = []
    for record in records:
        answer = written.get(record.row, Answer(record.row))
        sure = text(f"intruder.severity.{answer.confidence}") if answer.confidence else "–"
        target = text("intruder.worksheet.target", row=record.row)
        rows.append([target, answer.source_used or "–", answer.claim or "–", sure, answer.minutes or "–"])
    columns = table_heads("web_intruder.claims", "target", "source", "claim", "confidence", "minutes")
    with html.details(text("web_intruder.attempt.see_sent")):
        html.table(columns, rows, text("web_intruder.attempt.see_sent"), numbers=(4,))


def _answers_form(
    page: PageContext, attempt: Attempt, left: Sequence[ExposedRecord], written: Mapping[int, Answer]
) -> None:
    with html.tag("form", classes="i-form") as form:
        for record in left:
            _record_fields(record, written.get(record.row, Answer(record.row)))
        with html.tag("div", classes="c-savebar"):
            with html.tag("label", classes="c-check"):
                html.tag("input", type="checkbox", name="independent", value="yes")
                html.tag("span", text("intruder.statement"))
            html.tag("button", text("web_intruder.attempt.draft"), "c-button", type="submit", value="draft")
            html.tag("button", text("web_intruder.attempt.send"), "c-button c-primary", type="submit", value="send")
            html.tag("small", text("web_intruder.attempt.final"))

    async def submit(given: Any) -> None:
        await _submit(page, attempt, left, given if isinstance(given, Mapping) else {})

    send = html.ignore_while_running(submit)
    form.on("submit", lambda event: html.keep_client(send(event.args)), js_handler=_READ)


def _record_fields(record: ExposedRecord, answer: Answer) -> None:
    with html.tag("fieldset", classes="i-record"):
        html.tag("legend", text("intruder.worksheet.fill", row=record.row))
        with html.tag("dl", classes="i-values"):
            for name, value in record.values:
                with html.tag("div"):
                    html.tag("dt", name)
                    html.tag("dd", value or "–")
        key = "alone" if record.alike == 1 else "alike"
        html.state(text(f"web_intruder.attempt.{key}", count=record.alike), "info")
        with html.tag("div", classes="i-fields"):
            _text_input(record.row, "source_used", answer.source_used)
            _text_input(record.row, "claim", answer.claim)
            _confidence_choice(record.row, answer.confidence)
            _text_input(record.row, "minutes", answer.minutes, "number", min=0, max=999_999, step=1)
            _text_input(record.row, "note", answer.note)


def _text_input(row: int, key: str, value: str, kind: str = "text", **attributes: Any) -> None:
    limits: dict[str, Any] = attributes or {"maxlength": _LONGEST}
    with html.label_field(text(f"intruder.worksheet.{key}")) as name:
        limits |= {"^value": value}
        html.tag("input", classes="c-input", id=name, name=f"{key}-{row}", type=kind, autocomplete="off", **limits)


def _confidence_choice(row: int, value: str) -> None:
    with (
        html.label_field(text("web_intruder.attempt.confidence")) as name,
        html.tag("select", classes="c-select", id=name, name=f"confidence-{row}"),
    ):
        html.tag("option", text("web_intruder.attempt.unsaid"), value="", selected=True if not value else None)
        for key in CONFIDENCES:
            chosen = True if key == value else None
            html.tag("option", text(f"intruder.severity.{key}"), value=key, selected=chosen)


async def _submit(page: PageContext, attempt: Attempt, left: Sequence[ExposedRecord], given: Mapping[str, Any]) -> None:
    answers = [
        Answer(record.row, **{key: str(given.get(f"{key}-{record.row}") or "").strip() for key in _TEXTS})
        for record in left
    ]
    common: dict[str, Any] = {"expected": attempt.expected, "name": page.session.name}
    if given.get("act") == "send":
        independent = given.get("independent") == "yes"
        await page.ask(send_claims, page.folder, answers, independent=independent, **common)
        notify(text("web_intruder.attempt.thanks"), "good")
    else:
        await page.ask(save_attempt, page.folder, answers, **common)
        notify(text("web_intruder.attempt.kept"), "good")
    ui.navigate.reload()
