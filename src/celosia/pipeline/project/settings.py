"""What celosia.toml says, as a frozen value; and the text of a fresh one.

Knows the keys of the project itself. Ignores policy, steps and hierarchies, which planning reads from the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.sniffing import holds_password
from celosia.model.errors import UnknownFormat
from celosia.model.project import ENGINE, FORMAT, ProjectConfig
from celosia.model.sources import Notice, ReadingChoices, Source
from celosia.pipeline.project.errors import PasswordInAddress
from celosia.pipeline.project.settings_schema import refuse_wrong_settings


def config_from(document: Mapping[str, Any], path: Path) -> ProjectConfig:
    """The configuration that a parsed celosia.toml states; a wrong key is refused by its name."""
    stated_format = str(document.get("format", ""))
    if stated_format != FORMAT:
        raise UnknownFormat(path=str(path), found=stated_format, expected=FORMAT)
    refuse_wrong_settings(document, str(path))
    engine = document.get("engine", ENGINE).strip() or ENGINE
    if holds_password(engine):
        raise PasswordInAddress()
    unit = document.get("unit", {})
    return ProjectConfig(
        name=document["name"],
        language=document["language"],
        protocols=tuple(document["protocols"]),
        source=_source_from(document["source"]),
        person=unit.get("person") or None,
        household=unit.get("household") or None,
        engine=engine,
        memory=document.get("memory", ""),
    )


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


def _source_from(document: Mapping[str, Any]) -> Source:
    reading: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in document["reading"].items()}
    reading["notes"] = tuple(_notice_from(note) for note in reading.pop("notes", ()))
    choices = ReadingChoices(**reading)
    return Source(document["name"], document["digest"], document["rows"], document["columns"], choices)


def _notice_from(document: Mapping[str, Any]) -> Notice:
    """What reading the source had to say; one whose name was taken away says nothing."""
    return Notice.of(document.get("key", ""), **{name: value for name, value in document.items() if name != "key"})
