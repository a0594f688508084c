"""The panel of a guided tour: the current step of a project, what to read and do, and the way to the next page.

Knows how a tour is shown. The operation `tour_view` answers what is done; it is asked again every few seconds while
the page is open, so that the panel follows what its reader does, and rebuilt only when something changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.model.paths import ProjectPaths
from celosia.web.server import rights
from celosia.web.ui import html
from celosia.web.ui.context import PageContext
from celosia.web.work.workers import FAILURES, Call
from celosia.workbench.operations.new_project import tour_view
from celosia.workbench.views.tour import TourStep, TourView

_INTERVAL = 3.0  # seconds between two looks at what was done


@dataclass(slots=True)
class TourPanel:
    """A tour on a page, and the view that is shown of it."""

    page: PageContext
    path: Callable[[str], str]
    box: ui.element
    view: TourView

    def follow(self) -> None:
        """Look from time to time whether a step was done; to be called when the page is built."""
        ui.timer(_INTERVAL, self._refresh, immediate=False)

    async def _refresh(self) -> None:
        server, session = self.page.server, self.page.session
        if not server.sessions.lasts(session):
            return
        # Not asked through the page: what a page does by itself must not keep a session alive.
        call = Call.to(tour_view, self.page.folder).on_behalf(session.language, session.name)
        try:
            view: TourView | None = await server.pool.ask(call)
        except FAILURES:
            return
        if view is None or view == self.view:
            return
        before, self.view = self.view, view
        self.box.clear()
        with self.box:
            self.show(_newly_done(before, view))

    def show(self, done: TourStep | None = None) -> None:
        """The current step and the list of all; `done` is the step that was just completed."""
        view, session = self.view, self.page.session
        with html.tag("details", open=None if session.tour_closed else True) as panel:
            with html.tag("summary"):
                html.tag("strong", _title(view))
                html.tag("span", text("web_tour.count", done=view.done, total=len(view.steps)), "c-soft")
            if done is not None:
                with html.tag("p", role="status"):
                    html.state("✓ " + text("web_tour.just_done", title=_step_text(view, done, "title")), "good")
            if view.current is None:
                html.paragraph(text("web_tour.ended_hint"))
            else:
                self._show_step(view.steps[view.current].step)
            with html.details(text("web_tour.all")):
                self._show_steps()

        def remember(open: object) -> None:
            session.tour_closed = open is False

        panel.on("toggle", lambda event: remember(event.args), js_handler="(e) => emit(e.target.open)")

    def _show_step(self, step: TourStep) -> None:
        page, view = self.page, self.view
        roles = ", ".join(text(f"protocols.role.{role}") for role in step.roles)
        html.paragraph(
            f"{text('web_tour.section', section=step.section)} · {text('web_tour.who', roles=roles)}", "c-soft"
        )
        with html.tag("div", classes="c-tour-words"):
            for part in ("read", "do"):
                with html.tag("p"):
                    html.tag("strong", text(f"web_tour.{part}") + " ")
                    html.tag("span", _step_text(view, step, part))
        with html.tag("p"):
            html.state(text("web_tour.open"), "warning")
            html.tag("span", f" {text('web_tour.until')} {_step_text(view, step, 'done')}")
        if step.another:
            self._show_commands()
        with html.line("c-tour-way"):
            if step.page == (page.part or page.step):
                html.tag("span", text("web_tour.here"), "c-next")
            elif rights.may_see(page.session.roles, page.step if page.part else step.page):
                name = text(f"web_stats.part.{step.page}" if page.part else f"web.step.{step.page}")
                html.link(text("web_tour.go", page=name), self.path(step.page), "c-button c-primary c-link")

    def _show_commands(self) -> None:
        """What a person alone cannot do, and how to practise it."""
        shared = self.page.server.shared
        with html.tag("div", classes="c-note c-info", role="note"):
            html.tag("span", "ℹ", "c-sign", aria_hidden="true")
            with html.tag("div"):
                html.tag("strong", text("web_tour.another") + ".")
                html.tag("span", " " + text("web_tour.another_shared" if shared else "web_tour.another_alone"))
                if not shared:
                    commands = "\n".join(self.view.commands)
                    label = text("web_tour.commands")
                    html.tag("pre", commands, "c-command", tabindex="0", role="region", aria_label=label)

    def _show_steps(self) -> None:
        with html.tag("ol", classes="c-tour-steps"):
            for place, progress in enumerate(self.view.steps):
                with html.tag("li", aria_current="step" if place == self.view.current else None):
                    html.link(_step_text(self.view, progress.step, "title"), self.path(progress.step.page))
                    html.tag("span", " ")
                    words = text(f"web_tour.{'done' if progress.done else 'open'}")
                    html.state(("✓ " if progress.done else "") + words, "good" if progress.done else "info")


async def tour_panel(page: PageContext, path: Callable[[str], str]) -> TourPanel | None:
    """The panel of a project that is a tour; any other project costs one look at its folder."""
    if not page.may(tour_view) or not ProjectPaths(page.folder).tour.is_file():
        return None
    try:
        view = await page.answer(tour_view, page.folder)
    except FAILURES:
        return None
    if view is None:
        return None
    panel = TourPanel(page, path, html.tag("section", classes="c-tour", aria_label=text("web_tour.title")), view)
    with panel.box:
        panel.show()
    return panel


def _newly_done(before: TourView, now: TourView) -> TourStep | None:
    """The last step that was open before and is done now."""
    pairs = zip(before.steps, now.steps, strict=True)
    return next((new.step for old, new in reversed(list(pairs)) if new.done and not old.done), None)


def _title(view: TourView) -> str:
    norm = text("web_tour.of", norm=messages.text(f"protocols.title.{view.norm}").partition(":")[0])
    if view.current is None:
        return f"{norm}. {text('web_tour.ended', total=len(view.steps))}"
    title = _step_text(view, view.steps[view.current].step, "title")
    return f"{norm}. {text('web_tour.step', number=view.current + 1, total=len(view.steps), title=title)}"


def _step_text(view: TourView, step: TourStep, part: str) -> str:
    return text(f"web_tour.{view.norm}.{step.id}.{part}")
