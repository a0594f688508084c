"""One person signs at a time, and every signature ends up in the journal, even if its process was killed between both.

Knows the lock of a project's signatures and what the journal says of each. A signature that stands and that the journal
does not name was cut off between its two steps: the next one who signs writes the missing line, with its own time.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.data.files import alone
from celosia.errors import ShownOther
from celosia.pipeline import _journal


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
    known = {_mark(str(one["what"]), str(one["who"]), one["facts"]) for one in _journal.entries(journal)}
    absent = [act for act in done if _mark(act.what, act.who, act.facts) not in known]
    for act in absent:
        _journal.append(journal, act.what, datetime.fromisoformat(act.when), act.facts, who=act.who, why=act.why)
    return len(absent)


def refuse_other(what: str, expected: str | None, found: str) -> None:
    """Nobody signs anything but what they were shown."""
    if expected is not None and expected != found:
        raise ShownOther(what=what)


def _mark(what: str, who: str, facts: Any) -> tuple[str, str, str]:
    return what, who, json.dumps(facts, ensure_ascii=False, sort_keys=True)
