"""From what stats.toml says of a database to its address, which may hold a password and is never shown.

Knows the forms `env:NAME`, `file:/path/outside/the/project`, `postgresql://…` without a password, `spark:/folder`,
and files of DuckDB and SQLite. Ignores what is done with the database.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from celosia.data.files import reading_from
from celosia.data.sniffing import holds_password
from celosia.errors import AddressInProject, AddressUnclear, AddressUnset, PasswordInAddress, TargetIsSource

Kind = Literal["postgres", "duckdb", "sqlite", "spark"]
_POSTGRES = ("postgresql://", "postgres://")
_ENDINGS: dict[str, Kind] = {
    ".duckdb": "duckdb", ".ddb": "duckdb",
    ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite", ".db3": "sqlite",
}  # fmt: skip
_FILES: tuple[Kind, Kind] = ("duckdb", "sqlite")
_SQLITE_MAGIC, _DUCKDB_MAGIC = b"SQLite format 3\0", b"DUCK"


@dataclass(frozen=True, slots=True)
class Address:
    """A database: what kind, and where. Its text form tells the kind alone."""

    kind: Kind
    url: str = field(default="", repr=False)
    path: Path = field(default=Path(), repr=False)


def address(url: str, folder: Path) -> Address:
    """The database that a setting names; files are relative to the project's folder."""
    text = _resolved(url.strip(), folder)
    if text.startswith(_POSTGRES):
        return Address("postgres", url=text)
    if text.startswith("spark:") and not text.startswith("spark://"):
        return Address("spark", path=(folder / text.removeprefix("spark:")).resolve())
    return _file(text, folder)


def refuse_same_place(source: Address, target: Address) -> None:
    """Stop where STATS would be written into the file of PERSONAL."""
    if source.kind in _FILES and target.kind in _FILES and source.path.resolve() == target.path.resolve():
        raise TargetIsSource()


def _resolved(text: str, folder: Path) -> str:
    if text.startswith("env:"):
        return _from_environment(text.removeprefix("env:").strip())
    if text.startswith("file:"):
        return _from_file(Path(text.removeprefix("file:").removeprefix("//")).expanduser(), folder)
    if text.startswith(_POSTGRES) and holds_password(text):
        raise PasswordInAddress()
    return text


def _from_environment(name: str) -> str:
    found = os.environ.get(name, "").strip()
    if not found:
        raise AddressUnset(place=f"env:{name}")
    return found


def _from_file(path: Path, folder: Path) -> str:
    if (folder / path).resolve().is_relative_to(folder.resolve()):
        raise AddressInProject(path=str(path))
    with reading_from(path):
        lines = path.read_text("utf-8", errors="replace").splitlines()
    found = next((line.strip() for line in lines if line.strip() and not line.startswith("#")), "")
    if not found:
        raise AddressUnset(place=f"file:{path}")
    return found


def _file(text: str, folder: Path) -> Address:
    for kind in _FILES:
        if text.startswith(f"{kind}:"):
            return Address(kind, path=folder / text.removeprefix(f"{kind}:").removeprefix("//"))
    if not text or "://" in text:
        raise AddressUnclear()
    path = folder / text
    found = _written_as(path) or _ENDINGS.get(path.suffix.lower())
    if found is None:
        raise AddressUnclear()
    return Address(found, path=path)


def _written_as(path: Path) -> Kind | None:
    """What an existing file is, by its first bytes: names deceive."""
    if not path.is_file():
        return None
    with reading_from(path), path.open("rb") as file:
        start = file.read(16)
    if start == _SQLITE_MAGIC:
        return "sqlite"
    return "duckdb" if start[8:12] == _DUCKDB_MAGIC else None
