"""Operations that make a project: from a file or database, as a demonstration, as a guided tour."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.workbench.operation import LOOK, PREPARE, operation

if TYPE_CHECKING:
    from celosia.model.preview import SourcePreview
    from celosia.model.sources import ReadingChoices
    from celosia.pipeline.project.progress import Progress
    from celosia.workbench.views.projects import SourceFile
    from celosia.workbench.views.tour import TourView


@operation(PREPARE)
def list_sources(root: Path) -> tuple[SourceFile, ...]:
    """The files directly under a root that could become a project."""
    from celosia.workbench import projects

    return projects.list_sources(root)


@operation(PREPARE)
def source_tables(source: str | Path) -> tuple[str, ...]:
    """Sheets of a workbook or tables of a database; nothing where a source is one table."""
    from celosia.pipeline.intake import preview

    return preview.source_tables(source)


@operation(PREPARE)
def preview_source(source: str | Path, **reading: Any) -> SourcePreview:
    """How a source would be read, what its columns seem to be, and its first rows, veiled."""
    from celosia.pipeline.intake import preview

    return preview.preview_source(source, **reading)


@operation(PREPARE)
def source_choices(source: str | Path, **reading: Any) -> ReadingChoices:
    """How a source would be read, from its first bytes alone; also where its rows cannot be shown yet."""
    from celosia.pipeline.intake import preview

    return preview.source_choices(source, **reading)


@operation(PREPARE)
def proposed_name(root: Path, source: str) -> str:
    """A free folder name for a project made from a file or table."""
    from celosia.workbench import projects

    return projects.proposed_name(root, source)


@operation(PREPARE)
def create_project(
    root: Path,
    name: str,
    source: str | Path,
    protocols: Sequence[str] = (),
    given_dictionary: Path | None = None,
    person: str | None = None,
    *,
    report: Progress = None,
    **reading: Any,
) -> None:
    """Make a project under a root from a file inside that root or from a database; no password is taken or kept."""
    from celosia.workbench import projects

    projects.create_project(root, name, source, protocols, given_dictionary, person, report=report, **reading)


@operation(PREPARE)
def demo_project(root: Path, norm: str, name: str, *, report: Progress = None) -> None:
    """Make a demonstration project of a norm, from invented people, with labels and purposes."""
    from celosia.demo import project

    project.demo_project(root, norm, name, report=report)


@operation(PREPARE)
def tour_project(root: Path, norm: str, name: str, *, report: Progress = None) -> None:
    """Make the practice project of a guided tour."""
    from celosia.demo import tour

    tour.tour_project(root, norm, name, report=report)


@operation(LOOK)
def tour_view(folder: Path) -> TourView | None:
    """The steps of a project's tour and which of them are done; None for a project that is no tour."""
    from celosia.demo import tour

    return tour.tour_view(folder)
