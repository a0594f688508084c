"""The pictures of the guides: pages of the documents that the examples make, `python -m examples.pictures`.

Walks each example in a temporary folder and renders the pages with the same layout as the PDF, in both languages.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from examples.atenea import make_data as atenea_data
from examples.atenea import walk as atenea
from examples.mel import make_data as mel_data
from examples.mel import walk as mel
from examples.minsal import make_data as minsal_data
from examples.minsal import walk as minsal
from examples.walker import Edit, Step, walk
from examples.yapo import make_data as yapo_data
from examples.yapo import walk as yapo

DOCS = Path(__file__).resolve().parents[1] / "docs"
PIXELS_PER_INCH = 80.0
LARGEST = 200_000  # bytes
# example, document, pages shown, and the name of the pictures
SHOWN = (
    (minsal.STEPS, minsal_data.make_data, minsal.PROJECT, "minsal_form", 2, "minsal-anexo-i"),
    (atenea.STEPS, atenea_data.make_data, atenea.PROJECT, "atenea_risk", 1, "atenea-risk"),
    (mel.STEPS, mel_data.make_data, mel.PROJECT, "mel_contrast", 1, "mel-contrast"),
)


def main() -> None:
    """Make every picture anew."""
    for steps, make_data, project, document, pages, name in SHOWN:
        with tempfile.TemporaryDirectory() as folder:
            _walked(steps, make_data, Path(folder))
            for language in ("es", "en"):
                for number, picture in enumerate(_pages(Path(folder) / project, document, language)[:pages], start=1):
                    _keep(DOCS / language / "pictures" / f"{name}-{number}.png", picture)

    _catalogue()


def _catalogue() -> None:
    """The first page of the catalogue of the statistics."""
    from celosia.dossier.pdf import to_png
    from celosia.dossier.stats import catalogue_document
    from celosia.model.reports.stats import StatsCatalogue, entry_from

    with tempfile.TemporaryDirectory() as folder:
        _walked(yapo.STEPS, yapo_data.make_data, Path(folder))
        document = json.loads((Path(folder) / yapo.PROJECT / "catalogue.json").read_text("utf-8"))
    entries = tuple(entry_from(table) for table in document["tables"])
    catalogue = StatsCatalogue(document["title"], entries, document["audiences"])
    for language in ("es", "en"):
        picture = to_png(catalogue_document(catalogue, language), datetime.now(UTC), PIXELS_PER_INCH)[0]
        _keep(DOCS / language / "pictures" / "yapo-catalogue-1.png", picture)


def _walked(steps: Sequence[Step], make_data: Edit, folder: Path) -> None:
    make_data(folder)
    walk(steps, folder)


def _pages(project: Path, document: str, language: str) -> tuple[bytes, ...]:
    """The pages of one internal document of a walked project."""
    from celosia import messages
    from celosia.dossier.pdf import to_png
    from celosia.pipeline.project.folder import open_project
    from celosia.pipeline.release.document_input import collect_document_input
    from celosia.pipeline.release.documents import document_builders

    now = datetime.now(UTC)
    with messages.speaking(language):
        contents = collect_document_input(open_project(project), now)
        made = document_builders(contents, "internal")[document](contents, language)
    return to_png(made, now, PIXELS_PER_INCH)


def _keep(path: Path, picture: bytes) -> None:
    if len(picture) > LARGEST:
        raise RuntimeError(f"{path.name}: {len(picture)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(picture)
    print(path, len(picture))


if __name__ == "__main__":
    main()
