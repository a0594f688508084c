"""Where compiled kernels are kept: a folder of the user's own, mode 0700, or nowhere.

In the home; where that cannot be written, among the temporary files.

numba's cache is read back as code, so a folder that others may write would let them run theirs (DESIGN §4,
rule 10). A folder named by NUMBA_CACHE_DIR is honoured when it is as private as our own. On Windows the access list
of the folder says so, in place of a mode.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

from celosia import system
from celosia.system import access


@cache
def cache_folder() -> Path | None:
    """The private folder of this process's compiled kernels; None when none can be had."""
    return choose_folder(os.environ, Path.home())


def choose_folder(environment: Mapping[str, str], home: Path) -> Path | None:
    """The first folder among the user's choice and our own that is private and writable."""
    named = environment.get("NUMBA_CACHE_DIR")
    if named and is_private(Path(named)):
        return Path(named)
    name = f"numba-{version('numba')}"
    ours = _base(environment, home) / "celosia" / name
    if _make(ours):
        return ours
    temporary = Path(tempfile.gettempdir())
    spare = temporary / f"celosia-{_user()}-{name}"
    return spare if _keeps_owners_apart(temporary) and _make(spare) else None


def is_private(folder: Path) -> bool:
    """Whether a folder exists, is ours, is no link, and nobody else may write or read it."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode) or not os.access(folder, os.W_OK | os.X_OK):
        return False
    if system.WINDOWS:
        return access.is_private(folder)
    return status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) & 0o077 == 0


def _user() -> int:
    return getattr(os, "getuid", lambda: 0)()


def _keeps_owners_apart(folder: Path) -> bool:
    """Whether nobody else may rename or remove what we put into a folder."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return system.WINDOWS or bool(mode & stat.S_ISVTX) or mode & 0o022 == 0


def _base(environment: Mapping[str, str], home: Path) -> Path:
    if system.WINDOWS:
        return Path(environment.get("LOCALAPPDATA", str(home / "AppData" / "Local")))
    if system.MACOS:
        return home / "Library" / "Caches"
    return Path(environment.get("XDG_CACHE_HOME", str(home / ".cache")))


def _make(folder: Path) -> bool:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not folder.is_symlink():
            folder.mkdir(mode=0o700, exist_ok=True)
            if system.WINDOWS or folder.stat().st_uid == os.getuid():
                access.set_mode(folder, 0o700)
    except OSError:
        return False
    return is_private(folder)
