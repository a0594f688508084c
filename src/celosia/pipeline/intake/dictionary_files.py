"""The dictionary out to a file people edit, back in, and what it still lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.sheets import read_rows, write_rows
from celosia.model import dictionary
from celosia.model.schema import Schema
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role, Variable
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import ProjectArg, open_for_editing, open_project
from celosia.storage import atomic_write


@dataclass(frozen=True, slots=True)
class DictionaryState:
    """What stands between a dictionary and a publication."""

    without_role: tuple[str, ...]
    without_purpose: tuple[str, ...]  # they will not be published (data minimisation)
    published: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The state as its versioned JSON."""
        return {"format": "celosia/dictionary-check/1", **asdict(self)}


def export_dictionary(folder: ProjectArg, target: PathArg) -> int:
    """Write a project's dictionary as .csv or .xlsx; give how many variables it describes."""
    variables = open_project(folder).variables
    write_rows(Path(target), dictionary.rows_of(variables))
    return len(variables)


def import_dictionary(
    folder: ProjectArg, edited: PathArg, *, expected: str | None = None, now: datetime | None = None
) -> int:
    """Take an edited dictionary if it describes exactly the project's columns; give how many lines changed."""
    project = open_project(folder)
    after = dictionary.variables_of(read_rows(Path(edited)), str(edited))
    dictionary.refuse_disagreement(after, project.names, str(edited))
    with open_for_editing(project, project.paths.dictionary, expected) as current:
        changed = len(set(after) - set(current.variables))
        with messages.speaking(project.config.language), atomic_write(project.paths.dictionary, 0o644) as draft:
            # A page in another language changes no word.
            draft.write_text(dictionary.dump(after), "utf-8", newline="\n")
        _journal.append_entry(project.paths.journal, "dictionary", utc_now(now), {"changed": changed})
    return changed


def state_purpose(
    folder: ProjectArg, names: Sequence[str], purpose: str, *, rest: bool = False, now: datetime | None = None
) -> int:
    """State the purpose of some variables, or withdraw it with an empty one; give how many lines changed.

    With `rest`, the variables are those without a purpose that would be published with one: neither identifiers nor
    what is to be removed.
    """
    _refuse_wrong_rest(names, purpose, rest)
    project = open_project(folder)
    with open_for_editing(project, project.paths.dictionary) as current:
        before = current.variables
        schema = Schema(tuple(variable.name for variable in before))
        chosen = set(_names_lacking_purpose(before) if rest else schema.checked_names(names, "--variables"))
        after = [replace(v, purpose=purpose.strip()) if v.name in chosen else v for v in before]
        changed = sum(old != other for old, other in zip(before, after, strict=True))
        with atomic_write(project.paths.dictionary, 0o644) as draft:
            draft.write_text(dictionary.dump(after), "utf-8", newline="\n")
        _journal.append_entry(
            project.paths.journal, "purpose", utc_now(now), {"variables": sorted(chosen)}, why=purpose
        )
    return changed


def _refuse_wrong_rest(names: Sequence[str], purpose: str, rest: bool) -> None:
    """One purpose for the rest is a purpose, and the rest has no names."""
    if rest and names:
        raise ValueOutOfRange(parameter="--rest", given="--variables", allowed="--variables | --rest")
    if rest and not purpose.strip():
        raise ValueOutOfRange(parameter="--purpose", given='""', allowed='"…"')


def _names_lacking_purpose(variables: Sequence[Variable]) -> tuple[str, ...]:
    """The variables that only lack a purpose to be published."""
    stated = [replace(variable, purpose=variable.purpose.strip() or "?") for variable in variables]
    publishable = {variable.name for variable in dictionary.publishable_variables(stated)}
    return tuple(v.name for v in variables if v.name in publishable and not v.purpose.strip())


def check_dictionary(folder: ProjectArg) -> DictionaryState:
    """What a project's dictionary still lacks; one that describes other columns than the base is refused."""
    project = open_project(folder)
    variables = project.variables
    dictionary.refuse_disagreement(variables, project.names, str(project.paths.dictionary))
    unstated = [v.name for v in variables if not v.purpose.strip() and v.role != Role.IDENTIFIER]
    published = tuple(variable.name for variable in dictionary.publishable_variables(variables))
    return DictionaryState(dictionary.without_role(variables), tuple(unstated), published)
