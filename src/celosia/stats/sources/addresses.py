"""The address of a database that stats.toml names; it may hold a password and is never shown.

Knows the forms `env:NAME`, `file:/path/outside/the/project`, `postgresql://…` without a password, `spark:/folder`,
and files of DuckDB and SQLite. Ignores what is done with the database.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from celosia.data.sniffing import holds_password
from celosia.pipeline.intake.errors import AddressUnclear, AddressUnset
from celosia.pipeline.project.errors import PasswordInAddress
from celosia.stats.errors import AddressInProject, TargetIsSource
from celosia.storage import translate_read_errors

Kind = Literal["postgres", "duckdb", "sqlite", "spark"]
_POSTGRES = ("postgresql://", "postgres://")
_ENDINGS: dict[str, Kind] = {
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".db3": "sqlite",
}
_FILES: tuple[Kind, Kind] = ("duckdb", "sqlite")
_SQLITE_MAGIC, _DUCKDB_MAGIC = b"SQLite format 3\0", b"DUCK"


@dataclass(frozen=True, slots=True)
class Address:
    """A database: its kind and where it is. Its repr shows the kind alone."""

    kind: Kind
    url: str = field(default="", repr=False)
    path: Path = field(default=Path(), repr=False)


def address(url: str, folder: Path) -> Address:
    """The database that a setting names; files are relative to the project's folder."""
    text = _resolve(url.strip(), folder)
    if text.startswith(_POSTGRES):
        return Address("postgres", url=text)
    if text.startswith("spark:") and not text.startswith("spark://"):
        return Address("spark", path=(folder / text.removeprefix("spark:")).resolve())
    return _file(text, folder)


def refuse_same_file(source: Address, target: Address) -> None:
    """Refuse to write STATS into the file of PERSONAL."""
    if source.kind in _FILES and target.kind in _FILES and source.path.resolve() == target.path.resolve():
        raise TargetIsSource()


def _resolve(text: str, folder: Path) -> str:
    if text.startswith("env:"):
        return _address_from_environment(text.removeprefix("env:").strip())
    if text.startswith("file:"):
        return _address_from_file(Path(text.removeprefix("file:").removeprefix("//")).expanduser(), folder)
    if text.startswith(_POSTGRES) and holds_password(text):
        raise PasswordInAddress()
    return text


def _address_from_environment(name: str) -> str:
    url = os.environ.get(name, "").strip()
    if not url:
        raise AddressUnset(place=f"env:{name}")
    return url


def _address_from_file(path: Path, folder: Path) -> str:
    if (folder / path).resolve().is_relative_to(folder.resolve()):
        raise AddressInProject(path=str(path))
    with translate_read_errors(path):
        lines = path.read_text("utf-8", errors="replace").splitlines()
    url = next((line.strip() for line in lines if line.strip() and not line.startswith("#")), "")
    if not url:
        raise AddressUnset(place=f"file:{path}")
    return url


def _file(text: str, folder: Path) -> Address:
    for kind in _FILES:
        if text.startswith(f"{kind}:"):
            return Address(kind, path=folder / text.removeprefix(f"{kind}:").removeprefix("//"))
    if not text or "://" in text:
        raise AddressUnclear()
    path = folder / text
    known = _written_as(path) or _ENDINGS.get(path.suffix.lower())
    if known is None:
        raise AddressUnclear()
    return Address(known, path=path)


def _written_as(path: Path) -> Kind | None:
    """The kind of an existing file, by its first bytes."""
    if not path.is_file():
        return None
    with translate_read_errors(path), path.open("rb") as file:
        start = file.read(16)
    if start == _SQLITE_MAGIC:
        return "sqlite"
    return "duckdb" if start[8:12] == _DUCKDB_MAGIC else None
