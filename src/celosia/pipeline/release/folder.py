"""The release folder as it lies on a disk: which files belong to it, what its manifest and signatures say.

Knows names, digests and JSON. Ignores what the data say. A manifest is read strictly: its bytes must be those that its
content makes, so that nothing can hide in it unsigned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.errors import UnknownFormat
from celosia.model.paths import MANIFEST, PUBLICATION, ROSTER, SIGNATURES, TIME_STAMP, ReleasePaths
from celosia.model.people import Approval, approval_from
from celosia.model.releases import Manifest, manifest_from
from celosia.model.reports.verification import Publication, publication_from
from celosia.model.roster import Membership, Roster
from celosia.pipeline.project.errors import RosterBroken
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.people import looks_alike
from celosia.pipeline.project.roster import check_roster, held_role
from celosia.pipeline.release.errors import NotARelease, ReleaseDamaged
from celosia.storage import content_digest

_STAMP = re.compile(rf"{TIME_STAMP}-\d{{1,3}}\.tsr")
# What foreign JSON raises when it is read, nested a thousand deep included.
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class ReleaseOnDisk:
    """A release as it was found."""

    folder: Path
    manifest: Manifest
    changed: tuple[str, ...]  # files whose digest is not the manifest's
    added: tuple[str, ...]
    removed: tuple[str, ...]
    roster: Roster | None  # None where it is damaged
    roster_fault: str
    signatures: tuple[Approval | None, ...]  # one per file; None where it cannot be read
    publication: Publication | None

    @property
    def differences(self) -> tuple[str, ...]:
        """Files that are not as the manifest lists them."""
        return (*self.changed, *self.added, *self.removed)

    @property
    def readable_signatures(self) -> list[Approval]:
        """The signatures that could be read, right or not."""
        return [signature for signature in self.signatures if signature is not None]

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """The approvals that the manifest carries."""
        return tuple(approval_from(entry) for entry in self.manifest.approvals)

    def is_members(self, approval: Approval) -> bool:
        """Whether the roster gives the approval's key to that person, in that role and at that moment."""
        roster = self.roster
        return roster is not None and held_role(roster, approval.key, approval.name, approval.role, approval.when)

    def is_current(self, signature: Approval) -> bool:
        """Whether the roster still names a signer at its end: whoever it gave up signs nothing that carries it.

        The moment that a signature states is its signer's word.
        """
        return any(member.key == signature.key for member in self.holders(signature.role))

    def holders(self, role: str) -> tuple[Membership, ...]:
        """Those who may sign this release in a role."""
        return tuple(member for member in (self.roster.current if self.roster else ()) if role in member.roles)


def release_folder(project: Project, release: Path) -> Path:
    """A release by its path, or by its name in the project."""
    return release if (release / MANIFEST).is_file() else project.paths.releases / release.name


def manifest_text(manifest: Manifest) -> str:
    """The manifest's only spelling."""
    return added_text(manifest.as_dict())


def added_text(document: Mapping[str, Any]) -> str:
    """How a small document that joins a release is written."""
    return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def read_release(folder: Path) -> ReleaseOnDisk:
    """A release folder; a manifest that cannot be read is refused, everything else is reported."""
    manifest = _manifest(folder)
    digests = _digests(folder)
    listed = manifest.files
    return ReleaseOnDisk(
        folder=folder,
        manifest=manifest,
        changed=tuple(sorted(name for name in listed if name in digests and digests[name] != listed[name])),
        added=tuple(sorted(set(digests) - set(listed) | _strays(folder, listed))),
        removed=tuple(sorted(set(listed) - set(digests))),
        **_roster(folder, manifest),
        signatures=tuple(_signature(path) for path in _signature_files(folder)),
        publication=read_publication(folder),
    )


def read_signed(folder: Path) -> ReleaseOnDisk:
    """The manifest of a release, its signatures and its publication; its other files are not looked at."""
    signatures = tuple(_signature(path) for path in _signature_files(folder))
    manifest = _manifest(folder)
    roster, publication = _roster(folder, manifest), read_publication(folder)
    return ReleaseOnDisk(folder, manifest, (), (), (), **roster, signatures=signatures, publication=publication)


def listed_files(folder: Path) -> dict[str, str]:
    """Every file that a manifest answers for, with its digest."""
    return dict(sorted(_digests(folder).items()))


def read_publication(folder: Path) -> Publication | None:
    """The publication entry of a release, where it has one."""
    path = folder / PUBLICATION
    if not path.is_file():
        return None
    try:
        text = path.read_bytes().decode("utf-8")  # line ends as they are
        publication = publication_from(json.loads(text))
        if added_text(publication.as_dict()) != text:
            raise KeyError  # nothing may hide in it, not even a key written twice
        return publication
    except _MALFORMED:
        raise ReleaseDamaged(path=str(folder), reason=PUBLICATION) from None


def _roster(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """The roster that a release carries; of one that is older, the people that its manifest lists, at any time."""
    if manifest.people is not None:
        people = manifest.people
        members = [Membership(str(p.get("name")), tuple(map(str, p["roles"])), str(p.get("key")), None) for p in people]
        keys, names = [member.key for member in members], [member.name for member in members]
        # One key under two names belongs to nobody.
        alone = [m for m in members if keys.count(m.key) == sum(looks_alike(m.name, name) for name in names) == 1]
        return {"roster": Roster((), tuple(alone)), "roster_fault": ""}
    path = ReleasePaths(folder).roster
    absent = {"roster": None, "roster_fault": messages.text("release.roster_wrong.absent")}
    try:
        listed = path.is_file() and not path.is_symlink() and content_digest(path) == manifest.files.get(ROSTER)
        return (
            {"roster": check_roster(path.read_bytes(), manifest.project, ROSTER), "roster_fault": ""}
            if listed
            else absent
        )
    except RosterBroken as broken:
        return {"roster": None, "roster_fault": str(broken.values["reason"])}
    except (OSError, CelosiaError):
        return absent


def _manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    if not path.is_file():
        raise NotARelease(path=str(folder))
    try:
        text = path.read_bytes().decode("utf-8")  # line ends as they are: other bytes are another manifest
        document: Any = json.loads(text)
        manifest = manifest_from(document, str(path))
        [approval_from(approval) for approval in manifest.approvals]
        _refuse_wrong_types(manifest)
    except _MALFORMED:
        raise ReleaseDamaged(path=str(folder), reason=MANIFEST) from None
    except UnknownFormat:
        raise
    if manifest_text(manifest) != text:
        raise ReleaseDamaged(path=str(folder), reason=messages.text("release.spelling"))
    return manifest


def _refuse_wrong_types(manifest: Manifest) -> None:
    """The parts that are iterated over before anything is judged must at least be of their type."""
    if not all(isinstance(part, Mapping) for part in (manifest.files, manifest.covered, manifest.policy)):
        raise TypeError
    people = manifest.people or ()
    if not all(isinstance(person, Mapping) and isinstance(person.get("roles"), list) for person in people):
        raise TypeError


def _digests(folder: Path) -> dict[str, str]:
    """Digest of every file but the manifest, the publication entry and the signatures; a link is no file."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        own = name in (MANIFEST, PUBLICATION) or (path.parent == folder / SIGNATURES and _is_signature(path.name))
        if path.is_symlink():
            digests[name] = "link"
        elif path.is_file() and not own:
            digests[name] = content_digest(path)
    return digests


def _is_signature(name: str) -> bool:
    """A signature, or a time stamp: neither stands in the manifest that it is over."""
    return name.endswith(".json") or _STAMP.fullmatch(name) is not None


def _strays(folder: Path, listed: Mapping[str, Any]) -> set[str]:
    """Whatever is no file and leads to none that the manifest names: a folder, even an empty one, a pipe, a socket."""
    needed = {SIGNATURES} | {parent.as_posix() for name in listed for parent in PurePosixPath(name).parents}
    others = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_file()}
    return others - needed


def _signature_files(folder: Path) -> list[Path]:
    home = folder / SIGNATURES
    return sorted(path for path in home.glob("*.json") if path.is_file() and not path.is_symlink())


def _signature(path: Path) -> Approval | None:
    try:
        text = path.read_bytes().decode("utf-8")  # line ends as they are
        document: Mapping[str, Any] = json.loads(text)
        approval = approval_from(document)
        # Whatever else the file holds, or is called, was not signed.
        named = re.fullmatch(rf"{approval.role}-[1-9]\d{{0,2}}\.json", path.name)
        return approval if named and added_text(approval.as_dict()) == text else None
    except (OSError, *_MALFORMED):
        return None
