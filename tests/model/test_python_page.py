"""The examples of the page on results in Python are executed, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
LANGUAGES = ("es", "en")


def examples(language: str) -> list[str]:
    page = (DOCS / language / "python-results.md").read_text("utf-8")
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_examples_of_the_page_hold(language: str) -> None:
    pytest.importorskip("sklearn")
    exec("\n".join(examples(language)), {})


def test_both_languages_show_the_same_examples() -> None:
    assert examples("es") == examples("en")
    assert len(examples("es")) == 3
