"""The tables of a STATS folder: for whom, how much each shows and hides, when it is due, and what fails."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from celosia import messages
from celosia.dossier.stats import cell_text, failing_cell_lines
from celosia.messages import text
from celosia.model.reports.stats import AttackFinding, StatsAttack, StatsCheck
from celosia.model.verdict import State
from celosia.protocols.words import asked_text, measured_text
from celosia.stats.declaration.views import StatsLine, StatsRunLine, StatsView
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, part_path
from celosia.web.ui.html import Cell
from celosia.web.ui.page import stats_page
from celosia.web.ui.verdicts import minute_text
from celosia.workbench.operations.stats import attack_now, check_now, run_now, stats_view
from celosia.workbench.views.saved import Saved

_MOST_SHOWN = 50  # findings on the page
_COLOUR = {"written": "good", "kept": "warning", "left_out": "warning", "waiting": "info"}


@stats_page("tables")
async def stats_tables_page(page: PageContext) -> None:
    """Every table by audience; run, check and attack."""
    overview = await page.ask(stats_view, page.folder)
    view = overview.view
    if view.title:
        html.paragraph(view.title, "c-next")
    _warnings(view)
    _main_figures(view)
    _work_buttons(page, view)
    for audience in dict.fromkeys(entry.audience for entry in view.lines):
        _audience_card(page, audience, [entry for entry in view.lines if entry.audience == audience])
    _check_card(overview.check)
    _attack_card(overview.attack)


def audience_text(audience: str) -> str:
    """An audience in words; one of the institution's own by its name."""
    return text(f"stats.audience.{audience}") if messages.has(f"stats.audience.{audience}") else audience


def failure_text(run: StatsRunLine) -> str:
    """What a failed run left in the journal: its code and how many values of which rule."""
    counts = {rule: count for rule, count in run.errors.items() if rule != run.error}
    rules = " ".join(text("web_stats.rule_values", rule=rule, values=count) for rule, count in counts.items())
    return text("web_stats.failed", when=minute_text(run.when), error=run.error, rules=rules)


def _warnings(view: StatsView) -> None:
    for name in view.unset:
        with html.note(text("web_stats.unset"), "warning"):
            html.tag("code", name)
    if view.problem:
        html.note(view.problem, "bad")
    if view.failed:
        html.note(failure_text(view.failed), "bad", text("web_stats.failed_title"))


def _main_figures(view: StatsView) -> None:
    html.figures(
        (text("web_stats.figure.tables"), messages.integer(len(view.lines))),
        (text("web_stats.figure.shown"), messages.integer(sum(entry.shown for entry in view.lines))),
        (text("web_stats.figure.hidden"), messages.integer(sum(entry.hidden for entry in view.lines))),
        (text("web_stats.figure.last"), view.last.when[:10] if view.last else text("web_stats.never")),
        (text("web_stats.figure.next"), min((entry.due for entry in view.lines if entry.due), default="–")),
    )


def _work_buttons(page: PageContext, view: StatsView) -> None:
    ran, unset = view.last is not None, bool(view.unset)
    with html.line():
        if page.may(run_now):
            html.button(text("web_stats.run"), lambda: page.start(run_now, page.folder), "primary", disabled=unset)
            if ran:
                run_changed = partial(page.start, run_now, page.folder, full=False)
                html.button(text("web_stats.run_changed"), run_changed, disabled=unset)
        if ran and not view.problem:
            html.button(text("web_stats.check"), lambda: page.start(check_now, page.folder))
            html.button(text("web_stats.attack"), lambda: page.start(attack_now, page.folder))
    if page.may(run_now):
        html.paragraph(text("web_stats.run_meaning"), "c-soft")


def _audience_card(page: PageContext, audience: str, entries: Sequence[StatsLine]) -> None:
    title = text("web_stats.audience", audience=audience_text(audience), k=entries[0].k)
    heads = [text(f"web_stats.head.{key}") for key in ("table", "shown", "hidden", "frequency", "last", "due", "state")]
    with html.card(title):
        html.table(heads, [_table_row(page, entry) for entry in entries], title, numbers=(1, 2), classes="s-list")
        for entry in entries:
            if entry.state in ("kept", "left_out"):
                html.note(text(f"web_stats.why.{entry.state}", table=entry.title), "warning")


def _table_row(page: PageContext, entry: StatsLine) -> list[Cell]:
    def name_cell() -> None:
        if entry.state in ("written", "kept"):
            html.link(entry.title, part_path(page.name, "table", entry.table))
        else:
            html.tag("span", entry.title)
        with html.tag("small"):
            html.tag("code", entry.table)

    return [
        name_cell,
        messages.integer(entry.shown),
        messages.integer(entry.hidden),
        text(f"stats.frequency.{entry.frequency}"),
        entry.last[:10] or "–",
        text("web_stats.late", due=entry.due) if entry.late else entry.due or "–",
        partial(html.state, text(f"web_stats.state.{entry.state}"), _COLOUR[entry.state]),
    ]


# --- check and attack ------------------------------------------------------------------------------


def _check_card(saved: Saved[StatsCheck] | None) -> None:
    with html.card(text("web_stats.check_title")):
        if saved is None:
            html.paragraph(text("web_stats.check_none"))
            return
        check = saved.report
        key = "web_stats.check_holds" if check.holds else "web_stats.check_fails"
        html.note(text(key, when=minute_text(saved.when)), "good" if check.holds else "bad")
        if saved.stale:
            html.note(text("web_stats.stale"), "warning")
        with html.details(text("web_stats.check_rules"), opened=not check.holds):
            _rules_table(check)
        with html.details(text("web_stats.check_tables")):
            _checked_tables(check)
        for finding in check.findings:
            html.note(text(f"stats.finding.{finding['kind']}", table=finding["table"], column=finding["column"]), "bad")


def _rules_table(check: StatsCheck) -> None:
    rows: list[list[Cell]] = [
        [
            text(f"protocols.short.{rule.rule}"),
            rule.section,
            asked_text(rule),
            measured_text(rule),
            partial(html.state, text(f"plan.state_words.{rule.state.value}"), _rule_colour(rule.state)),
        ]
        for rule in check.rules.results
    ]
    heads = [text(f"web_stats.rule.{key}") for key in ("rule", "section", "asked", "measured", "state")]
    html.table(heads, rows, text("web_stats.check_rules"))


def _rule_colour(verdict: State) -> str:
    return "good" if verdict in (State.HOLDS, State.ATTESTED) else "bad"


def _checked_tables(check: StatsCheck) -> None:
    columns = ("k", "published", "hidden", "below", "recoverable", "disclosed", "unproven")
    rows = [
        [checked.table, *(messages.integer(getattr(checked, name)) for name in columns)] for checked in check.tables
    ]
    heads = [text(f"stats.header.{name}") for name in ("table", *columns)]
    html.table(heads, rows, text("web_stats.check_tables"), numbers=range(1, 8))
    for line in failing_cell_lines(check.tables, _MOST_SHOWN):
        html.paragraph(line)
    for checked in check.tables:
        for measure in checked.unmeasured:
            key = "persons" if measure == "*" else "amount"
            html.paragraph(text(f"stats.unmeasured.{key}", table=checked.table, measure=measure), "c-soft")


def _attack_card(saved: Saved[StatsAttack] | None) -> None:
    with html.card(text("web_stats.attack_title")):
        html.paragraph(text("web_stats.attack_meaning"), "c-soft")
        if saved is None:
            html.paragraph(text("web_stats.attack_none"))
            return
        attack = saved.report
        key = "web_stats.attack_holds" if attack.holds else "web_stats.attack_learns"
        sentence = text(key, when=minute_text(saved.when), cells=len(attack.findings))
        html.note(sentence, "good" if attack.holds else "bad")
        if saved.stale:
            html.note(text("web_stats.stale"), "warning")
        counts = {"cells": attack.cells, "hidden": attack.hidden, "compared": attack.compared}
        html.paragraph(text("web_stats.attack_figures", releases=len(attack.releases), **counts))
        if attack.findings:
            _findings_table(attack.findings[:_MOST_SHOWN])


def _findings_table(findings: Sequence[AttackFinding]) -> None:
    rows = [
        [
            finding.table,
            cell_text(finding.cell),
            text(f"stats.attack.{finding.kind}"),
            ", ".join(map(minute_text, finding.releases)),
        ]
        for finding in findings
    ]
    heads = [text(f"stats.header.{name}") for name in ("table", "cell", "finding", "releases")]
    html.table(heads, rows, text("web_stats.attack_title"))
