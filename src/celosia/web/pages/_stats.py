"""The tables of a STATS folder: for whom, how much each shows and hides, when it is due, and what fails."""

from __future__ import annotations

from functools import partial
from typing import Any

from celosia import messages
from celosia.model.rules import rule_report_from
from celosia.model.verdict import State
from celosia.web._frame import Desk, part_path, stats_page
from celosia.web._widgets import (
    Cell,
    button,
    card,
    details,
    figures,
    line,
    link,
    note,
    paragraph,
    state,
    table,
    tag,
    word,
)

_MOST_SHOWN = 50  # findings on the page
_COLOUR = {"written": "good", "kept": "warning", "left_out": "warning", "waiting": "info"}


@stats_page("tables")
async def stats_tables_page(desk: Desk) -> None:
    """Every table by audience; run, check and attack."""
    found = await desk.ask("stats.stats_view", desk.folder)
    if found.title:
        paragraph(found.title, "c-next")
    _warnings(found)
    _standing(found)
    _work(desk, found)
    for audience in dict.fromkeys(one.audience for one in found.lines):
        _audience(desk, audience, [one for one in found.lines if one.audience == audience])
    _check(found)
    _attack(found)


def day(when: str) -> str:
    """A moment of a report, as a page tells it."""
    return f"{when[:10]} {when[11:16]} UTC" if len(when) > 16 else when or "–"


def audience_words(audience: str) -> str:
    """An audience in words; one of the office's own by its name."""
    return word(f"stats.audience.{audience}") if messages.has(f"stats.audience.{audience}") else audience


def _warnings(found: Any) -> None:
    for name in found.unset:
        with note(word("web_stats.unset", variable=name), "warning"):
            tag("code", name)
    if found.problem:
        note(found.problem, "bad")
    if found.failed:
        note(failure(found.failed), "bad", word("web_stats.failed_title"))


def failure(run: Any) -> str:
    """What a failed run left in the journal: its code and how many values of which rule."""
    told = {rule: count for rule, count in run.errors.items() if rule != run.error}
    rules = " ".join(word("web_stats.rule_values", rule=rule, values=count) for rule, count in told.items())
    return word("web_stats.failed", when=day(run.when), error=run.error, rules=rules)


def _standing(found: Any) -> None:
    last = found.last
    figures([
        (word("web_stats.figure.tables"), messages.integer(len(found.lines))),
        (word("web_stats.figure.shown"), messages.integer(sum(one.shown for one in found.lines))),
        (word("web_stats.figure.hidden"), messages.integer(sum(one.hidden for one in found.lines))),
        (word("web_stats.figure.last"), last.when[:10] if last else word("web_stats.never")),
        (word("web_stats.figure.next"), min((one.due for one in found.lines if one.due), default="–")),
    ])  # fmt: skip


def _work(desk: Desk, found: Any) -> None:
    ran, unset = found.last is not None, bool(found.unset)
    with line():
        if desk.may("stats.run_now"):
            button(word("web_stats.run"), lambda: desk.start("stats.run_now", desk.folder), "primary", disabled=unset)
            if ran:
                button(word("web_stats.run_changed"), lambda: desk.start("stats.run_now", desk.folder, full=False),
                       disabled=unset)  # fmt: skip
        if ran and not found.problem:
            button(word("web_stats.check"), lambda: desk.start("stats.check_now", desk.folder))
            button(word("web_stats.attack"), lambda: desk.start("stats.attack_now", desk.folder))
    if desk.may("stats.run_now"):
        paragraph(word("web_stats.run_meaning"), "c-soft")


def _audience(desk: Desk, audience: str, lines: list[Any]) -> None:
    title = word("web_stats.audience", audience=audience_words(audience), k=lines[0].k)
    heads = [word(f"web_stats.head.{key}") for key in ("table", "shown", "hidden", "frequency", "last", "due", "state")]
    with card(title):
        table(heads, [_row(desk, one) for one in lines], title, numbers=(1, 2), classes="s-list")
        for one in lines:
            if one.state in ("kept", "left_out"):
                note(word(f"web_stats.why.{one.state}", table=one.title), "warning")


def _row(desk: Desk, one: Any) -> list[Cell]:
    def name() -> None:
        if one.state in ("written", "kept"):
            link(one.title, part_path(desk.name, "table", one.table))
        else:
            tag("span", one.title)
        with tag("small"):
            tag("code", one.table)

    return [
        name,
        messages.integer(one.shown),
        messages.integer(one.hidden),
        word(f"stats.frequency.{one.frequency}"),
        one.last[:10] or "–",
        word("web_stats.late", due=one.due) if one.late else one.due or "–",
        partial(state, word(f"web_stats.state.{one.state}"), _COLOUR[one.state]),
    ]


# --- judged ----------------------------------------------------------------------------------------


def _check(found: Any) -> None:
    with card(word("web_stats.check_title")):
        if found.check is None:
            paragraph(word("web_stats.check_none"))
            return
        document = found.check.document
        holds = bool(document["holds"])
        note(word("web_stats.check_holds" if holds else "web_stats.check_fails", when=day(found.check.when)),
             "good" if holds else "bad")  # fmt: skip
        _old(found.check)
        with details(word("web_stats.check_rules"), opened=not holds):
            _rules(document)
        with details(word("web_stats.check_tables")):
            _checked_tables(document)
        for one in document["findings"]:
            note(word(f"stats.finding.{one['kind']}", table=one["table"], column=one["column"]), "bad")


def _old(kept: Any) -> None:
    if kept.stale:
        note(word("web_stats.stale"), "warning")


def _rules(document: Any) -> None:
    from celosia.protocols import asked_text, measured_text

    colours = {State.HOLDS: "good", State.ATTESTED: "good"}
    rows: list[list[Cell]] = [
        [
            word(f"protocols.short.{one.rule}"),
            one.section,
            asked_text(one),
            measured_text(one),
            partial(state, word(f"plan.state_words.{one.state}"), colours.get(one.state, "bad")),
        ]
        for one in rule_report_from(document["rules"]).results
    ]
    heads = [word(f"web_stats.rule.{key}") for key in ("rule", "section", "asked", "measured", "state")]
    table(heads, rows, word("web_stats.check_rules"))


def _checked_tables(document: Any) -> None:
    columns = ("k", "published", "hidden", "below", "recoverable", "disclosed", "unproven")
    rows = [[one["table"], *(messages.integer(one[name]) for name in columns)] for one in document["tables"]]
    heads = [word(f"stats.header.{name}") for name in ("table", *columns)]
    table(heads, rows, word("web_stats.check_tables"), numbers=range(1, 8))
    for one in document["tables"]:
        for measure in one["unmeasured"]:
            key = "persons" if measure == "*" else "amount"
            paragraph(word(f"stats.unmeasured.{key}", table=one["table"], measure=measure), "c-soft")


def _attack(found: Any) -> None:
    with card(word("web_stats.attack_title")):
        paragraph(word("web_stats.attack_meaning"), "c-soft")
        if found.attack is None:
            paragraph(word("web_stats.attack_none"))
            return
        told = found.attack.document
        note(word("web_stats.attack_holds" if told["holds"] else "web_stats.attack_learns", when=day(found.attack.when),
                  cells=len(told["findings"])), "good" if told["holds"] else "bad")  # fmt: skip
        _old(found.attack)
        paragraph(word("web_stats.attack_figures", releases=len(told["releases"]), cells=told["cells"],
                       hidden=told["hidden"], compared=told["compared"]))  # fmt: skip
        if told["findings"]:
            _findings(told["findings"][:_MOST_SHOWN])


def _findings(found: list[Any]) -> None:
    rows = [
        [
            one["table"],
            cell_words(one["cell"]),
            word(f"stats.attack.{one['kind']}"),
            ", ".join(map(day, one["releases"])),
        ]
        for one in found
    ]
    heads = [word(f"stats.header.{name}") for name in ("table", "cell", "finding", "releases")]
    table(heads, rows, word("web_stats.attack_title"))


def cell_words(cell: Any) -> str:
    """A cell by its categories."""
    return ", ".join(f"{name} = {label}" for name, label in cell.items()) or word("stats.catalogue.total")
