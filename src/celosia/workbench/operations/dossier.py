"""Operations of the dossier page: documents, approvals, releases, publication, verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.workbench.operation import APPROVE, PREPARE, PUBLISH, SIGN, operation

if TYPE_CHECKING:
    from celosia.dossier.document import Document
    from celosia.model.people import Approval
    from celosia.model.reports.verification import Publication, VerifyReport
    from celosia.pipeline.project.progress import Progress
    from celosia.workbench.views.dossier import DossierView, JournalView, SigningView


@operation(SIGN)
def dossier_view(folder: Path) -> DossierView:
    """Everything a person needs to know before reading, approving, signing or publishing."""
    from celosia.workbench import dossier

    return dossier.dossier_view(folder)


@operation(SIGN)
def read_document(folder: Path, what: str) -> Document:
    """A document of the project as it would be written now, in the project's language."""
    from celosia.workbench import dossier

    return dossier.read_document(folder, what)


@operation(SIGN)
def document_file(folder: Path, what: str, form: str, target: Path) -> Path:
    """Write one document of the project into a file: html, pdf, docx, or xlsx for the annotated dictionary."""
    from celosia.workbench import dossier

    return dossier.document_file(folder, what, form, target)


@operation(SIGN)
def journal_view(folder: Path, *, last: int = 50) -> JournalView:
    """The last lines of a project's journal, newest first, after checking that its chain holds."""
    from celosia.workbench import dossier

    return dossier.journal_view(folder, last=last)


@operation(APPROVE)
def signing_view(folder: Path, what: str) -> SigningView:
    """What a person is shown before approving something: its digest and its figures, as they are now."""
    from celosia.workbench import dossier

    return dossier.signing_view(folder, what)


@operation(APPROVE)
def approve_with_key(
    folder: Path, what: str, role: str, key: Path, passphrase: str, note: str = "", expected: str | None = None
) -> Approval:
    """Approve, with the key at a path, what the person was shown, and nothing else."""
    from celosia.workbench import signing_keys

    return signing_keys.approve_with_key(folder, what, role, key, passphrase, note, expected)


@operation(PREPARE)
def make_release(
    folder: Path, *, formats: Sequence[str] = ("csv",), destroy_seed: bool = False, report: Progress = None
) -> None:
    """Judge the candidate once more and, if every rule holds, put a release in place: whole or not at all."""
    from celosia.pipeline.release import make_release as release

    release.make_release(folder, formats=formats, destroy_seed=destroy_seed, report=report)


@operation(SIGN)
def release_view(folder: Path, release: str) -> SigningView:
    """What a person is shown before signing a release; the seal is the digest of its manifest."""
    from celosia.workbench import dossier

    return dossier.release_view(folder, release)


@operation(SIGN)
def sign_with_key(
    folder: Path, release: str, role: str, key: Path, passphrase: str, note: str = "", expected: str | None = None
) -> Approval:
    """Sign, with the key at a path, the release that the person was shown, and nothing else."""
    from celosia.workbench import signing_keys

    return signing_keys.sign_with_key(folder, release, role, key, passphrase, note, expected)


@operation(SIGN)
def archive_release(folder: Path, release: str, target: Path) -> Path:
    """Pack a release of a project, as it was made, into a .zip: fixed order, times and modes."""
    from celosia.pipeline.release import archive

    return archive.archive_release(folder, release, target)


@operation(PUBLISH)
def publish_with_key(folder: Path, release: str, key: Path, passphrase: str, dates: Mapping[str, str]) -> Publication:
    """Enter a release as published, signed with the key at a path; `dates` are written as 2026-11-20."""
    from celosia.workbench import signing_keys

    return signing_keys.publish_with_key(folder, release, key, passphrase, dates)


@operation(PREPARE)
def deliver(folder: Path) -> None:
    """Put the delivery of the latest release in place, whole or not at all."""
    from celosia.pipeline.release import mel_delivery

    mel_delivery.deliver(folder)


@operation(SIGN)
def verify_upload(path: Path) -> VerifyReport:
    """Judge the release inside a .zip from its files alone; nothing of it stays."""
    from celosia.pipeline.release import archive

    return archive.verify_upload(path)
