"""`tour_project` makes the practice project of a norm; `tour_view` says how far its reader has come.

Knows what each step leaves behind, and asks status and kept reports for it. Measures nothing: it is asked for often.
A project without `tour.toml` is no tour, and one whose `tour.toml` names no tour of ours is refused by name.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from celosia.demo.project import DEMOS, demo_project
from celosia.demo.tour_steps import STATS_RUN, TOURS
from celosia.model import dictionary
from celosia.model.errors import UnknownFormat
from celosia.model.paths import TOUR, ProjectPaths
from celosia.model.reports.status import GateState, StatusReport
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.intake.init_project import InitResult
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.files import read_toml
from celosia.pipeline.project.progress import Progress
from celosia.pipeline.project.saved_reports import saved_report
from celosia.pipeline.release.status import ProjectFacts, read_facts, status_of
from celosia.storage import atomic_write, translate_read_errors
from celosia.system.paths import shell_word
from celosia.workbench.views.tour import TOUR_FORMAT, TourProgress, TourView

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


class _ProjectState:
    """What a project holds, each part read once, when a step asks for it."""

    def __init__(self, folder: Path, today: date) -> None:
        self.folder, self._today = folder, today

    @cached_property
    def facts(self) -> ProjectFacts:
        """The files of the project."""
        return read_facts(self.folder)

    @cached_property
    def status(self) -> StatusReport:
        """Its gates."""
        return status_of(self.facts, self._today)

    @cached_property
    def journal(self) -> Sequence[Mapping[str, Any]]:
        """What was done in it."""
        path = ProjectPaths(self.folder).journal
        return _journal.read_journal(path).entries if path.is_file() else ()


def tour_project(
    root: PathArg, norm: str, name: str | None = None, *, now: datetime | None = None, report: Progress = None
) -> InitResult:
    """Make the practice project of a norm, from invented people; what its reader must decide is left undecided."""
    if norm not in DEMOS:
        raise ValueOutOfRange(parameter="norm", given=norm, allowed=", ".join(DEMOS))
    initiated = demo_project(root, norm, name, stated=False, now=now, report=report)
    mark_tour(initiated.project.folder, norm)
    return initiated


def mark_tour(folder: Path, norm: str) -> None:
    """Say in a project's folder that it is the tour of a norm."""
    with atomic_write(folder / TOUR, 0o644) as draft:
        draft.write_text(f'format = "{TOUR_FORMAT}"\nnorm = "{norm}"\n', "utf-8", newline="\n")


def tour_view(folder: PathArg, *, now: datetime | None = None) -> TourView | None:
    """Every step of a project's tour and whether it is done; None where the project is no tour."""
    project_folder = Path(folder)
    if not (project_folder / TOUR).is_file():
        return None
    norm = _norm_of(project_folder)
    state = _ProjectState(project_folder, utc_now(now).date())
    steps = tuple(TourProgress(step, _is_done(state, step.check)) for step in TOURS[norm])
    roles = {role for standing in steps for role in standing.step.roles}
    together = any(standing.step.another for standing in steps)
    return TourView(norm, steps, _accounts_for(project_folder.parent, roles) if together else ())


def _norm_of(project_folder: Path) -> str:
    document = read_toml(project_folder / TOUR)
    norm = document.get("norm")
    if document.get("format") != TOUR_FORMAT or norm not in TOURS:
        format_found = f"{document.get('format')} {norm}"
        raise UnknownFormat(
            path=str(project_folder / TOUR), found=format_found, expected=f"{TOUR_FORMAT} {', '.join(TOURS)}"
        )
    return str(norm)


def _accounts_for(root: Path, roles: Collection[str]) -> tuple[str, ...]:
    """What to type so that each role of a tour has an account, and to open the page for all of them."""
    quoted_root = shell_word(root)
    commands = [
        f'celosia account add {_PEOPLE[role][0]} {quoted_root} --name "{_PEOPLE[role][1]}" --role {role}'
        for role in _PEOPLE
        if role in roles
    ]
    return (*commands, f"celosia serve {quoted_root} --shared")


# --- what shows that a step is done ---------------------------------------------------------------


def _is_done(state: _ProjectState, check: str) -> bool:
    kind, _, about = check.partition(":")
    return _CHECKS[kind](state, about)


def _gate_is_done(state: _ProjectState, about: str) -> bool:
    return any(gate.gate == about and gate.state is GateState.DONE for gate in state.status.gates)


def _has_saved_report(state: _ProjectState, about: str) -> bool:
    return state.facts.project is not None and saved_report(state.folder, about) is not None


def _has_plan(state: _ProjectState, about: str) -> bool:
    return state.facts.plan is not None and not state.facts.stale


def _is_annotated(state: _ProjectState, about: str) -> bool:
    """Something is published, and MEL has nothing to say against any line."""
    from celosia.workbench.dictionary_view import dictionary_view

    if not state.facts.variables or not dictionary.publishable_variables(state.facts.variables):
        return False
    return not any(line.faults for line in dictionary_view(state.folder).lines)


def _has_roles(state: _ProjectState, about: str) -> bool:
    roles_held = {role for person in state.facts.people for role in person.roles}
    return set(about.split()) <= roles_held


def _done_in_journal(state: _ProjectState, about: str) -> bool:
    return any(entry.get("what") in about.split() for entry in state.journal)


def _has_incremental_run(state: _ProjectState, about: str) -> bool:
    """STATS was run again, counting only what changed."""
    runs = [entry.get("facts") for entry in state.journal if entry.get("what") == STATS_RUN]
    return any(isinstance(facts, Mapping) and facts.get("kind") == "incremental" for facts in runs)


def _has_file(state: _ProjectState, about: str) -> bool:
    return any(state.folder.glob(about))


def _values_are_mapped(state: _ProjectState, about: str) -> bool:
    """Every value that a run could not place stands in a map by now, or a run placed them all."""
    if _done_in_journal(state, STATS_RUN):
        return True
    unmapped = _first_cells(ProjectPaths(state.folder).unmapped)
    return bool(unmapped) and unmapped <= _first_cells(state.folder / "mapas")


def _first_cells(folder: Path) -> set[str]:
    """The first cell of every line but the first of the CSV files of a folder."""
    cells: set[str] = set()
    for path in sorted(folder.glob("*.csv")):
        with translate_read_errors(path), path.open(encoding="utf-8-sig", newline="") as file:
            cells.update(row[0].strip() for row in list(csv.reader(file))[1:] if row)
    return cells


_CHECKS: Mapping[str, Callable[[_ProjectState, str], bool]] = MappingProxyType(
    {
        "annotated": _is_annotated,
        "file": _has_file,
        "gate": _gate_is_done,
        "incremental": _has_incremental_run,
        "journal": _done_in_journal,
        "kept": _has_saved_report,
        "mapped": _values_are_mapped,
        "plan": _has_plan,
        "roles": _has_roles,
    }
)
