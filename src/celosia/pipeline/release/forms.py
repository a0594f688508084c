"""The forms of a release: made when it is assembled, read by whoever signs it, printed afterwards as they were signed.

The manifest holds their digests, so the signatures cover every word of them. They stay in `private/forms/`, beside a
PDF of each with empty places to sign; what comes later (signatures, the publication) is printed below, never inside.
Sources: MINSAL Anexo I; ATENEA G3_DE 4.2; MEL IV.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from celosia import messages
from celosia.dossier.document import Document
from celosia.dossier.stored import document_from, document_text
from celosia.model.errors import UnknownFormat
from celosia.model.paths import RELEASES, ProjectPaths
from celosia.model.releases import Manifest
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.project.folder import ProjectArg, open_project
from celosia.pipeline.release.errors import ReleaseDamaged
from celosia.pipeline.release.folder import ReleaseOnDisk, read_signed, release_folder
from celosia.pipeline.release.project_state import STATE
from celosia.storage import (
    PRIVATE_FILE,
    content_digest,
    make_private_folder,
    move,
    remove_folder,
    set_mode,
    sync,
    translate_write_errors,
)

_DOCUMENT, _PAPER = ".json", ".pdf"
READ_ALONG = ("approval_sheet", "public_report")  # what signers read beside the forms that a norm asks to be signed


def write_forms(folder: Path, forms: Mapping[str, tuple[Document, bytes]], state: str) -> dict[str, str]:
    """Write each form, as the document that is signed and as its PDF, and the state of the project that they tell of.

    Gives the digest of every file.
    """
    with translate_write_errors(folder):
        folder.mkdir(mode=0o700)
        for name, (document, paper) in forms.items():
            (folder / f"{name}{_DOCUMENT}").write_bytes(document_text(document).encode("utf-8"))
            (folder / f"{name}{_PAPER}").write_bytes(paper)
        (folder / STATE).write_bytes(state.encode("utf-8"))
        for path in folder.iterdir():
            set_mode(path, PRIVATE_FILE)
            sync(path)
    return {path.name: content_digest(path) for path in sorted(folder.iterdir())}


def keep_forms(draft: Path, paths: ProjectPaths, release: str) -> None:
    """Put the forms of a release where its signers read them."""
    target = forms_folder(paths, release)
    make_private_folder(paths.forms)
    with translate_write_errors(target):
        # Of a release whose making was interrupted before it got its name.
        remove_folder(target)
        move(draft, target)
        sync(paths.forms)


def forms_folder(paths: ProjectPaths, release: str) -> Path:
    """Where the forms of a release lie."""
    return paths.forms / release


def changed_forms(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """The files of forms that are missing, added or not as the manifest lists them."""
    listed = dict(manifest.forms or {})
    present = {path.name: content_digest(path) for path in folder.glob("*")} if folder.is_dir() else {}
    return tuple(sorted(name for name in listed.keys() | present.keys() if listed.get(name) != present.get(name)))


def refuse_changed_forms(folder: Path, release: ReleaseOnDisk) -> None:
    """Stop where a form is not the one that the manifest, and so every signature, speaks of."""
    wrong = changed_forms(folder, release.manifest)
    if wrong:
        reason = messages.text("release.reason.forms", files=", ".join(wrong))
        raise ReleaseDamaged(path=str(release.folder), reason=reason)


def signed_forms(folder: Path, release: ReleaseOnDisk) -> dict[str, Document]:
    """The forms of a release as they were made for its signers, by name; none may have changed since."""
    refuse_changed_forms(folder, release)
    papers = [Path(name) for name in release.manifest.forms or {} if name.endswith(_DOCUMENT)]
    try:
        return {name.stem: read_form(folder, name.stem) for name in papers}
    except (ValueError, KeyError, TypeError, AttributeError, UnknownFormat):
        raise ReleaseDamaged(path=str(release.folder), reason=messages.text("release.spelling")) from None


def read_form(folder: Path, name: str) -> Document:
    """A form by its name."""
    path = folder / f"{name}{_DOCUMENT}"
    return document_from(path.read_text("utf-8"), str(path))


def forms_beside(release: Path) -> Path | None:
    """The folder of the forms, where a release lies in its project; a release alone does not carry them."""
    home = release.resolve().parent
    folder = forms_folder(ProjectPaths(home.parent), release.resolve().name)
    return folder if home.name == RELEASES and folder.is_dir() else None


@dataclass(frozen=True, slots=True)
class FormsToSign:
    """What a signer reads: the forms, where each lies as PDF, and the digest that the signature covers."""

    manifest: str
    documents: tuple[Document, ...]
    papers: tuple[Path, ...]


def read_forms(release: PathArg, source: ProjectArg | None = None) -> FormsToSign:
    """The forms of a release, for whoever is about to sign it."""
    path = Path(release)
    project = open_project(path.resolve().parent.parent if source is None else source)
    stored = read_signed(path if path.is_dir() else release_folder(project, path))
    folder = forms_folder(project.paths, stored.folder.resolve().name)
    documents = tuple(signed_forms(folder, stored).values()) if stored.manifest.forms is not None else ()
    return FormsToSign(stored.manifest.digest, documents, tuple(sorted(folder.glob(f"*{_PAPER}"))))
