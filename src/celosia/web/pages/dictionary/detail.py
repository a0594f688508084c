"""One variable in a window of its own: its description, the three conditions, MEL's rule, exceptions with reasons."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.model.reports.mel import AreaCounts
from celosia.web.pages.dictionary.editor import DictionaryEditor, options
from celosia.web.ui import html
from celosia.web.work.workers import FAILURES
from celosia.workbench.operations.dictionary import except_variable, withdraw_exception
from celosia.workbench.views.dictionary import DictionaryLine

_TRAITS = ("replicable", "distinguishable", "knowable")
_ANSWERS = {"": None, "yes": True, "no": False}
_CLASS_KINDS = {"direct": "bad", "indirect": "warning", "not_confidential": "good"}


def show_detail(editor: DictionaryEditor, name: str) -> None:
    """Open the window of a variable."""
    _fill_window(editor, name)
    ui.run_javascript("document.getElementById('d-detail').showModal()")


def _fill_window(editor: DictionaryEditor, name: str) -> None:
    box = editor.boxes["detail"]
    box.clear()
    with box:
        with html.tag("div", classes="d-head"):
            html.heading(name, 2, id="d-detail-title")
            close = partial(ui.run_javascript, "document.getElementById('d-detail').close()")
            html.button(text("web_dictionary.detail.close"), close)
        editor.boxes["messages"] = html.tag("div", classes="d-told", aria_live="assertive")
        html.paragraph(editor.entry(name).variable.evidence or text("web_dictionary.cell.no_evidence"))
        _description_fields(editor, name)
        _conditions(editor, name)
        if "mel" in editor.view.protocols:
            _mel_fields(editor, name)
        _exceptions_part(editor, name)
        html.paragraph(text("web_dictionary.detail.pending"), "d-soft")


# --- description ----------------------------------------------------------------------------------


def _description_fields(editor: DictionaryEditor, name: str) -> None:
    variable = editor.entry(name).variable
    html.heading(text("web_dictionary.detail.description"), 3)
    with html.line():
        html.text_field(
            text("web_dictionary.detail.label"), variable.label, lambda words: editor.set(name, label=words)
        )
        label = text("web_dictionary.detail.scale")
        html.choice(label, options("scale"), variable.scale or "", lambda value: editor.set(name, scale=value))
        label = text("web_dictionary.detail.kind")
        html.choice(label, options("kind"), variable.kind or "", lambda value: editor.set(name, kind=value))
    with html.tag("div"):
        html.check(text("web_dictionary.detail.strong"), variable.strong, lambda value: editor.set(name, strong=value))
    with html.tag("div"):
        html.check(
            text("web_dictionary.detail.special"), variable.special, lambda value: editor.set(name, special=value)
        )
    with html.line():
        for key in ("missing", "unknown"):
            codes, hint = " | ".join(getattr(variable, key)), text("web_dictionary.detail.codes_hint")
            html.text_field(text(f"web_dictionary.detail.{key}"), codes, _codes_setter(editor, name, key), hint)


def _codes_setter(editor: DictionaryEditor, name: str, key: str) -> Callable[[str], Awaitable[None]]:
    def put(codes: str) -> Awaitable[None]:
        return editor.set(name, **{key: [part.strip() for part in codes.split("|") if part.strip()]})

    return put


# --- the three conditions -------------------------------------------------------------------------


def _conditions(editor: DictionaryEditor, name: str) -> None:
    html.heading(text("web_dictionary.flow.title"), 3)
    html.paragraph(text("web_dictionary.flow.meaning"))
    html.paragraph(_measures_text(editor.entry(name)))
    answers = {"": text("web_dictionary.flow.unanswered")} | {
        key: text(f"dictionary.answer.{key}") for key in ("yes", "no")
    }

    def trait_choice(trait: str) -> None:
        async def answer(value: str) -> None:
            await editor.set(name, **{trait: _ANSWERS[value]})
            _show_class(editor, name, box)

        trait_value = getattr(editor.entry(name).variable.traits, trait)
        value = "" if trait_value is None else "yes" if trait_value else "no"
        html.choice(text(f"web_dictionary.flow.{trait}"), answers, value, answer)

    for trait in _TRAITS:
        trait_choice(trait)
    box = html.tag("div", aria_live="polite")
    _show_class(editor, name, box)


def _measures_text(entry: DictionaryLine) -> str:
    if entry.figures is None:
        return text("web_dictionary.flow.not_measured")
    figures = text(
        "web_dictionary.flow.measured",
        distinct=entry.figures.distinct,
        share=messages.part(entry.figures.share),
        entropy=messages.decimal(entry.figures.entropy, 1),
        separation=messages.decimal(entry.figures.separation, 2),
    )
    alone = "web_dictionary.flow.alone" if entry.unique_alone else "web_dictionary.flow.not_alone"
    return f"{figures} {text(alone)}"


def _show_class(editor: DictionaryEditor, name: str, box: ui.element) -> None:
    entry = editor.entry(name)
    result = entry.identifier_class or "unanswered"
    unmet = [trait for trait in _TRAITS if getattr(entry.variable.traits, trait) is False]
    box.clear()
    with box, html.tag("p"):
        sentence = text("web_dictionary.flow.result", result=text(f"web_dictionary.class.{result}"))
        html.state(sentence, _CLASS_KINDS.get(result, "info"))
        if unmet:
            conditions = ", ".join(text(f"dictionary.column.{trait}") for trait in unmet)
            html.tag("span", " " + text("web_dictionary.flow.because", conditions=conditions))


# --- MEL ------------------------------------------------------------------------------------------


def _mel_fields(editor: DictionaryEditor, name: str) -> None:
    html.heading(text("web_dictionary.mel.title"), 3)

    async def put(value: str) -> None:
        await editor.set(name, mel_label=value)
        _show_mel_counts(editor, name, box)

    html.choice(
        text("web_dictionary.mel.label"), options("mel_label"), editor.entry(name).variable.mel_label or "", put
    )
    box = html.tag("div", aria_live="polite")
    _show_mel_counts(editor, name, box)


def _show_mel_counts(editor: DictionaryEditor, name: str, box: ui.element) -> None:
    entry = editor.entry(name)
    box.clear()
    with box:
        if entry.mel is not None and entry.mel.areas is not None:
            _show_areas(entry.mel.areas, editor.view.minimum)
        elif entry.variable.mel_label == "geographic":
            html.paragraph(text("web_dictionary.mel.not_counted"))
        if entry.mel is not None and entry.mel.options:
            treatments = ", ".join(text(f"mel.treatment.{option}") for option in entry.mel.options)
            html.paragraph(text("web_dictionary.mel.options", options=treatments))
        for sentence in entry.faults:
            html.note(sentence, "warning")


def _show_areas(areas: AreaCounts, minimum: int) -> None:
    with html.tag("p"):
        key = "passes" if areas.passes else "fails"
        html.state(text(f"web_dictionary.mel.{key}"), "good" if areas.passes else "bad")
        fields = {"areas": areas.areas, "level": areas.level, "smallest": areas.smallest or 0}
        html.tag("span", " " + text("web_dictionary.mel.areas", minimum=minimum, **fields))
    if areas.small_areas:
        html.paragraph(
            text("web_dictionary.mel.small", areas=areas.small_areas, minimum=minimum, units=areas.small_units)
        )
    if areas.finest and not areas.passes:
        html.paragraph(text("web_dictionary.mel.finest", level=areas.finest))


# --- exceptions -----------------------------------------------------------------------------------


def _exceptions_part(editor: DictionaryEditor, name: str) -> None:
    entry = editor.saved_entry(name)
    reasons = {exception.rule: exception.reason for exception in entry.exceptions}
    if not reasons and not entry.rules:
        return
    html.heading(text("web_dictionary.exception.title"), 3)
    html.paragraph(text("web_dictionary.exception.meaning"))
    for rule in dict.fromkeys([*reasons, *entry.rules]):
        if rule in reasons:
            _existing_exception(editor, name, rule, reasons[rule])
        else:
            _new_exception(editor, name, rule)


def _rule_text(rule: str) -> str:
    return text(f"web_dictionary.rule.{rule.partition('.')[2]}")


def _existing_exception(editor: DictionaryEditor, name: str, rule: str, reason: str) -> None:
    async def withdraw() -> None:
        await _write_settings(editor, name, "withdrawn", withdraw_exception, name, rule)

    with html.note(text("web_dictionary.exception.made", rule=_rule_text(rule), reason=reason)):
        html.button(text("web_dictionary.exception.withdraw"), withdraw, "small")


def _new_exception(editor: DictionaryEditor, name: str, rule: str) -> None:
    written = {"reason": ""}

    async def make() -> None:
        await _write_settings(editor, name, "saved", except_variable, name, rule, written["reason"])

    with html.line():
        label = text("web_dictionary.exception.reason", rule=_rule_text(rule))
        html.text_field(label, "", lambda reason: written.update(reason=reason))
        html.button(text("web_dictionary.exception.make"), make, "small")


async def _write_settings(
    editor: DictionaryEditor, name: str, key: str, operation: Callable[..., str], *args: str
) -> None:
    """Write celosia.toml and show the project as it is afterwards; a refusal leaves the window as it is."""
    try:
        await editor.page.answer(operation, editor.page.folder, *args, expected=editor.view.settings_digest)
    except FAILURES as error:
        editor.notify(str(error), "bad")
        return
    await editor.reload()
    editor.refresh()
    _fill_window(editor, name)
    editor.notify(text(f"web_dictionary.exception.{key}"), "good")
