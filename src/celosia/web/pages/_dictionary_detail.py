"""One variable in a window of its own: its description, the three conditions, MEL's rule, exceptions with reasons."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.dictionary_view import DictionaryLine
from celosia.web._widgets import button, check, choice, heading, line, note, paragraph, state, tag, text_field, word
from celosia.web._workers import Failed
from celosia.web.pages._dictionary_sheet import Sheet, options

_TRAITS = ("replicable", "distinguishable", "knowable")
_ANSWERS = {"": None, "yes": True, "no": False}
_CLASS_KINDS = {"direct": "bad", "indirect": "warning", "not_confidential": "good"}


def show_detail(sheet: Sheet, name: str) -> None:
    """Open the window of a variable."""
    _filled(sheet, name)
    ui.run_javascript("document.getElementById('d-detail').showModal()")


def _filled(sheet: Sheet, name: str) -> None:
    box = sheet.boxes["detail"]
    box.clear()
    with box:
        with tag("div", classes="d-head"):
            heading(name, 2, id="d-detail-title")
            button(word("web_dictionary.detail.close"), _close)
        sheet.boxes["told"] = tag("div", classes="d-told", aria_live="assertive")
        paragraph(sheet.line_of(name).variable.evidence or word("web_dictionary.cell.no_evidence"))
        _description(sheet, name)
        _flow(sheet, name)
        if "mel" in sheet.view.protocols:
            _mel(sheet, name)
        _exceptions(sheet, name)
        paragraph(word("web_dictionary.detail.pending"), "d-soft")


def _close() -> None:
    ui.run_javascript("document.getElementById('d-detail').close()")


# --- description ----------------------------------------------------------------------------------


def _description(sheet: Sheet, name: str) -> None:
    variable = sheet.line_of(name).variable
    heading(word("web_dictionary.detail.description"), 3)
    with line():
        text_field(word("web_dictionary.detail.label"), variable.label, lambda text: sheet.set(name, label=text))
        choice(word("web_dictionary.detail.scale"), options("scale"), variable.scale or "",
               lambda value: sheet.set(name, scale=value))  # fmt: skip
        choice(word("web_dictionary.detail.kind"), options("kind"), variable.kind or "",
               lambda value: sheet.set(name, kind=value))  # fmt: skip
    with tag("div"):
        check(word("web_dictionary.detail.strong"), variable.strong, lambda value: sheet.set(name, strong=value))
    with tag("div"):
        check(word("web_dictionary.detail.special"), variable.special, lambda value: sheet.set(name, special=value))
    with line():
        for key in ("missing", "unknown"):
            held, hint = " | ".join(getattr(variable, key)), word("web_dictionary.detail.codes_hint")
            text_field(word(f"web_dictionary.detail.{key}"), held, _codes(sheet, name, key), hint)


def _codes(sheet: Sheet, name: str, key: str) -> Callable[[str], Awaitable[None]]:
    def given(text: str) -> Awaitable[None]:
        return sheet.set(name, **{key: [part.strip() for part in text.split("|") if part.strip()]})

    return given


# --- the three conditions -------------------------------------------------------------------------


def _flow(sheet: Sheet, name: str) -> None:
    heading(word("web_dictionary.flow.title"), 3)
    paragraph(word("web_dictionary.flow.meaning"))
    paragraph(_measured(sheet.line_of(name)))
    said = {"": word("web_dictionary.flow.unanswered")} | {
        key: word(f"dictionary.answer.{key}") for key in ("yes", "no")
    }

    def asked(trait: str) -> None:
        async def answered(value: str) -> None:
            await sheet.set(name, **{trait: _ANSWERS[value]})
            _result(sheet, name, box)

        held = getattr(sheet.line_of(name).variable.traits, trait)
        value = "" if held is None else "yes" if held else "no"
        choice(word(f"web_dictionary.flow.{trait}"), said, value, answered)

    for trait in _TRAITS:
        asked(trait)
    box = tag("div", aria_live="polite")
    _result(sheet, name, box)


def _measured(one: DictionaryLine) -> str:
    if one.figures is None:
        return word("web_dictionary.flow.not_measured")
    told = word(
        "web_dictionary.flow.measured",
        distinct=one.figures.distinct,
        share=messages.part(one.figures.share),
        entropy=messages.decimal(one.figures.entropy, 1),
        separation=messages.decimal(one.figures.separation, 2),
    )
    alone = "web_dictionary.flow.alone" if one.unique_alone else "web_dictionary.flow.not_alone"
    return f"{told} {word(alone)}"


def _result(sheet: Sheet, name: str, box: ui.element) -> None:
    one = sheet.line_of(name)
    found = one.identifier_class or "unanswered"
    unmet = [trait for trait in _TRAITS if getattr(one.variable.traits, trait) is False]
    box.clear()
    with box, tag("p"):
        told = word("web_dictionary.flow.result", result=word(f"web_dictionary.class.{found}"))
        state(told, _CLASS_KINDS.get(found, "info"))
        if unmet:
            conditions = ", ".join(word(f"dictionary.column.{trait}") for trait in unmet)
            tag("span", " " + word("web_dictionary.flow.because", conditions=conditions))


# --- MEL ------------------------------------------------------------------------------------------


def _mel(sheet: Sheet, name: str) -> None:
    heading(word("web_dictionary.mel.title"), 3)

    async def labelled(value: str) -> None:
        await sheet.set(name, mel_label=value)
        _mel_counts(sheet, name, box)

    choice(
        word("web_dictionary.mel.label"), options("mel_label"), sheet.line_of(name).variable.mel_label or "", labelled
    )
    box = tag("div", aria_live="polite")
    _mel_counts(sheet, name, box)


def _mel_counts(sheet: Sheet, name: str, box: ui.element) -> None:
    one = sheet.line_of(name)
    box.clear()
    with box:
        if one.mel is not None and one.mel.areas is not None:
            _areas(one.mel.areas, sheet.view.minimum)
        elif one.variable.mel_label == "geographic":
            paragraph(word("web_dictionary.mel.not_counted"))
        if one.mel is not None and one.mel.options:
            said = ", ".join(word(f"mel.treatment.{option}") for option in one.mel.options)
            paragraph(word("web_dictionary.mel.options", options=said))
        for sentence in one.faults:
            note(sentence, "warning")


def _areas(areas: Any, minimum: int) -> None:
    with tag("p"):
        state(word("web_dictionary.mel.passes" if areas.passes else "web_dictionary.mel.fails"),
              "good" if areas.passes else "bad")  # fmt: skip
        told = word("web_dictionary.mel.areas", areas=areas.areas, level=areas.level, smallest=areas.smallest or 0,
                    minimum=minimum)  # fmt: skip
        tag("span", f" {told}")
    if areas.small_areas:
        paragraph(word("web_dictionary.mel.small", areas=areas.small_areas, minimum=minimum, units=areas.small_units))
    if areas.finest and not areas.passes:
        paragraph(word("web_dictionary.mel.finest", level=areas.finest))


# --- exceptions -----------------------------------------------------------------------------------


def _exceptions(sheet: Sheet, name: str) -> None:
    one = sheet.saved_line(name)
    made = {exception.rule: exception.reason for exception in one.exceptions}
    if not made and not one.rules:
        return
    heading(word("web_dictionary.exception.title"), 3)
    paragraph(word("web_dictionary.exception.meaning"))
    for rule in dict.fromkeys([*made, *one.rules]):
        if rule in made:
            _made_exception(sheet, name, rule, made[rule])
        else:
            _new_exception(sheet, name, rule)


def _rule_words(rule: str) -> str:
    return word(f"web_dictionary.rule.{rule.partition('.')[2]}")


def _made_exception(sheet: Sheet, name: str, rule: str, reason: str) -> None:
    async def withdraw() -> None:
        await _write(sheet, name, "withdrawn", "withdraw_exception", name, rule)

    with note(word("web_dictionary.exception.made", rule=_rule_words(rule), reason=reason)):
        button(word("web_dictionary.exception.withdraw"), withdraw, "small")


def _new_exception(sheet: Sheet, name: str, rule: str) -> None:
    written = {"reason": ""}

    async def make() -> None:
        await _write(sheet, name, "saved", "except_variable", name, rule, written["reason"])

    with line():
        text_field(word("web_dictionary.exception.reason", rule=_rule_words(rule)), "",
                   lambda text: written.update(reason=text))  # fmt: skip
        button(word("web_dictionary.exception.make"), make, "small")


async def _write(sheet: Sheet, name: str, told: str, verb: str, *args: str) -> None:
    """Write celosia.toml and show the project as it stands after it; a refusal leaves the window as it is."""
    try:
        await sheet.desk.answer(verb, sheet.desk.folder, *args, expected=sheet.view.settings_digest)
    except (Failed, CelosiaError) as error:
        sheet.notify(str(error), "bad")
        return
    await sheet.reload()
    sheet.refresh()
    _filled(sheet, name)
    sheet.notify(word(f"web_dictionary.exception.{told}"), "good")
