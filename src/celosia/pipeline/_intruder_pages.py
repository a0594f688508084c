"""The intruder's papers: the verdict as a page or PDF, and the worksheet as a form, a PDF or claims.csv."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.files import replacing
from celosia.data.sheets import write_rows
from celosia.errors import AlreadyExists, UnknownExtension
from celosia.model.attacks import AttackReport
from celosia.model.worksheet import Worksheet
from celosia.pipeline._call import Place, moment
from celosia.pipeline._claims import form_rows
from celosia.pipeline._intruder import attacked_of
from celosia.pipeline._intruder_project import candidate_target
from celosia.pipeline._project import is_project
from celosia.pipeline._worksheet import worksheet_of

_PAGES = (".html", ".pdf")
_SHEETS = (".html", ".pdf", ".csv", ".xlsx")
RECORDS = 20


def check_papers(html: Place | None = None, pdf: Place | None = None, worksheets: Sequence[Place] = ()) -> None:
    """Refuse papers that could not be written, before any attack is tried."""
    for path, suffix in ((html, ".html"), (pdf, ".pdf")):
        if path is not None:
            _known(Path(path), (suffix,))
    for sheet in worksheets:
        _free_sheet(Path(sheet))


def _free_sheet(path: Path) -> Path:
    """A worksheet of a known kind; results already written are not overwritten."""
    out = _known(path, _SHEETS)
    if _suffix(out) in (".csv", ".xlsx") and out.exists():
        raise AlreadyExists(path=str(out))
    return out


def save_intruder(report: AttackReport, paths: Sequence[Place], *, now: datetime | None = None) -> tuple[Path, ...]:
    """Write the verdict to each path, as HTML or PDF by its suffix."""
    from celosia.dossier import intruder_document, to_html, to_pdf

    targets = [_known(Path(path), _PAGES) for path in paths]
    for target in targets:
        document = intruder_document(report, messages.language())
        content = to_html(document).encode() if _suffix(target) == ".html" else to_pdf(document, moment(now))
        _put(target, content)
    return tuple(targets)


def save_worksheet(
    target: Any,
    path: Place,
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
    out = _free_sheet(Path(path))
    if isinstance(target, str | Path) and is_project(Path(target)):
        attacked = candidate_target(Path(target), quasi, sensitive)
    else:
        attacked, _ = attacked_of(
            target, quasi=quasi, sensitive=sensitive, person=person, household=household, reading=reading
        )
    _write(worksheet_of(attacked, records), out, moment(now))
    return out


def _write(sheet: Worksheet, out: Path, now: datetime) -> None:
    from celosia.dossier import to_pdf, worksheet_document, worksheet_form

    if _suffix(out) == ".html":
        _put(out, worksheet_form(sheet, messages.language()).encode())
    elif _suffix(out) == ".pdf":
        _put(out, to_pdf(worksheet_document(sheet, messages.language()), now))
    else:
        write_rows(out, form_rows(sheet.candidate, [one.row for one in sheet.records]))


def _known(path: Path, suffixes: Sequence[str]) -> Path:
    if _suffix(path) not in suffixes:
        raise UnknownExtension(path=str(path), known=", ".join(suffixes))
    return path


def _suffix(path: Path) -> str:
    return path.suffix.lower()


def _put(path: Path, content: bytes) -> None:
    with replacing(path) as draft:
        draft.write_bytes(content)
