"""The projects of one folder: the list, the files that could become one, a new one from a file or database.

Knows folders directly under a root and never leaves it: a name is a plain name, and a link that leads away is refused.
What judges and reads is loaded only when it is needed: a page waits for this list before anything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia import messages
from celosia.data.files import reading_from
from celosia.errors import CelosiaError, OutsideProjects
from celosia.model.projects import ProjectLine, ProjectList, SourceFile
from celosia.model.status import GateState
from celosia.pipeline._addresses import is_address, resolved_source
from celosia.pipeline._call import Place
from celosia.pipeline._progress import Progress
from celosia.pipeline._project import is_project, open_project

if TYPE_CHECKING:
    from celosia.pipeline._prepare import Initiated

_PLAIN = re.compile(r"[^\W_][\w .-]{0,119}")  # a name, never a path: no slash, no leading dot
_READABLE = frozenset((
    ".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".xlsm", ".xls", ".ods", ".sav", ".zsav", ".dta", ".sqlite",
    ".sqlite3", ".duckdb", ".db",
))  # fmt: skip


# --- the list --------------------------------------------------------------------------------------


def list_projects(root: Place, *, now: datetime | None = None) -> ProjectList:
    """Every project folder directly under a root, and the files there that could become one."""
    folders = [path for path in _visible(Path(root)) if path.is_dir() and is_project(path)]
    return ProjectList(tuple(_line(path, now) for path in folders), list_sources(root))


def list_sources(root: Place) -> tuple[SourceFile, ...]:
    """The files directly under a root that could become a project."""
    return tuple(SourceFile(path.name, path.stat().st_size) for path in _visible(Path(root)) if _is_source(path))


def _visible(root: Path) -> list[Path]:
    with reading_from(root):
        found = sorted(root.iterdir(), key=lambda path: path.name)
    return [path for path in found if not path.name.startswith(".") and _stays(root, path)]


def _stays(root: Path, path: Path) -> bool:
    return path.resolve().parent == root.resolve()


def _is_source(path: Path) -> bool:
    return path.suffix.lower() in _READABLE and path.is_file()


def _line(folder: Path, now: datetime | None) -> ProjectLine:
    """Where a project stands; one that cannot be opened is named with the sentence that says why."""
    from celosia.pipeline._status import status

    try:
        config = open_project(folder).config
    except CelosiaError as fault:
        return ProjectLine(folder.name, folder.name, problems=(str(fault),))
    report = status(folder, now=now)
    before = next((gate for gate in report.gates if gate.state is GateState.BLOCKED), None)
    return ProjectLine(
        folder=folder.name,
        name=config.name,
        protocols=config.protocols,
        rows=config.source.rows,
        columns=config.source.columns,
        done=sum(gate.state is GateState.DONE for gate in report.gates),
        gates=len(report.gates),
        gate=messages.text(f"protocols.gate.{before.gate}") if before else "",
        reason=before.reason if before else "",
        command=report.next,
        problems=report.problems,
    )


# --- a new one -------------------------------------------------------------------------------------


def create_project(
    root: Place,
    name: str,
    source: Place,
    protocols: Sequence[str] = (),
    given_dictionary: Place | None = None,
    person: str | None = None,
    *,
    now: datetime | None = None,
    report: Progress = None,
    **reading: Any,
) -> Initiated:
    """Make a project under a root from a file inside that root or from a database; no password is taken or kept."""
    from celosia.pipeline._prepare import init

    place = Path(root)
    folder = project_place(place, name)
    origin = _origin(place, source)
    given = _inside(place, Path(given_dictionary)) if given_dictionary is not None else None
    return init(origin, folder, protocols, given, person, now=now, report=report, **reading)


def project_place(root: Path, name: str) -> Path:
    """Where a project of that name would stand; what is no plain name is refused."""
    if not _PLAIN.fullmatch(name) or name.strip(" .") != name:
        raise OutsideProjects()
    return _inside(root, root / name)


def proposed_name(root: Place, source: str) -> str:
    """A free name for a project made from a file or table."""
    from celosia.pipeline._prepare import folder_name

    stem = folder_name(source)
    taken = {path.name for path in Path(root).iterdir()}
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _origin(root: Path, source: Place) -> Place:
    if isinstance(source, str) and is_address(source):
        return resolved_source(source, password=False)
    return _inside(root, Path(source))


def _inside(root: Path, path: Path) -> Path:
    if not path.resolve().is_relative_to(root.resolve()):
        raise OutsideProjects()
    return path
