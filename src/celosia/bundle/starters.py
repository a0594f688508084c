"""The files somebody opens: a starter for the terminal, one for a double click, and a page that says how.

Knows the shells of each system. Ignores how the folder was filled. Starters hold plain ASCII: a code page of Windows
shows anything else as other signs.
"""

from __future__ import annotations

from pathlib import Path

from celosia import messages
from celosia.bundle.platforms import Platform
from celosia.storage import set_mode

_WINDOWS = """@echo off
setlocal
"%~dp0python\\python.exe" -m celosia %*
exit /b %ERRORLEVEL%
"""
_WINDOWS_OPEN = """@echo off
title celosia
if "%CELOSIA_PROJECTS%"=="" set "CELOSIA_PROJECTS=%USERPROFILE%\\celosia"
if not exist "%CELOSIA_PROJECTS%" mkdir "%CELOSIA_PROJECTS%"
call "%~dp0celosia.cmd" serve "%CELOSIA_PROJECTS%" %*
if errorlevel 1 pause
"""
# -P and -s: neither the current folder nor packages of the user's own come before those of the bundle.
_SHELL = """#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
for python in python{version} python3 python; do
  if "$python" -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "{version}")' 2>/dev/null; then
    PYTHONPATH="$here/site" exec "$python" -P -s -m celosia "$@"
  fi
done
echo "celosia: falta Python {version}. Python {version} is missing." >&2
exit 2
"""
_SHELL_OPEN = """#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
projects=${CELOSIA_PROJECTS:-$HOME/celosia}
mkdir -p -- "$projects"
exec "$here/celosia" serve "$projects" "$@"
"""
_OPENERS = {"win32": "abrir-celosia.cmd", "darwin": "abrir-celosia.command", "linux": "abrir-celosia.sh"}


def write_starters(folder: Path, platform: Platform, python: str) -> None:
    """The two starters and the page, in both languages."""
    if platform.system == "win32":
        _write_command(folder / "celosia.cmd", _WINDOWS)
        _write_command(folder / opener_of(platform), _WINDOWS_OPEN)
    else:
        _write_script(folder / "celosia", _SHELL.replace("{version}", python))
        _write_script(folder / opener_of(platform), _SHELL_OPEN)
    for language, name in (("es", "LEAME.txt"), ("en", "README.txt")):
        with messages.speaking(language):
            _write_command(folder / name, _page(platform, python))


def opener_of(platform: Platform) -> str:
    """The starter for a double click."""
    return _OPENERS[platform.system]


def _page(platform: Platform, python: str) -> str:
    starter = "celosia.cmd" if platform.carries_python else "./celosia"
    kind = "own" if platform.carries_python else "theirs"
    parts = [
        messages.text("bundle.page.open", opener=opener_of(platform)),
        messages.text(f"bundle.page.python_{kind}", version=python),
        messages.text("bundle.page.terminal", starter=starter),
        messages.text("bundle.page.digests"),
    ]
    return "celosia\n\n" + "\n\n".join(parts) + "\n"


def _write_command(path: Path, text: str) -> None:
    path.write_text(text, "utf-8", newline="\r\n")


def _write_script(path: Path, text: str) -> None:
    path.write_text(text, "utf-8", newline="\n")
    set_mode(path, 0o755)
