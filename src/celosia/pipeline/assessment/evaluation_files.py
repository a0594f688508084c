"""Files of an evaluation: the page, and each picture as SVG and as PNG."""

from __future__ import annotations

from pathlib import Path

from celosia.dossier.charts import pictures
from celosia.dossier.evaluation import evaluation_page
from celosia.drawing.svg import png_bytes
from celosia.model.reports.evaluation import EvaluationReport
from celosia.storage import atomic_write, make_private_folder


def save_evaluation(
    report: EvaluationReport, page: Path | None = None, pictures_into: Path | None = None
) -> tuple[Path, ...]:
    """Save the page and the pictures where they were asked for; readable by their owner only."""
    contents: dict[Path, bytes] = {}
    if page is not None:
        contents[page] = evaluation_page(report).encode("utf-8")
    if pictures_into is not None:
        if not pictures_into.exists():
            make_private_folder(pictures_into)
        for name, svg in pictures(report).items():
            contents[pictures_into / f"{name}.svg"] = svg.encode("utf-8")
            contents[pictures_into / f"{name}.png"] = png_bytes(svg)
    for path, content in contents.items():
        if not path.parent.exists():
            make_private_folder(path.parent)
        with atomic_write(path) as draft:
            draft.write_bytes(content)
    return tuple(contents)
