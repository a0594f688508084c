"""Files into and out of the page: streamed to a private folder under the byte limit, handed out by one-time tickets.

A file is named by a ticket of its session, never by a path. Its own name is kept only as far as it is harmless: it
tells the format and proposes the project's name.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import secrets
import time
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote

from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response

from celosia import messages
from celosia.errors import CelosiaError, DiskFull, FolderUnwritable, NotYourRole, UploadTooLarge
from celosia.web import _rights as rights
from celosia.web._frame import role_words
from celosia.web._office import Office
from celosia.web._sessions import AGAIN, Session, forget_file
from celosia.web._workers import Call, Failed

NAME = "x-celosia-name"
_HELD = 4  # times the limit of one file that a session may hold here at once


def harmless_name(given: str) -> str:
    """A file's own name without anything that could lead elsewhere or surprise a shell."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given))[-1]
    plain = re.sub(r"[^\w.-]+", "_", last).strip("._")
    return plain[-80:].lstrip("._-") or "archivo"


async def receive_upload(office: Office, request: Request) -> Response:
    """PUT /upload: the body is the file."""
    session: Session = request.state.session
    if not rights.may_upload(session.roles):
        return await _refused(office, session)
    ticket = secrets.token_urlsafe(16)
    folder = office.corner / secrets.token_hex(8)
    path = folder / harmless_name(unquote(request.headers.get(NAME, "")))
    try:
        await _written(path, request, min(office.upload_limit, _HELD * office.upload_limit - _held(session)))
    except ClientDisconnect:
        _removed(path)
        return Response(status_code=499)
    except CelosiaError as error:
        _removed(path)
        status = 413 if isinstance(error, UploadTooLarge) else 507
        told = {"code": error.code, "sentence": _sentence(error, session)}
        return JSONResponse(told, status_code=status, headers=_farewell(request))
    session.uploads[ticket] = str(path)
    session.scratch.add(str(folder))
    return JSONResponse({"ticket": ticket, "name": path.name, "bytes": path.stat().st_size})


async def _refused(office: Office, session: Session) -> Response:
    """Nothing of the body is read; that it was tried stands in the office's journal."""
    with contextlib.suppress(Failed, CelosiaError):  # a journal that cannot be written opens no door
        what = (office.root, "", "upload")
        await office.pool.ask(Call("note_refusal", what, {}, session.language, session.name, session.login))
    with messages.speaking(session.language):
        error = NotYourRole(roles=role_words(session))
        told = {"code": error.code, "sentence": str(error)}
    return JSONResponse(told, status_code=403, headers={"connection": "close"})


def _held(session: Session) -> int:
    """Bytes that a session has sent and that are still here."""
    return sum(path.stat().st_size for path in map(Path, session.uploads.values()) if path.is_file())


def _farewell(request: Request) -> dict[str, str]:
    """Hang up on a stream that never said how long it is; a browser says it, and hears the refusal at its end."""
    return {} if "content-length" in request.headers else {"connection": "close"}


def _sentence(error: CelosiaError, session: Session) -> str:
    """The error in the session's language; nothing is awaited meanwhile, so nobody else hears it."""
    with messages.speaking(session.language):
        return str(error)


async def _written(path: Path, request: Request, limit: int) -> None:
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise UploadTooLarge(limit=size_text(limit))
    try:
        path.parent.mkdir(mode=0o700)
        handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            async for chunk in _limited(request.stream(), limit):
                await asyncio.to_thread(file.write, chunk)
    except OSError as fault:
        error = DiskFull if fault.errno in (errno.ENOSPC, errno.EDQUOT) else FolderUnwritable
        raise error(path=path.parent.parent.parent.name) from None


async def _limited(chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    """The chunks, until they are more than was allowed, whatever the header said."""
    seen = 0
    async for chunk in chunks:
        seen += len(chunk)
        if seen > limit:
            raise UploadTooLarge(limit=size_text(limit))
        yield chunk


def _removed(path: Path) -> None:
    path.unlink(missing_ok=True)
    if path.parent.is_dir():
        path.parent.rmdir()


def send_download(session: Session, ticket: str) -> Response:
    """GET /download/{ticket}: a file that a page offered to this session, once, always as an attachment."""
    path, name = session.downloads.pop(ticket, ("", ""))
    if not path or not Path(path).is_file():
        return Response(status_code=404)
    after = BackgroundTask(forget_file, session, path)
    return FileResponse(path, filename=name, media_type="application/octet-stream", background=after)


async def note_download(office: Office, session: Session, ticket: str) -> None:
    """Write into the project's journal who took a release with them; the same again within a minute is no news."""
    project, release = session.notes.pop(ticket, ("", ""))
    now, key = time.monotonic(), f"download {project} {release}"
    if not release or now - session.noted.get(key, -AGAIN) < AGAIN:
        return
    session.noted[key] = now
    with contextlib.suppress(Failed, CelosiaError):  # a journal that cannot be written keeps nobody's file
        what = (office.project(project), release)
        await office.pool.ask(Call("note_download", what, {}, session.language, session.name, session.login))


def size_text(size: int) -> str:
    """A number of bytes as people say it."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{messages.decimal(size / scale, 1 if size % scale else 0)} {unit}"
    return f"{size} B"
