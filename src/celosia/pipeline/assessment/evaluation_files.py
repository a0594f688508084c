"""Files of an evaluation: the page, and each picture as SVG and as PNG.

typst renders the PNG from the same SVG with the fonts it carries, so that it is the same on every machine.
"""

from __future__ import annotations

from pathlib import Path

from celosia.dossier.charts import pictures
from celosia.dossier.evaluation import evaluation_page
from celosia.model.reports.evaluation import EvaluationReport
from celosia.storage import atomic_write, make_private_folder

_PAGE = b'#set page(width: auto, height: auto, margin: 0pt)\n#image(bytes(sys.inputs.picture), format: "svg")\n'
_PPI = 144.0


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
            contents[pictures_into / f"{name}.png"] = png_of(svg)
    for path, content in contents.items():
        if not path.parent.exists():
            make_private_folder(path.parent)
        with atomic_write(path) as draft:
            draft.write_bytes(content)
    return tuple(contents)


def png_of(svg: str) -> bytes:
    """A picture as PNG; nothing of the machine enters it, not even its fonts."""
    import typst

    compiler = typst.Compiler(_PAGE, ignore_system_fonts=True, sys_inputs={"picture": svg})
    compiled = compiler.compile(format="png", ppi=_PPI)
    pages = compiled if isinstance(compiled, list) else [compiled or b""]
    return bytes(pages[0])
