"""The notebook of the tutorial shows what its cells really answer, and its page shows the notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celosia import messages
from tests.architecture.test_documentation import load_script


def _shown_texts(notebook: dict[str, Any]) -> list[str]:
    return [output["data"]["text/plain"] for cell in notebook["cells"] for output in cell.get("outputs", [])]


@pytest.mark.slow
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_cell_answers_what_the_notebook_shows(language: str) -> None:
    notebooks = load_script("notebooks")
    notebook = notebooks.read_notebook(language)
    fresh = notebooks.executed(notebook)
    assert len(_shown_texts(fresh)) > 8
    assert _shown_texts(fresh) == _shown_texts(notebook), "run python docs/notebooks.py"


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_the_page_of_the_tutorial_is_that_of_the_notebook(language: str, repository: Path) -> None:
    lines, pictures = load_script("notebooks").page_lines(language)
    folder = repository / "docs" / language
    assert (folder / "tutorial-python.md").read_text("utf-8").rstrip() == "\n".join(lines).rstrip()
    assert {name: (folder / "pictures" / name).read_text("utf-8") for name in pictures} == pictures
    assert len(pictures) == 2
