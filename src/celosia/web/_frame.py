"""What every page has: who reads it, the project, the way through it, and the work that runs.

Knows the order of the pages. A page is a function of a Desk; it asks verbs and shows what they answer.
"""

from __future__ import annotations

import contextlib
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nicegui import app, background_tasks, context, ui
from starlette.requests import Request

from celosia import messages
from celosia.errors import CelosiaError, InternalFault, NotYourRole, SessionOver
from celosia.web import _rights as rights
from celosia.web._jobs import Job
from celosia.web._office import Office
from celosia.web._sessions import AGAIN, Session, forget_file
from celosia.web._tour import tour_panel
from celosia.web._widgets import button, link, note, said, tag, word
from celosia.web._workers import Call, Failed, place_of

STEPS = ("overview", "data", "dictionary", "request", "hierarchies", "risk", "search", "result", "intruder", "dossier",
         "people")  # fmt: skip
STATS_PARTS = ("tables", "catalogue", "lineage", "history")  # the pages of a STATS folder
_HEAD = '<link rel="stylesheet" href="/assets/celosia.css"><script src="/assets/celosia.js" defer></script>'
_OFFERED = 5  # files that wait to be fetched
_TICK = 0.4  # seconds between two looks at the work that runs


class Shown(Exception):
    """An error that the reader has already been told: a page lets it pass."""


def office() -> Office:
    """The server's parts."""
    found: Office = app.state.office
    return found


def session_here() -> Session:
    """The session of whoever reads this page."""
    found: Session = context.client.request.state.session
    return found


def language_here() -> str | None:
    """The language of whoever reads; None where nobody does."""
    if not app.is_started:  # asking for a client would make one
        return None
    try:
        return session_here().language
    except (RuntimeError, AttributeError):
        return None


@dataclass(slots=True)
class Desk:
    """One place to work at: the whole office, or one project of it."""

    office: Office
    session: Session
    name: str = ""
    page: str = ""
    part: str = ""  # which page of a STATS folder; empty on the pages of a project
    item: str = ""  # what the page is about, where there are several: a table
    typed: bool = False  # since work was last begun here
    _done: list[Callable[[Job], Awaitable[None] | None]] = field(default_factory=list)
    _own: set[int] = field(default_factory=set)  # work begun at this desk

    @property
    def folder(self) -> Path:
        """The project's folder."""
        return self.office.project(self.name)

    @property
    def here(self) -> str:
        """The address of the page."""
        if self.part:
            return part_path(self.name, self.part, self.item)
        return step_path(self.name, self.page) if self.name else "/"

    @property
    def csrf(self) -> str:
        """What an upload must bring along."""
        return self.session.csrf

    async def ask(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        """The answer of a quick verb; its error is told to the reader and becomes Shown."""
        try:
            return await self.answer(verb, *args, **kwargs)
        except (Failed, CelosiaError) as error:
            sentence = str(error)
        if context.client.has_socket_connection:
            tell(sentence, "bad")
        raise Shown(sentence)

    async def answer(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        """The answer of a quick verb; its error is raised as Failed, for a page that says it in its own place."""
        self._permit(verb)
        call = self._call(verb, args, kwargs)
        try:
            if not self.session.login:
                return await self.office.pool.ask(call)
            async with self.session.turn:
                return await self.office.pool.ask(call)
        except Failed as failed:
            sentence = self.office.by_own_name(failed.told.sentence)
            raise Failed(replace(failed.told, sentence=sentence)) from None

    def _call(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        own = self.session
        return Call(verb, args, kwargs, own.language, own.name, own.login)

    def may(self, verb: str) -> bool:
        """Whether the reader's role includes a verb."""
        return rights.may_do(self.session.roles, verb)

    def _permit(self, verb: str) -> None:
        """Refuse what the role does not include, and whoever's session ended; the first is noted."""
        if not self.office.sessions.alive(self.session):
            raise SessionOver()
        if not self.may(verb):
            refused(self, verb)
            raise NotYourRole(roles=role_words(self.session))

    def start(self, verb: str, *args: Any, project: Path | None = None, **kwargs: Any) -> None:
        """Begin long work on this project (or on another one: the wizard makes it)."""
        try:
            self._permit(verb)
            place = project or self.folder
            self._own.add(self.office.jobs.start(place, self._call(verb, args, kwargs)).number)
            self.typed = False
        except CelosiaError as error:
            tell(str(error), "bad")

    def cancel(self, job: Job) -> None:
        """Stop a piece of work, asking again who may: the page may be older than the session."""
        try:
            self._permit(job.call.verb)
            self.office.jobs.cancel(job.project, job.number)
        except CelosiaError as error:
            tell(str(error), "bad")

    def began(self, job: Job) -> bool:
        """Whether a piece of work was begun at this desk."""
        return job.number in self._own

    def note_typing(self, _: object) -> None:
        """Something was typed: the page is not loaded anew under it."""
        self.typed = True

    def when_done(self, callback: Callable[[Job], Awaitable[None] | None]) -> None:
        """Call this when work on this project ends while the page is open; without any, the page is loaded anew."""
        self._done.append(callback)

    def uploaded(self, ticket: str) -> Path | None:
        """The file behind a ticket of this session."""
        path = self.session.uploads.get(ticket)
        return Path(path) if path else None

    def scratch(self, name: str) -> Path:
        """A path in a private folder of its own, for a verb to write what will be downloaded."""
        folder = self.office.corner / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        self.session.scratch.add(str(folder))
        return folder / name

    def offer(self, path: Path, name: str = "", release: str = "") -> None:
        """Send a file to the reader, once; where there are accounts, that a release was fetched is noted."""
        ticket = secrets.token_urlsafe(16)
        while len(self.session.downloads) >= _OFFERED:  # nobody fetched the oldest: it is put away
            oldest = next(iter(self.session.downloads))
            self.session.notes.pop(oldest, None)
            forget_file(self.session, self.session.downloads.pop(oldest)[0])
        self.session.downloads[ticket] = (str(path), name or path.name)
        if release and self.session.login:
            self.session.notes[ticket] = (self.name, release)
        ui.download(f"/download/{ticket}", name or path.name)


def role_words(session: Session) -> str:
    """The roles of an account, in words."""
    return ", ".join(word(f"protocols.role.{role}") for role in session.roles)


def refused(desk: Desk, what: str) -> None:
    """Note that somebody tried what their role does not include; the same again within a minute is no news."""
    now = time.monotonic()
    tried = f"{desk.name} {desk.page} {desk.part} {desk.item} {what}"
    if now - desk.session.noted.get(tried, -AGAIN) < AGAIN:
        return
    desk.session.noted[tried] = now
    project = desk.name if desk.name and _is_there(desk) else ""  # a name that leads away leads to no journal
    note = desk._call("note_refusal", (desk.office.root, project, what), {})
    background_tasks.create(desk.office.pool.ask(note), name="refusal")


def tell(sentence: str, kind: str = "info") -> None:
    """A word to the reader that stays until it is put away, where it is bad."""
    colour = {"bad": "negative", "good": "positive", "warning": "warning", "info": "info"}[kind]
    ui.notify(sentence, type=colour, position="top", multi_line=True, timeout=0 if kind == "bad" else 4000,
              close_button=word("web.close"))  # fmt: skip


def unexpected(fault: Exception) -> None:
    """Our own fault in a page: the reader hears where it happened, nobody hears its words."""
    if isinstance(fault, Shown):
        return
    sentence = str(InternalFault(where=place_of(fault)))
    print(sentence, file=sys.stderr)
    with contextlib.suppress(RuntimeError):  # no page is there to tell
        tell(sentence, "bad")


def broken(fault: Exception) -> None:
    """What stands in place of a page that could not be built at all."""
    note(str(InternalFault(where=place_of(fault))), "bad")


Builder = Callable[[Desk], Awaitable[None]]


def page(step: str) -> Callable[[Builder], Builder]:
    """Register the page of one step of a project: /p/{name}/{step}."""

    def registered(build: Builder) -> Builder:
        path = "/p/{name}" if step == "overview" else f"/p/{{name}}/{step}"

        @ui.page(path, response_timeout=60)
        async def shown(name: str, request: Request) -> None:
            desk = Desk(office(), request.state.session, name, step)
            await _framed(desk, word(f"web.step.{step}"), build)

        return build

    return registered


def stats_page(part: str) -> Callable[[Builder], Builder]:
    """Register a page of a STATS folder: /s/{name} and /s/{name}/{part}; that of a table has the table's name too."""

    def registered(build: Builder) -> Builder:
        path = "/s/{name}" if part == "tables" else f"/s/{{name}}/{part}" + ("/{item}" if part == "table" else "")

        @ui.page(path, response_timeout=60)
        async def shown(name: str, request: Request) -> None:
            item = str(request.path_params.get("item", ""))
            desk = Desk(office(), request.state.session, name, "stats", part, item)
            await _framed(desk, word(f"web_stats.part.{part}"), build)

        return build

    return registered


def plain_page(path: str, title: str) -> Callable[[Builder], Builder]:
    """Register a page that belongs to no project."""

    def registered(build: Builder) -> Builder:
        @ui.page(path, response_timeout=60)
        async def shown(request: Request) -> None:
            await _framed(Desk(office(), request.state.session, page=path.strip("/") or "projects"), word(title), build)

        return build

    return registered


async def _framed(desk: Desk, title: str, build: Builder) -> None:
    _dress(desk, title)
    _free_main()
    tag("a", word("web.skip"), "c-skip", href="#main")
    _header(desk)
    with tag("main", classes="c-main", id="main", tabindex="-1") as main:
        main.on("input", desk.note_typing, js_handler="() => emit()")
        tag("h1", title)
        if not rights.may_see(desk.session.roles, desk.page):
            context.client.status_code = 403
            refused(desk, desk.page)
            note(str(NotYourRole(roles=role_words(desk.session))), "bad")
            return
        if desk.name and not _is_there(desk):
            context.client.status_code = 404
            note(word("web.no_project"), "bad")
            return
        tour = await tour_panel(desk, partial(part_path if desk.part else step_path, desk.name)) if desk.name else None
        work = tag("div", classes="c-work", aria_live="polite")
        with _controls(desk):
            await _built(desk, build)
        if desk.name and rights.may_see(desk.session.roles, "overview"):  # what the house works at is not told outside
            watched(desk, work)  # last: a timer delivers the page at once
        if tour is not None:
            tour.follow()


def _free_main() -> None:
    """Make a plain box of the page that Quasar draws as a <main> around everything: a header is no part of it."""
    for around in context.client.page_container.default_slot.children:
        around.tag = "div"


@contextlib.contextmanager
def _controls(desk: Desk) -> Iterator[None]:
    """Where the reader's role does not include the work of a page, its controls are shown at rest."""
    if rights.may_edit(desk.session.roles, desk.page):
        yield
        return
    note(word("web.reading", roles=role_words(desk.session)))
    with tag("fieldset", classes="c-rest", disabled=True):
        yield


async def _built(desk: Desk, build: Builder) -> None:
    """Build a page; an error becomes a sentence on it."""
    sentence = await _trouble(desk, build)
    if sentence:
        note(sentence, "bad")


async def _trouble(desk: Desk, build: Builder) -> str:
    try:
        await build(desk)
    except (Shown, CelosiaError, Failed) as error:
        return str(error)
    except Exception as fault:  # noqa: BLE001 - the last door of a page: whatever it quotes stays inside
        return str(InternalFault(where=place_of(fault)))
    return ""


def _is_there(desk: Desk) -> bool:
    try:
        return (desk.folder / ("stats.toml" if desk.part else "celosia.toml")).is_file()
    except CelosiaError:
        return False


def _dress(desk: Desk, title: str) -> None:
    ui.add_head_html(_HEAD)
    ui.dark_mode({"auto": None, "light": False, "dark": True}[desk.session.theme])
    ui.page_title(f"{title} · {desk.name or 'celosia'}")
    # A script of the page itself: asking the browser to run one would deliver the page before it is built.
    ui.add_head_html(f"<script>document.documentElement.lang = '{messages.language()}'</script>")


def _header(desk: Desk) -> None:
    with tag("header", classes="c-header"):
        with tag("div", classes="c-bar"):
            link("celosia", "/", "c-brand")
            if desk.name:
                tag("span", desk.name, "c-project")
            tag("span", "", "c-space")
            _preferences(desk)
        if desk.name:
            _parts(desk) if desk.part else _steps(desk)


def _preferences(desk: Desk) -> None:
    here = quote(desk.here)
    for code in messages.LANGUAGES:
        if code != desk.session.language:
            target = f"/preference?language={code}&back={here}"
            made = link(messages.section(code, "web")["language"], target, "c-quiet")
            made.props["lang"] = code
    if desk.session.login:
        link(desk.session.name, "/password", "c-quiet")
        with tag("form", method="post", action="/logout", classes="c-inline"):
            tag("input", type="hidden", name="csrf", value=desk.csrf)
            tag("button", word("web.door.leave"), "c-button c-quiet", type="submit")
    following = {"auto": "dark", "dark": "light", "light": "auto"}[desk.session.theme]
    target = f"/preference?theme={following}&back={here}"
    link(word(f"web.theme.{desk.session.theme}"), target, "c-quiet")


def step_path(name: str, step: str) -> str:
    """The address of a project's page."""
    return quote(f"/p/{name}" if step == "overview" else f"/p/{name}/{step}")


def part_path(name: str, part: str, item: str = "") -> str:
    """The address of a STATS folder's page."""
    return quote(f"/s/{name}" if part == "tables" else f"/s/{name}/{part}" + (f"/{item}" if item else ""))


def _parts(desk: Desk) -> None:
    with tag("nav", classes="c-steps c-parts", aria_label=word("web_stats.parts")), tag("ul"):
        for part in STATS_PARTS:
            with tag("li"):
                made = link(word(f"web_stats.part.{part}"), part_path(desk.name, part))
                if part == desk.part:
                    made.props["aria-current"] = "page"


def _steps(desk: Desk) -> None:
    with tag("nav", classes="c-steps", aria_label=word("web.steps")), tag("ol"):
        outside = ("attempt",) if "outsider" in desk.session.roles else ()
        for step in (one for one in (*STEPS, *outside) if rights.may_see(desk.session.roles, one)):
            with tag("li"):
                made = link(word(f"web.step.{step}"), step_path(desk.name, step))
                if step == desk.page:
                    made.props["aria-current"] = "page"


def watched(desk: Desk, box: ui.element) -> None:
    """Show what runs on this project, wherever it was started; when it ends, the page shows what came of it."""
    seen: dict[str, Any] = {"told": None, "moves": None}

    def show() -> None:
        """Show the work as it is now."""
        job = desk.office.jobs.last(desk.folder)
        now = None if job is None else (job.number, job.state if job.ended else "under way")
        if now == seen["told"]:
            if job is not None and not job.ended:
                _moved(job, *seen["moves"])
            return
        before, seen["told"] = seen["told"], now
        box.clear()
        if job is None or (before is None and job.seen):
            return
        with box:
            seen["moves"] = _job(desk, job, late=before is not None)
        job.seen = job.state == "done" and before is None  # told once on a page that was opened after it

    def news() -> Job | None:
        """Work that ended since the last look, and was begun or seen here."""
        job, before = desk.office.jobs.last(desk.folder), seen["told"] or (0, "")
        ended = job is not None and job.ended and before != (job.number, job.state)
        return job if job is not None and ended and (desk.began(job) or before[0] == job.number) else None

    async def look() -> None:
        if not desk.office.sessions.lasts(desk.session):
            return
        ended = news()
        try:
            if ended is not None:
                await _ended(desk, ended)
        finally:
            show()  # last: where the page says that work ended, it shows what came of it

    show()
    ui.timer(_TICK, look)


async def _ended(desk: Desk, job: Job) -> None:
    if job.state != "done":
        return
    if not desk._done and _is_shown(desk, job):
        ui.navigate.reload()
    for callback in desk._done:
        waited = callback(job)
        if waited is not None:
            await waited


def _is_shown(desk: Desk, job: Job) -> bool:
    """Whether the page shows by itself what came of work: nothing is loaded anew over what somebody is typing."""
    return desk.began(job) and (bool(desk._done) or not desk.typed)


def _moved(job: Job, stage: ui.element, progress: ui.element) -> None:
    """How far work is, without making its button anew: somebody may be pressing it."""
    words = word(f"web.stage.{job.stage}") if messages.has(f"web.stage.{job.stage}") else ""
    said(stage, " " + (words or word(f"web.job.{job.state}")))
    progress.props.set_optional("value", round(job.share, 2) or None)


def _job(desk: Desk, job: Job, late: bool) -> tuple[ui.element, ui.element] | None:
    """One piece of work; `late` is one that goes on or ends while the page is open. Gives what moves while it runs."""
    verb = word(f"web.work.{job.call.verb}") if messages.has(f"web.work.{job.call.verb}") else job.call.verb
    if job.ended:
        kind = {"done": "good", "cancelled": "warning", "failed": "bad"}[job.state]
        sentence = desk.office.by_own_name(job.sentence) or word(
            f"web.job.{job.state}", seconds=messages.decimal(job.seconds, 1)
        )
        with note(sentence, kind, verb):
            if late and job.state == "done" and not _is_shown(desk, job):
                button(word("web.refresh"), ui.navigate.reload, "quiet")
            button(word("web.close"), lambda: desk.office.jobs.forget(desk.folder), "quiet")
        return None
    with tag("div", classes="c-note c-info"):
        with tag("div"):
            tag("strong", verb)
            moves = tag("span"), tag("progress", max=1, aria_label=verb)
            _moved(job, *moves)
        if desk.may(job.call.verb):  # who may not begin it does not end it
            button(word("web.cancel"), lambda: desk.cancel(job), "danger")
    return moves
