"""The panel of a guided tour: the step a project stands at, what to read and do, and the way to the next page.

Knows how a tour is shown. What is done is said by the verb `tour_view`, asked again every few seconds while the page is
open, so that the panel follows what its reader does; it is rebuilt only when something changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nicegui import ui

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.tours import TOUR_FILE, TourStanding, TourStep, TourView
from celosia.web import _rights as rights
from celosia.web._office import Office
from celosia.web._sessions import Session
from celosia.web._widgets import details, line, link, paragraph, state, tag, word
from celosia.web._workers import Call, Failed

_EVERY = 3.0  # seconds between two looks at what was done
_TROUBLE = (Failed, CelosiaError)  # the page itself says what is wrong with its project


class Place(Protocol):
    """What a panel needs of the page it stands on."""

    office: Office
    session: Session
    name: str
    page: str
    part: str

    @property
    def folder(self) -> Path:
        """The project's folder."""

    def may(self, verb: str) -> bool:
        """Whether the reader's role includes a verb."""

    async def answer(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        """The answer of a quick verb."""


@dataclass(slots=True)
class Panel:
    """A tour on a page, and the view that is shown of it."""

    desk: Place
    path: Callable[[str], str]
    box: ui.element
    seen: TourView

    def follow(self) -> None:
        """Look from time to time whether a step was done; to be called when the page is built."""
        ui.timer(_EVERY, self._look, immediate=False)

    async def _look(self) -> None:
        office, session = self.desk.office, self.desk.session
        if not office.sessions.lasts(session):
            return  # asked without the desk: what a page does by itself must not keep a session alive
        try:
            now = await office.pool.ask(Call("tour_view", (self.desk.folder,), {}, session.language, session.name))
        except _TROUBLE:
            return
        if now is None or now == self.seen:
            return
        before, self.seen = self.seen, now
        self.box.clear()
        with self.box:
            _show(self, _just_done(before, now))


async def tour_panel(desk: Place, path: Callable[[str], str]) -> Panel | None:
    """The panel of a project that is a tour; any other project costs one look at its folder."""
    if not desk.may("tour_view") or not (desk.folder / TOUR_FILE).is_file():
        return None
    try:
        view = await desk.answer("tour_view", desk.folder)
    except _TROUBLE:
        return None
    if view is None:
        return None
    made = Panel(desk, path, tag("section", classes="c-tour", aria_label=word("web_tour.title")), view)
    with made.box:
        _show(made)
    return made


def _just_done(before: TourView, now: TourView) -> TourStep | None:
    """The last step that was open before and is done now."""
    pairs = zip(before.steps, now.steps, strict=True)
    return next((new.step for old, new in reversed(list(pairs)) if new.done and not old.done), None)


def _show(panel: Panel, just: TourStep | None = None) -> None:
    view, session = panel.seen, panel.desk.session
    with tag("details", open=None if session.tour_shut else True) as made:
        with tag("summary"):
            tag("strong", _title(view))
            tag("span", word("web_tour.count", done=view.done, total=len(view.steps)), "c-soft")
        if just is not None:
            with tag("p", role="status"):
                state("✓ " + word("web_tour.just_done", title=_words(view, just, "title")), "good")
        if view.current is None:
            paragraph(word("web_tour.ended_hint"))
        else:
            _step(panel, view.steps[view.current].step)
        with details(word("web_tour.all")):
            _steps(panel)
    made.on("toggle", lambda event: _remember(session, event.args), js_handler="(e) => emit(e.target.open)")


def _remember(session: Session, opened: Any) -> None:
    session.tour_shut = opened is False


def _title(view: TourView) -> str:
    norm = messages.text(f"protocols.title.{view.norm}").partition(":")[0]
    told = word("web_tour.of", norm=norm)
    if view.current is None:
        return f"{told}. {word('web_tour.ended', total=len(view.steps))}"
    title = _words(view, view.steps[view.current].step, "title")
    return f"{told}. {word('web_tour.step', number=view.current + 1, total=len(view.steps), title=title)}"


def _words(view: TourView, step: TourStep, part: str) -> str:
    return word(f"web_tour.{view.norm}.{step.id}.{part}")


def _step(panel: Panel, step: TourStep) -> None:
    view = panel.seen
    roles = ", ".join(word(f"protocols.role.{role}") for role in step.roles)
    paragraph(f"{word('web_tour.section', section=step.section)} · {word('web_tour.who', roles=roles)}", "c-soft")
    with tag("div", classes="c-tour-words"):
        for part in ("read", "do"):
            with tag("p"):
                tag("strong", word(f"web_tour.{part}") + " ")
                tag("span", _words(view, step, part))
    with tag("p"):
        state(word("web_tour.open"), "warning")
        tag("span", f" {word('web_tour.until')} {_words(view, step, 'done')}")
    if step.another:
        _another(panel)
    with line("c-tour-way"):
        if step.page == _here(panel.desk):
            tag("span", word("web_tour.here"), "c-next")
        elif rights.may_see(panel.desk.session.roles, panel.desk.page if panel.desk.part else step.page):
            link(word("web_tour.go", page=_page(panel, step)), panel.path(step.page), "c-button c-primary c-link")


def _another(panel: Panel) -> None:
    """What a person alone cannot do, and how it is practised."""
    shared = panel.desk.office.shared
    with tag("div", classes="c-note c-info", role="note"):
        tag("span", "ℹ", "c-sign", aria_hidden="true")
        with tag("div"):
            tag("strong", word("web_tour.another") + ".")
            tag("span", " " + word("web_tour.another_shared" if shared else "web_tour.another_alone"))
            if not shared:
                words = "\n".join(panel.seen.commands)
                tag("pre", words, "c-command", tabindex="0", role="region", aria_label=word("web_tour.commands"))


def _here(desk: Place) -> str:
    return desk.part or desk.page


def _page(panel: Panel, step: TourStep) -> str:
    return word(f"web_stats.part.{step.page}" if panel.desk.part else f"web.step.{step.page}")


def _steps(panel: Panel) -> None:
    with tag("ol", classes="c-tour-steps"):
        for place, one in enumerate(panel.seen.steps):
            _entry(panel, one, place == panel.seen.current)


def _entry(panel: Panel, one: TourStanding, current: bool) -> None:
    with tag("li", aria_current="step" if current else None):
        link(_words(panel.seen, one.step, "title"), panel.path(one.step.page))
        tag("span", " ")
        done = "done" if one.done else "open"
        state(("✓ " if one.done else "") + word(f"web_tour.{done}"), "good" if one.done else "info")
