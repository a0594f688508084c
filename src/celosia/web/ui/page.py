"""The frame of every page: header, the way through a project, the running work, and the routes that build pages.

Knows the order of the pages. Ignores what they show.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec
from urllib.parse import quote

from nicegui import app, context, ui
from starlette.requests import Request

from celosia import messages
from celosia.messages import text
from celosia.web.errors import NotYourRole
from celosia.web.server import rights
from celosia.web.ui import html
from celosia.web.ui.context import AlreadyShown, PageContext, notify, part_path, step_path
from celosia.web.ui.tour_panel import tour_panel
from celosia.web.work.jobs import Job
from celosia.web.work.workers import FAILURES, internal_fault
from celosia.workbench.operation import may_call

STEPS = (
    "overview",
    "data",
    "dictionary",
    "request",
    "hierarchies",
    "risk",
    "search",
    "result",
    "intruder",
    "dossier",
    "people",
)
STATS_PARTS = ("tables", "catalogue", "lineage", "history")  # the pages of a STATS folder
_HEAD = '<link rel="stylesheet" href="/assets/celosia.css"><script src="/assets/celosia.js" defer></script>'
_TICK = 0.4  # seconds between two looks at the work that runs
Builder = Callable[[PageContext], Awaitable[None]]
P = ParamSpec("P")


def reader_language() -> str | None:
    """The language of whoever reads the page; None outside a page."""
    if not app.is_started:  # asking for a client would make one
        return None
    try:
        return str(context.client.request.state.session.language)
    except (RuntimeError, AttributeError):
        return None


def report_fault(fault: Exception) -> None:
    """Tell the reader and the terminal where a fault of ours happened, never its message."""
    if isinstance(fault, AlreadyShown):
        return
    sentence = str(internal_fault(fault))
    print(sentence, file=sys.stderr)
    with contextlib.suppress(RuntimeError):  # no page is open
        notify(sentence, "bad")


def show_fault(fault: Exception) -> None:
    """Show where the fault happened, in place of a page that could not be built at all."""
    html.note(str(internal_fault(fault)), "bad")


# --- routes ---------------------------------------------------------------------------------------


def project_page(step: str) -> Callable[[Builder], Builder]:
    """Register the page of one step of a project: /p/{name}/{step}."""

    def register(build: Builder) -> Builder:
        @ui.page("/p/{name}" if step == "overview" else f"/p/{{name}}/{step}", response_timeout=60)
        async def build_page(name: str, request: Request) -> None:
            page = PageContext(app.state.server, request.state.session, name, step)
            await _build(page, text(f"web.step.{step}"), build)

        return build

    return register


def stats_page(part: str) -> Callable[[Builder], Builder]:
    """Register a page of a STATS folder: /s/{name} and /s/{name}/{part}; that of a table has the table's name too."""

    def register(build: Builder) -> Builder:
        path = "/s/{name}" if part == "tables" else f"/s/{{name}}/{part}" + ("/{item}" if part == "table" else "")

        @ui.page(path, response_timeout=60)
        async def build_page(name: str, request: Request) -> None:
            item = str(request.path_params.get("item", ""))
            page = PageContext(app.state.server, request.state.session, name, "stats", part, item)
            await _build(page, text(f"web_stats.part.{part}"), build)

        return build

    return register


def plain_page(path: str, title: str) -> Callable[[Builder], Builder]:
    """Register a page that belongs to no project."""

    def register(build: Builder) -> Builder:
        @ui.page(path, response_timeout=60)
        async def build_page(request: Request) -> None:
            page = PageContext(app.state.server, request.state.session, step=path.strip("/") or "projects")
            await _build(page, text(title), build)

        return build

    return register


async def _build(page: PageContext, title: str, build: Builder) -> None:
    """Build the frame and, where the reader may see it, the page in it."""
    _add_head(page, title)
    for element in context.client.page_container.default_slot.children:
        element.tag = "div"  # Quasar draws the page as a <main> around everything, the header too
    html.tag("a", text("web.skip"), "c-skip", href="#main")
    _header(page)
    with html.tag("main", classes="c-main", id="main", tabindex="-1") as main:
        main.on("input", page.note_typing, js_handler="() => emit()")
        html.tag("h1", title)
        if not rights.may_see(page.session.roles, page.step):
            context.client.status_code = 403
            page.note_refused(page.step)
            html.note(str(NotYourRole(roles=rights.role_names(page.session.roles))), "bad")
            return
        if page.name and not page.exists:
            context.client.status_code = 404
            html.note(text("web.no_project"), "bad")
            return
        tour = await tour_panel(page, partial(part_path if page.part else step_path, page.name)) if page.name else None
        work = html.tag("div", classes="c-work", aria_live="polite")
        with _controls_by_role(page):
            sentence = await _build_body(page, build)
            if sentence:
                html.note(sentence, "bad")
        if page.name and rights.may_see(page.session.roles, "overview"):  # running work is not shown to outsiders
            show_work(page, work)  # last: a timer delivers the page at once
        if tour is not None:
            tour.follow()


async def _build_body(page: PageContext, build: Builder) -> str:
    """Build a page; give the sentence of the error that stopped it."""
    try:
        await build(page)
    except (AlreadyShown, *FAILURES) as error:
        return str(error)
    except Exception as fault:  # noqa: BLE001 - no exception leaves a page: its message may quote data
        return str(internal_fault(fault))
    return ""


@contextlib.contextmanager
def _controls_by_role(page: PageContext) -> Iterator[None]:
    """Controls that work, or disabled ones where the reader's role does not include the work of the page."""
    if rights.may_edit(page.session.roles, page.step):
        yield
        return
    html.note(text("web.reading", roles=rights.role_names(page.session.roles)))
    with html.tag("fieldset", classes="c-rest", disabled=True):
        yield


# --- header ---------------------------------------------------------------------------------------


def _add_head(page: PageContext, title: str) -> None:
    ui.add_head_html(_HEAD)
    ui.dark_mode({"auto": None, "light": False, "dark": True}[page.session.theme])
    ui.page_title(f"{title} · {page.name or 'celosia'}")
    # A script of the page itself: asking the browser to run one would deliver the page before it is built.
    ui.add_head_html(f"<script>document.documentElement.lang = '{messages.language()}'</script>")


def _header(page: PageContext) -> None:
    with html.tag("header", classes="c-header"):
        with html.tag("div", classes="c-bar"):
            html.link("celosia", "/", "c-brand")
            if page.name:
                html.tag("span", page.name, "c-project")
            html.tag("span", "", "c-space")
            _preferences(page)
        if page.name:
            _stats_navigation(page) if page.part else _project_navigation(page)


def _preferences(page: PageContext) -> None:
    back = quote(page.address)
    for code in messages.LANGUAGES:
        if code != page.session.language:
            other = html.link(
                messages.section(code, "web")["language"], f"/preference?language={code}&back={back}", "c-quiet"
            )
            other.props["lang"] = code
    if page.session.login:
        html.link(page.session.name, "/password", "c-quiet")
        with html.tag("form", method="post", action="/logout", classes="c-inline"):
            html.tag("input", type="hidden", name="csrf", value=page.session.csrf)
            html.tag("button", text("web.door.leave"), "c-button c-quiet", type="submit")
    following = {"auto": "dark", "dark": "light", "light": "auto"}[page.session.theme]
    html.link(text(f"web.theme.{page.session.theme}"), f"/preference?theme={following}&back={back}", "c-quiet")


def _stats_navigation(page: PageContext) -> None:
    with html.tag("nav", classes="c-steps c-parts", aria_label=text("web_stats.parts")), html.tag("ul"):
        for part in STATS_PARTS:
            _navigation_link(text(f"web_stats.part.{part}"), part_path(page.name, part), part == page.part)


def _project_navigation(page: PageContext) -> None:
    outside = ("attempt",) if "outsider" in page.session.roles else ()
    with html.tag("nav", classes="c-steps", aria_label=text("web.steps")), html.tag("ol"):
        for step in (*STEPS, *outside):
            if rights.may_see(page.session.roles, step):
                _navigation_link(text(f"web.step.{step}"), step_path(page.name, step), step == page.step)


def _navigation_link(label: str, target: str, current: bool) -> None:
    with html.tag("li"):
        element = html.link(label, target)
        if current:
            element.props["aria-current"] = "page"


# --- running work ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _WorkBox:
    """The box that shows the work on a project, and the state it shows."""

    page: PageContext
    box: ui.element
    state: tuple[int, str] | None = None  # number and state of the job on show
    progress: tuple[ui.element, ui.element] | None = None  # what moves while it runs

    def show(self) -> None:
        """Show the work as it is now."""
        job = self.page.server.jobs.last(self.page.folder)
        now = None if job is None else (job.number, job.state if job.ended else "under way")
        if now == self.state:
            if job is not None and self.progress is not None:
                _update_progress(job, *self.progress)
            return
        before, self.state, self.progress = self.state, now, None
        self.box.clear()
        if job is None or (before is None and job.seen):
            return
        with self.box:
            if job.ended:
                _show_end(self.page, job, late=before is not None)
            else:
                self.progress = _show_running(self.page, job)
        job.seen = job.state == "done" and before is None  # shown once on a page that was opened after it

    def ended_job(self) -> Job | None:
        """The job that ended since the last look, and was started or seen here."""
        job, before = self.page.server.jobs.last(self.page.folder), self.state or (0, "")
        if job is None or not job.ended or before == (job.number, job.state):
            return None
        return job if self.page.started_here(job) or before[0] == job.number else None

    async def look(self) -> None:
        """Show what changed; what the page does when work ends comes before the box says that it ended."""
        if not self.page.server.sessions.lasts(self.page.session):
            return
        job = self.ended_job()
        try:
            if job is not None and job.state == "done":
                await _run_callbacks(self.page, job)
        finally:
            self.show()


def show_work(page: PageContext, box: ui.element) -> None:
    """Show what runs on this project, wherever it was started; when it ends, the page shows its result."""
    work = _WorkBox(page, box)
    work.show()
    ui.timer(_TICK, work.look)


def start_and_open(
    page: PageContext, name: str, target: str, operation: Callable[P, None], *args: P.args, **kwargs: P.kwargs
) -> None:
    """Start the work that makes a project, show its progress, and open a page when it is done."""
    own = PageContext(page.server, page.session, name)
    own.start(operation, *args, **kwargs)
    own.when_done(lambda _: ui.navigate.to(target))
    show_work(own, html.tag("div", aria_live="polite"))


async def _run_callbacks(page: PageContext, job: Job) -> None:
    if not page.on_done and _is_shown(page, job):
        ui.navigate.reload()
    for callback in page.on_done:
        waiting = callback(job)
        if waiting is not None:
            await waiting


def _is_shown(page: PageContext, job: Job) -> bool:
    """Whether the page shows the result of a job by itself: nothing is loaded again over what somebody is typing."""
    return page.started_here(job) and (bool(page.on_done) or not page.typed)


def _work_name(job: Job) -> str:
    key = f"web.work.{job.call.label}"
    return text(key) if messages.has(key) else job.call.label


def _show_running(page: PageContext, job: Job) -> tuple[ui.element, ui.element]:
    """A job that waits or runs; gives what moves meanwhile."""
    with html.tag("div", classes="c-note c-info"):
        with html.tag("div"):
            html.tag("strong", _work_name(job))
            progress = html.tag("span"), html.tag("progress", max=1, aria_label=_work_name(job))
            _update_progress(job, *progress)
        if may_call(page.session.roles, job.call.operation):  # who may not start it may not cancel it
            html.button(text("web.cancel"), lambda: page.cancel(job), "danger")
    return progress


def _update_progress(job: Job, stage: ui.element, bar: ui.element) -> None:
    """Change what moves and leave the button: somebody may be pressing it."""
    key = f"web.stage.{job.stage}"
    html.set_text(stage, " " + text(key if messages.has(key) else f"web.job.{job.state}"))
    bar.props.set_optional("value", round(job.share, 2) or None)


def _show_end(page: PageContext, job: Job, late: bool) -> None:
    """A job that ended; `late` is one that ended while the page was open."""
    kind = {"done": "good", "cancelled": "warning", "failed": "bad"}[job.state]
    sentence = page.server.without_scratch_path(job.sentence)
    with html.note(
        sentence or text(f"web.job.{job.state}", seconds=messages.decimal(job.seconds, 1)), kind, _work_name(job)
    ):
        if late and job.state == "done" and not _is_shown(page, job):
            html.button(text("web.refresh"), ui.navigate.reload, "quiet")
        html.button(text("web.close"), lambda: page.server.jobs.forget(page.folder), "quiet")
