"""Every signature ends up in the journal, even if its process was killed between signing and noting it.

Knows what was done and what the journal says of it. A signature that stands and that the journal does not name was cut
off between its two steps: the next person who signs, releases, publishes or opens the dossier, and a server that
starts, writes the missing line with its own time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.errors import ShownOther

NOBODY = "–"  # who did it is not known any more


@dataclass(frozen=True, slots=True)
class Act:
    """Something that was done, as an entry of the journal states it."""

    what: str
    facts: Mapping[str, Any]
    who: str
    why: str
    when: str


def note_missing(journal: Path, acts: Iterable[Act]) -> int:
    """Write into the journal what was done and is not in it; give how many lines that took."""
    missing = missing_acts(journal, acts)
    for act in missing:
        when = datetime.fromisoformat(act.when)
        _journal.append_entry(journal, act.what, when, act.facts, who=act.who, why=act.why, account="")
    return len(missing)


def missing_acts(journal: Path, acts: Iterable[Act]) -> list[Act]:
    """What was done and is not in the journal as it stands now; what was done twice must be in it twice."""
    entries = _journal.read_journal(journal).entries
    noted = Counter(_mark(str(entry["what"]), str(entry["who"]), entry["facts"]) for entry in entries)
    missing = []
    for act in acts:
        mark = _mark(act.what, act.who, act.facts)
        noted[mark] -= 1
        if noted[mark] < 0:
            missing.append(act)
    return missing


def refuse_other(what: str, expected: str | None, present: str) -> None:
    """Nobody signs anything but what they were shown."""
    if expected is not None and expected != present:
        raise ShownOther(what=what)


def _mark(what: str, who: str, facts: Any) -> tuple[str, str, str]:
    """What distinguishes an act; a publication does not say who entered it, and happens once per manifest.

    An entry that was changed since is therefore no second publication: `verify` compares it with the line.
    """
    if what == "publish" and isinstance(facts, Mapping):
        return what, "", str(facts.get("manifest"))
    return what, who, json.dumps(facts, ensure_ascii=False, sort_keys=True)
