"""This very program, as it runs, copied with its metadata into the folder of packages.

Knows installed distributions. Ignores what is in the bundle beside it.
"""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from celosia.carried import PACKAGE, carried_origins
from celosia.version import __version__

_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


def copy_program(site: Path) -> None:
    """The package, what the wheel carries with it, and its metadata."""
    shutil.copytree(PACKAGE, site / "celosia", ignore=_LEFT_OUT)
    for place, origin in carried_origins().items():
        target = site / "celosia" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if origin.is_dir():
            shutil.copytree(origin, target, ignore=_LEFT_OUT, dirs_exist_ok=True)
        else:
            shutil.copy(origin, target)
    _write_metadata(site / f"celosia-{__version__}.dist-info")


def _write_metadata(folder: Path) -> None:
    """What `importlib.metadata` asks for; a program that was never installed has just a name and a version."""
    folder.mkdir()
    plain = f"Metadata-Version: 2.4\nName: celosia\nVersion: {__version__}\n"
    try:
        known = distribution("celosia").read_text("METADATA") or plain
    except PackageNotFoundError:
        known = plain
    lines = [f"Version: {__version__}" if line.startswith("Version: ") else line for line in known.splitlines()]
    (folder / "METADATA").write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
    (folder / "INSTALLER").write_text("celosia bundle\n", "utf-8", newline="\n")
