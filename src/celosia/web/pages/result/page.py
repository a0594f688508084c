"""The result: verdict on top, what was given up, rule by rule with the norm's section, rows side by side, documents.

Everything shown was made by `run`, `check` and `evaluate`; nothing is computed here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from nicegui import ui

from celosia import messages
from celosia.dossier.figures import suppression_sentences, suppression_text
from celosia.messages import text
from celosia.model.protocols import Needs
from celosia.model.rules import RuleResult
from celosia.model.verdict import State, Verdict
from celosia.protocols.load import load
from celosia.protocols.words import asked_text, measured_text, sentence_of
from celosia.web.pages.result.evaluation import evaluation_card
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, step_path
from celosia.web.ui.html import Cell
from celosia.web.ui.page import project_page
from celosia.web.ui.verdicts import minute_text, show_rule_state, show_state
from celosia.web.work.workers import OperationFailed
from celosia.workbench.operations.result import (
    check_result,
    evaluation_view,
    result_view,
    side_by_side,
    write_documents,
)
from celosia.workbench.views.result import Result, SideRow, Sides

_KIND = {"holds": "good", "fails": "bad", "stale": "warning"}
_PASSING = (State.HOLDS, State.ATTESTED)
_ROWS = 20


@project_page("result")
async def result_page(page: PageContext) -> None:
    """The present candidate."""
    result = await page.ask(result_view, page.folder)
    if result.refused:
        html.note(text("web_result.refused", when=minute_text(result.refused)), "warning")
    if not result.candidate:
        with html.note(text("web_result.none"), "info"):
            html.link(text("web_result.go_search"), step_path(page.name, "search"))
        return
    _verdict_note(page, result)
    _main_figures(page, result)
    _rules_card(result)
    _criteria_card(result.verdicts)
    sides, evaluation = await asyncio.gather(_read_sides(page, 0), page.ask(evaluation_view, page.folder))
    if sides is not None:
        with html.card(text("web_result.sides.title")):
            SidesTable(page, html.tag("div")).build(sides)
    evaluation_card(page, evaluation, result.digest)
    if page.may(write_documents):
        _documents_card(page)


# --- the verdict -----------------------------------------------------------------------------------


def _verdict_note(page: PageContext, result: Result) -> None:
    key = "holds_free" if result.state == "holds" and not result.rules else result.state
    fields = {
        "fails": {"failing": ", ".join(_failing_names(result))},
        "stale": {"what": ", ".join(text(f"web_result.stale.{part}") for part in result.stale)},
    }.get(result.state, {})
    title = text(f"web_result.word.{result.state}")
    with html.note(text(f"web_result.state.{key}", **fields), _KIND[result.state], f"{title}."):
        if result.state != "holds":
            html.link(text("web_result.go_search"), step_path(page.name, "search"))


def _failing_names(result: Result) -> list[str]:
    rules = [f"{text(f'protocols.short.{rule.rule}')} ({rule.protocol}, {rule.section})" for rule in result.failing]
    failing = [verdict.rule for verdict in result.verdicts if verdict.state not in _PASSING]
    return [*rules, *(text(f"plan.criterion.{rule}") for rule in failing)]


def _main_figures(page: PageContext, result: Result) -> None:
    pairs = [(text("web_result.figure.suppressed"), suppression_text(result.suppression))]
    pairs.append((text("web_result.figure.rows"), messages.integer(result.rows)))
    if result.k is not None:
        pairs.append((text("web_result.figure.k"), messages.integer(result.k)))
    if result.k_persons is not None:
        pairs.append((text("web_result.figure.k_persons"), messages.integer(result.k_persons)))
    for name, rows in result.masked.items():
        pairs.append((text("web_result.figure.masked", variable=name), messages.integer(rows)))
    pairs.append((text("web_result.figure.classes"), messages.integer(result.classes)))
    total = len(result.published) + len(result.withheld)
    pairs.append((text("web_result.figure.published"), f"{len(result.published)} / {total}"))
    html.figures(*pairs)
    if result.suppression.suppressed or result.suppression.otherwise:
        html.paragraph(" ".join(suppression_sentences(result.suppression)))
    with html.line():
        html.button(text("web_result.check.again"), lambda: page.start(check_result, page.folder), "primary")
        html.paragraph(_check_text(result))
    html.tag("small", text("web_result.check.hint"), "c-hint")


def _check_text(result: Result) -> str:
    run = text("web_result.made", when=minute_text(result.when)) if result.when else ""
    last = result.check
    if last is None:
        return f"{run} {text('web_result.check.never')}"
    key = "differs" if not last.agrees else "agrees" if last.holds else "fails"
    return f"{run} {text(f'web_result.check.{key}', who=last.who, when=minute_text(last.when))}"


# --- rules and criteria ----------------------------------------------------------------------------


def _rules_card(result: Result) -> None:
    with html.card(text("web_result.rules.title")):
        if not result.rules:
            html.paragraph(text("web_result.rules.none"))
            return
        html.paragraph(_count_text(result.rules))
        for protocol in dict.fromkeys(rule.protocol for rule in result.rules):
            title = text(f"protocols.title.{protocol}")
            html.heading(title, 3)
            rows = [_rule_row(rule) for rule in result.rules if rule.protocol == protocol]
            keys = ("rule", "section", "asked", "measured", "result", "answered")
            columns = [text(f"web_result.rules.{key}") for key in keys]
            html.table(columns, rows, text("web_result.rules.caption", norm=title), classes="c-wrap")
        if result.later:
            _later_rules(result)


def _count_text(rules: Sequence[RuleResult]) -> str:
    holds = sum(rule.state in _PASSING for rule in rules)
    attested = sum(rule.needs is Needs.SOURCE for rule in rules)
    sentence = text("web_result.rules.count", holds=holds, all=len(rules))
    return f"{sentence} {text('web_result.rules.attested', count=attested)}" if attested else sentence


def _rule_row(rule: RuleResult) -> list[Cell]:
    def sentence_cell() -> None:
        html.tag("span", sentence_of(rule))
        if rule.overridden:
            html.tag("small", text("web_result.rules.overridden", reason=rule.overridden))

    answered = text(f"web_result.needs.{rule.needs.value}")
    return [
        sentence_cell,
        rule.section,
        asked_text(rule),
        measured_text(rule),
        partial(show_rule_state, rule),
        answered,
    ]


def _later_rules(result: Result) -> None:
    with html.details(text("web_result.rules.later", count=len(result.later))):
        rows = [
            [
                sentence_of(load(rule.protocol).rule(rule.rule)),
                f"{text(f'protocols.title.{rule.protocol}')}, {rule.section}",
                text(f"web_result.at.{rule.stage}"),
            ]
            for rule in result.later
        ]
        columns = [text(f"web_result.rules.{key}") for key in ("rule", "section", "stage")]
        html.table(columns, rows, text("web_result.rules.later_caption"), classes="c-wrap")


def _criteria_card(verdicts: Sequence[Verdict]) -> None:
    with html.card(text("web_result.criteria.title")):
        rows: list[list[Cell]] = [
            [
                text(f"plan.criterion.{verdict.rule}"),
                text(f"plan.asked_words.{verdict.rule}", **verdict.asked),
                messages.integer(verdict.failing_classes),
                messages.integer(verdict.failing_rows),
                partial(show_state, verdict.state),
            ]
            for verdict in verdicts
        ]
        columns = [text(f"web_result.criteria.{key}") for key in ("criterion", "asked", "classes", "rows", "result")]
        html.table(columns, rows, text("web_result.criteria.caption"), numbers=(2, 3))


# --- rows side by side -----------------------------------------------------------------------------


async def _read_sides(page: PageContext, offset: int) -> Sides | None:
    """Some of the saved rows: empty where none were, None for a role that never sees a row of the source."""
    if not page.may(side_by_side):
        return None
    try:
        return await page.answer(side_by_side, page.folder, _ROWS, offset)
    except OperationFailed:
        return Sides((), (), 0, 0, 0)


@dataclass(slots=True)
class SidesTable:
    """Rows of the source beside what is published, and where the reader is in them."""

    page: PageContext
    box: ui.element
    offset: int = 0
    withheld: bool = False  # whether columns that are not published are shown

    def build(self, sides: Sides) -> None:
        """Show these rows."""
        self.box.clear()
        with self.box:
            if not sides.columns:
                html.paragraph(text("web_result.sides.absent"))
                return
            saved, total = messages.integer(sides.saved), messages.integer(sides.of)
            html.paragraph(text("web_result.sides.intro", kept=saved, of=total))
            withheld = [column.before for column in sides.columns if not column.after]
            if withheld:
                label = text("web_result.sides.show_withheld", count=len(withheld))
                html.check(label, self.withheld, self._show_withheld)
            with html.tag("div", classes="c-sides"):
                _source_pane(sides, self.withheld)
                _published_pane(sides)
            html.paragraph(text("web_result.sides.legend"))
            self._page_buttons(sides)

    async def _read(self) -> None:
        sides = await _read_sides(self.page, self.offset)
        if sides is not None:
            self.build(sides)

    async def _show_withheld(self, value: bool) -> None:
        self.withheld = value
        await self._read()

    async def _turn_page(self, by: int) -> None:
        self.offset = max(0, self.offset + by)
        await self._read()

    def _page_buttons(self, sides: Sides) -> None:
        last = sides.offset + len(sides.rows)
        with html.line():
            html.button(text("web_result.sides.previous"), partial(self._turn_page, -_ROWS), disabled=sides.offset == 0)
            fields = {"first": sides.offset + 1, "last": last, "kept": sides.saved}
            html.tag("span", text("web_result.sides.position", **fields), aria_live="polite")
            html.button(text("web_result.sides.next"), partial(self._turn_page, _ROWS), disabled=last >= sides.saved)


def _source_pane(sides: Sides, withheld: bool) -> None:
    places = [place for place, column in enumerate(sides.columns) if column.before and (column.after or withheld)]

    def source_cell(row: SideRow, place: int) -> Cell:
        cell = row.before[place]
        return partial(html.tag, "span", cell, "c-veil") if sides.columns[place].veiled else cell

    with html.tag("div"):
        html.heading(text("web_result.sides.before"), 3)
        columns = [text("web_result.sides.row"), *(sides.columns[place].before for place in places)]
        rows: list[list[Cell]] = [
            [messages.integer(row.row), *(source_cell(row, place) for place in places)] for row in sides.rows
        ]
        html.table(columns, rows, text("web_result.sides.before"))


def _published_pane(sides: Sides) -> None:
    with html.tag("div"):
        html.heading(text("web_result.sides.after"), 3)
        names = [column.after for column in sides.columns if column.after]
        rows = [_published_row(row, len(names)) for row in sides.rows]
        html.table([text("web_result.sides.row"), *names], rows, text("web_result.sides.after"))


def _published_row(row: SideRow, width: int) -> list[Cell]:
    number = messages.integer(row.row)
    if row.after is None:
        gone = partial(html.tag, "span", text("web_result.sides.gone"), "c-gone")
        return [number, gone, *[""] * (width - 1)]
    head = f"{number} ({text('web_result.sides.suppressed')})" if row.suppressed else number
    return [head, *(_published_cell(cell, changed) for cell, changed in zip(row.after, row.changed, strict=True))]


def _published_cell(cell: str, changed: bool) -> Cell:
    def mark_changed() -> None:
        with html.tag("span", cell, "c-changed c-changed-mark"):
            html.tag("span", f" ({text('web_result.sides.changed')})", "c-hidden")

    return mark_changed if changed else cell


# --- documents -------------------------------------------------------------------------------------


def _documents_card(page: PageContext) -> None:
    chosen = {"audience": "internal"}

    async def prepare() -> None:
        paths = await page.ask(write_documents, page.folder, chosen["audience"], ("html", "pdf"))
        box.clear()
        with box:
            html.paragraph(text("web_result.documents.ready", count=len(paths)))
            with html.line():
                for path in paths:
                    label = text("web_result.documents.download", name=path.name)
                    html.button(label, partial(page.offer, path), "small")

    with html.card(text("web_result.documents.title")):
        html.paragraph(text("web_result.documents.intro"))
        with html.line():
            options = {key: text(f"web_result.documents.{key}") for key in ("internal", "public")}
            put = partial(chosen.__setitem__, "audience")
            html.choice(text("web_result.documents.audience"), options, "internal", put)
            html.button(text("web_result.documents.prepare"), prepare)
        box = html.tag("div", aria_live="polite")
