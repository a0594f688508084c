"""The page of the search: criteria and limits, the plan found, what costs most, the frontier, the methods.

It writes `[policy]` and `[[steps]]` of celosia.toml, starts searches in the background and shows what they saved.
It computes nothing.
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.dossier.figures import loss_text, metric_text, suppression_text
from celosia.messages import text
from celosia.model.reports.methods import MethodResult
from celosia.web.pages.search.answers import Actions, explanation_card, frontier_card, methods_card
from celosia.web.pages.search.form import PolicyDraft, method_text, policy_form, share_text
from celosia.web.pages.search.treatments import Treatments
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify
from celosia.web.ui.page import project_page
from celosia.web.work.jobs import Job
from celosia.workbench.operations.search import (
    adopt_point,
    edit_policy,
    explain_report,
    run_plan,
    search_plan,
    search_view,
    steps_view,
)
from celosia.workbench.views.search import (
    FrontierPoint,
    LevelFound,
    PartitionSummary,
    PlanSummary,
    Searched,
    SearchView,
)


@dataclass(slots=True)
class SearchPage:
    """The open page: what was read, the draft of the form, and the boxes of both halves."""

    page: PageContext
    view: SearchView
    draft: PolicyDraft
    form: ui.element
    answers: ui.element
    adopted: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # what writes or reads the file, one after the other

    async def show_result(self, job: Job) -> None:
        """Show the result of work; a point that was adopted here replaces what waits in the form."""
        async with self.turn:
            await self._read()
            if job.call.label == "adopt_point" and self.page.started_here(job):
                self._start_form(PolicyDraft.of(self.view.policy))

    async def _read(self) -> None:
        """Read the project again and build the answers again.

        The form too, where the file differs and nothing waits in it: somebody may be typing. What waits over a file
        that somebody else wrote is refused when it is saved, and not lost before.
        """
        self.view = await self.page.ask(search_view, self.page.folder)
        if self.view.policy != self.draft.view and not self.draft.changes():
            self._start_form(PolicyDraft.of(self.view.policy))
        self.build_answers()

    def _start_form(self, draft: PolicyDraft) -> None:
        self.draft = draft
        self.build_form()

    async def read_after_treatments(self) -> None:
        """Read again after the treatments were written; what waits in the form stays."""
        async with self.turn:
            view = await self.page.ask(search_view, self.page.folder)
            self.draft.view = replace(self.draft.view, digest=view.policy.digest)
            await self._read()

    async def save(self) -> bool:
        """Write what was chosen; False where nothing was."""
        async with self.turn:
            changes = deepcopy(self.draft.changes())
            if changes:
                why, expected = self.draft.why, self.draft.view.digest
                policy = await self.page.ask(edit_policy, self.page.folder, changes, why=why, expected=expected)
                self._start_form(self.draft.over(policy, changes))
                await self._read()
        return bool(changes)

    async def save_and_notify(self) -> None:
        """The button «Guardar»."""
        notify(text("web_search.saved") if await self.save() else text("web_search.unchanged"), "good")

    async def search(self) -> None:
        """The button «Buscar»."""
        await self.save()
        self.page.start(search_plan, self.page.folder)

    def adopt(self, point: FrontierPoint) -> None:
        """Take a point of the frontier."""
        self.adopted = True
        expected = self.view.policy.digest
        self.page.start(adopt_point, self.page.folder, point.k, point.limit, expected=expected)

    async def use_method(self, result: MethodResult) -> None:
        """Take a method and search with it."""
        changes: dict[str, Any] = {"method": result.method}
        if result.order:
            changes["order"] = list(result.order)
        async with self.turn:
            expected = self.view.policy.digest
            policy = await self.page.ask(edit_policy, self.page.folder, changes, expected=expected)
            replaced = {key: self.draft.chosen.get(key) for key in changes}
            self._start_form(self.draft.over(policy, replaced))
            await self._read()
        self.page.start(search_plan, self.page.folder)

    def build_form(self) -> None:
        """Build the form again."""
        self.form.clear()
        with self.form:
            policy_form(self.draft, self.save_and_notify, self.search)

    def build_answers(self) -> None:
        """Build the answers again."""
        self.answers.clear()
        actions = Actions(self.adopt, self.use_method, self.adopted)
        with self.answers:
            _plan_card(self.page, self.view)
            frontier_card(self.page, self.view, actions)
            explanation_card(self.page, self.view)
            methods_card(self.page, self.view, actions)


@project_page("search")
async def search_page(page: PageContext) -> None:
    """Criteria above, answers below."""
    view = await page.ask(search_view, page.folder)
    html.paragraph(text("web_search.intro"))
    form, treatments, answers = html.tag("div"), html.tag("div"), html.tag("div")
    searching = SearchPage(page, view, PolicyDraft.of(view.policy), form, answers)
    searching.build_form()
    steps = await page.ask(steps_view, page.folder)
    Treatments(page, treatments, steps, searching.read_after_treatments).build()
    searching.build_answers()
    page.when_done(searching.show_result)


# --- the plan -------------------------------------------------------------------------------------


def _plan_card(page: PageContext, view: SearchView) -> None:
    search, plan = view.search, view.plan
    with html.card(text("web_search.plan.title")):
        if search is not None and not search.stale and not search.report.feasible:
            _nearest_miss(page, search.report)
        elif plan is None:
            html.paragraph(text("web_search.plan.none"))
        else:
            _plan_figures(page, view, plan)


def _nearest_miss(page: PageContext, answer: Searched) -> None:
    share = messages.percent(answer.suppressed_share)
    fields = {"rows": answer.suppressed_rows, "share": share, "allowed": answer.allowed_rows}
    nearest = text("web_search.miss.nearest", **fields)
    html.note(f"{nearest} {answer.hint}", "warning", text("web_search.miss.title"))
    html.button(text("web_search.miss.help"), lambda: page.start(explain_report, page.folder))


def _plan_figures(page: PageContext, view: SearchView, plan: PlanSummary) -> None:
    if plan.stale:
        html.note(text("web_search.plan.stale"), "warning")
    html.figures(
        (text("web_search.plan.suppressed"), suppression_text(plan.suppression)),
        (metric_text(plan.metric), loss_text(plan.metric, plan.loss)),
        (text("web_search.plan.classes"), messages.integer(plan.classes)),
        (text("web_search.plan.method"), method_text(plan.method)),
        (text("web_search.plan.optimal"), text(f"dictionary.answer.{'yes' if plan.optimal else 'no'}")),
    )
    _plan_levels(view, plan)
    for name, count in plan.masked_sensitive.items():
        if count:
            share = share_text(count, view.policy.rows)
            html.paragraph(text("web_search.plan.masked", variable=name, rows=count, share=share))
    with html.line():
        run = text("web_search.plan.run")
        html.button(run, lambda: page.start(run_plan, page.folder), "primary", disabled=plan.stale)
        html.link(text("web_search.plan.result"), f"/p/{page.name}/result")
    html.tag("small", text("web_search.plan.run_hint"))


def _partition(partition: PartitionSummary) -> None:
    optimal = text(f"scale.partition_{'optimal' if partition.optimal else 'not_optimal'}")
    html.paragraph(text("scale.partition_plan", variable=partition.variable, parts=partition.parts, optimal=optimal))
    if partition.varied:
        html.paragraph(text("scale.partition_varied", names=", ".join(partition.varied)))


def _plan_levels(view: SearchView, plan: PlanSummary) -> None:
    html.heading(text("web_search.plan.levels"), 3)
    if plan.partition:
        _partition(plan.partition)
    if not plan.levels:
        html.paragraph(text("web_search.plan.by_record"))
        return
    answer = view.search.report if view.search else None
    levels = answer.levels if answer and answer.digest == plan.digest else ()
    known = {level.variable: level for level in levels}
    rows = [_level_row(name, level, known.get(name)) for name, level in plan.levels.items()]
    heads = [text(f"web_search.plan.{key}") for key in ("variable", "level", "becomes")]
    html.table(heads, rows, text("web_search.plan.levels"), numbers=(1,))


def _level_row(name: str, level: int, found_level: LevelFound | None) -> list[str]:
    if found_level is None:
        return [name, messages.integer(level), "—"]
    of_height = text("web_search.plan.level_of", level=level, height=found_level.height)
    return [name, of_height, _groups_text(found_level)]


def _groups_text(level: LevelFound) -> str:
    if level.level == 0:
        return text("web_search.plan.untouched", values=level.values)
    if level.groups == 1:
        return text("web_search.plan.one_group")
    fields = {"groups": level.groups, "values": level.values}
    if level.examples:
        return text("web_search.plan.groups_like", examples=", ".join(level.examples), **fields)
    return text("web_search.plan.groups", **fields)
