"""What one server has: the folder of the projects, its processes, its work and its sessions."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from celosia.errors import CelosiaError
from celosia.web.server.sessions import RefusedRequests, Sessions
from celosia.web.work.jobs import Jobs
from celosia.web.work.workers import Pool
from celosia.workbench.accounts import append_server_journal
from celosia.workbench.errors import OutsideProjects

_PLAIN_NAME = re.compile(r"[^\W_][\w .-]{0,119}")  # a name, never a path: no slash, no leading dot


@dataclass(frozen=True, slots=True)
class Server:
    """The parts that all pages share."""

    root: Path  # the projects' folder; nothing outside it is read or written
    scratch: Path  # a private folder in it: uploads and downloads of this process
    sessions: Sessions
    pool: Pool
    jobs: Jobs
    upload_limit: int  # bytes
    only: str = ""  # the one project to show, where one was named
    shared: bool = False  # several people with accounts
    refused_requests: RefusedRequests = field(default_factory=RefusedRequests)

    def note_refused_request(self, login: str, kind: str) -> None:
        """Write into the journal, now and then, that the guard refused somebody; a full disk changes no refusal."""
        times = self.refused_requests.count_to_note(login, kind) if self.shared else 0
        if times:
            asyncio.get_running_loop().run_in_executor(None, self._append_refused, login, kind, times)

    def _append_refused(self, login: str, kind: str, times: int) -> None:
        with contextlib.suppress(CelosiaError, OSError):
            facts = {"account": login, "what": kind, "times": times}
            append_server_journal(self.root, "request-refused", login or "–", facts)

    def project(self, name: str) -> Path:
        """The folder of a project; a name that is no plain name, or a link that leads away, is refused."""
        if (self.only and name != self.only) or not _PLAIN_NAME.fullmatch(name):
            raise OutsideProjects()
        path = self.root / name
        if path.resolve().parent != self.root.resolve():
            raise OutsideProjects()
        return path

    def without_scratch_path(self, sentence: str) -> str:
        """A sentence that names an uploaded file by its own name, without the private folder."""
        return re.sub(re.escape(str(self.scratch)) + r"[/\\]\w+[/\\]", "", sentence)
