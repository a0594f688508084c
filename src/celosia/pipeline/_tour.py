"""`tour_project` makes the practice project of a norm; `tour_view` says how far its reader has come.

Knows what each step leaves behind, and asks status and kept reports for it. Measures nothing: it is asked for often.
A project without `tour.toml` is no tour, and one whose `tour.toml` names no tour of ours is refused by name.
"""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from celosia.data.files import reading_from, replacing
from celosia.errors import UnknownFormat, ValueOutOfRange
from celosia.model import dictionary
from celosia.model.status import GateState, StatusReport
from celosia.model.tours import TOUR_FILE, TOUR_FORMAT, TourStanding, TourView
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._demo import DEMOS, demo_project
from celosia.pipeline._kept import kept_report
from celosia.pipeline._prepare import Initiated
from celosia.pipeline._progress import Progress
from celosia.pipeline._project import read_toml
from celosia.pipeline._status import status_of
from celosia.pipeline._status_facts import Facts, facts_of
from celosia.pipeline._tour_steps import STATS_RUN, TOURS

# Invented people for the accounts of a practice, one for each role.
_PEOPLE = MappingProxyType(
    {
        "executor": ("ana", "Ana Rojas"),
        "verifier": ("beto", "Beto Soto"),
        "head": ("carla", "Carla Díaz"),
        "lead": ("clara", "Clara Ruiz"),
        "outsider": ("dina", "Dina Vera"),
    }
)


class _Seen:
    """What a project holds, each part read once, when a step asks for it."""

    def __init__(self, folder: Path, today: date) -> None:
        self.folder, self._today = folder, today

    @cached_property
    def facts(self) -> Facts:
        """The files of the project."""
        return facts_of(self.folder)

    @cached_property
    def told(self) -> StatusReport:
        """Its gates."""
        return status_of(self.facts, self._today)

    @cached_property
    def journal(self) -> Sequence[Mapping[str, Any]]:
        """What was done in it."""
        path = self.folder / "journal.jsonl"
        return _journal.entries(path) if path.is_file() else ()


def tour_project(
    root: Place, norm: str, name: str | None = None, *, now: datetime | None = None, report: Progress = None
) -> Initiated:
    """Make the practice project of a norm, from invented people; what its reader must decide is left undecided."""
    if norm not in DEMOS:
        raise ValueOutOfRange(parameter="norm", given=norm, allowed=", ".join(DEMOS))
    made = demo_project(root, norm, name, stated=False, now=now, report=report)
    mark_tour(made.project.folder, norm)
    return made


def mark_tour(folder: Path, norm: str) -> None:
    """Say in a project's folder that it is the tour of a norm."""
    with replacing(folder / TOUR_FILE, 0o644) as draft:
        draft.write_text(f'format = "{TOUR_FORMAT}"\nnorm = "{norm}"\n', "utf-8")


def tour_view(folder: Place, *, now: datetime | None = None) -> TourView | None:
    """Every step of a project's tour and whether it is done; None where the project is no tour."""
    home = Path(folder)
    if not (home / TOUR_FILE).is_file():
        return None
    norm = _norm_of(home)
    seen = _Seen(home, moment(now).date())
    steps = tuple(TourStanding(step, _is_done(seen, step.check)) for step in TOURS[norm])
    roles = {role for one in steps for role in one.step.roles}
    together = any(one.step.another for one in steps)
    return TourView(norm, steps, _accounts_for(home.parent, roles) if together else ())


def _norm_of(home: Path) -> str:
    document = read_toml(home / TOUR_FILE)
    norm = document.get("norm")
    if document.get("format") != TOUR_FORMAT or norm not in TOURS:
        found = f"{document.get('format')} {norm}"
        raise UnknownFormat(path=str(home / TOUR_FILE), found=found, expected=f"{TOUR_FORMAT} {', '.join(TOURS)}")
    return str(norm)


def _accounts_for(root: Path, roles: Collection[str]) -> tuple[str, ...]:
    """What to type so that each role of a tour has an account, and to open the page for all of them."""
    place = shlex.quote(str(root))
    made = [
        f'celosia account add {_PEOPLE[role][0]} {place} --name "{_PEOPLE[role][1]}" --role {role}'
        for role in _PEOPLE
        if role in roles
    ]
    return (*made, f"celosia serve {place} --shared")


# --- what shows that a step is done ---------------------------------------------------------------


def _is_done(seen: _Seen, check: str) -> bool:
    kind, _, about = check.partition(":")
    return _CHECKS[kind](seen, about)


def _gate(seen: _Seen, about: str) -> bool:
    return any(gate.gate == about and gate.state is GateState.DONE for gate in seen.told.gates)


def _kept(seen: _Seen, about: str) -> bool:
    return seen.facts.project is not None and kept_report(seen.folder, about) is not None


def _plan(seen: _Seen, about: str) -> bool:
    return seen.facts.plan is not None and not seen.facts.stale


def _annotated(seen: _Seen, about: str) -> bool:
    """Something is published, and MEL has nothing to say against any line."""
    from celosia.pipeline._dictionary_view import dictionary_view

    if not seen.facts.variables or not dictionary.published(seen.facts.variables):
        return False
    return not any(line.faults for line in dictionary_view(seen.folder).lines)


def _roles(seen: _Seen, about: str) -> bool:
    held = {role for person in seen.facts.people for role in person.roles}
    return set(about.split()) <= held


def _done_in_journal(seen: _Seen, about: str) -> bool:
    return any(entry.get("what") in about.split() for entry in seen.journal)


def _incremental(seen: _Seen, about: str) -> bool:
    """STATS was run again, counting only what changed."""
    runs = [entry.get("facts") for entry in seen.journal if entry.get("what") == STATS_RUN]
    return any(isinstance(facts, Mapping) and facts.get("kind") == "incremental" for facts in runs)


def _file(seen: _Seen, about: str) -> bool:
    return any(seen.folder.glob(about))


def _mapped(seen: _Seen, about: str) -> bool:
    """Every value that a run could not place stands in a map by now, or a run placed them all."""
    if _done_in_journal(seen, STATS_RUN):
        return True
    wanted = _first_cells(seen.folder / "private" / "unmapped")
    return bool(wanted) and wanted <= _first_cells(seen.folder / "mapas")


def _first_cells(home: Path) -> set[str]:
    """The first cell of every line but the first of the CSV files of a folder."""
    found: set[str] = set()
    for path in sorted(home.glob("*.csv")):
        with reading_from(path), path.open(encoding="utf-8-sig", newline="") as file:
            found.update(row[0].strip() for row in list(csv.reader(file))[1:] if row)
    return found


_CHECKS: Mapping[str, Callable[[_Seen, str], bool]] = MappingProxyType(
    {
        "annotated": _annotated,
        "file": _file,
        "gate": _gate,
        "incremental": _incremental,
        "journal": _done_in_journal,
        "kept": _kept,
        "mapped": _mapped,
        "plan": _plan,
        "roles": _roles,
    }
)
