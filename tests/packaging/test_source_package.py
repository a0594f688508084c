"""The source package: whoever unpacks it can collect every test and run them."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.packaging.conftest import Built

pytestmark = [pytest.mark.slow, pytest.mark.downloads, pytest.mark.xdist_group("packaging")]
# A part that needs no git and takes seconds, and reads files of every folder.
FAST = ("tests/packaging/test_metadata.py", "tests/packaging/test_examples.py", "tests/model", "tests/hierarchy")


@pytest.fixture(scope="module")
def unpacked(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source package in a folder outside any repository."""
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(built.source) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.iterdir())


def _pytest(folder: Path, *words: str) -> str:
    # The real public data lie beside our repository alone: what skips for them may skip here, under CI too.
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "CI": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout


def test_every_test_is_collected(unpacked: Path) -> None:
    assert "error" not in _pytest(unpacked, "--collect-only").splitlines()[-1]


def test_a_fast_part_passes(unpacked: Path) -> None:
    assert " passed" in _pytest(unpacked, "-m", "not slow", *FAST).splitlines()[-1]


def test_the_source_package_holds_no_scratch(unpacked: Path) -> None:
    names = {part for path in unpacked.rglob("*") for part in path.relative_to(unpacked).parts}
    assert not names & {"__pycache__", ".venv", ".venvs", "build", "site", ".git"}
