"""The result: verdict on top, what was given up, rule by rule with the norm's section, rows side by side, documents.

Everything shown was made by `run`, `check` and `evaluate`; nothing is computed here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from nicegui import ui

from celosia import messages
from celosia.model.protocols import Needs, Severity
from celosia.model.results import Result, SideRow, Sides
from celosia.model.rules import RuleResult
from celosia.model.verdict import State, Verdict
from celosia.protocols import asked_text, load, measured_text, sentence_of
from celosia.web._frame import Desk, page, step_path
from celosia.web._widgets import (
    Cell,
    button,
    card,
    check,
    choice,
    details,
    figures,
    heading,
    line,
    link,
    note,
    paragraph,
    state,
    table,
    tag,
    word,
)
from celosia.web._workers import Failed
from celosia.web.pages._result_evaluation import evaluation_part

_KIND = MappingProxyType({"holds": "good", "fails": "bad", "stale": "warning"})
_COLOUR = MappingProxyType({
    State.HOLDS: "good", State.ATTESTED: "info", State.FAILS: "bad", State.NOT_MEASURABLE: "bad",
})  # fmt: skip
_ROWS = 20
Shower = Callable[[], Awaitable[None]]  # shows the rows again, where the reader is now


@page("result")
async def result_page(desk: Desk) -> None:
    """The present candidate."""
    found: Result = await desk.ask("result_view", desk.folder)
    if found.refused:
        note(word("web_result.refused", when=_day(found.refused)), "warning")
    if not found.candidate:
        with note(word("web_result.none"), "info"):
            link(word("web_result.go_search"), step_path(desk.name, "search"))
        return
    _verdict(desk, found)
    _given_up(desk, found)
    _rules(found)
    _criteria(found.verdicts)
    sides, evaluation = await asyncio.gather(_kept_rows(desk, 0), desk.ask("evaluation_view", desk.folder))
    if sides is not None:
        _sides(desk, sides)
    evaluation_part(desk, evaluation, found.digest)
    if desk.may("write_documents"):
        _documents(desk)


# --- the verdict -----------------------------------------------------------------------------------


def _verdict(desk: Desk, found: Result) -> None:
    key = "holds_free" if found.state == "holds" and not found.rules else found.state
    fields = {
        "fails": {"failing": ", ".join(_failing(found))},
        "stale": {"what": ", ".join(word(f"web_result.stale.{one}") for one in found.stale)},
    }.get(found.state, {})
    title = word(f"web_result.word.{found.state}")
    with note(word(f"web_result.state.{key}", **fields), _KIND[found.state], f"{title}."):
        if found.state != "holds":
            link(word("web_result.go_search"), step_path(desk.name, "search"))


def _failing(found: Result) -> list[str]:
    rules = [f"{word(f'protocols.short.{one.rule}')} ({one.protocol}, {one.section})" for one in found.failing]
    passing = (State.HOLDS, State.ATTESTED)
    return [*rules, *(word(f"plan.criterion.{one.rule}") for one in found.verdicts if one.state not in passing)]


def _given_up(desk: Desk, found: Result) -> None:
    share = f"{messages.integer(found.suppressed_rows)} ({messages.percent(found.suppressed_share)})"
    pairs = [(word("web_result.figure.suppressed"), share)]
    pairs.append((word("web_result.figure.rows"), messages.integer(found.rows)))
    if found.k is not None:
        pairs.append((word("web_result.figure.k"), messages.integer(found.k)))
    if found.k_persons is not None:
        pairs.append((word("web_result.figure.k_persons"), messages.integer(found.k_persons)))
    pairs += [
        (word("web_result.figure.masked", variable=name), messages.integer(rows)) for name, rows in found.masked.items()
    ]
    pairs.append((word("web_result.figure.classes"), messages.integer(found.classes)))
    of = len(found.published) + len(found.withheld)
    pairs.append((word("web_result.figure.published"), f"{len(found.published)} / {of}"))
    figures(pairs)
    if found.suppressed_rows:
        paragraph(word(f"web_result.rows.{'dropped' if found.dropped else 'kept'}"))
    with line():
        button(word("web_result.check.again"), lambda: desk.start("check_result", desk.folder), "primary")
        paragraph(_checked(found))
    tag("small", word("web_result.check.hint"), "c-hint")


def _checked(found: Result) -> str:
    made = word("web_result.made", when=_day(found.when)) if found.when else ""
    seen = found.check
    if seen is None:
        return f"{made} {word('web_result.check.never')}"
    key = "differs" if not seen.agrees else "agrees" if seen.holds else "fails"
    return f"{made} {word(f'web_result.check.{key}', who=seen.who, when=_day(seen.when))}"


def _day(when: str) -> str:
    """A moment as it is read: day and minute, in UTC as the journal has it."""
    return f"{when[:10]} {when[11:16]} UTC" if len(when) > 16 else when


# --- rules and criteria ----------------------------------------------------------------------------


def _rules(found: Result) -> None:
    with card(word("web_result.rules.title")):
        if not found.rules:
            paragraph(word("web_result.rules.none"))
            return
        paragraph(_counted(found.rules))
        for protocol in dict.fromkeys(one.protocol for one in found.rules):
            title = word(f"protocols.title.{protocol}")
            heading(title, 3)
            rows = [_rule_row(one) for one in found.rules if one.protocol == protocol]
            keys = ("rule", "section", "asked", "measured", "result", "answered")
            columns = [word(f"web_result.rules.{key}") for key in keys]
            table(columns, rows, word("web_result.rules.caption", norm=title), classes="c-wrap")
        if found.later:
            _later(found)


def _counted(rules: Sequence[RuleResult]) -> str:
    holds = sum(one.state in (State.HOLDS, State.ATTESTED) for one in rules)
    attested = sum(one.needs is Needs.SOURCE for one in rules)
    told = word("web_result.rules.count", holds=holds, all=len(rules))
    return f"{told} {word('web_result.rules.attested', count=attested)}" if attested else told


def _rule_row(one: RuleResult) -> list[Cell]:
    advice = one.severity is Severity.SHOULD

    def sentence() -> None:
        tag("span", sentence_of(one))
        if one.overridden:
            tag("small", word("web_result.rules.overridden", reason=one.overridden))

    def result() -> None:
        colour = "warning" if advice and one.state is not State.HOLDS else _COLOUR[one.state]
        state(word(f"plan.state_words.{one.state.value}"), colour)
        if advice:
            tag("small", word("web_result.rules.advice"))

    answered = word(f"web_result.needs.{one.needs.value}")
    return [sentence, one.section, asked_text(one), measured_text(one), result, answered]


def _later(found: Result) -> None:
    with details(word("web_result.rules.later", count=len(found.later))):
        rows = [
            [
                sentence_of(load(one.protocol).rule(one.rule)),
                f"{word(f'protocols.title.{one.protocol}')}, {one.section}",
                word(f"web_result.at.{one.stage}"),
            ]
            for one in found.later
        ]
        columns = [word(f"web_result.rules.{key}") for key in ("rule", "section", "stage")]
        table(columns, rows, word("web_result.rules.later_caption"), classes="c-wrap")


def _criteria(verdicts: Sequence[Verdict]) -> None:
    with card(word("web_result.criteria.title")):
        rows: list[list[Cell]] = [
            [
                word(f"plan.criterion.{one.rule}"),
                word(f"plan.asked_words.{one.rule}", **one.asked),
                messages.integer(one.failing_classes),
                messages.integer(one.failing_rows),
                partial(state, word(f"plan.state_words.{one.state.value}"), _COLOUR[one.state]),
            ]
            for one in verdicts
        ]
        columns = [word(f"web_result.criteria.{key}") for key in ("criterion", "asked", "classes", "rows", "result")]
        table(columns, rows, word("web_result.criteria.caption"), numbers=(2, 3))


# --- rows side by side -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Look:
    """Where the reader is in the rows that were kept."""

    offset: int = 0
    withheld: bool = False


async def _kept_rows(desk: Desk, offset: int) -> Sides | None:
    """Some of the rows kept: empty where none were, None for a role that never sees a row of the source."""
    if not desk.may("side_by_side"):
        return None
    try:
        sides: Sides = await desk.answer("side_by_side", desk.folder, _ROWS, offset)
    except Failed:
        return Sides((), (), 0, 0, 0)
    return sides


def _sides(desk: Desk, first: Sides) -> None:
    look = _Look()
    with card(word("web_result.sides.title")):
        box = tag("div")

        async def shown() -> None:
            sides = await _kept_rows(desk, look.offset)
            box.clear()
            with box:
                _sides_shown(sides or first, look, shown)

        with box:
            _sides_shown(first, look, shown)


def _sides_shown(sides: Sides, look: _Look, shown: Shower) -> None:
    if not sides.columns:
        paragraph(word("web_result.sides.absent"))
        return
    kept, of = messages.integer(sides.kept), messages.integer(sides.of)
    paragraph(word("web_result.sides.intro", kept=kept, of=of))
    withheld = [one.before for one in sides.columns if not one.after]
    if withheld:
        text = word("web_result.sides.show_withheld", count=len(withheld))
        check(text, look.withheld, partial(_toggled, look, shown))
    with tag("div", classes="c-sides"):
        _pane_before(sides, look.withheld)
        _pane_after(sides)
    paragraph(word("web_result.sides.legend"))
    _turning(sides, look, shown)


async def _toggled(look: _Look, shown: Shower, value: bool) -> None:
    look.withheld = value
    await shown()


def _pane_before(sides: Sides, withheld: bool) -> None:
    places = [i for i, one in enumerate(sides.columns) if one.before and (one.after or withheld)]
    with tag("div"):
        heading(word("web_result.sides.before"), 3)
        columns = [word("web_result.sides.row"), *(sides.columns[i].before for i in places)]
        rows: list[list[Cell]] = [
            [messages.integer(row.row), *(_original(row.before[i], sides.columns[i].veiled) for i in places)]
            for row in sides.rows
        ]
        table(columns, rows, word("web_result.sides.before"))


def _original(text: str, veiled: bool) -> Cell:
    return partial(tag, "span", text, "c-veil") if veiled else text


def _pane_after(sides: Sides) -> None:
    with tag("div"):
        heading(word("web_result.sides.after"), 3)
        names = [one.after for one in sides.columns if one.after]
        rows = [_published(row, len(names)) for row in sides.rows]
        table([word("web_result.sides.row"), *names], rows, word("web_result.sides.after"))


def _published(row: SideRow, width: int) -> list[Cell]:
    number = messages.integer(row.row)
    if row.after is None:
        gone = partial(tag, "span", word("web_result.sides.gone"), "c-gone")
        return [number, gone, *[""] * (width - 1)]
    head = f"{number} ({word('web_result.sides.suppressed')})" if row.suppressed else number
    return [head, *(_cell(text, changed) for text, changed in zip(row.after, row.changed, strict=True))]


def _cell(text: str, changed: bool) -> Cell:
    if not changed:
        return text

    def marked() -> None:
        with tag("span", text, "c-changed c-changed-mark"):
            tag("span", f" ({word('web_result.sides.changed')})", "c-hidden")

    return marked


def _turning(sides: Sides, look: _Look, shown: Shower) -> None:
    async def turn(by: int) -> None:
        look.offset = max(0, look.offset + by)
        await shown()

    last = sides.offset + len(sides.rows)
    with line():
        button(word("web_result.sides.previous"), partial(turn, -_ROWS), disabled=sides.offset == 0)
        fields = {"first": sides.offset + 1, "last": last, "kept": sides.kept}
        tag("span", word("web_result.sides.position", **fields), aria_live="polite")
        button(word("web_result.sides.next"), partial(turn, _ROWS), disabled=last >= sides.kept)


# --- documents -------------------------------------------------------------------------------------


def _documents(desk: Desk) -> None:
    chosen = {"audience": "internal"}
    with card(word("web_result.documents.title")):
        paragraph(word("web_result.documents.intro"))
        with line():
            options = {key: word(f"web_result.documents.{key}") for key in ("internal", "public")}
            choice(word("web_result.documents.audience"), options, "internal", lambda v: chosen.update(audience=v))
            button(word("web_result.documents.prepare"), lambda: _prepared(desk, chosen["audience"], box))
        box = tag("div", aria_live="polite")


async def _prepared(desk: Desk, audience: str, box: ui.element) -> None:
    paths: Sequence[Path] = await desk.ask("write_documents", desk.folder, audience, ("html", "pdf"))
    box.clear()
    with box:
        paragraph(word("web_result.documents.ready", count=len(paths)))
        with line():
            for path in paths:
                button(word("web_result.documents.download", name=path.name), partial(desk.offer, path), "small")
