"""The release folder as it lies on a disk: which files belong to it, what its manifest and signatures say.

Knows names, digests and JSON. Ignores what the data say. A manifest is read strictly: its bytes must be those that its
content makes, so that nothing can hide in it unsigned.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from celosia import messages
from celosia.data.files import reading_from
from celosia.errors import NotARelease, ReleaseDamaged, UnknownFormat
from celosia.model.people import APPROVAL_FORMAT, Approval, approval_from
from celosia.model.releases import Manifest, manifest_from
from celosia.model.verification import PUBLICATION_FORMAT, Publication

MANIFEST, PUBLICATION, SIGNATURES = "manifest.json", "publication.json", "signatures"
# What JSON that nobody of ours wrote raises, nested a thousand deep included.
_ODD = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Held:
    """A release as it was found."""

    folder: Path
    manifest: Manifest
    changed: tuple[str, ...]  # files whose digest is not the manifest's
    added: tuple[str, ...]
    removed: tuple[str, ...]
    signatures: tuple[Approval | None, ...]  # one per file; None where it cannot be read
    publication: Publication | None

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """The approvals that the manifest carries."""
        return tuple(approval_from(one) for one in self.manifest.approvals)


def releases_of(project: Path) -> Path:
    """Where a project keeps its releases."""
    return project / "releases"


def release_folder(project: Path, release: Path) -> Path:
    """A release by its path, or by its name in the project."""
    named = releases_of(project) / release.name
    return release if (release / MANIFEST).is_file() else named


def manifest_text(manifest: Manifest) -> str:
    """The manifest's only spelling."""
    return added_text(manifest.as_dict())


def added_text(document: Mapping[str, Any]) -> str:
    """How a small document that joins a release is written."""
    return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def read_release(folder: Path) -> Held:
    """A release folder; a manifest that cannot be read is refused, everything else is told."""
    manifest = _manifest(folder)
    found = _digests(folder)
    listed = manifest.files
    return Held(
        folder=folder,
        manifest=manifest,
        changed=tuple(sorted(name for name in listed if name in found and found[name] != listed[name])),
        added=tuple(sorted(set(found) - set(listed) | _strays(folder, listed))),
        removed=tuple(sorted(set(listed) - set(found))),
        signatures=tuple(_signature(path) for path in _signature_files(folder)),
        publication=read_publication(folder),
    )


def read_signed(folder: Path) -> Held:
    """The manifest of a release, its signatures and its publication; its other files are not looked at."""
    signatures = tuple(_signature(path) for path in _signature_files(folder))
    return Held(folder, _manifest(folder), (), (), (), signatures, read_publication(folder))


def listed_files(folder: Path) -> dict[str, str]:
    """Every file that a manifest answers for, with its digest."""
    return dict(sorted(_digests(folder).items()))


def read_publication(folder: Path) -> Publication | None:
    """The publication entry of a release, where it has one."""
    path = folder / PUBLICATION
    if not path.is_file():
        return None
    try:
        text = path.read_text("utf-8")
        document = json.loads(text)
        if document["format"] != PUBLICATION_FORMAT:
            raise KeyError
        made = Publication(**{name: str(document[name]) for name in Publication.__slots__})
        if added_text(made.as_dict()) != text:
            raise KeyError  # nothing may hide in it, not even a key written twice
        return made
    except _ODD:
        raise ReleaseDamaged(path=str(folder), reason=PUBLICATION) from None


def _manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    if not path.is_file():
        raise NotARelease(path=str(folder))
    try:
        text = path.read_text("utf-8")
        document: Any = json.loads(text)
        manifest = manifest_from(document, str(path))
        [approval_from(one) for one in manifest.approvals]
        _refuse_odd(manifest)
    except _ODD:
        raise ReleaseDamaged(path=str(folder), reason=MANIFEST) from None
    except UnknownFormat:
        raise
    if manifest_text(manifest) != text:
        raise ReleaseDamaged(path=str(folder), reason=messages.text("release.spelling"))
    return manifest


def _refuse_odd(manifest: Manifest) -> None:
    """The parts that are walked before anything is judged must at least be of their kind."""
    if not all(isinstance(part, Mapping) for part in (manifest.files, manifest.covered, manifest.policy)):
        raise TypeError
    if not all(isinstance(one, Mapping) and isinstance(one.get("roles"), list) for one in manifest.people):
        raise TypeError


def _digests(folder: Path) -> dict[str, str]:
    """Digest of every file but the manifest, the publication entry and the signatures; a link is no file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        own = name in (MANIFEST, PUBLICATION) or (path.parent == folder / SIGNATURES and path.suffix == ".json")
        if path.is_symlink():
            found[name] = "link"
        elif path.is_file() and not own:
            found[name] = file_digest(path)
    return found


def _strays(folder: Path, listed: Mapping[str, Any]) -> set[str]:
    """Whatever is no file and leads to none that the manifest names: a folder, even an empty one, a pipe, a socket."""
    needed = {SIGNATURES} | {parent.as_posix() for name in listed for parent in PurePosixPath(name).parents}
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_file()}
    return found - needed


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes."""
    with reading_from(path), path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def _signature_files(folder: Path) -> list[Path]:
    home = folder / SIGNATURES
    return sorted(path for path in home.glob("*.json") if path.is_file() and not path.is_symlink())


def _signature(path: Path) -> Approval | None:
    try:
        text = path.read_bytes().decode("utf-8")  # line ends as they are
        document: Mapping[str, Any] = json.loads(text)
        if document["format"] != APPROVAL_FORMAT:
            return None
        made = approval_from(document)
        return made if added_text(made.as_dict()) == text else None  # what it adds, nobody signed
    except (OSError, *_ODD):
        return None
