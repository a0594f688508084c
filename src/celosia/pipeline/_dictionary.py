"""The dictionary out to a file people edit, back in, and what it still lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.files import replacing
from celosia.data.sheets import read_rows, write_rows
from celosia.model import dictionary
from celosia.model.schema import Schema
from celosia.model.variables import Role
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._kept import editing
from celosia.pipeline._project import open_project


@dataclass(frozen=True, slots=True)
class DictionaryState:
    """What stands between a dictionary and a publication."""

    without_role: tuple[str, ...]
    without_purpose: tuple[str, ...]  # they will not be published (data minimisation)
    published: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The state as its versioned JSON."""
        return {"format": "celosia/dictionary-check/1", **asdict(self)}


def export_dictionary(folder: Place, target: Place) -> int:
    """Write a project's dictionary as .csv or .xlsx; give how many variables it describes."""
    variables = open_project(folder).variables()
    write_rows(Path(target), dictionary.rows_of(variables))
    return len(variables)


def import_dictionary(folder: Place, edited: Place, *, expected: str | None = None, now: datetime | None = None) -> int:
    """Take an edited dictionary if it describes exactly the project's columns; give how many lines changed."""
    project = open_project(folder)
    after = dictionary.variables_of(read_rows(Path(edited)), str(edited))
    dictionary.refuse_disagreement(after, project.names(), str(edited))
    with editing(project.folder, project.dictionary_path, expected):
        changed = len(set(after) - set(project.variables()))
        with messages.speaking(project.config.language), replacing(project.dictionary_path, 0o644) as draft:
            draft.write_text(dictionary.dump(after), "utf-8")  # a page in another language changes no word
        _journal.append(project.journal_path, "dictionary", moment(now), {"changed": changed})
    return changed


def state_purpose(folder: Place, names: Sequence[str], purpose: str, *, now: datetime | None = None) -> int:
    """State the purpose of some variables, or withdraw it with an empty one; give how many lines changed."""
    project = open_project(folder)
    with editing(project.folder, project.dictionary_path):
        before = project.variables()
        schema = Schema(tuple(variable.name for variable in before))
        chosen = set(schema.chosen(names, "--variables"))
        after = [replace(v, purpose=purpose.strip()) if v.name in chosen else v for v in before]
        changed = sum(one != other for one, other in zip(before, after, strict=True))
        with replacing(project.dictionary_path, 0o644) as draft:
            draft.write_text(dictionary.dump(after), "utf-8")
        _journal.append(project.journal_path, "purpose", moment(now), {"variables": sorted(chosen)}, why=purpose)
    return changed


def check_dictionary(folder: Place) -> DictionaryState:
    """What a project's dictionary still lacks; one that describes other columns than the base is refused."""
    project = open_project(folder)
    variables = project.variables()
    dictionary.refuse_disagreement(variables, project.names(), str(project.dictionary_path))
    unstated = [v.name for v in variables if not v.purpose.strip() and v.role != Role.IDENTIFIER]
    published = tuple(variable.name for variable in dictionary.published(variables))
    return DictionaryState(dictionary.without_role(variables), tuple(unstated), published)
