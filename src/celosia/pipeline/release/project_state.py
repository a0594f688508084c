"""The files of a project as they were when a release was made, in a list that `sha256sum -c` reads too.

The list lies among the forms, so its digest stands in the manifest and every signature covers it: whatever anybody
changes in the project afterwards is named. The approvals may only grow; the journal and the roster have chains of
their own.
Knows paths and digests. Ignores what the files say. Sources: MINSAL Seguridad 5; law 21.719, art. 16 quinquies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from celosia.model.paths import ProjectPaths
from celosia.storage import content_digest, translate_read_errors

STATE = "project.sha256"
_MARK = "sha256:"


def state_text(paths: ProjectPaths) -> str:
    """Every file that a release was made from, each on a line with its digest."""
    digests = {name: content_digest(path) for name, path in _files(paths).items()}
    return "".join(f"{digest.removeprefix(_MARK)}  {name}\n" for name, digest in sorted(digests.items()))


def changed_since(paths: ProjectPaths, forms: Path) -> tuple[str, ...]:
    """The files that are no longer as the list in a folder of forms says, and those that joined them since.

    Approvals that are given later leave files of their own beside the earlier ones: those are no change.
    """
    listed = _read_state(forms / STATE)
    present = _files(paths)
    changed = {
        name
        for name, digest in listed.items()
        if name not in present or not _is_listed_file(present[name], digest, paths)
    }
    added = {name for name, path in present.items() if name not in listed and path.parent != paths.approved}
    return tuple(sorted(changed | added))


def _is_listed_file(path: Path, digest: str, paths: ProjectPaths) -> bool:
    """Whether a file is the one that was listed or, of the approvals, begins with it."""
    return content_digest(path) == digest or (path == paths.approvals and _begins_with(path, digest))


def _begins_with(path: Path, digest: str) -> bool:
    """Whether the first lines of a file, some or all, are those of a digest."""
    read = hashlib.sha256()
    with translate_read_errors(path), path.open("rb") as lines:
        for line in lines:
            read.update(line)
            if _MARK + read.hexdigest() == digest:
                return True
    return False


def _read_state(path: Path) -> dict[str, str]:
    """The digest of each file that a list names."""
    with translate_read_errors(path):
        lines = path.read_text("utf-8").splitlines()
    return {name: _MARK + digest for digest, _, name in (line.partition("  ") for line in lines)}


def _files(paths: ProjectPaths) -> dict[str, Path]:
    """What a release is made from: settings, answers, plan, candidate, and what was shown before each approval."""
    single = (
        *(paths.settings, paths.request, paths.dictionary, paths.people, paths.claims, paths.plan),
        *(paths.working_copy, paths.source_place, paths.intruder_report, paths.approvals),
    )
    present = [
        *(path for path in single if path.is_file()),
        *_files_below(paths.hierarchies),
        *_files_below(paths.approved),
    ]
    present += _files_below(paths.candidate.folder)
    return {path.relative_to(paths.folder).as_posix(): path for path in present}


def _files_below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else iter(())
