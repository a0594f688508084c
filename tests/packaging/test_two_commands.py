"""What the README tells people who only use the program: the wheel in an empty folder, and two commands.

The versions are those that a registry has today, as whoever types the two lines gets them; no lock stands between.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import UV, Built

pytestmark = [
    pytest.mark.slow,
    pytest.mark.downloads,
    pytest.mark.xdist_group("packaging"),
    pytest.mark.timeout(1800),
]


@pytest.fixture
def person(tmp_path: Path) -> dict[str, str]:
    """Whoever has nothing but Python: no tool, no compiled kernel, no setting of ours."""
    ours = ("PYTHONPATH", "CELOSIA_LANG", "NUMBA_CACHE_DIR", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    places = {"HOME": "home", "XDG_CACHE_HOME": "home/.cache", "UV_TOOL_DIR": "tools", "UV_TOOL_BIN_DIR": "bin"}
    for name, folder in places.items():
        environment[name] = str(tmp_path / folder)
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    # What was downloaded once stays downloaded: the cache of the registry is the one thing they share with us.
    shared_cache = subprocess.run([UV, "cache", "dir"], capture_output=True, text=True, check=True)
    environment["UV_CACHE_DIR"] = shared_cache.stdout.strip()
    environment |= {"UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
    environment["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{environment['PATH']}"
    return environment


def test_two_commands_lead_from_the_wheel_to_a_checked_candidate(
    built: Built, person: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    shutil.copy(built.wheel, folder)
    _type(folder, person, str(UV), "tool", "install", "--quiet", f"./{built.wheel.name}[desktop]")
    said = _type(folder, person, str(tmp_path / "bin" / "celosia"), "--lang", "es", "demo")
    assert "Listo." in said.splitlines()[-1], said[-2000:]
    assert len(list(folder.rglob("candidate/data.csv"))) == 1
    assert not list(folder.rglob(".celosia-*"))


def _type(folder: Path, environment: dict[str, str], *words: str) -> str:
    """What a command prints in a folder; it must end well."""
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout
