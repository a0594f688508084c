"""The intruder: what attacks on the candidate achieve, the test with a person, and the answer to each claim.

Everything shown was found by `intrude` and written by people; nothing is computed here. A bar is never without words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.dossier.intruder_words import (
    attack_description,
    attack_name,
    control_text,
    excess_text,
    finding_sentence,
    human_sentence,
    intruder_sentences,
    outcome_text,
    outsider_text,
    rate_text,
    reason_sentence,
    untried_attacks,
)
from celosia.messages import text
from celosia.model.reports.attacks import AttackReport, Control, Estimate, Finding
from celosia.model.reports.status import GateState
from celosia.web.server import rights
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify, step_path, upload_field
from celosia.web.ui.html import Cell
from celosia.web.ui.page import project_page
from celosia.web.ui.verdicts import minute_text, table_heads
from celosia.workbench.operations.intruder import (
    intrude_project,
    intruder_file,
    intruder_view,
    judge_claims,
    received_claims,
    save_worksheet,
)
from celosia.workbench.views.intruder import ClaimLine, IntruderView

_ATTEMPTS = ("2000", "500", "100")
_GATE_COLOUR = {GateState.DONE: "good", GateState.BLOCKED: "bad", GateState.WAITING: "info"}
_SEVERITY_COLOUR = {"high": "bad", "medium": "warning", "low": "info"}
_SHEETS = (".xlsx", ".pdf", ".html")


@project_page("intruder")
async def intruder_page(page: PageContext) -> None:
    """The attacks on the present candidate."""
    view = await page.ask(intruder_view, page.folder)
    if not view.candidate:
        with html.note(text("web_intruder.no_candidate"), "info"):
            html.link(text("web.overview.go", page=text("web.step.result")), step_path(page.name, "result"))
    _verdict_card(page, view)
    if view.candidate and page.may(intrude_project):
        _attack_card(page, view)
    if view.report is not None:
        _attacks_card(view.report)
        _findings_card(view.report)
        _untried_card(view.report)
        _notes_card(view.report)
    await _human_card(page, view)


# --- the verdict ----------------------------------------------------------------------------------


def _verdict_card(page: PageContext, view: IntruderView) -> None:
    report = view.report
    if report is None:
        html.note(text("web_intruder.never"), "info")
        return
    sentences = intruder_sentences(report)
    with html.card(text("intruder.section.verdict")):
        if not view.current:
            html.note(text("web_intruder.other_candidate"), "warning")
        html.note(sentences[0], "warning" if report.works else "good")
        for sentence in sentences[1:]:
            html.paragraph(sentence)
        html.paragraph(
            text("web_intruder.made", when=minute_text(view.when), rows=messages.integer(report.rows)), "c-soft"
        )
        with html.line():
            for suffix in (".pdf", ".html"):
                html.button(_file_label("verdict", suffix), partial(_download_verdict, page, suffix))


def _file_label(what: str, suffix: str) -> str:
    return text(f"web_intruder.file.{what}", format=suffix[1:].upper())


async def _download_verdict(page: PageContext, suffix: str) -> None:
    path = page.scratch_path(f"{text('web_intruder.file.verdict_name')}-{page.name}{suffix}")
    await page.ask(intruder_file, page.folder, path)
    page.offer(path)


# --- attacking ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _AttackOptions:
    """What the reader gives the intruder."""

    attempts: str = _ATTEMPTS[0]
    on: str = ""
    files: dict[str, Path] = field(default_factory=dict)


def _attack_card(page: PageContext, view: IntruderView) -> None:
    options = _AttackOptions()
    with html.card(text("web_intruder.run.title")):
        html.paragraph(text("web_intruder.run.hint"))
        with html.details(text("web_intruder.run.options")), html.tag("div", classes="c-form"):
            counts = {attempts: text(f"web_intruder.run.attempts_{attempts}") for attempts in _ATTEMPTS}
            html.choice(
                text("web_intruder.run.attempts"), counts, options.attempts, partial(_set_option, options, "attempts")
            )
            _file_field(page, options, "external")
            html.text_field(
                text("web_intruder.run.on"), "", partial(_set_option, options, "on"), text("web_intruder.run.on_hint")
            )
            _file_field(page, options, "control")
        key = "again" if view.current else "start"
        html.button(text(f"web_intruder.run.{key}"), partial(_start_attack, page, options), "primary")


def _set_option(options: _AttackOptions, name: str, given: Any) -> None:
    setattr(options, name, str(given or ""))


def _file_field(page: PageContext, options: _AttackOptions, name: str) -> None:
    def take(path: Path) -> None:
        options.files[name] = path
        received.clear()
        with received:
            html.note(text("web_intruder.run.arrived", name=path.name), "good")

    label, hint = text(f"web_intruder.run.{name}"), text(f"web_intruder.run.{name}_hint")
    upload_field(page, label, take, hint=hint)
    received = html.tag("div", aria_live="polite")


def _start_attack(page: PageContext, options: _AttackOptions) -> None:
    pairs = _column_pairs(options.on)
    if pairs is None:
        notify(text("web_intruder.run.on_wrong"), "bad")
        return
    page.start(
        intrude_project,
        page.folder,
        attempts=int(options.attempts if options.attempts in _ATTEMPTS else _ATTEMPTS[0]),
        external=options.files.get("external"),
        on=pairs or None,
        control=options.files.get("control"),
    )


def _column_pairs(words: str) -> dict[str, str] | None:
    """PUBLISHED=OUTSIDE, one after another with commas; None where that cannot be read."""
    pairs = {}
    for pair in (part.strip() for part in words.split(",") if part.strip()):
        mine, equals, theirs = (part.strip() for part in pair.partition("="))
        if not mine or (equals and not theirs):
            return None
        pairs[mine] = theirs or mine
    return pairs


# --- what was tried -------------------------------------------------------------------------------


def _attacks_card(report: AttackReport) -> None:
    tried = [estimate for estimate in report.estimates if estimate.measured]
    if not tried:
        return
    with html.card(text("intruder.section.attacks")):
        html.paragraph(text("web_intruder.bars"))
        for risk in dict.fromkeys(estimate.risk for estimate in tried):
            html.tag("h3", text(f"intruder.risk.{risk}"))
            with html.tag("ul", classes="i-attacks"):
                for estimate in (estimate for estimate in tried if estimate.risk == risk):
                    _attack_bar(estimate)
        with html.details(text("web_intruder.as_table")):
            _attacks_table(report, tried)


def _attack_bar(estimate: Estimate) -> None:
    with html.tag("li"):
        with html.line("c-tight"):
            html.tag("strong", attack_name(estimate))
            html.state(outcome_text(estimate), "bad" if estimate.works else "good")
        with html.tag("div", classes="i-track", aria_hidden="true"):
            html.tag("span", "", "i-rate", style=f"width: {_percent(estimate.rate)}%")
            width = max(_percent(estimate.high) - _percent(estimate.low), 0.4)
            html.tag("span", "", "i-interval", style=f"left: {_percent(estimate.low)}%; width: {width}%")
            if estimate.control_rate is not None:
                html.tag("span", "", "i-control", style=f"left: {_percent(estimate.control_rate)}%")
        html.paragraph(_rate_sentence(estimate), "i-words")
        with html.details(text("web_intruder.what_is_it")):
            html.paragraph(attack_description(estimate))
            html.paragraph(text(f"web_intruder.control.{estimate.control.value}"))


def _percent(share: float | None) -> float:
    return round(100 * min(max(share or 0.0, 0.0), 1.0), 2)


def _rate_sentence(estimate: Estimate) -> str:
    sentence = text("web_intruder.says", tries=messages.integer(estimate.attempts), rate=rate_text(estimate))
    if estimate.control is Control.NONE or estimate.control_rate is None:
        return sentence
    return f"{sentence} {text('web_intruder.against', control=control_text(estimate), excess=excess_text(estimate))}"


def _attacks_table(report: AttackReport, tried: list[Estimate]) -> None:
    compared = report.before is not None
    rows: list[list[Cell]] = []
    for estimate in tried:
        row: list[Cell] = [
            attack_name(estimate),
            messages.integer(estimate.attempts),
            rate_text(estimate),
            control_text(estimate),
        ]
        row += [
            excess_text(estimate),
            *([_persons_before(report, estimate)] if compared else []),
            outcome_text(estimate),
        ]
        rows.append(row)
    keys = ("attack", "tries", "rate", "control", "excess", *(("before",) if compared else ()), "result")
    html.table(
        table_heads("intruder.head", *keys),
        rows,
        text("intruder.section.attacks"),
        numbers=(1, 5) if compared else (1,),
    )


def _persons_before(report: AttackReport, estimate: Estimate) -> str:
    earlier = report.counterpart(estimate)
    return messages.integer(earlier.persons) if isinstance(earlier, Estimate) and earlier.works else "0"


def _findings_card(report: AttackReport) -> None:
    if report.findings:
        with html.card(text("intruder.section.findings")):
            rows: list[list[Cell]] = [_finding_row(finding) for finding in report.findings]
            columns = table_heads("intruder.head", "finding", "severity", "cells", "persons")
            html.table(columns, rows, text("intruder.section.findings"), numbers=(2, 3))


def _finding_row(finding: Finding) -> list[Cell]:
    grave = partial(html.state, text(f"intruder.severity.{finding.severity}"), _SEVERITY_COLOUR[finding.severity])
    return [finding_sentence(finding), grave, messages.integer(finding.cells), messages.integer(finding.persons)]


def _untried_card(report: AttackReport) -> None:
    rows = [[attack_name(estimate), _untried_reason(estimate)] for estimate in untried_attacks(report)]
    if rows:
        with html.card(text("intruder.section.not_tried")):
            html.table(table_heads("intruder.head", "attack", "reason"), rows, text("intruder.section.not_tried"))


def _untried_reason(estimate: Estimate) -> str:
    """Why an attack was not tried; where the way out is an option, that of this page."""
    own = f"web_intruder.reason.{estimate.reason}"
    return text(own) if messages.has(own) else reason_sentence(estimate)


def _notes_card(report: AttackReport) -> None:
    with html.card(text("intruder.section.notes")):
        html.paragraph(text("intruder.note.only_the_excess"))
        used = dict.fromkeys(estimate.control.value for estimate in report.estimates if estimate.measured)
        for control in used:
            html.paragraph(text(f"web_intruder.control.{control}"))
        for key in report.notes:
            if key not in ("control_margins", "control_held_out", "claims_unjudged"):
                html.paragraph(text(f"intruder.note.{key}"))


# --- the test with a person -----------------------------------------------------------------------


async def _human_card(page: PageContext, view: IntruderView) -> None:
    with html.card(text("intruder.section.human")):
        _human_notes(view)
        if view.candidate and page.may(save_worksheet):
            html.paragraph(text("web_intruder.sheet.hint"))
            with html.line():
                for suffix in _SHEETS:
                    html.button(_file_label("sheet", suffix), partial(_download_worksheet, page, suffix))
        if rights.may_see(page.session.roles, "attempt"):
            html.link(text("web_intruder.sheet.page"), step_path(page.name, "attempt"))
        if page.may(received_claims) and not view.fault:
            await _claims_part(page)


def _human_notes(view: IntruderView) -> None:
    if view.fault:
        html.note(view.fault, "bad")
    elif view.unjudged:
        html.note(text("web_intruder.unjudged", count=view.unjudged), "warning")
    elif view.human is None:
        html.note(text("web_intruder.nobody"), "info")
    else:
        kind = "good" if view.human.attempts else "info"
        html.note(human_sentence(view.human), kind if view.human.current and not view.human.correct else "warning")
    for outsider in view.outsiders:
        html.paragraph(outsider_text(outsider))
    for gate in view.gates:
        with html.line("c-tight"):
            html.tag("span", text("web_intruder.gate", norm=text(f"protocols.title.{gate.protocol}").partition(":")[0]))
            html.state(text(f"status.state.{gate.state.value}"), _GATE_COLOUR[gate.state])
        if gate.reason and gate.state is not GateState.DONE and not view.unjudged and not view.fault:
            html.paragraph(gate.reason, "c-soft")


async def _download_worksheet(page: PageContext, suffix: str) -> None:
    path = page.scratch_path(f"{text('web_intruder.file.sheet_name')}-{page.name}{suffix}")
    await page.ask(save_worksheet, page.folder, path)
    page.offer(path)


# --- the claims, judged in the institution --------------------------------------------------------


async def _claims_part(page: PageContext) -> None:
    """What was claimed, for whoever may judge it."""
    view = await page.ask(received_claims, page.folder)
    if not view.lines:
        return
    html.heading(text("web_intruder.claims.title"), 3)
    html.paragraph(text("web_intruder.claims.hint"))
    if not view.current:
        html.note(text("web_intruder.claims.other"), "warning")
    answers: dict[int, str] = {}
    rows = [_claim_row(claim, answers) for claim in view.lines]
    columns = table_heads("web_intruder.claims", "target", "source", "claim", "confidence", "minutes", "correct")
    html.table(columns, rows, text("web_intruder.claims.title"), numbers=(4,), classes="c-wrap")
    if any(claim.claim for claim in view.lines):
        html.button(text("web_intruder.claims.save"), partial(_save_answers, page, answers, view.expected), "primary")


def _claim_row(claim: ClaimLine, answers: dict[int, str]) -> list[Cell]:
    return [
        partial(_target_cell, claim),
        claim.source_used or "–",
        partial(_claim_cell, claim),
        claim.confidence or "–",
        claim.minutes or "–",
        partial(_judge_cell, claim, answers) if claim.claim else text("web_intruder.claims.none"),
    ]


def _target_cell(claim: ClaimLine) -> None:
    html.tag("span", claim.target or "–")
    for name, value in claim.values:
        html.tag("small", f"{name}: {value}")


def _claim_cell(claim: ClaimLine) -> None:
    html.tag("span", claim.claim or "–")
    if claim.note:
        html.tag("small", claim.note)


def _judge_cell(claim: ClaimLine, answers: dict[int, str]) -> None:
    def put(given: Any) -> None:
        if given in ("yes", "no", ""):
            answers[claim.line] = given

    options = {key or "": text(f"web_intruder.claims.{key or 'unjudged'}") for key in ("", "yes", "no")}
    html.bare_choice(text("web_intruder.claims.right", target=claim.target), options, claim.correct, put)


async def _save_answers(page: PageContext, answers: dict[int, str], expected: str) -> None:
    if not answers:
        notify(text("web_intruder.claims.nothing"), "info")
        return
    await page.ask(judge_claims, page.folder, dict(answers), expected=expected)
    ui.navigate.reload()
