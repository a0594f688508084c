"""What one server has: the folder of the projects, its processes, its work and its sessions."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from celosia.errors import CelosiaError, OutsideProjects
from celosia.pipeline import office_note
from celosia.web._jobs import Jobs
from celosia.web._sessions import Breaches, Sessions
from celosia.web._workers import Pool

_PLAIN = re.compile(r"[^\W_][\w .-]{0,119}")  # a name, never a path: no slash, no leading dot


@dataclass(frozen=True, slots=True)
class Office:
    """The parts that all pages share."""

    root: Path  # the projects' folder; nothing outside it is read or written
    corner: Path  # private scratch in it: uploads and downloads of this process
    sessions: Sessions
    pool: Pool
    jobs: Jobs
    upload_limit: int  # bytes
    only: str = ""  # the one project to show, where one was named
    shared: bool = False  # several people with accounts
    breaches: Breaches = field(default_factory=Breaches)

    def note_breach(self, login: str, kind: str) -> None:
        """Write down, now and then and aside, that the guard refused somebody; a full disk opens no door."""
        times = self.breaches.news(login, kind) if self.shared else 0
        if times:
            asyncio.get_running_loop().run_in_executor(None, self._breach, login, kind, times)

    def _breach(self, login: str, kind: str, times: int) -> None:
        with contextlib.suppress(CelosiaError, OSError):
            facts = {"account": login, "what": kind, "times": times}
            office_note(self.root, "request-refused", login or "–", facts)

    def project(self, name: str) -> Path:
        """The folder of a project; a name that is no plain name, or a link that leads away, is refused."""
        if self.only and name != self.only:
            raise OutsideProjects()
        return inside(self.root, name)

    def by_own_name(self, sentence: str) -> str:
        """A sentence that names a file sent to us by its own name: the private folder tells nobody anything."""
        return re.sub(re.escape(str(self.corner)) + r"[/\\]\w+[/\\]", "", sentence)


def inside(root: Path, name: str) -> Path:
    """A plain name as a path directly inside a folder."""
    if not _PLAIN.fullmatch(name):
        raise OutsideProjects()
    path = root / name
    if path.resolve().parent != root.resolve():
        raise OutsideProjects()
    return path
