"""The page of the search: criteria and limits, the plan found, what costs most, the frontier, the methods.

It writes `[policy]` and `[[steps]]` of celosia.toml, starts searches in the background and shows what they kept.
It computes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.dossier import loss_text, metric_text
from celosia.web._frame import Desk, page, tell
from celosia.web._jobs import Job
from celosia.web._widgets import button, card, figures, heading, line, link, note, paragraph, table, tag, word
from celosia.web.pages._search_answers import Choices, explanation_card, frontier_card, methods_card
from celosia.web.pages._search_form import Draft, method_word, policy_form, share_text
from celosia.web.pages._search_steps import Treatments


@dataclass(slots=True)
class Sheet:
    """The page as it stands: what was read, the draft of the form, and where each half is."""

    desk: Desk
    found: dict[str, Any]
    draft: Draft
    form: ui.element
    answers: ui.element
    adopted: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # what writes or reads the file, one after the other

    async def ended(self, job: Job) -> None:
        """Show what came of work; a point that was taken here stands in the form instead of what waited there."""
        async with self.turn:
            await self._read()
            if job.call.verb == "adopt_point" and self.desk.began(job):
                self._start_form(Draft.of(self.found["policy"]))

    async def _read(self) -> None:
        """Read the project again and build the answers anew.

        The form too, where the file says something else and nothing waits in it: somebody may be typing. What waits
        over a file that somebody else wrote is refused when it is saved, and not lost before.
        """
        self.found = await self.desk.ask("search_view", self.desk.folder)
        if self.found["policy"] != self.draft.view and not self.draft.changes():
            self._start_form(Draft.of(self.found["policy"]))
        self.build_answers()

    def _start_form(self, draft: Draft) -> None:
        self.draft = draft
        self.build_form()

    async def steps_changed(self) -> None:
        """Read again after the treatments were written; what waits in the form stays."""
        async with self.turn:
            found = await self.desk.ask("search_view", self.desk.folder)
            self.draft.view = replace(self.draft.view, digest=found["policy"].digest)
            await self._read()

    async def save(self) -> bool:
        """Write what was chosen."""
        async with self.turn:
            changes = deepcopy(self.draft.changes())
            if changes:
                view = await self.desk.ask("edit_policy", self.desk.folder, changes, why=self.draft.why,
                                           expected=self.draft.view.digest)  # fmt: skip
                self._start_form(self.draft.over(view, changes))
                await self._read()
        return bool(changes)

    async def save_and_tell(self) -> None:
        """The button «Guardar»."""
        tell(word("web_search.saved") if await self.save() else word("web_search.unchanged"), "good")

    async def search(self) -> None:
        """The button «Buscar»."""
        await self.save()
        self.desk.start("search_plan", self.desk.folder)

    def adopt(self, point: Mapping[str, Any]) -> None:
        """Take a point of the frontier."""
        self.adopted = True
        self.desk.start("adopt_point", self.desk.folder, point["k"], Fraction(point["limit"]),
                        expected=self.found["policy"].digest)  # fmt: skip

    async def use_method(self, one: Mapping[str, Any]) -> None:
        """Take a method and search with it."""
        changes: dict[str, Any] = {"method": one["method"]}
        if one["order"]:
            changes["order"] = list(one["order"])
        async with self.turn:
            view = await self.desk.ask("edit_policy", self.desk.folder, changes, expected=self.found["policy"].digest)
            instead = {key: self.draft.chosen.get(key) for key in changes}
            self._start_form(self.draft.over(view, instead))
            await self._read()
        self.desk.start("search_plan", self.desk.folder)

    def build_form(self) -> None:
        """The form, anew."""
        self.form.clear()
        with self.form:
            policy_form(self.draft, self.save_and_tell, self.search)

    def build_answers(self) -> None:
        """The answers, anew."""
        self.answers.clear()
        choices = Choices(self.adopt, self.use_method, self.adopted)
        with self.answers:
            _plan_card(self.desk, self.found)
            frontier_card(self.desk, self.found, choices)
            explanation_card(self.desk, self.found)
            methods_card(self.desk, self.found, choices)


@page("search")
async def search_page(desk: Desk) -> None:
    """Criteria above, answers below."""
    found = await desk.ask("search_view", desk.folder)
    paragraph(word("web_search.intro"))
    form, treatments, answers = tag("div"), tag("div"), tag("div")
    sheet = Sheet(desk, found, Draft.of(found["policy"]), form, answers)
    sheet.build_form()
    Treatments(desk, treatments, await desk.ask("steps_view", desk.folder), sheet.steps_changed).build()
    sheet.build_answers()
    desk.when_done(sheet.ended)


# --- the plan -------------------------------------------------------------------------------------


def _plan_card(desk: Desk, found: Mapping[str, Any]) -> None:
    answer, plan = found.get("search"), found["plan"]
    with card(word("web_search.plan.title")):
        if answer is not None and not answer["stale"] and not answer["search"]["feasible"]:
            _missed(desk, answer["search"])
        elif plan is None:
            paragraph(word("web_search.plan.none"))
        else:
            _plan(desk, found, plan)


def _missed(desk: Desk, search: Mapping[str, Any]) -> None:
    share = messages.percent(search["suppressed_share"])
    nearest = word(
        "web_search.miss.nearest", rows=search["suppressed_rows"], share=share, allowed=search["allowed_rows"]
    )
    note(f"{nearest} {search['hint']}", "warning", word("web_search.miss.title"))
    button(word("web_search.miss.help"), lambda: desk.start("explain_report", desk.folder))


def _plan(desk: Desk, found: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
    if plan["stale"]:
        note(word("web_search.plan.stale"), "warning")
    rows = messages.integer(plan["suppressed_rows"])
    share = messages.percent(plan["suppressed_share"])
    figures([
        (word("web_search.plan.suppressed"), word("web_search.plan.suppressed_value", share=share, rows=rows)),
        (metric_text(plan["metric"]), loss_text(plan["metric"], plan["loss"])),
        (word("web_search.plan.classes"), messages.integer(plan["classes"])),
        (word("web_search.plan.method"), method_word(plan["method"])),
        (word("web_search.plan.optimal"), word(f"dictionary.answer.{'yes' if plan['optimal'] else 'no'}")),
    ])  # fmt: skip
    _levels(found, plan)
    for name, count in plan["masked_sensitive"].items():
        if count:
            part = share_text(count, found["policy"].rows)
            paragraph(word("web_search.plan.masked", variable=name, rows=count, share=part))
    with line():
        button(word("web_search.plan.run"), lambda: desk.start("run_plan", desk.folder), "primary",
               disabled=bool(plan["stale"]))  # fmt: skip
        link(word("web_search.plan.result"), f"/p/{desk.name}/result")
    tag("small", word("web_search.plan.run_hint"))


def _parts(parts: Mapping[str, Any]) -> None:
    optimal = word(f"scale.partition_{'optimal' if parts['optimal'] else 'not_optimal'}")
    paragraph(word("scale.partition_plan", variable=parts["variable"], parts=parts["parts"], optimal=optimal))
    if parts["varied"]:
        paragraph(word("scale.partition_varied", names=", ".join(parts["varied"])))


def _levels(found: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
    heading(word("web_search.plan.levels"), 3)
    if plan["partition"]:
        _parts(plan["partition"])
    if not plan["levels"]:
        paragraph(word("web_search.plan.by_record"))
        return
    answer = found.get("search")
    told = answer["search"]["levels"] if answer and answer["search"]["digest"] == plan["digest"] else []
    known = {one["variable"]: one for one in told}
    rows = [_level(name, level, known.get(name)) for name, level in plan["levels"].items()]
    heads = [word(f"web_search.plan.{key}") for key in ("variable", "level", "becomes")]
    table(heads, rows, word("web_search.plan.levels"), numbers=(1,))


def _level(name: str, level: int, one: Mapping[str, Any] | None) -> list[str]:
    if one is None:
        return [name, messages.integer(level), "—"]
    return [name, word("web_search.plan.level_of", level=level, height=one["height"]), _becomes(one)]


def _becomes(one: Mapping[str, Any]) -> str:
    values, groups = one["values"], one["groups"]
    if one["level"] == 0:
        return word("web_search.plan.untouched", values=values)
    if groups == 1:
        return word("web_search.plan.one_group")
    if one["examples"]:
        return word("web_search.plan.groups_like", groups=groups, values=values, examples=", ".join(one["examples"]))
    return word("web_search.plan.groups", groups=groups, values=values)
