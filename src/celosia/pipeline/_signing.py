"""One person signs at a time, and every signature ends up in the journal, even if its process was killed between both.

Knows the lock of a project's signatures and what the journal says of each. A signature that stands and that the journal
does not name was cut off between its two steps: whoever signs, releases, publishes or opens the dossier next, and a
server that starts, writes the missing line with its own time.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.data.files import alone
from celosia.errors import ShownOther
from celosia.pipeline import _journal

NOBODY = "–"  # who did it is not known any more


@dataclass(frozen=True, slots=True)
class Act:
    """Something that was done, as the journal should tell it."""

    what: str
    facts: Mapping[str, Any]
    who: str
    why: str
    when: str


@contextlib.contextmanager
def signing(folder: Path) -> Iterator[None]:
    """Hold the project's signatures: of two people who sign at once, the second sees what the first one did."""
    private = folder / "private"
    with alone((private if private.is_dir() else folder) / ".sign.lock"):
        yield


def note_missing(journal: Path, done: Iterable[Act]) -> int:
    """Write into the journal what was done and is not in it; say how many lines that took."""
    absent = missing(journal, done)
    for act in absent:
        when = datetime.fromisoformat(act.when)
        _journal.append(journal, act.what, when, act.facts, who=act.who, why=act.why, account="")
    return len(absent)


def missing(journal: Path, done: Iterable[Act]) -> list[Act]:
    """What was done and is not in the journal; what was done twice must be in it twice."""
    known = Counter(_mark(str(one["what"]), str(one["who"]), one["facts"]) for one in _journal.entries(journal))
    absent = []
    for act in done:
        mark = _mark(act.what, act.who, act.facts)
        known[mark] -= 1
        if known[mark] < 0:
            absent.append(act)
    return absent


def refuse_other(what: str, expected: str | None, found: str) -> None:
    """Nobody signs anything but what they were shown."""
    if expected is not None and expected != found:
        raise ShownOther(what=what)


def _mark(what: str, who: str, facts: Any) -> tuple[str, str, str]:
    """What tells one act from another; a publication does not say who entered it, and happens once per manifest.

    An entry that was changed since is therefore no second publication: `verify` compares it with the line.
    """
    if what == "publish" and isinstance(facts, Mapping):
        return what, "", str(facts.get("manifest"))
    return what, who, json.dumps(facts, ensure_ascii=False, sort_keys=True)
