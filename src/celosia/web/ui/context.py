"""What a page works with: the server, the reader's session, the project, and the operations that the reader may call.

Knows sessions, roles and jobs. Ignores how anything is drawn. A page asks operations and shows what they answer.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote

from nicegui import background_tasks, context, ui

from celosia.errors import CelosiaError
from celosia.messages import text
from celosia.model.paths import SETTINGS, STATS_SETTINGS
from celosia.web.errors import NotYourRole, SessionOver
from celosia.web.server.rights import role_names
from celosia.web.server.server import Server
from celosia.web.server.sessions import NOTE_INTERVAL, Session, remove_file
from celosia.web.ui import html
from celosia.web.work.jobs import Job
from celosia.web.work.workers import FAILURES, Call, OperationFailed
from celosia.workbench.operation import may_call, operation_key
from celosia.workbench.operations.people import note_refusal

P = ParamSpec("P")
T = TypeVar("T")
_OFFERED = 5  # files that wait to be downloaded


class AlreadyShown(Exception):
    """An error that the reader has already seen: a page lets it pass."""


@dataclass(slots=True)
class PageContext:
    """One open page: of the whole server, or of one project."""

    server: Server
    session: Session
    name: str = ""  # of the project
    step: str = ""  # which page of a project, or the path of a page that belongs to none
    part: str = ""  # which page of a STATS folder; empty on the pages of a project
    item: str = ""  # what the page is about, where there are several: a table
    typed: bool = False  # since work was last started here
    on_done: list[Callable[[Job], Awaitable[None] | None]] = field(default_factory=list)
    _started: set[int] = field(default_factory=set)  # jobs started on this page

    @property
    def folder(self) -> Path:
        """The project's folder."""
        return self.server.project(self.name)

    @property
    def exists(self) -> bool:
        """Whether there is a project, or a STATS folder, of this name."""
        try:
            return (self.folder / (STATS_SETTINGS if self.part else SETTINGS)).is_file()
        except CelosiaError:
            return False

    @property
    def address(self) -> str:
        """The address of the page."""
        if self.part:
            return part_path(self.name, self.part, self.item)
        return step_path(self.name, self.step) if self.name else "/"

    async def ask(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The answer of a quick operation; its error is shown to the reader and raised as AlreadyShown."""
        try:
            return await self.answer(operation, *args, **kwargs)
        except FAILURES as error:
            sentence = str(error)
        if context.client.has_socket_connection:
            notify(sentence, "bad")
        raise AlreadyShown(sentence)

    async def answer(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The answer of a quick operation; its error is raised as OperationFailed, for the page to show."""
        call = self._permit(Call.to(operation, *args, **kwargs))
        try:
            async with self.session.turn if self.session.login else contextlib.nullcontext():
                value: T = await self.server.pool.ask(call)
                return value
        except OperationFailed as error:
            sentence = self.server.without_scratch_path(error.failure.sentence)
            raise OperationFailed(replace(error.failure, sentence=sentence)) from None

    def start(self, operation: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> None:
        """Start long work on this project."""
        try:
            call = self._permit(Call.to(operation, *args, **kwargs))
            self._started.add(self.server.jobs.start(self.folder, call).number)
            self.typed = False
        except CelosiaError as error:
            notify(str(error), "bad")

    def cancel(self, job: Job) -> None:
        """Stop a job, after checking again who may: the page may be older than the session."""
        try:
            self._permit(job.call)
            self.server.jobs.cancel(job.project, job.number)
        except CelosiaError as error:
            notify(str(error), "bad")

    def may(self, operation: Callable[..., Any]) -> bool:
        """Whether the reader's role includes an operation."""
        return may_call(self.session.roles, operation_key(operation))

    def _permit(self, call: Call) -> Call:
        """The call in the reader's name; refused where the session ended or the role does not include it."""
        if not self.server.sessions.is_alive(self.session):
            raise SessionOver()
        if not may_call(self.session.roles, call.operation):
            self.note_refused(call.label)
            raise NotYourRole(roles=role_names(self.session.roles))
        return call.on_behalf(self.session.language, self.session.name, self.session.login)

    def note_refused(self, what: str) -> None:
        """Note that somebody tried what their role does not include; a repetition within a minute is not noted."""
        now = time.monotonic()
        key = f"{self.name} {self.step} {self.part} {self.item} {what}"
        if now - self.session.noted.get(key, -NOTE_INTERVAL) < NOTE_INTERVAL:
            return
        self.session.noted[key] = now
        project = self.name if self.name and self.exists else ""  # a name that leads away has no journal
        call = Call.to(note_refusal, self.server.root, project, what)
        call = call.on_behalf(self.session.language, self.session.name, self.session.login)
        background_tasks.create(self.server.pool.ask(call), name="refusal")

    def started_here(self, job: Job) -> bool:
        """Whether a job was started on this page."""
        return job.number in self._started

    def note_typing(self, _: object) -> None:
        """Something was typed: the page is not loaded again under it."""
        self.typed = True

    def when_done(self, callback: Callable[[Job], Awaitable[None] | None]) -> None:
        """Call this when work on this project ends while the page is open; without any, the page is loaded again."""
        self.on_done.append(callback)

    def scratch_path(self, name: str) -> Path:
        """A path in a private folder of its own, for an operation to write what will be downloaded."""
        folder = self.server.scratch / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        self.session.scratch_folders.add(str(folder))
        return folder / name

    def offer(self, path: Path, name: str = "", release: str = "") -> None:
        """Send a file to the reader, once; where there are accounts, the download of a release is noted."""
        ticket = secrets.token_urlsafe(16)
        while len(self.session.downloads) >= _OFFERED:  # nobody fetched the oldest
            oldest = next(iter(self.session.downloads))
            self.session.notes.pop(oldest, None)
            remove_file(self.session, self.session.downloads.pop(oldest)[0])
        self.session.downloads[ticket] = (str(path), name or path.name)
        if release and self.session.login:
            self.session.notes[ticket] = (self.name, release)
        ui.download(f"/download/{ticket}", name or path.name)


def notify(sentence: str, kind: str = "info") -> None:
    """A message over the page: info, good, warning or bad; a bad one stays until it is closed."""
    ui.notify(
        sentence,
        type={"bad": "negative", "good": "positive", "warning": "warning", "info": "info"}[kind],
        position="top",
        multi_line=True,
        timeout=0 if kind == "bad" else 4000,
        close_button=text("web.close"),
    )


def upload_field(
    page: PageContext, label: str, on_file: Callable[[Path], Awaitable[None] | None], accept: str = "", hint: str = ""
) -> None:
    """A field that sends a file; the handler gets its path in the private folder of the session."""

    def take(fields: Mapping[str, Any]) -> Awaitable[None] | None:
        path = page.session.uploads.get(str(fields["ticket"]))
        return on_file(Path(path)) if path else None

    html.upload(label, page.session.csrf, take, accept, hint)


def step_path(name: str, step: str) -> str:
    """The address of a project's page."""
    return quote(f"/p/{name}" if step == "overview" else f"/p/{name}/{step}")


def part_path(name: str, part: str, item: str = "") -> str:
    """The address of a STATS folder's page."""
    return quote(f"/s/{name}" if part == "tables" else f"/s/{name}/{part}" + (f"/{item}" if item else ""))
