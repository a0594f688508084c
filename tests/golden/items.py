"""What is recorded: items with a name that reads as a path, their bytes, and the digests that are committed.

Knows names, bytes and the few parts of them that cannot repeat. Ignores what runs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

import duckdb

GONE = b"<GONE>"  # stands for what a removed file said
HEADER_TIMES = {
    ".sav": re.compile(rb"\d\d [A-Z][a-z]{2} \d\d\d\d:\d\d:\d\d"),
    ".dta": re.compile(rb"\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d"),
}


class Items:
    """The items of one recording, written one by one to a folder."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self.digests: dict[str, str] = {}

    def add(self, name: str, body: bytes) -> None:
        """Write an item and note its digest; a name is used once."""
        if name in self.digests:
            raise ValueError(name)
        path = self._target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        self.digests[name] = hashlib.sha256(body).hexdigest()

    def add_files(self, name: str, files: Mapping[str, bytes]) -> None:
        """Add each file under a name."""
        for path, body in sorted(files.items()):
            self.add(f"{name}/{path}", body)


def read_files(folder: Path) -> dict[str, bytes]:
    """What every file of a folder says, by its path in it."""
    return {path.relative_to(folder).as_posix(): _content(path) for path in _files(folder)}


def read_changes(source: Path, copy: Path) -> dict[str, bytes]:
    """What the files of a copy say that are new in it or say something else than in its source; and which are gone."""
    names = {path.relative_to(copy) for path in _files(copy)}
    missing = [path.relative_to(source) for path in _files(source) if path.relative_to(source) not in names]
    changed = {name.as_posix(): GONE for name in missing}
    for path in _files(copy):
        before = source / path.relative_to(copy)
        if not before.is_file() or before.read_bytes() != path.read_bytes():
            content = _content(path)
            if not before.is_file() or _content(before) != content:
                changed[path.relative_to(copy).as_posix()] = content
    return changed


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def write_digests(path: Path, digests: Mapping[str, str]) -> None:
    """Write the digests, one line for each item, in order."""
    path.write_text(json.dumps(digests, indent=0, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


def read_digests(path: Path) -> dict[str, str]:
    """The digests of a recording."""
    return dict(json.loads(path.read_text("utf-8")))


def differences(expected: Mapping[str, str], actual: Mapping[str, str]) -> list[str]:
    """One line for each item that changed, is new or is gone."""
    names = sorted(expected.keys() | actual.keys())
    return [
        f"{'new' if name not in expected else 'gone' if name not in actual else 'changed'}: {name}"
        for name in names
        if expected.get(name) != actual.get(name)
    ]


def _content(path: Path) -> bytes:
    if path.suffix == ".duckdb":
        return _tables(path)
    body = path.read_bytes()
    return HEADER_TIMES[path.suffix].sub(b"<TIME>", body, count=1) if path.suffix in HEADER_TIMES else body


def _tables(path: Path) -> bytes:
    """Definition and sorted rows of every table and view of a database."""
    with duckdb.connect(str(path), read_only=True) as database:
        database.execute("SET TimeZone = 'UTC'")
        objects = database.execute(
            "SELECT schema_name, table_name, sql FROM duckdb_tables() WHERE NOT internal"
            " UNION ALL SELECT schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
        ).fetchall()
        lines = []
        for schema, name, definition in objects:
            rows = database.execute(f'SELECT COLUMNS(*)::VARCHAR FROM "{schema}"."{name}"').fetchall()
            lines += [definition, *sorted(map(repr, rows))]
    return "\n".join(lines).encode()
