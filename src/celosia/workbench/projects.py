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
from celosia.model.reports.profile import ProfileReport
from celosia.model.reports.status import GateState
from celosia.pipeline.intake.source_address import is_address, resolved_source
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.project.fallbacks import value_or_reason
from celosia.pipeline.project.files import visible_paths
from celosia.pipeline.project.folder import ProjectArg, is_project, open_project
from celosia.pipeline.project.progress import Progress
from celosia.pipeline.project.saved_reports import saved_report
from celosia.storage import is_private
from celosia.workbench.errors import OutsideProjects
from celosia.workbench.views.projects import ProjectLine, ProjectList, SourceFile, SourceView
from celosia.workbench.views.saved import Saved, saved_report_of

if TYPE_CHECKING:
    from celosia.pipeline.intake.init_project import InitResult

_PLAIN = re.compile(r"[^\W_][\w .-]{0,119}")  # a name, never a path: no slash, no leading dot
_TEXT_FILES, _WORKBOOKS = (".csv", ".tsv", ".txt"), (".xlsx", ".xlsm", ".xls", ".ods")
_DATABASES, _BINARY = (".sqlite", ".sqlite3", ".duckdb", ".db"), (".parquet", ".sav", ".zsav", ".dta")
_READABLE = frozenset((*_TEXT_FILES, *_WORKBOOKS, *_DATABASES, *_BINARY))


# --- the list --------------------------------------------------------------------------------------


def list_projects(root: PathArg, *, now: datetime | None = None) -> ProjectList:
    """Every project folder directly under a root, and the files there that could become one."""
    folders = [path for path in visible_paths(Path(root)) if path.is_dir() and is_project(path)]
    return ProjectList(tuple(_project_line(path, now) for path in folders), list_sources(root))


def list_sources(root: PathArg) -> tuple[SourceFile, ...]:
    """The files directly under a root that could become a project."""
    paths = [path for path in visible_paths(Path(root)) if path.suffix.lower() in _READABLE and path.is_file()]
    return tuple(SourceFile(path.name, path.stat().st_size) for path in paths)


def _project_line(folder: Path, now: datetime | None) -> ProjectLine:
    """How far a project is; one that cannot be opened is listed with the reason."""
    from celosia.pipeline.release.status import status

    config, problem = value_or_reason(None, lambda: open_project(folder).config)
    if config is None:
        return ProjectLine(folder.name, folder.name, problems=(problem,))
    report = status(folder, now=now)
    before = report.next_act
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


def source_view(source: ProjectArg) -> SourceView:
    """The source of a project and how it was read."""
    project = open_project(source)
    private = not project.paths.private.exists() or is_private(project.paths.private)
    return SourceView(project.config.source, project.config.person, private)


def profile_view(source: ProjectArg) -> Saved[ProfileReport] | None:
    """The saved profile of the columns; None where there is none, or none that can be read."""
    saved = saved_report(source, "profile")
    return None if saved is None else saved_report_of(ProfileReport, saved.document, saved.when, saved.stale)


# --- a new one -------------------------------------------------------------------------------------


def create_project(
    root: PathArg,
    name: str,
    source: PathArg,
    protocols: Sequence[str] = (),
    given_dictionary: PathArg | None = None,
    person: str | None = None,
    *,
    now: datetime | None = None,
    report: Progress = None,
    **reading: Any,
) -> InitResult:
    """Make a project under a root from a file inside that root or from a database; no password is taken or kept."""
    from celosia.pipeline.intake.init_project import init

    parent = Path(root)
    folder = project_place(parent, name)
    if isinstance(source, str) and is_address(source):
        origin: PathArg = resolved_source(source, password=False)
    else:
        origin = _refuse_outside(parent, Path(source))
    given = _refuse_outside(parent, Path(given_dictionary)) if given_dictionary is not None else None
    return init(origin, folder, protocols, given, person, now=now, report=report, **reading)


def project_place(root: Path, name: str) -> Path:
    """The folder that a project of that name would have; what is no plain name is refused."""
    if not _PLAIN.fullmatch(name) or name.strip(" .") != name:
        raise OutsideProjects()
    return _refuse_outside(root, root / name)


def proposed_name(root: PathArg, source: str) -> str:
    """A free name for a project made from a file or table."""
    from celosia.pipeline.intake.init_project import folder_name

    stem = folder_name(source)
    # Windows and macOS take «Egresos» and «egresos» for one name.
    taken = {path.name.lower() for path in Path(root).iterdir()}
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _refuse_outside(root: Path, path: Path) -> Path:
    if not path.resolve().is_relative_to(root.resolve()):
        raise OutsideProjects()
    return path
