"""The journal: who did what, when and why. Append-only, each line chained to the one before by its digest.

Knows names of steps, counts and digests. Never a data value (MINSAL, Medidas de Seguridad).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from celosia.data.files import alone, reading_from, writing_into
from celosia.errors import JournalBroken
from celosia.pipeline._author import acting_account, author

FORMAT = "celosia/journal/1"
_START = "0" * 64
_ROOM = 65_536  # bytes: many times a line


def append(
    path: Path, what: str, now: datetime, facts: Mapping[str, object], who: str = "", why: str = "",
    account: str | None = None,
) -> str:  # fmt: skip
    """Add one entry and give its digest; who, and with which account, is whoever works unless the caller knows better.

    An account stands in the lines of a shared page alone: two people may have one name, never one account.
    """
    account = acting_account() if account is None else account
    private = path.parent / "private"
    with alone((private if private.is_dir() else path.parent) / ".journal.lock"):  # two would follow the same line
        return _append(path, what, now, facts, who, why, account)


def refuse_unwritable(path: Path) -> None:
    """Before anything is put in place: what the journal could not name afterwards is not done at all."""
    with writing_into(path.parent):
        if path.exists():
            path.open("r+b").close()
        room = shutil.disk_usage(path.parent)
        if room.total and room.free < _ROOM:  # some shared disks do not tell their size
            raise OSError(errno.ENOSPC, "")


def _append(
    path: Path, what: str, now: datetime, facts: Mapping[str, object], who: str, why: str, account: str
) -> str:  # fmt: skip
    lines = _lines(path) if path.exists() else []
    entry = {
        "format": FORMAT,
        "number": len(lines) + 1,
        "when": now.isoformat(timespec="seconds"),
        "who": who or author(),
        "what": what,
        "why": why,
        "facts": dict(facts),
        "previous": _digest_of(lines[-1]) if lines else _START,
        **({"account": account} if account else {}),
    }
    line = json.dumps(entry, ensure_ascii=False, sort_keys=True)
    with writing_into(path):
        _write(path, line.encode("utf-8"))
    return _digest_of(line)


def _write(path: Path, line: bytes) -> None:
    """Add a line in one piece, after cutting off the beginning of one that a killed process left."""
    with path.open("ab") as journal:
        whole = _whole(path.read_bytes())
        journal.truncate(len(whole))
        journal.write((b"" if not whole or whole.endswith(b"\n") else b"\n") + line + b"\n")
        journal.flush()
        os.fsync(journal.fileno())


def _whole(content: bytes) -> bytes:
    """A journal without the beginning of a line at its end: whoever wrote it was killed, and nothing counts on it."""
    kept, end, last = content.rpartition(b"\n")
    return content if not last or _parsed(last.decode("utf-8", errors="replace")) is not None else kept + end


def head(path: Path) -> str:
    """The digest of the last line; that of an empty journal is all zeros."""
    lines = _lines(path) if path.exists() else []
    return _digest_of(lines[-1]) if lines else _START


def digests(path: Path) -> frozenset[str]:
    """The digest of every line: a release made from this journal names one of them."""
    return frozenset(_digest_of(line) for line in _lines(path))


def entries(path: Path) -> list[dict[str, object]]:
    """All entries, after checking that the chain holds."""
    found: list[dict[str, object]] = []
    previous = _START
    for number, line in enumerate(_lines(path), start=1):
        entry = _parsed(line)
        if entry is None or entry.get("previous") != previous or entry.get("number") != number:
            raise JournalBroken(path=str(path), line=number)
        previous = _digest_of(line)
        found.append(entry)
    return found


def _lines(path: Path) -> list[str]:
    """The lines of a file; only a line feed ends one, for a reason may hold other separators."""
    with reading_from(path):
        lines = _whole(path.read_bytes()).decode("utf-8", errors="replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _parsed(line: str) -> dict[str, object] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _digest_of(line: str) -> str:
    return hashlib.sha256(line.encode("utf-8")).hexdigest()
