"""Every sentence a user reads, in Spanish and English.

Knows keys `section.name` and their fields; a section is one file per language, read when first needed.
Ignores who asks. Numbers are written in the style of the language (7,63 % / 7.63 %).
"""

from __future__ import annotations

import contextlib
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

LANGUAGES = ("es", "en")
_FOLDER = Path(__file__).parent
_WINDOWS_LANGUAGES = {0x09: "en", 0x0A: "es"}  # primary language identifiers
_MACOS_SETTINGS = Path("Library", "Preferences", ".GlobalPreferences.plist")
_LONG_PATH = "\\\\?\\"
_current: str | None = None  # nobody said yet: what the environment prefers
_reader: Callable[[], str | None] = lambda: None  # noqa: E731 - no page is open yet


def language() -> str:
    """The language in use: of the current reader where it is known, else of the process, else of the environment."""
    return _reader() or _current or preferred_language()


def follow(reader: Callable[[], str | None]) -> None:
    """Ask this function for the language first: a server answers several readers at once."""
    global _reader
    _reader = reader


def use(code: str) -> None:
    """Set the language of the process; an unknown one means Spanish."""
    global _current
    _current = code if code in LANGUAGES else "es"


@contextlib.contextmanager
def speaking(code: str) -> Iterator[None]:
    """Use a language for the length of a block."""
    global _current
    before = _current
    use(code)
    try:
        yield
    finally:
        _current = before


def preferred_language() -> str:
    """Language asked for by the environment, or that of Windows or macOS itself; Spanish if none is one we know."""
    for name in ("CELOSIA_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        code = os.environ.get(name, "")[:2].lower()
        if code in LANGUAGES:
            return code
    of_system = _WINDOWS_LANGUAGES.get(_windows_language() & 0x3FF) or _macos_language()
    return of_system if of_system in LANGUAGES else "es"


def _windows_language() -> int:
    """The number of the language in which Windows speaks to this person; 0 on other systems, which set LANG."""
    if sys.platform != "win32":
        return 0
    import ctypes

    return int(ctypes.windll.kernel32.GetUserDefaultUILanguage())


def _macos_language() -> str:
    """The first language of the person's settings on macOS, where a double click sets no LANG; empty elsewhere."""
    if sys.platform != "darwin":
        return ""
    import plistlib

    try:
        settings = plistlib.loads((Path.home() / _MACOS_SETTINGS).read_bytes())
        return str(settings["AppleLanguages"][0])[:2]
    except (OSError, ValueError, KeyError, IndexError, TypeError, plistlib.InvalidFileException):
        return ""


@cache
def section(code: str, name: str) -> dict[str, str]:
    """All sentences of one section in one language."""
    return _flatten(tomllib.loads((_FOLDER / code / f"{name}.toml").read_text("utf-8")))


def _flatten(tree: dict[str, object], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = str(value)
    return flat


def sections(code: str) -> tuple[str, ...]:
    """Names of the sections of a language."""
    return tuple(sorted(path.stem for path in (_FOLDER / code).glob("*.toml")))


def text(key: str, **fields: object) -> str:
    """The sentence behind a key, with its fields filled in."""
    name, _, rest = key.partition(".")
    return section(language(), name)[rest].format(**{k: _format_field(v) for k, v in fields.items()})


def has(key: str) -> bool:
    """Whether the current language knows a key."""
    name, _, rest = key.partition(".")
    return name in sections(language()) and rest in section(language(), name)


def _format_field(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, str | Path) and str(value).startswith(_LONG_PATH):
        # What only tells Windows that a path may be long; a share begins with two strokes.
        return str(value).replace("\\\\?\\UNC", "\\", 1).removeprefix(_LONG_PATH)
    if isinstance(value, int):
        return integer(value)
    if isinstance(value, float):
        return decimal(value, 4)
    return value


def integer(value: int) -> str:
    """A whole number with the language's thousands mark, from five digits on in Spanish."""
    if language() == "es":
        return f"{value:,}".replace(",", ".") if abs(value) >= 10_000 else str(value)
    return f"{value:,}"


def decimal(value: float, digits: int) -> str:
    """A number with the language's decimal mark."""
    formatted = f"{value:,.{digits}f}"
    if language() == "es":
        formatted = formatted.translate(str.maketrans(",.", ".,"))
    return formatted


def percent(share: float, digits: int = 2) -> str:
    """A share 0..1 as the norms print it: «7,63 %»."""
    return f"{decimal(100 * share, digits)} %"


def part(share: float, digits: int = 2) -> str:
    """A share as a percentage in which a small one never reads as none (< 0,01 %)."""
    least = float(f"1e-{digits + 2}")
    return f"< {percent(least, digits)}" if 0 < share < least / 2 else percent(share, digits)
