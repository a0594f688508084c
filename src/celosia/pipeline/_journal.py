"""The journal: who did what, when and why. Append-only, each line chained to the one before by its digest.

Knows names of steps, counts and digests. Never a data value (MINSAL, Medidas de Seguridad).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from celosia.data.files import alone, reading_from
from celosia.errors import JournalBroken
from celosia.pipeline._author import author

FORMAT = "celosia/journal/1"
_START = "0" * 64


def append(path: Path, what: str, now: datetime, facts: Mapping[str, object], who: str = "", why: str = "") -> str:
    """Add one entry and give its digest; who is the person at this machine unless the caller knows better."""
    private = path.parent / "private"
    with alone((private if private.is_dir() else path.parent) / ".journal.lock"):  # two would follow the same line
        return _append(path, what, now, facts, who, why)


def _append(path: Path, what: str, now: datetime, facts: Mapping[str, object], who: str, why: str) -> str:
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
    }
    line = json.dumps(entry, ensure_ascii=False, sort_keys=True)
    with path.open("a", encoding="utf-8", newline="\n") as journal:
        journal.write(line + "\n")
        journal.flush()
        os.fsync(journal.fileno())
    return _digest_of(line)


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
        lines = path.read_bytes().decode("utf-8", errors="replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _parsed(line: str) -> dict[str, object] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _digest_of(line: str) -> str:
    return hashlib.sha256(line.encode("utf-8")).hexdigest()
