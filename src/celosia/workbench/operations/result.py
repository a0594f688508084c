"""Operations of the result page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.workbench.operation import LOOK, PREPARE, SIGN, operation

if TYPE_CHECKING:
    from celosia.pipeline.project.progress import Progress
    from celosia.workbench.views.result import EvaluationView, Result, Sides
    from celosia.workbench.views.saved import Saved


@operation(LOOK)
def result_view(folder: Path) -> Result:
    """The present candidate: verdict, what it gave up, rule by rule; nothing is measured again."""
    from celosia.workbench import result

    return result.result_view(folder)


@operation(LOOK)
def evaluation_view(folder: Path) -> Saved[EvaluationView] | None:
    """The saved evaluation with the residual risk in words; None before there is one."""
    from celosia.workbench import result

    return result.evaluation_view(folder)


@operation(PREPARE)
def side_by_side(folder: Path, rows: int, offset: int) -> Sides:
    """Rows of the source beside what is published of the same rows; private cells of the source are veiled."""
    from celosia.workbench import result

    return result.side_by_side(folder, rows, offset)


@operation(SIGN)
def check_result(folder: Path, *, report: Progress = None) -> None:
    """Read the candidate back, judge it again as `check` does, and save the report."""
    from celosia.workbench import result

    result.check_result(folder, report=report)


@operation(SIGN)
def evaluation_report(folder: Path, *, report: Progress = None) -> None:
    """Compare source and candidate and save losses, distributions, risk, and what the norms ask to preserve."""
    from celosia.workbench import result

    result.evaluation_report(folder, report=report)


@operation(PREPARE)
def write_documents(folder: Path, audience: str, formats: Sequence[str]) -> tuple[Path, ...]:
    """Write the documents of a project for an audience; give their paths."""
    from celosia.pipeline.release import documents

    return documents.write_documents(folder, audience, formats)
