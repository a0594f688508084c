"""The journal: who did what, when and why. Append-only, each line chained to the one before by its digest.

Knows names of steps, counts and digests. Never a data value (MINSAL, Medidas de Seguridad).
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.model.paths import ProjectPaths
from celosia.pipeline.project.author import acting_account, author
from celosia.pipeline.project.errors import JournalBroken
from celosia.storage import exclusive_lock, flush_handle, translate_read_errors, translate_write_errors

FORMAT = "celosia/journal/1"
_START = "0" * 64
_LEAST_FREE = 65_536  # bytes: many times a line


@dataclass(frozen=True, slots=True)
class Journal:
    """The entries of a journal whose chain holds, and the digest of each of its lines."""

    entries: tuple[Mapping[str, Any], ...] = ()
    digests: tuple[str, ...] = ()  # a release made from this journal names one of them

    @property
    def head(self) -> str:
        """The digest of the last line; that of an empty journal is all zeros."""
        return self.digests[-1] if self.digests else _START

    def facts(self, what: str) -> list[Mapping[str, Any]]:
        """The facts of every entry of a kind, in order."""
        facts = [entry.get("facts") for entry in self.entries if entry.get("what") == what]
        return [fact for fact in facts if isinstance(fact, Mapping)]


def lock_path(folder: Path, name: str) -> Path:
    """The lock of one kind of work in a project: in its private folder, where it has one."""
    private = ProjectPaths(folder).private
    return (private if private.is_dir() else folder) / f".{name}.lock"


def append_entry(
    path: Path,
    what: str,
    now: datetime,
    facts: Mapping[str, object],
    who: str = "",
    why: str = "",
    account: str | None = None,
) -> str:
    """Add one entry and give its digest; author and account are the current ones unless the caller states others.

    An account stands only in the lines of a shared page: two people may have one name, never one account.
    """
    account = acting_account() if account is None else account
    # Two at once would both follow the same line.
    with exclusive_lock(lock_path(path.parent, "journal")):
        return _append(path, what, now, facts, who, why, account)


def refuse_unwritable(path: Path) -> None:
    """Refuse, before anything is put in place, what the journal could not name afterwards."""
    with translate_write_errors(path.parent):
        if path.exists():
            path.open("r+b").close()
        disk = shutil.disk_usage(path.parent)
        if disk.total and disk.free < _LEAST_FREE:  # some shared disks report no size
            raise OSError(errno.ENOSPC, "")


def _append(path: Path, what: str, now: datetime, facts: Mapping[str, object], who: str, why: str, account: str) -> str:
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
    with translate_write_errors(path):
        _write(path, line.encode("utf-8"))
    return _digest_of(line)


def _write(path: Path, line: bytes) -> None:
    """Add a line in one piece, after cutting off the beginning of one that a killed process left."""
    with path.open("ab") as journal:
        whole = _complete_lines(path.read_bytes())
        journal.truncate(len(whole))
        journal.write((b"" if not whole or whole.endswith(b"\n") else b"\n") + line + b"\n")
        journal.flush()
        flush_handle(journal.fileno())


def _complete_lines(content: bytes) -> bytes:
    """A journal without the beginning of a line at its end: its process was killed, and nothing depends on it."""
    complete, end, last = content.rpartition(b"\n")
    return content if not last or _parse_entry(last.decode("utf-8", errors="replace")) is not None else complete + end


def read_journal(path: Path) -> Journal:
    """A journal, after checking that its chain holds."""
    entries, digests = [], []
    previous = _START
    for number, line in enumerate(_lines(path), start=1):
        entry = _parse_entry(line)
        if entry is None or entry.get("previous") != previous or entry.get("number") != number:
            raise JournalBroken(path=str(path), line=number)
        previous = _digest_of(line)
        entries.append(entry)
        digests.append(previous)
    return Journal(tuple(entries), tuple(digests))


def _lines(path: Path) -> list[str]:
    """The lines of a file; only a line feed ends one, for a reason may hold other separators."""
    with translate_read_errors(path):
        lines = _complete_lines(path.read_bytes()).decode("utf-8", errors="replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _parse_entry(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _digest_of(line: str) -> str:
    return hashlib.sha256(line.encode("utf-8")).hexdigest()
