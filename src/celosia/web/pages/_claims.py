"""The claims that were handed over, and a form in which the house says of each whether it was right."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from celosia.model.intruder_desk import ClaimLine, ClaimsView
from celosia.web._frame import Desk, tell
from celosia.web._widgets import Cell, bare_choice, button, heading, note, paragraph, table, tag, word
from celosia.web.pages._signing import heads


async def claims_part(desk: Desk) -> None:
    """What was claimed, for whoever may judge it."""
    found: ClaimsView = await desk.ask("received_claims", desk.folder)
    if not found.lines:
        return
    heading(word("web_intruder.claims.title"), 3)
    paragraph(word("web_intruder.claims.hint"))
    if not found.current:
        note(word("web_intruder.claims.other"), "warning")
    answers: dict[int, str] = {}
    rows = [_row(one, answers) for one in found.lines]
    columns = heads("web_intruder.claims", "target", "source", "claim", "confidence", "minutes", "correct")
    table(columns, rows, word("web_intruder.claims.title"), numbers=(4,), classes="c-wrap")
    if any(one.claim for one in found.lines):
        button(word("web_intruder.claims.save"), partial(_save, desk, answers, found.expected), "primary")


def _row(one: ClaimLine, answers: dict[int, str]) -> list[Cell]:
    correct: Cell = partial(_judge, one, answers) if one.claim else word("web_intruder.claims.none")
    claim: Cell = partial(_noted, one) if one.note else one.claim or "–"
    return [partial(_target, one), one.source_used or "–", claim, one.confidence or "–", one.minutes or "–", correct]


def _target(one: ClaimLine) -> None:
    tag("span", one.target or "–")
    for name, value in one.values:
        tag("small", f"{name}: {value}")


def _noted(one: ClaimLine) -> None:
    tag("span", one.claim or "–")
    tag("small", one.note)


def _judge(one: ClaimLine, answers: dict[int, str]) -> None:
    def answered(given: Any) -> None:
        if given in ("yes", "no", ""):
            answers[one.line] = given

    options = {key or "": word(f"web_intruder.claims.{key or 'unjudged'}") for key in ("", "yes", "no")}
    bare_choice(word("web_intruder.claims.right", target=one.target), options, one.correct, answered)


async def _save(desk: Desk, answers: dict[int, str], expected: str) -> None:
    if not answers:
        tell(word("web_intruder.claims.nothing"), "info")
        return
    await desk.ask("judge_claims", desk.folder, dict(answers), expected=expected)
    ui.navigate.reload()
