"""A plain page for a release that somebody sends: dropped as a .zip, judged from its files alone, rule by rule."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.model.protocols import Severity
from celosia.model.rules import RuleResult
from celosia.model.verdict import State
from celosia.model.verification import VerifyReport
from celosia.protocols import asked_text, measured_text, sentence_of
from celosia.web._frame import Desk, plain_page
from celosia.web._widgets import Cell, card, figures, heading, note, paragraph, state, table, tag, upload, word
from celosia.web._workers import Failed
from celosia.web.pages._signing import capital, heads

_COLOUR = MappingProxyType({
    State.HOLDS: "good", State.ATTESTED: "info", State.FAILS: "bad", State.NOT_MEASURABLE: "bad",
})  # fmt: skip
_ODD = (
    KeyError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
)  # what a manifest that nobody of ours wrote raises


@plain_page("/verify", "web_verify.title")
async def verify_page(desk: Desk) -> None:
    """Drop a release, read the verdict."""
    paragraph(word("web_verify.hint"))
    box = tag("div", aria_live="polite")

    async def arrived(told: dict[str, Any]) -> None:
        await _judged(desk, box, desk.uploaded(str(told["ticket"])))

    upload(word("web_verify.file"), desk.csrf, arrived, ".zip", word("web_verify.file_hint"))
    box.move(target_index=-1)


async def _judged(desk: Desk, box: ui.element, path: Path | None) -> None:
    box.clear()
    with box:
        note(word("web_verify.working"), "info")
    if path is None:
        return
    try:
        found: VerifyReport = await desk.answer("verify_upload", path)
    except Failed as failed:
        box.clear()
        with box:
            note(str(failed), "bad")
        return
    finally:
        path.unlink(missing_ok=True)  # it was sent to be judged, not to be kept
    box.clear()
    with box:
        _report(found)


def _report(found: VerifyReport) -> None:
    key = "holds" if found.holds else "fails"
    note(word(f"web_verify.{key}"), "good" if found.holds else "bad", found.release)
    if found.label:
        note(word("release.pseudonymous"), "warning")
    with card(word("release.findings_title", release=found.release)):
        rows: list[list[Cell]] = [
            [word(f"release.finding.{one.id}"), partial(_state, one.state), ", ".join(one.detail)]
            for one in found.findings
        ]
        table(heads("release", "question", "answer", "detail"), rows, word("web_verify.findings"))
    _signatures(found)
    _rules(found)
    _measured(found)


def _state(found: State) -> None:
    state(word(f"plan.state_words.{found.value}"), _COLOUR[found])


def _signatures(found: VerifyReport) -> None:
    with card(word("web_verify.signatures")):
        if not found.signatures:
            paragraph(word("release.signature_none"))
            return
        rows = [[_role(str(one["role"])), str(one["name"]), str(one["when"])[:10], _code(str(one["key"]))]
                for one in found.signatures]  # fmt: skip
        table(heads("release", "role", "name", "when", "key"), rows, word("web_verify.signatures"))
        paragraph(word("web_people.compare"), "c-soft")


def _code(key: str) -> Any:
    return partial(tag, "code", key)


def _role(role: str) -> str:
    return word(f"protocols.role.{role}") if messages.has(f"protocols.role.{role}") else role


def _rules(found: VerifyReport) -> None:
    with card(word("web_verify.rules")):
        for protocol in dict.fromkeys(one.protocol for one in found.rules):
            title = f"protocols.title.{protocol}"
            heading(word(title) if messages.has(title) else protocol, 3)
            rows = [_rule(one) for one in found.rules if one.protocol == protocol]
            columns = [word(f"web_result.rules.{key}") for key in ("rule", "result", "asked", "measured", "section")]
            table(columns, rows, f"{word('web_verify.rules')}: {protocol}", classes="c-wrap")
        if not found.rules:
            paragraph(word("web_verify.no_rules"))


def _rule(one: RuleResult) -> list[Cell]:
    sentence = _told(sentence_of, one) or f"{one.protocol} · {one.rule}"
    asked, measured = _told(asked_text, one) or "–", _told(measured_text, one) or "–"
    return [sentence, partial(_result, one), asked, measured, one.section]


def _result(one: RuleResult) -> None:
    """How a rule came out; advice that is not followed stops nothing."""
    advice = one.severity is Severity.SHOULD
    colour = "warning" if advice and one.state is not State.HOLDS else _COLOUR[one.state]
    state(word(f"plan.state_words.{one.state.value}"), colour)
    if advice:
        tag("small", word("web_result.rules.advice"))


def _told(words: Any, one: RuleResult) -> str:
    try:
        return str(words(one))
    except _ODD:
        return ""


def _measured(found: VerifyReport) -> None:
    check = found.check
    if check is None:
        note(word("web_verify.unread"), "bad")
        return
    with card(word("web_verify.measured")):
        figures([
            (capital(word("people.figure.rows")), messages.integer(check.rows)),
            (capital(word("people.figure.suppressed_rows")), messages.integer(check.suppressed_rows)),
            (word("release.figures.k"), "–" if check.k is None else messages.integer(check.k)),
        ])  # fmt: skip
        rows: list[list[Cell]] = [
            [word(f"plan.criterion.{one.rule}"), partial(_state, one.state), messages.integer(one.failing_classes),
             messages.integer(one.failing_rows)]
            for one in check.verdicts
        ]  # fmt: skip
        columns = heads("web_verify", "criterion", "result", "classes", "rows")
        table(columns, rows, word("web_verify.measured"), numbers=(2, 3))
