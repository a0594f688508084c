"""What a process that was killed while somebody signed left undone: the line of a signature that stands.

Knows approvals, signatures and publications, and the journal that must name each. Looks before it takes a lock, and
writes nothing where nothing is missing. A project that cannot be read is left to whoever opens it: they are told why.
Source: MINSAL, Medidas de Seguridad 5 (records of decisions); DESIGN §7.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from celosia.errors import CelosiaError
from celosia.pipeline._approve import approval_acts
from celosia.pipeline._call import Place, moment
from celosia.pipeline._project import Project, is_project, open_project
from celosia.pipeline._publish import publication_acts
from celosia.pipeline._release import refuse_unmade, signature_acts
from celosia.pipeline._release_folder import MANIFEST, Held, read_signed, releases_of
from celosia.pipeline._signing import Act, missing, note_missing, signing


def settle_projects(root: Place, *, now: datetime | None = None) -> int:
    """Settle every project directly under a folder, as a server does that starts; gives the lines that were missing."""
    count = 0
    for folder in sorted(Path(root).iterdir()):
        if folder.is_dir() and not folder.is_symlink() and is_project(folder):
            count += settle_signatures(folder, now=now)
    return count


def settle_signatures(folder: Place, *, now: datetime | None = None) -> int:
    """Write into the journal every signature that stands and is not in it; gives how many there were."""
    try:
        project, when = open_project(folder), moment(now)
        if not project.journal_path.is_file() or not missing(project.journal_path, _acts(project, when)):
            return 0
        with signing(project.folder):
            return note_missing(project.journal_path, _acts(project, when))
    except CelosiaError:
        return 0


def _acts(project: Project, now: datetime) -> Iterator[Act]:
    yield from approval_acts(project.folder)
    for held in _releases(project):
        yield from signature_acts(held)
        yield from publication_acts(held, now)


def _releases(project: Project) -> Iterator[Held]:
    """The releases that this project made; one that is damaged or came from elsewhere says nothing."""
    for place in sorted(path.parent for path in releases_of(project.folder).glob(f"*/{MANIFEST}")):
        with contextlib.suppress(CelosiaError):
            held = read_signed(place)
            refuse_unmade(project.journal_path, held)
            yield held
