"""The intruder: what attacks on the candidate achieve, the test with a person, and the house's answer to each claim.

Everything shown was found by `intrude` and written by people; nothing is computed here. A bar is never without words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from celosia import messages
from celosia.dossier import (
    about,
    attack_name,
    control_text,
    excess_text,
    finding_sentence,
    human_sentence,
    intruder_sentences,
    outcome_text,
    rate_text,
    reason_sentence,
    untried_attacks,
)
from celosia.model.attacks import AttackReport, Control, Estimate, Finding
from celosia.model.intruder_desk import IntruderView
from celosia.model.status import GateState
from celosia.web import _rights as rights
from celosia.web._frame import Desk, page, step_path, tell
from celosia.web._widgets import (
    Cell,
    button,
    card,
    choice,
    details,
    line,
    link,
    note,
    paragraph,
    state,
    table,
    tag,
    text_field,
    upload,
    word,
)
from celosia.web.pages._claims import claims_part
from celosia.web.pages._signing import day, heads

_ATTEMPTS = ("2000", "500", "100")
_GATES = MappingProxyType({GateState.DONE: "good", GateState.BLOCKED: "bad", GateState.WAITING: "info"})
_SEVERITY = MappingProxyType({"high": "bad", "medium": "warning", "low": "info"})
_SHEETS = (".xlsx", ".pdf", ".html")


@page("intruder")
async def intruder_page(desk: Desk) -> None:
    """The attacks on the present candidate."""
    found: IntruderView = await desk.ask("intruder_view", desk.folder)
    if not found.candidate:
        with note(word("web_intruder.no_candidate"), "info"):
            link(word("web.overview.go", page=word("web.step.result")), step_path(desk.name, "result"))
    _verdict(desk, found)
    if found.candidate and desk.may("intrude_project"):
        _attack(desk, found)
    if found.report is not None:
        _attacks(found.report)
        _findings(found.report)
        _untried(found.report)
        _reading(found.report)
    await _human(desk, found)


# --- the verdict ----------------------------------------------------------------------------------


def _verdict(desk: Desk, found: IntruderView) -> None:
    report = found.report
    if report is None:
        note(word("web_intruder.never"), "info")
        return
    said = intruder_sentences(report)
    with card(word("intruder.section.verdict")):
        if not found.current:
            note(word("web_intruder.other_candidate"), "warning")
        note(said[0], "warning" if report.works else "good")
        for sentence in said[1:]:
            paragraph(sentence)
        paragraph(word("web_intruder.made", when=day(found.when), rows=messages.integer(report.rows)), "c-soft")
        with line():
            for suffix in (".pdf", ".html"):
                button(_file_words("verdict", suffix), partial(_verdict_file, desk, suffix))


def _file_words(what: str, suffix: str) -> str:
    return word(f"web_intruder.file.{what}", format=suffix[1:].upper())


async def _verdict_file(desk: Desk, suffix: str) -> None:
    path = desk.scratch(f"{word('web_intruder.file.verdict_name')}-{desk.name}{suffix}")
    await desk.ask("intruder_file", desk.folder, path)
    desk.offer(path)


# --- attacking ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Means:
    """What the reader gives the intruder."""

    attempts: str = _ATTEMPTS[0]
    on: str = ""
    files: dict[str, Path] = field(default_factory=dict)


def _attack(desk: Desk, found: IntruderView) -> None:
    means = _Means()
    with card(word("web_intruder.run.title")):
        paragraph(word("web_intruder.run.hint"))
        with details(word("web_intruder.run.options")), tag("div", classes="c-form"):
            options = {one: word(f"web_intruder.run.attempts_{one}") for one in _ATTEMPTS}
            choice(word("web_intruder.run.attempts"), options, means.attempts, partial(_set, means, "attempts"))
            _file(desk, means, "external")
            text_field(word("web_intruder.run.on"), "", partial(_set, means, "on"), word("web_intruder.run.on_hint"))
            _file(desk, means, "control")
        key = "again" if found.current else "start"
        button(word(f"web_intruder.run.{key}"), partial(_start, desk, means), "primary")


def _set(means: _Means, name: str, given: Any) -> None:
    setattr(means, name, str(given or ""))


def _file(desk: Desk, means: _Means, name: str) -> None:
    box: list[Any] = []

    def arrived(told: Mapping[str, Any]) -> None:
        path = desk.uploaded(str(told["ticket"]))
        if path is not None:
            means.files[name] = path
            box[0].clear()
            with box[0]:
                note(word("web_intruder.run.arrived", name=str(told["name"])), "good")

    upload(word(f"web_intruder.run.{name}"), desk.csrf, arrived, hint=word(f"web_intruder.run.{name}_hint"))
    box.append(tag("div", aria_live="polite"))


def _start(desk: Desk, means: _Means) -> None:
    pairs = _pairs(means.on)
    if pairs is None:
        tell(word("web_intruder.run.on_wrong"), "bad")
        return
    given: dict[str, Any] = {name: str(path) for name, path in means.files.items()}
    attempts = int(means.attempts) if means.attempts in _ATTEMPTS else int(_ATTEMPTS[0])
    desk.start("intrude_project", desk.folder, on=pairs or None, attempts=attempts, **given)


def _pairs(words: str) -> dict[str, str] | None:
    """PUBLISHED=OUTSIDE, one after another with commas; None where that cannot be read."""
    pairs = {}
    for one in (part.strip() for part in words.split(",") if part.strip()):
        mine, equals, theirs = (part.strip() for part in one.partition("="))
        if not mine or (equals and not theirs):
            return None
        pairs[mine] = theirs or mine
    return pairs


# --- what was tried -------------------------------------------------------------------------------


def _attacks(report: AttackReport) -> None:
    tried = [one for one in report.estimates if one.measured]
    if not tried:
        return
    with card(word("intruder.section.attacks")):
        paragraph(word("web_intruder.bars"))
        for risk in dict.fromkeys(one.risk for one in tried):
            tag("h3", word(f"intruder.risk.{risk}"))
            with tag("ul", classes="i-attacks"):
                for one in (one for one in tried if one.risk == risk):
                    _bar(one)
        with details(word("web_intruder.as_table")):
            _table(report, tried)


def _bar(one: Estimate) -> None:
    with tag("li"):
        with line("c-tight"):
            tag("strong", attack_name(one))
            state(outcome_text(one), "bad" if one.works else "good")
        with tag("div", classes="i-track", aria_hidden="true"):
            tag("span", "", "i-rate", style=f"width: {_percent(one.rate)}%")
            width = max(_percent(one.high) - _percent(one.low), 0.4)
            tag("span", "", "i-interval", style=f"left: {_percent(one.low)}%; width: {width}%")
            if one.control_rate is not None:
                tag("span", "", "i-control", style=f"left: {_percent(one.control_rate)}%")
        paragraph(_says(one), "i-words")
        with details(word("web_intruder.what_is_it")):
            paragraph(about(one))
            paragraph(word(f"web_intruder.control.{one.control.value}"))


def _percent(share: float | None) -> float:
    return round(100 * min(max(share or 0.0, 0.0), 1.0), 2)


def _says(one: Estimate) -> str:
    words = word("web_intruder.says", tries=messages.integer(one.attempts), rate=rate_text(one))
    if one.control is Control.NONE or one.control_rate is None:
        return words
    return f"{words} {word('web_intruder.against', control=control_text(one), excess=excess_text(one))}"


def _table(report: AttackReport, tried: list[Estimate]) -> None:
    compared = report.before is not None
    rows: list[list[Cell]] = []
    for one in tried:
        row: list[Cell] = [attack_name(one), messages.integer(one.attempts), rate_text(one), control_text(one)]
        row += [excess_text(one), *([_before(report, one)] if compared else []), outcome_text(one)]
        rows.append(row)
    keys = ("attack", "tries", "rate", "control", "excess", *(("before",) if compared else ()), "result")
    table(heads("intruder.head", *keys), rows, word("intruder.section.attacks"), numbers=(1, 5) if compared else (1,))


def _before(report: AttackReport, one: Estimate) -> str:
    earlier = report.counterpart(one)
    return messages.integer(earlier.persons) if isinstance(earlier, Estimate) and earlier.works else "0"


def _findings(report: AttackReport) -> None:
    if report.findings:
        with card(word("intruder.section.findings")):
            rows: list[list[Cell]] = [_finding(one) for one in report.findings]
            columns = heads("intruder.head", "finding", "severity", "cells", "persons")
            table(columns, rows, word("intruder.section.findings"), numbers=(2, 3))


def _finding(one: Finding) -> list[Cell]:
    grave = partial(state, word(f"intruder.severity.{one.severity}"), _SEVERITY[one.severity])
    return [finding_sentence(one), grave, messages.integer(one.cells), messages.integer(one.persons)]


def _untried(report: AttackReport) -> None:
    rows = [[attack_name(one), _reason(one)] for one in untried_attacks(report)]
    if rows:
        with card(word("intruder.section.not_tried")):
            table(heads("intruder.head", "attack", "reason"), rows, word("intruder.section.not_tried"))


def _reason(one: Estimate) -> str:
    """Why an attack was not tried; where the way out is an option, that of this page."""
    own = f"web_intruder.reason.{one.reason}"
    return word(own) if messages.has(own) else reason_sentence(one)


def _reading(report: AttackReport) -> None:
    with card(word("intruder.section.notes")):
        paragraph(word("intruder.note.only_the_excess"))
        used = dict.fromkeys(one.control.value for one in report.estimates if one.measured)
        for control in used:
            paragraph(word(f"web_intruder.control.{control}"))
        for key in report.notes:
            if key not in ("control_margins", "control_held_out", "claims_unjudged"):
                paragraph(word(f"intruder.note.{key}"))


# --- the test with a person -----------------------------------------------------------------------


async def _human(desk: Desk, found: IntruderView) -> None:
    with card(word("intruder.section.human")):
        _standing(found)
        if found.candidate and desk.may("save_worksheet"):
            paragraph(word("web_intruder.sheet.hint"))
            with line():
                for suffix in _SHEETS:
                    button(_file_words("sheet", suffix), partial(_sheet_file, desk, suffix))
        if rights.may_see(desk.session.roles, "attempt"):
            link(word("web_intruder.sheet.page"), step_path(desk.name, "attempt"))
        if desk.may("received_claims") and not found.fault:
            await claims_part(desk)


def _standing(found: IntruderView) -> None:
    if found.fault:
        note(found.fault, "bad")
    elif found.unjudged:
        note(word("web_intruder.unjudged", count=found.unjudged), "warning")
    elif found.human is None:
        note(word("web_intruder.nobody"), "info")
    else:
        kind = "good" if found.human.attempts else "info"
        note(human_sentence(found.human), kind if found.human.current and not found.human.correct else "warning")
    for gate in found.gates:
        with line("c-tight"):
            tag("span", word("web_intruder.gate", norm=word(f"protocols.title.{gate.protocol}").partition(":")[0]))
            state(word(f"status.state.{gate.state.value}"), _GATES[gate.state])
        if gate.reason and gate.state is not GateState.DONE and not found.unjudged and not found.fault:
            paragraph(gate.reason, "c-soft")


async def _sheet_file(desk: Desk, suffix: str) -> None:
    path = desk.scratch(f"{word('web_intruder.file.sheet_name')}-{desk.name}{suffix}")
    await desk.ask("save_worksheet", desk.folder, path)
    desk.offer(path)
