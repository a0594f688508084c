"""Files of an evaluation: the page, and each picture as SVG and as PNG.

PNG is made by typst from the same SVG with the fonts it carries, so that it is the same on every machine.
"""

from __future__ import annotations

from pathlib import Path

from celosia.data.files import private_folder, replacing
from celosia.dossier import evaluation_page, pictures
from celosia.model.evaluation import EvaluationReport

_PAGE = b'#set page(width: auto, height: auto, margin: 0pt)\n#image(bytes(sys.inputs.picture), format: "svg")\n'
_PPI = 144.0


def save_evaluation(
    report: EvaluationReport, page: Path | None = None, pictures_into: Path | None = None
) -> tuple[Path, ...]:
    """Save the page and the pictures where they were asked for; readable by their owner only."""
    saved = []
    if page is not None:
        if not page.parent.exists():
            private_folder(page.parent)
        with replacing(page) as draft:
            draft.write_text(evaluation_page(report), "utf-8")
        saved.append(page)
    if pictures_into is not None:
        saved += _save_pictures(report, pictures_into)
    return tuple(saved)


def png_of(svg: str) -> bytes:
    """A picture as PNG; nothing of the machine it is made on enters, not even its fonts."""
    import typst

    compiler = typst.Compiler(_PAGE, ignore_system_fonts=True, sys_inputs={"picture": svg})
    made = compiler.compile(format="png", ppi=_PPI)
    pages = made if isinstance(made, list) else [made or b""]
    return bytes(pages[0])


def _save_pictures(report: EvaluationReport, folder: Path) -> list[Path]:
    if not folder.exists():
        private_folder(folder)
    saved = []
    for name, svg in pictures(report).items():
        for path, content in ((folder / f"{name}.svg", svg.encode("utf-8")), (folder / f"{name}.png", png_of(svg))):
            with replacing(path) as draft:
                draft.write_bytes(content)
            saved.append(path)
    return saved
