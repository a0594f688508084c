"""The output printed in the first steps is what the demonstration really prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture.source_files import REPOSITORY

PAGES = {
    "es": (REPOSITORY / "docs" / "es" / "first-steps.md",),
    "en": (REPOSITORY / "docs" / "en" / "first-steps.md",),
}
PROGRAM = "import sys; from celosia.cli import main; sys.exit(main())"


def output_lines(page: Path) -> list[str]:
    """Lines of output in a page: the blocks that begin with a command or a table row, without the gaps."""
    blocks = re.findall(r"^```text\n((?:\$ |│).*?)^```", page.read_text("utf-8"), flags=re.M | re.S)
    return [line.rstrip() for block in blocks for line in block.splitlines() if line.strip() != "…"]


@pytest.fixture(scope="module")
def printed_lines(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], set[str]]:
    """The lines the demonstration prints in a language."""

    def run(language: str) -> set[str]:
        folder = tmp_path_factory.mktemp(language)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "demo", "--into", "build/demo"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            encoding="utf-8",
            env={**os.environ, "CELOSIA_LANG": language, "PYTHONUTF8": "1"},
        )
        assert (done.returncode, done.stderr) == (0, "")
        return {line.rstrip() for line in done.stdout.splitlines()}

    return run


@pytest.mark.slow
@pytest.mark.parametrize("language", PAGES)
def test_the_pages_show_what_the_demonstration_prints(language: str, printed_lines: Callable[[str], set[str]]) -> None:
    output = printed_lines(language)
    for page in PAGES[language]:
        lines = output_lines(page)
        assert len(lines) > 10
        assert [line for line in lines if line not in output] == [], page.name
