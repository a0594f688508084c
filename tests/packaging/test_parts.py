"""Each optional part in an environment that holds celosia, that part and nothing else, on each Python there is.

Spark is left to its own tests: it weighs half a gigabyte and needs Java.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from celosia.bundle.platforms import VERSIONS
from tests.packaging.conftest import Built, make_environment, run

pytestmark = [pytest.mark.slow, pytest.mark.downloads, pytest.mark.xdist_group("packaging")]
PARTS = ("core", "office", "web", "postgres", "legal", "bundle", "desktop")
RUNNING = "{}.{}".format(*sys.version_info[:2])
PROBE = Path(__file__).with_name("probe.py")


def _python(version: str) -> str | None:
    """An interpreter of that version: the running one, one on the path, or one of pyenv's."""
    if version == RUNNING:
        return sys.executable
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(kept[-1]) if kept else shutil.which(f"python{version}")


PYTHONS = [version for version in VERSIONS if _python(version)]


def test_the_running_python_is_tried() -> None:
    assert RUNNING in PYTHONS


@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_needs_no_other(part: str, version: str, built: Built, tmp_path: Path) -> None:
    wheel = str(built.wheel) if part == "core" else f"{built.wheel}[{part}]"
    python = make_environment(tmp_path / "environment", str(_python(version)), wheel)
    (tmp_path / "work").mkdir()
    run(python, PROBE, part, tmp_path / "work", cwd=tmp_path / "work")
    shutil.rmtree(tmp_path / "environment")
