"""The projects of a folder: what each is, how far it is and what blocks it.

Knows names, counts and sentences. Ignores rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from celosia.model.sources import Source


@dataclass(frozen=True, slots=True)
class ProjectLine:
    """One project folder; a broken one says what is broken and nothing else."""

    folder: str  # its name inside the folder of the projects
    name: str
    protocols: tuple[str, ...] = ()
    rows: int = 0
    columns: int = 0
    done: int = 0  # gates passed
    gates: int = 0
    gate: str = ""  # the first one that blocks, in words
    reason: str = ""  # why it is not passed
    command: str = ""  # what to type next
    problems: tuple[str, ...] = ()

    @property
    def broken(self) -> bool:
        """Whether the project cannot be opened as it is."""
        return self.columns == 0


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that lies in the folder of the projects and could become one."""

    name: str
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class ProjectList:
    """The projects of a folder, by name, and the files that could become projects."""

    projects: tuple[ProjectLine, ...]
    files: tuple[SourceFile, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceView:
    """The source of a project, the column that identifies a person, and whether its disk keeps others out."""

    source: Source
    person: str | None
    private: bool = True
