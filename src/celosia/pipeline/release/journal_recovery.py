"""Recovery of journal lines that a process killed while somebody signed did not write: those of valid signatures.

Knows approvals, signatures and publications, and the journal that must name each. Looks before it takes a lock, and
writes nothing where nothing is missing. A project that cannot be read is skipped: whoever opens it is told why.
Source: MINSAL, Medidas de Seguridad 5 (records of decisions); DESIGN §7.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from celosia.errors import CelosiaError
from celosia.model.paths import MANIFEST
from celosia.pipeline.candidate.approvals import approval_acts, roster_acts
from celosia.pipeline.project.acts import Act, missing_acts, note_missing
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, is_project, open_for_signing, open_project
from celosia.pipeline.release.folder import ReleaseOnDisk, read_signed
from celosia.pipeline.release.legal.records import legal_acts
from celosia.pipeline.release.make_release import refuse_foreign_release, signature_acts
from celosia.pipeline.release.publication_entry import publication_acts


def recover_journals(root: PathArg, *, now: datetime | None = None) -> int:
    """Recover the journal of every project directly under a folder; gives the number of lines that were missing."""
    count = 0
    for folder in sorted(Path(root).iterdir()):
        if folder.is_dir() and not folder.is_symlink() and is_project(folder):
            count += recover_journal(folder, now=now)
    return count


def recover_journal(folder: ProjectArg, *, now: datetime | None = None) -> int:
    """Write into the journal every valid signature that is not in it; gives how many there were."""
    try:
        project, when = open_project(folder), utc_now(now)
        if not project.paths.journal.is_file() or not missing_acts(project.paths.journal, _acts(project, when)):
            return 0
        with open_for_signing(project) as current:
            return note_missing(current.paths.journal, _acts(current, when))
    except CelosiaError:
        return 0


def _acts(project: Project, now: datetime) -> Iterator[Act]:
    yield from roster_acts(project)
    yield from approval_acts(project)
    for release in _releases(project):
        yield from signature_acts(project, release)
        yield from publication_acts(project, release, now)
        yield from legal_acts(project.paths, release)


def _releases(project: Project) -> Iterator[ReleaseOnDisk]:
    """The releases that this project made; one that is damaged or came from elsewhere says nothing."""
    for folder in sorted(path.parent for path in project.paths.releases.glob(f"*/{MANIFEST}")):
        with contextlib.suppress(CelosiaError):
            release = read_signed(folder)
            refuse_foreign_release(project, release)
            yield release
