r"""Names and paths as Linux, macOS and Windows take them.

Knows how long a path may be, which names a system keeps for itself, how it spells an accent, and how a shell is told a
name. Ignores what lies there. Windows opens a path of 260 signs or more only where it was set up so, or where the path
begins with `\\?\`; what is made below a folder counts as well. A file that came from macOS may have the letter and the
accent of its name apart, which Linux and Windows take for another name.
Source: Microsoft, «Naming Files, Paths, and Namespaces» and «Maximum Path Length Limitation»; Unicode, annex 15.
"""

from __future__ import annotations

import ctypes
import ntpath
import os
import re
import shlex
import unicodedata
from pathlib import Path

from celosia import system

_LONGEST = 259  # signs of a path that every Windows opens
_BELOW = 120  # signs of the longest path that is made below a folder that somebody names
LONG_PATH, _LONG_SHARE = "\\\\?\\", "\\\\?\\UNC\\"  # before a path without a limit
_DEVICES = {"con", "prn", "aux", "nul"} | {f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)}
_SYSTEM_FILES = {"desktop.ini", "thumbs.db"}
_NEEDS_NO_QUOTES = re.compile(r"[\w.:\\/~+][\w.:\\/~+-]*")


def usable_path(path: Path) -> Path:
    """The path of a file or folder by which this system opens it, and what is made below it."""
    return _path_as_spelt(Path(_long_path(str(path))) if system.WINDOWS else path)


def _long_path(path: str) -> str:
    r"""A path of Windows that may become too long, as `\\?\C:\…` or `\\?\UNC\server\share\…`; else as it is."""
    absolute = ntpath.abspath(path)
    if absolute.startswith(LONG_PATH) or len(absolute) + _BELOW <= _LONGEST or _opens_long_paths():
        return path
    return _LONG_SHARE + absolute[2:] if absolute.startswith("\\\\") else LONG_PATH + absolute


def _opens_long_paths() -> bool:
    """Whether this Windows was set up to open long paths as they are."""
    try:
        return bool(ctypes.WinDLL("ntdll").RtlAreLongPathsEnabled() & 0xFF)  # type: ignore[attr-defined]
    except (OSError, AttributeError):
        return False


def _path_as_spelt(path: Path) -> Path:
    """The path with each name as the disk spells it, where another system put letter and accent apart."""
    if str(path).isascii() or os.path.lexists(path) or path == path.parent:
        return path
    parent = _path_as_spelt(path.parent)
    try:
        names = sorted(os.listdir(parent))
    except OSError:
        return path
    return parent / next((name for name in names if same_spelling(name) == same_spelling(path.name)), path.name)


def same_spelling(name: str) -> str:
    """A name as every system spells it: each letter together with its accent."""
    return unicodedata.normalize("NFC", name)


def unreserved_name(name: str) -> str:
    """A name for a file, other than those that Windows keeps for devices: `con.csv` becomes `con_.csv`."""
    stem, dot, ending = name.partition(".")
    return f"{stem}_{dot}{ending}" if stem.rstrip().lower() in _DEVICES else name


def is_system_file(name: str) -> bool:
    """Whether a file is none of the person's: hidden, of an explorer, or left by Office beside an open document."""
    return name.startswith((".", "~$")) or name.lower() in _SYSTEM_FILES


def shell_word(name: object) -> str:
    """A path or name as it is typed at a terminal of this system."""
    if not system.WINDOWS:
        return shlex.quote(str(name))
    # The one sign in which cmd and PowerShell agree; no name of Windows has it.
    return str(name) if _NEEDS_NO_QUOTES.fullmatch(str(name)) else f'"{name}"'
