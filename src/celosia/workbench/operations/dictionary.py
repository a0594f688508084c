"""Operations of the dictionary page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.workbench.operation import LOOK, PREPARE, operation

if TYPE_CHECKING:
    from celosia.pipeline.project.progress import Progress
    from celosia.workbench.views.dictionary import DictionaryEdit, DictionaryLine, DictionaryView

Changes = Mapping[str, Mapping[str, Any]]  # variable → field → value


@operation(LOOK)
def dictionary_view(folder: Path) -> DictionaryView:
    """Every line of the dictionary with the saved figures of its column and what follows; nothing is counted."""
    from celosia.workbench import dictionary_view as view

    return view.dictionary_view(folder)


@operation(LOOK)
def tried_lines(folder: Path, changes: Changes) -> dict[str, DictionaryLine]:
    """Some lines as they would be with these changes; nothing is written."""
    from celosia.workbench import dictionary_view as view

    return view.tried_lines(folder, changes)


@operation(PREPARE)
def count_columns(folder: Path, *, report: Progress = None) -> int:
    """Count the columns whose figures are missing or outdated and save them; give how many were counted."""
    from celosia.workbench import dictionary_view as view

    return view.count_columns(folder, report)


@operation(PREPARE)
def edit_dictionary(folder: Path, changes: Changes, *, expected: str | None = None, why: str = "") -> DictionaryEdit:
    """Change fields of some lines, values by their id; give what was changed."""
    from celosia.workbench import dictionary_edit

    return dictionary_edit.edit_dictionary(folder, changes, expected=expected, why=why)


@operation(PREPARE)
def import_dictionary(folder: Path, edited: Path, *, expected: str | None = None) -> int:
    """Replace the dictionary by an edited file; give how many lines changed."""
    from celosia.pipeline.intake import dictionary_files

    return dictionary_files.import_dictionary(folder, edited, expected=expected)


@operation(PREPARE)
def export_dictionary(folder: Path, target: Path) -> int:
    """Write the dictionary into a file, by the suffix of its name; give how many lines it has."""
    from celosia.pipeline.intake import dictionary_files

    return dictionary_files.export_dictionary(folder, target)


@operation(PREPARE)
def choose_unit(
    folder: Path, *, person: str | None = None, household: str | None = None, expected: str | None = None
) -> str:
    """Set the column that identifies a person or a household; empty for none. Give the digest of celosia.toml."""
    from celosia.workbench import dictionary_edit

    return dictionary_edit.choose_unit(folder, person=person, household=household, expected=expected)


@operation(PREPARE)
def except_variable(folder: Path, variable: str, rule: str, reason: str = "", *, expected: str | None = None) -> str:
    """Let a variable depart from a rule for a written reason; give the digest of celosia.toml."""
    from celosia.workbench import dictionary_edit

    return dictionary_edit.except_variable(folder, variable, rule, reason, expected=expected)


@operation(PREPARE)
def withdraw_exception(folder: Path, variable: str, rule: str, *, expected: str | None = None) -> str:
    """Apply a rule to a variable again; give the digest of celosia.toml."""
    from celosia.workbench import dictionary_edit

    return dictionary_edit.withdraw_exception(folder, variable, rule, expected=expected)
