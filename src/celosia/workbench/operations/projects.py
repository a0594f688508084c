"""Operations of the list of projects and of the pages that every project has: overview and data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from celosia.workbench.operation import LOOK, PREPARE, SERVER, operation

if TYPE_CHECKING:
    from celosia.model.preview import Preview
    from celosia.model.reports.profile import ProfileReport
    from celosia.model.reports.status import StatusReport
    from celosia.pipeline.project.progress import Progress
    from celosia.workbench.views.projects import ProjectList, SourceView
    from celosia.workbench.views.saved import Saved


@operation(LOOK)
def list_projects(root: Path) -> ProjectList:
    """Every project folder directly under a root, and the files there that could become one."""
    from celosia.workbench import projects

    return projects.list_projects(root)


@operation(SERVER)
def settle_projects(root: Path) -> int:
    """Complete the journal of every project directly under a root; give the number of lines that were missing."""
    from celosia.pipeline.release import journal_recovery

    return journal_recovery.recover_journals(root)


@operation(LOOK)
def status(folder: Path) -> StatusReport:
    """The gates of a project and the next command; a broken project is described as broken."""
    from celosia.pipeline.release import status as release_status

    return release_status.status(folder)


@operation(PREPARE)
def source_view(folder: Path) -> SourceView:
    """The source of a project and how it was read; its working copy must be there."""
    from celosia.workbench import projects

    return projects.source_view(folder)


@operation(PREPARE)
def preview_project(folder: Path, rows: int, offset: int) -> Preview:
    """Rows of a project's working copy, in the order of its source, veiled as its dictionary says."""
    from celosia.pipeline.intake import preview

    return preview.preview_project(folder, rows, offset)


@operation(PREPARE)
def profile_view(folder: Path) -> Saved[ProfileReport] | None:
    """The saved profile of the columns; None where there is none, or none that can be read."""
    from celosia.workbench import projects

    return projects.profile_view(folder)


@operation(PREPARE)
def profile_report(folder: Path, *, report: Progress = None) -> None:
    """Profile the columns of a project and save the report in it."""
    from celosia.pipeline.intake import profile

    profile.profile_report(folder, report=report)
