"""Files into and out of the page: streamed to a private folder under the byte limit, handed out by one-time tickets.

A file is named by a ticket of its session, never by a path. Its own name is kept only as far as it is harmless: it
gives the format and proposes the project's name.
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
from celosia.errors import CelosiaError
from celosia.storage import DiskFull, FolderUnwritable
from celosia.system.paths import unreserved_name
from celosia.web.errors import NotYourRole, UploadTooLarge
from celosia.web.server import rights
from celosia.web.server.server import Server
from celosia.web.server.sessions import NOTE_INTERVAL, Session, remove_file
from celosia.web.work.workers import FAILURES, Call
from celosia.workbench.operations import people

NAME = "x-celosia-name"
_MOST_FILES = 4  # times the limit of one file that the uploads of a session may hold at once


def harmless_name(given: str) -> str:
    """A file's own name without anything that could lead elsewhere or surprise a shell."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given))[-1]
    plain = re.sub(r"[^\w.-]+", "_", last).strip("._")
    return unreserved_name(plain[-80:].lstrip("._-") or "archivo")


async def receive_upload(server: Server, request: Request) -> Response:
    """PUT /upload: the body is the file."""
    session: Session = request.state.session
    if not rights.may_upload(session.roles):
        return await _refuse_upload(server, session)
    ticket = secrets.token_urlsafe(16)
    folder = server.scratch / secrets.token_hex(8)
    path = folder / harmless_name(unquote(request.headers.get(NAME, "")))
    left = _MOST_FILES * server.upload_limit - _uploaded_bytes(session)
    try:
        await _write_upload(path, request, min(server.upload_limit, left))
    except ClientDisconnect:
        _remove_upload(path)
        return Response(status_code=499)
    except CelosiaError as error:
        _remove_upload(path)
        # A stream that never declared its length is cut; a browser declares it and reads the refusal at its end.
        headers = {} if "content-length" in request.headers else {"connection": "close"}
        return _refusal(error, session, 413 if isinstance(error, UploadTooLarge) else 507, headers)
    session.uploads[ticket] = str(path)
    session.scratch_folders.add(str(folder))
    return JSONResponse({"ticket": ticket, "name": path.name, "bytes": path.stat().st_size})


async def _refuse_upload(server: Server, session: Session) -> Response:
    """Refuse without reading the body, and note the attempt in the server's journal."""
    with contextlib.suppress(*FAILURES):  # refused also where the journal cannot be written
        call = Call.to(people.note_refusal, server.root, "", "upload")
        await server.pool.ask(call.on_behalf(session.language, session.name, session.login))
    with messages.speaking(session.language):
        error = NotYourRole(roles=rights.role_names(session.roles))
    return _refusal(error, session, 403, {"connection": "close"})


def _refusal(error: CelosiaError, session: Session, status: int, headers: dict[str, str]) -> Response:
    with messages.speaking(session.language):  # nothing is awaited meanwhile, so no other session is affected
        content = {"code": error.code, "sentence": str(error)}
    return JSONResponse(content, status_code=status, headers=headers)


def _uploaded_bytes(session: Session) -> int:
    """Bytes that a session has sent and that are still here."""
    return sum(path.stat().st_size for path in map(Path, session.uploads.values()) if path.is_file())


async def _write_upload(path: Path, request: Request, limit: int) -> None:
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise UploadTooLarge(limit=size_text(limit))
    try:
        path.parent.mkdir(mode=0o700)
        handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            async for chunk in _limit_chunks(request.stream(), limit):
                await asyncio.to_thread(file.write, chunk)
    except OSError as fault:
        error = DiskFull if fault.errno in (errno.ENOSPC, errno.EDQUOT) else FolderUnwritable
        raise error(path=path.parent.parent.parent.name) from None


async def _limit_chunks(chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    """The chunks, until they are more than was allowed, whatever the header declared."""
    seen = 0
    async for chunk in chunks:
        seen += len(chunk)
        if seen > limit:
            raise UploadTooLarge(limit=size_text(limit))
        yield chunk


def _remove_upload(path: Path) -> None:
    path.unlink(missing_ok=True)
    if path.parent.is_dir():
        path.parent.rmdir()


def send_download(session: Session, ticket: str) -> Response:
    """GET /download/{ticket}: a file that a page offered to this session, once, always as an attachment."""
    path, name = session.downloads.pop(ticket, ("", ""))
    if not path or not Path(path).is_file():
        return Response(status_code=404)
    after = BackgroundTask(remove_file, session, path)
    return FileResponse(path, filename=name, media_type="application/octet-stream", background=after)


async def note_download(server: Server, session: Session, ticket: str) -> None:
    """Write into the project's journal who downloaded a release; a repetition within a minute is not noted."""
    project, release = session.notes.pop(ticket, ("", ""))
    now, key = time.monotonic(), f"download {project} {release}"
    if not release or now - session.noted.get(key, -NOTE_INTERVAL) < NOTE_INTERVAL:
        return
    session.noted[key] = now
    with contextlib.suppress(*FAILURES):  # the file is sent also where it cannot be noted
        call = Call.to(people.note_download, server.project(project), release)
        await server.pool.ask(call.on_behalf(session.language, session.name, session.login))


def size_text(size: int) -> str:
    """A number of bytes as people write it."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{messages.decimal(size / scale, 1 if size % scale else 0)} {unit}"
    return f"{size} B"
