"""The documents of the intruder test: the verdict as a page or PDF, the worksheet as a form, a PDF or claims.csv."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.sheets import write_rows
from celosia.model.reports.attacks import AttackReport
from celosia.pipeline.assessment.errors import UnknownExtension
from celosia.pipeline.candidate.claims import form_rows
from celosia.pipeline.intruder.attack import open_target
from celosia.pipeline.intruder.candidate_target import candidate_target
from celosia.pipeline.intruder.target import NamedRoles
from celosia.pipeline.intruder.worksheet import worksheet_of
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import names_project, open_project
from celosia.storage import AlreadyExists, atomic_write

RECORDS = 20


def refuse_unwritable_documents(html: PathArg | None, pdf: PathArg | None, worksheets: Sequence[PathArg]) -> None:
    """Refuse documents that could not be written, before any attack is tried."""
    from celosia.drawing.typesetter import load_typst

    for path, suffix in ((html, ".html"), (pdf, ".pdf")):
        if path is not None:
            _require_suffix(path, (suffix,))
    sheets = [_free_sheet(sheet) for sheet in worksheets]
    if pdf is not None or any(sheet.suffix.lower() == ".pdf" for sheet in sheets):
        load_typst()


def _free_sheet(path: PathArg) -> Path:
    """A worksheet of a known kind; results already written are not overwritten."""
    out = _require_suffix(path, (".html", ".pdf", ".csv", ".xlsx"))
    if out.suffix.lower() in (".csv", ".xlsx") and out.exists():
        raise AlreadyExists(path=str(out))
    return out


def _require_suffix(path: PathArg, suffixes: Sequence[str]) -> Path:
    if Path(path).suffix.lower() not in suffixes:
        raise UnknownExtension(path=str(path), known=", ".join(suffixes))
    return Path(path)


def save_intruder(report: AttackReport, paths: Sequence[PathArg], *, now: datetime | None = None) -> tuple[Path, ...]:
    """Write the verdict to each path, as HTML or PDF by its suffix."""
    from celosia.dossier.intruder import intruder_document
    from celosia.dossier.page import to_html
    from celosia.dossier.pdf import to_pdf

    targets = tuple(_require_suffix(path, (".html", ".pdf")) for path in paths)
    for target in targets:
        document = intruder_document(report, messages.language())
        _write(target, to_html(document).encode() if _is_html(target) else to_pdf(document, utc_now(now)))
    return targets


def save_worksheet(
    target: Any,
    path: PathArg,
    *,
    records: int = RECORDS,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    person: str | None = None,
    household: str | None = None,
    now: datetime | None = None,
    **reading: Any,
) -> Path:
    """Write the worksheet of a project's candidate or of a file; results already written are not overwritten."""
    from celosia.dossier.intruder import worksheet_document, worksheet_form
    from celosia.dossier.pdf import to_pdf

    out = _free_sheet(path)
    if names_project(target):
        attack_target = candidate_target(open_project(target), quasi, sensitive)
    else:
        roles = NamedRoles(quasi, sensitive, person, household)
        attack_target, _ = open_target(target, None, roles, None, reading)
    sheet = worksheet_of(attack_target, records)
    if _is_html(out):
        _write(out, worksheet_form(sheet, messages.language()).encode())
    elif out.suffix.lower() == ".pdf":
        _write(out, to_pdf(worksheet_document(sheet, messages.language()), utc_now(now)))
    else:
        write_rows(out, form_rows(sheet.candidate, [record.row for record in sheet.records]))
    return out


def _is_html(path: Path) -> bool:
    return path.suffix.lower() == ".html"


def _write(path: Path, content: bytes) -> None:
    with atomic_write(path) as draft:
        draft.write_bytes(content)
