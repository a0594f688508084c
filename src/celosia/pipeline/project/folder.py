"""A project is a folder (DESIGN §6), read once per operation into a frozen value.

Knows which part lies in which file. Ignores what the figures mean. `private/` is made with mode 0700 and never leaves
the institution. An operation opens the project once and hands the value down; each part is read when it is first asked
for, and stays as it was then. What was written since is seen by `reread` and under a lock, since another
process may have changed the folder while this one waited.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from celosia.model import dictionary
from celosia.model.paths import ProjectPaths
from celosia.model.people import Approval, Person
from celosia.model.place import InPlace
from celosia.model.plan import Plan
from celosia.model.project import ProjectConfig
from celosia.model.requests import Request
from celosia.model.roster import Roster
from celosia.model.sources import ColumnLabels
from celosia.model.variables import Variable
from celosia.pipeline.project.errors import BadProjectFile, EditedMeanwhile, NotAProject, WorkingCopyMissing
from celosia.pipeline.project.files import (
    decode_text,
    digest_of_bytes,
    digest_of_file,
    parse_toml,
    read_approvals,
    read_plan,
    read_source_place,
)
from celosia.pipeline.project.journal import Journal, lock_path, read_journal
from celosia.pipeline.project.people import read_people
from celosia.pipeline.project.request import parse_request, protocols_in_force, read_request_file
from celosia.pipeline.project.roster import read_roster, refuse_disagreement, signed_people
from celosia.pipeline.project.settings import config_from
from celosia.storage import exclusive_lock, translate_read_errors


@dataclass(frozen=True)
class Project:
    """A project as it stands; parts that need a file are read once, when they are first asked for."""

    folder: Path
    config: ProjectConfig
    settings: Mapping[str, Any] = field(repr=False)  # the parsed celosia.toml
    settings_digest: str = field(repr=False)  # of the bytes that were parsed
    written_request: Mapping[str, Any] | None = field(default=None, repr=False)  # the parsed request.toml

    @property
    def paths(self) -> ProjectPaths:
        """Where each file of the project lies."""
        return ProjectPaths(self.folder)

    def reread(self) -> Project:
        """The project as it stands now: after a write inside the same operation, or under a lock."""
        return open_project(self.folder)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the dictionary."""
        path = self.paths.dictionary
        try:
            return dictionary.load(decode_text(self._dictionary), str(path))
        except UnicodeDecodeError:
            raise BadProjectFile(path=str(path), line="?") from None

    @cached_property
    def dictionary_digest(self) -> str:
        """Digest of the bytes that the variables were read from."""
        return digest_of_bytes(self._dictionary)

    @cached_property
    def _dictionary(self) -> bytes:
        with translate_read_errors(self.paths.dictionary):
            return self.paths.dictionary.read_bytes()

    @cached_property
    def people(self) -> tuple[Person, ...]:
        """Everybody of the project with their roles and keys; none where there is no file."""
        return read_people(self.paths.people)

    @cached_property
    def roster(self) -> Roster:
        """Who holds which roles with which key and since when, as it was signed; empty where nobody signed it yet."""
        return read_roster(self.paths.roster, self.config.name)

    @cached_property
    def members(self) -> tuple[Person, ...]:
        """Everybody whom the roster names now; an error where people.toml or the journal say otherwise."""
        if not self.people and not self.roster.entries:
            return ()
        refuse_disagreement(self.roster, self.people, self.journal, self.paths.roster)
        return signed_people(self.roster, self.people)

    @cached_property
    def request(self) -> Request | None:
        """The request; None where nobody wrote one yet."""
        path = self.paths.request
        return read_request_file(path, self.variables, self.written_request) if path.is_file() else None

    @cached_property
    def plan(self) -> Plan:
        """The plan; an error where there is none."""
        return read_plan(self.paths.plan)

    @cached_property
    def approvals(self) -> tuple[Approval, ...]:
        """Every approval that was written down, whether it counts or not."""
        return read_approvals(self.paths.approvals)

    @cached_property
    def journal(self) -> Journal:
        """The journal as it was when it was first asked for; an error where its chain is broken."""
        return read_journal(self.paths.journal)

    @cached_property
    def in_place(self) -> InPlace | None:
        """The table of a database whose rows stay there; None where there is a working copy."""
        path = self.paths.source_place
        return read_source_place(path) if path.is_file() and not self.paths.working_copy.exists() else None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the source's columns, in their order."""
        from celosia.data.readers.working import working_names

        return working_names(self.paths.working_copy) if self.in_place is None else self.in_place.names

    @cached_property
    def labels(self) -> dict[str, ColumnLabels]:
        """The labels that the source holds for its columns; a database has none."""
        from celosia.data.readers.working import working_labels

        return working_labels(self.paths.working_copy) if self.in_place is None else {}


ProjectArg = str | Path | Project


def is_project(path: Path) -> bool:
    """Whether a folder holds a project."""
    return ProjectPaths(path).settings.is_file()


def names_project(source: object) -> bool:
    """Whether a source is a project, or the folder of one."""
    return isinstance(source, Project) or (isinstance(source, str | Path) and is_project(Path(source)))


def open_project(source: ProjectArg) -> Project:
    """The project in a folder, whose working copy must be there; a project that is open already stays as it is."""
    if isinstance(source, Project):
        return source
    folder = Path(source)
    paths = _paths_of_project(folder)
    content = paths.settings.read_bytes()
    document = parse_toml(content, paths.settings)
    config = config_from(document, paths.settings)
    request = parse_request(paths.request)
    config = replace(config, protocols=protocols_in_force(config.protocols, request))
    project = Project(folder, config, document, digest_of_bytes(content), request)
    if not paths.working_copy.exists() and project.in_place is None:
        raise WorkingCopyMissing(path=str(folder))
    return project


def _paths_of_project(folder: Path) -> ProjectPaths:
    if not is_project(folder):
        raise NotAProject(path=str(folder))
    return ProjectPaths(folder)


# --- locks ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def signature_lock(folder: Path) -> Iterator[None]:
    """Hold the signatures of a project: of all processes that sign, release or publish, one at a time goes on."""
    with exclusive_lock(lock_path(folder, "sign")):
        yield


@contextlib.contextmanager
def open_for_signing(source: ProjectArg) -> Iterator[Project]:
    """Hold the signatures of a project and give it as it stands now: of two who sign at once, the second sees both."""
    folder = source.folder if isinstance(source, Project) else Path(source)
    _paths_of_project(folder)
    with signature_lock(folder):
        yield open_project(folder)


@contextlib.contextmanager
def open_for_editing(source: ProjectArg, path: Path, expected: str | None = None) -> Iterator[Project]:
    """Hold the edits of a project, on the state of the file that was shown, and give the project as it stands now.

    What is read, compared and written stands inside the block; no block stands inside another.
    """
    folder = source.folder if isinstance(source, Project) else Path(source)
    with exclusive_lock(lock_path(folder, "edit")):
        refuse_edited(path, expected)
        yield open_project(folder)


def refuse_edited(path: Path, expected: str | None) -> None:
    """Refuse an edit made on another state of the file than the one that stands now."""
    if expected is not None and digest_of_file(path) != expected:
        raise EditedMeanwhile(path=path.name)
