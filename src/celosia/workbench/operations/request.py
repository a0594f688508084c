"""Operations of the request page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.workbench.operation import LOOK, PREPARE, operation

if TYPE_CHECKING:
    from celosia.workbench.views.request import RequestForm


@operation(LOOK)
def request_form(folder: Path) -> RequestForm:
    """Every item of a project's request as a form shows it; without a request the answers are empty."""
    from celosia.workbench import request

    return request.request_form(folder)


@operation(LOOK)
def checked_property(asked: dict[str, Any]) -> dict[str, Any]:
    """A property to preserve as the file writes it; one that lacks a part is refused."""
    from celosia.workbench import request

    return request.checked_property(asked)


@operation(PREPARE)
def edit_request(folder: Path, answers: dict[str, Any], *, expected: str | None = None) -> RequestForm:
    """Write answers under the names they have in the file; give the form as it is afterwards."""
    from celosia.workbench import request

    return request.edit_request(folder, answers, expected=expected)


@operation(PREPARE)
def extract_requested(folder: Path) -> tuple[str, ...]:
    """Publish what the request asks for and nothing else; give the names of the variables to be published."""
    from celosia.pipeline.project import edits

    return edits.extract_requested(folder)
