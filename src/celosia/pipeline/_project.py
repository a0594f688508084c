"""A project is a folder (DESIGN §6): this module knows its files and how they are read and written.

Ignores what the figures mean. `private/` is made with mode 0700 and never leaves the house.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.sniffing import holds_password
from celosia.errors import (
    BadProjectFile,
    FileMissing,
    NotAProject,
    PasswordInAddress,
    UnknownFormat,
    WorkingCopyMissing,
)
from celosia.model import dictionary
from celosia.model.place import PLACE_FORMAT, InPlace, place_from
from celosia.model.project import ENGINE, FORMAT, ProjectConfig
from celosia.model.sources import ColumnLabels, Notice, ReadingChoices, Source
from celosia.model.variables import Variable
from celosia.pipeline._call import Place
from celosia.pipeline._settings import refuse_wrong_settings


@dataclass(frozen=True, slots=True)
class Project:
    """A project folder and what its celosia.toml says."""

    folder: Path
    config: ProjectConfig

    @property
    def private(self) -> Path:
        """What never leaves the house."""
        return self.folder / "private"

    @property
    def working_copy(self) -> Path:
        """The private columnar copy of the source, a file or a folder of parts; absent where rows stay in place."""
        return self.private / "working.parquet"

    @property
    def in_place(self) -> InPlace | None:
        """The table of a database whose rows stay there; None where there is a working copy."""
        path = self.private / "place.json"
        return _read_place(path) if path.is_file() and not self.working_copy.exists() else None

    def names(self) -> tuple[str, ...]:
        """The names of the source's columns, in their order."""
        from celosia.data.readers import working_names

        place = self.in_place
        return working_names(self.working_copy) if place is None else place.names

    def labels(self) -> dict[str, ColumnLabels]:
        """What the source itself says of its columns; a database says nothing."""
        from celosia.data.readers import working_labels

        return working_labels(self.working_copy) if self.in_place is None else {}

    @property
    def dictionary_path(self) -> Path:
        """The annotated dictionary."""
        return self.folder / "dictionary.csv"

    @property
    def journal_path(self) -> Path:
        """The journal."""
        return self.folder / "journal.jsonl"

    def variables(self) -> tuple[Variable, ...]:
        """The variables of the dictionary."""
        try:
            content = self.dictionary_path.read_text("utf-8")
        except OSError:
            raise FileMissing(path=str(self.dictionary_path)) from None
        except UnicodeDecodeError:
            raise BadProjectFile(path=str(self.dictionary_path), line="?") from None
        return dictionary.load(content, str(self.dictionary_path))


def is_project(path: Path) -> bool:
    """Whether a folder holds a project."""
    return (path / "celosia.toml").is_file()


def open_project(folder: Place) -> Project:
    """The project in a folder; its working copy must be there."""
    folder = Path(folder)
    if not is_project(folder):
        raise NotAProject(path=str(folder))
    project = Project(folder, _config(read_toml(folder / "celosia.toml"), folder / "celosia.toml"))
    if not project.working_copy.exists() and project.in_place is None:
        raise WorkingCopyMissing(path=str(folder))
    return project


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file; a syntax error names the line."""
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadProjectFile(path=str(path), line="?") from None
    except tomllib.TOMLDecodeError as fault:
        raise BadProjectFile(path=str(path), line=_line_of(str(fault))) from None


def config_document(config: ProjectConfig, template: str = "") -> str:
    """The text of a fresh celosia.toml; the template is what people may add to it, as comments."""
    import tomlkit

    document = tomlkit.document()
    document["format"] = FORMAT
    document["name"] = config.name
    document["language"] = config.language
    document["protocols"] = list(config.protocols)
    if config.engine != ENGINE:
        document["engine"] = config.engine
    if config.memory:
        document["memory"] = config.memory
    document["source"] = source_dict(config.source)
    unit = tomlkit.table()
    if config.person:
        unit["person"] = config.person
    if config.household:
        unit["household"] = config.household
    else:
        unit.add(tomlkit.comment('household = ""  ' + messages.text("plan.template.household")))
    document["unit"] = unit
    return tomlkit.dumps(document) + template


def source_dict(source: Source) -> dict[str, Any]:
    """A source and its reading choices as plain data, for celosia.toml and JSON reports."""
    reading = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(source.choices).items()}
    reading["notes"] = [{"key": note.key, **dict(note.fields)} for note in source.choices.notes]
    return {
        "name": source.name,
        "digest": source.digest,
        "rows": source.rows,
        "columns": source.columns,
        "reading": reading,
    }


def _config(document: dict[str, Any], path: Path) -> ProjectConfig:
    found = str(document.get("format", ""))
    if found != FORMAT:
        raise UnknownFormat(path=str(path), found=found, expected=FORMAT)
    refuse_wrong_settings(document, str(path))
    engine = document.get("engine", ENGINE).strip() or ENGINE
    if holds_password(engine):
        raise PasswordInAddress()
    unit = document.get("unit", {})
    return ProjectConfig(
        name=document["name"],
        language=document["language"],
        protocols=tuple(document["protocols"]),
        source=_source(document["source"]),
        person=unit.get("person") or None,
        household=unit.get("household") or None,
        engine=engine,
        memory=document.get("memory", ""),
    )


def _read_place(path: Path) -> InPlace:
    try:
        held = json.loads(path.read_text("utf-8"))
        found = str(held["format"])
        if found == PLACE_FORMAT:
            return place_from(held)
    except (OSError, ValueError, KeyError, TypeError):
        raise BadProjectFile(path=str(path), line="?") from None
    raise UnknownFormat(path=str(path), found=found, expected=PLACE_FORMAT)


def _source(held: dict[str, Any]) -> Source:
    reading: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in held["reading"].items()}
    notes = [dict(note) for note in reading.pop("notes", ())]
    reading["notes"] = tuple(Notice.of(note.pop("key"), **note) for note in notes)
    return Source(held["name"], held["digest"], held["rows"], held["columns"], ReadingChoices(**reading))


def _line_of(words: str) -> str:
    """The line number in tomllib's message; the rest may quote the file."""
    found = re.search(r"line (\d+)", words)
    return found.group(1) if found else "?"
