"""Edits of several keys of celosia.toml at once, and of its [unit], that leave what people wrote beside them.

Knows the file. Ignores what its keys mean, except that it must still be a project's when it is written.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import tomlkit
from tomlkit import TOMLDocument

from celosia.data.files import replacing
from celosia.errors import BadProjectFile
from celosia.pipeline._kept import editing, refuse_edited
from celosia.pipeline._project import Project, read_toml
from celosia.pipeline._settings import refuse_wrong_settings

_UNIT = re.compile(r"^\[unit\][ \t]*(#[^\n]*)?\n", re.MULTILINE)


@contextlib.contextmanager
def settings_edited(project: Project, expected: str | None = None) -> Iterator[TOMLDocument]:
    """The document of celosia.toml; what it holds when the block ends well is written in one step."""
    with editing(project.folder, project.folder / "celosia.toml", expected):
        document = read_settings(project)
        yield document
        write_settings(project, document, expected)


def read_settings(project: Project) -> TOMLDocument:
    """celosia.toml with its comments."""
    path = project.folder / "celosia.toml"
    read_toml(path)  # a file that cannot be parsed is refused by its line
    return tomlkit.parse(path.read_text("utf-8-sig"))


def write_settings(project: Project, document: TOMLDocument, expected: str | None = None) -> None:
    """Write celosia.toml, unless nothing in it is new; whoever calls holds the project's edits."""
    path, text = project.folder / "celosia.toml", tomlkit.dumps(document)
    if text == path.read_text("utf-8-sig"):
        return
    try:
        refuse_wrong_settings(tomllib.loads(text), str(path))
    except tomllib.TOMLDecodeError:
        raise BadProjectFile(path=str(path), line="?") from None
    refuse_edited(path, expected)
    with replacing(path, 0o644) as draft:
        draft.write_text(text, "utf-8", newline="\n")


def put_in_unit(document: TOMLDocument, key: str, value: str) -> TOMLDocument:
    """The document in which [unit] names a column; a new key stands below the header, not after later comments."""
    unit: Any = document.setdefault("unit", tomlkit.table())
    if key not in unit:
        line = tomlkit.dumps({key: value})
        placed = tomlkit.parse(_UNIT.sub(lambda header: header[0] + line, tomlkit.dumps(document), count=1))
        if placed.unwrap().get("unit", {}).get(key) == value:
            return placed
    unit[key] = value
    return document


def without_unit(document: TOMLDocument, key: str) -> TOMLDocument:
    """The document in which [unit] no longer names a column."""
    unit: Any = document.get("unit", {})
    unit.pop(key, None)
    return document
