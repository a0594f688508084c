"""A plain page for a release that somebody sends: dropped as a .zip, judged from its files alone, rule by rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from celosia import messages
from celosia.dossier.figures import suppression_text
from celosia.messages import text
from celosia.model.reports.verification import VerifyReport
from celosia.model.rules import RuleResult
from celosia.protocols.words import asked_text, measured_text, sentence_of
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, upload_field
from celosia.web.ui.html import Cell
from celosia.web.ui.page import plain_page
from celosia.web.ui.verdicts import capitalise, show_rule_state, show_state, table_heads
from celosia.web.work.workers import OperationFailed
from celosia.workbench.operations.dossier import verify_upload

# What the texts of a manifest that was not written by celosia raise.
_FOREIGN = (LookupError, TypeError, ValueError, AttributeError)


@plain_page("/verify", "web_verify.title")
async def verify_page(page: PageContext) -> None:
    """Drop a release, read the verdict."""
    html.paragraph(text("web_verify.hint"))
    box = html.tag("div", aria_live="polite")

    async def judge(path: Path) -> None:
        box.clear()
        with box:
            html.note(text("web_verify.working"), "info")
        try:
            report = await page.answer(verify_upload, path)
        except OperationFailed as error:
            box.clear()
            with box:
                html.note(str(error), "bad")
            return
        finally:
            path.unlink(missing_ok=True)  # it was sent to be judged, not to be kept
        box.clear()
        with box:
            _show_report(report)

    upload_field(page, text("web_verify.file"), judge, ".zip", text("web_verify.file_hint"))
    box.move(target_index=-1)


def _show_report(report: VerifyReport) -> None:
    key = "holds" if report.holds else "fails"
    html.note(text(f"web_verify.{key}"), "good" if report.holds else "bad", report.release)
    if report.label:
        html.note(text("release.pseudonymous"), "warning")
    with html.card(text("release.findings_title", release=report.release)):
        rows: list[list[Cell]] = [
            [text(f"release.finding.{finding.id}"), partial(show_state, finding.state), ", ".join(finding.detail)]
            for finding in report.findings
        ]
        html.table(table_heads("release", "question", "answer", "detail"), rows, text("web_verify.findings"))
    _signatures_card(report)
    _rules_card(report)
    _measures_card(report)


def _signatures_card(report: VerifyReport) -> None:
    with html.card(text("web_verify.signatures")):
        if not report.signatures:
            html.paragraph(text("release.signature_none"))
            return
        rows: list[list[Cell]] = []
        for signature in report.signatures:
            role, name, when, key = (str(signature[part]) for part in ("role", "name", "when", "key"))
            label = f"protocols.role.{role}"
            role_name = text(label) if messages.has(label) else role
            rows.append([role_name, name, when[:10], partial(html.tag, "code", key)])
        html.table(table_heads("release", "role", "name", "when", "key"), rows, text("web_verify.signatures"))
        html.paragraph(text("web_people.compare"), "c-soft")


def _rules_card(report: VerifyReport) -> None:
    with html.card(text("web_verify.rules")):
        for protocol in dict.fromkeys(rule.protocol for rule in report.rules):
            title = f"protocols.title.{protocol}"
            html.heading(text(title) if messages.has(title) else protocol, 3)
            rows = [_rule_row(rule) for rule in report.rules if rule.protocol == protocol]
            columns = [text(f"web_result.rules.{key}") for key in ("rule", "result", "asked", "measured", "section")]
            html.table(columns, rows, f"{text('web_verify.rules')}: {protocol}", classes="c-wrap")
        if not report.rules:
            html.paragraph(text("web_verify.no_rules"))


def _rule_row(rule: RuleResult) -> list[Cell]:
    sentence = _text_or_nothing(sentence_of, rule) or f"{rule.protocol} · {rule.rule}"
    asked, measured = (_text_or_nothing(words, rule) or "–" for words in (asked_text, measured_text))
    return [sentence, partial(show_rule_state, rule), asked, measured, rule.section]


def _text_or_nothing(words: Callable[[RuleResult], str], rule: RuleResult) -> str:
    try:
        return str(words(rule))
    except _FOREIGN:
        return ""


def _measures_card(report: VerifyReport) -> None:
    check = report.check
    if check is None:
        html.note(text("web_verify.unread"), "bad")
        return
    with html.card(text("web_verify.measured")):
        html.figures(
            (capitalise(text("people.figure.rows")), messages.integer(check.rows)),
            (capitalise(text("people.figure.suppressed_rows")), suppression_text(check.suppression)),
            (text("release.figures.k"), "–" if check.k is None else messages.integer(check.k)),
        )
        rows: list[list[Cell]] = [
            [
                text(f"plan.criterion.{verdict.rule}"),
                partial(show_state, verdict.state),
                messages.integer(verdict.failing_classes),
                messages.integer(verdict.failing_rows),
            ]
            for verdict in check.verdicts
        ]
        columns = table_heads("web_verify", "criterion", "result", "classes", "rows")
        html.table(columns, rows, text("web_verify.measured"), numbers=(2, 3))
