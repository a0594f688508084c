"""A tree edited by hand: a draft in the project's private folder that nothing reads until it is saved.

Any hierarchy can become a draft, also a file that does not cover every value yet: what it lacks is placed by hand.
The draft is a hierarchy file in ARX's layout; each change is checked and put in place in one step.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia.data.preview import is_veiled
from celosia.hierarchy.csv import read_csv, write_csv
from celosia.hierarchy.rows import (
    add_star_level,
    add_values,
    from_rows,
    insert_level,
    regroup_rows,
    remove_level,
    rename_group,
    to_rows,
)
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import SUPPRESSED
from celosia.model.variables import Role
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import Project, ProjectArg, open_for_editing, open_project
from celosia.storage import FileMissing, make_private_folder
from celosia.workbench.errors import IdentifierHasNoHierarchy, TooManyToEdit, ValuesVeiled
from celosia.workbench.hierarchy_trial import BuiltHierarchy, Column, build_over, column_of
from celosia.workbench.views.hierarchies import TreeItem, TreePage

MOST_VALUES = 20_000
_DRAFTS = ("private", "hierarchies")
_CHANGES = ("group", "rename", "add_level", "remove_level", "top")
Rows = list[tuple[str, ...]]


def draft_name(variable: str) -> str:
    """The path of a variable's draft inside the project; no two variables share one."""
    return "/".join((*_DRAFTS, f"{own_stem(variable)}.csv"))


def file_stem(variable: str) -> str:
    """A file name for a variable that every system accepts."""
    return re.sub(r"[^A-Za-z0-9]+", "-", variable).strip("-").lower() or "variable"


def own_stem(variable: str) -> str:
    """The same for names that differ in a mark or in capitals only."""
    return f"{file_stem(variable)}-{zlib.crc32(variable.encode('utf-8')):08x}"


def draft_path(folder: Path, variable: str) -> Path:
    """Where the draft of a variable is kept."""
    return folder / draft_name(variable)


def start_tree(folder: Path, column: Column, spec: Mapping[str, Any]) -> Path:
    """Make a draft of what a description does to a column; values it cannot place are left for a person.

    Where there is nothing but `*` above the values, a level for groups is put between.
    """
    refuse_untouchable(column)
    built = build_over(column, spec, folder)
    lacking = set(built.gaps)
    rows = rows_over(column, built)
    covered = [row for row in rows if row[0] not in lacking] or rows
    only_star = all(row[1:] == (SUPPRESSED,) for row in covered)
    return _write_draft(folder, column.variable.name, insert_level(covered, 0) if only_star else covered)


def take_file(folder: Path, column: Column, source: Path) -> Path:
    """Make a draft of a hierarchy file from outside, after checking its shape."""
    refuse_untouchable(column)
    hierarchy, _ = read_csv(source, column.variable.name)
    return _write_draft(folder, column.variable.name, to_rows(hierarchy))


def tree_page(
    source: ProjectArg,
    variable: str,
    level: int = 1,
    *,
    contains: str = "",
    only_gaps: bool = False,
    start: int = 0,
    at_most: int = 100,
) -> TreePage:
    """Some members of a level of the draft, with their groups: those whose text holds what is looked for."""
    project, column = _read_column(source, variable)
    rows = draft_rows(project.folder, variable)
    height = len(rows[0]) - 1
    if not 1 <= level <= height:
        raise ValueOutOfRange(parameter="level", given=level, allowed=f"1 – {height}")
    items = _tree_items(column, rows, level)
    wanted = contains.casefold()
    matching = [
        item
        for item in items
        if (wanted in item.member.casefold() or wanted in item.group.casefold()) and not (only_gaps and item.placed)
    ]
    return TreePage(
        variable=variable,
        level=level,
        height=height,
        items=tuple(matching[start : start + at_most]),
        total=len(matching),
        groups=tuple(dict.fromkeys(item.group for item in items if item.placed)),
        gap_values=len(_missing_values(column, rows)),
        digest=digest_of_file(draft_path(project.folder, variable)),
    )


def edit_tree(source: ProjectArg, variable: str, change: Mapping[str, Any], *, expected: str | None = None) -> str:
    """Make one change to the draft of a variable; give the draft's digest.

    `{"do": "group", "level": 1, "members": […], "name": "…"}`,
    `{"do": "rename", "level": 1, "group": "…", "name": "…"}`, `{"do": "add_level", "after": 1}`,
    `{"do": "remove_level", "level": 2}`, `{"do": "top"}`.
    """
    project, column = _read_column(source, variable)
    path = draft_path(project.folder, variable)
    with open_for_editing(project, path, expected):
        _write_draft(project.folder, variable, _apply_change(draft_rows(project.folder, variable), change, column))
        return digest_of_file(path)


def discard_tree(source: ProjectArg, variable: str) -> None:
    """Throw the draft of a variable away; the project's hierarchy stays as it was."""
    draft_path(open_project(source).folder, variable).unlink(missing_ok=True)


def draft_rows(folder: Path, variable: str) -> Rows:
    """The rows of a draft."""
    path = draft_path(folder, variable)
    if not path.is_file():
        raise FileMissing(path=draft_name(variable))
    return to_rows(read_csv(path, variable, delimiter=";", encoding="utf-8")[0])


def _apply_change(rows: Rows, change: Mapping[str, Any], column: Column) -> Rows:
    match change.get("do"):
        case "group":
            return _group_members(rows, change, column)
        case "rename":
            return rename_group(rows, int(change["level"]), str(change["group"]), str(change["name"]))
        case "add_level":
            return insert_level(rows, int(change["after"]))
        case "remove_level":
            return remove_level(rows, int(change["level"]))
        case "top":
            return add_star_level(rows)
    raise ValueOutOfRange(parameter="do", given=str(change.get("do")), allowed=", ".join(_CHANGES))


def _group_members(rows: Rows, change: Mapping[str, Any], column: Column) -> Rows:
    """Members sent to a group; at level 1, values of the column that the draft lacked are added to it."""
    level, members, name = int(change["level"]), {str(member) for member in change["members"]}, str(change["name"])
    moved = regroup_rows(rows, level, members, name)
    new = [value for value in column.values if value in members] if level == 1 else []
    return add_values(moved, new, name)


def _tree_items(column: Column, rows: Sequence[tuple[str, ...]], level: int) -> list[TreeItem]:
    """The members of a level in the draft's order, after those that wait for a group (level 1 only)."""
    rows_of = column.rows_of
    behind: dict[str, int] = {}
    group: dict[str, str] = {}
    for row in rows:
        member = row[level - 1]
        behind[member] = behind.get(member, 0) + rows_of.get(row[0], 0)
        group[member] = row[level]
    waiting = _missing_values(column, rows) if level == 1 else []
    return [TreeItem(value, "", rows_of[value], False) for value in waiting] + [
        TreeItem(member, group[member], behind[member], True) for member in group
    ]


def _missing_values(column: Column, rows: Sequence[tuple[str, ...]]) -> list[str]:
    known = {row[0] for row in rows}
    return [value for value in column.plain if value not in known]


def rows_over(column: Column, built: BuiltHierarchy) -> Rows:
    """The compiled levels as rows, in the order of the hierarchy."""
    compiled = built.compiled
    rank = {leaf: place for place, leaf in enumerate(built.hierarchy.leaves)}
    order = sorted(range(len(column.values)), key=lambda code: (rank.get(column.values[code], len(rank)), code))
    levels = range(compiled.height + 1)
    return [tuple(compiled.labels[j][compiled.maps[j][code]] for j in levels) for code in order]


def _write_draft(folder: Path, variable: str, rows: Rows) -> Path:
    """Put the draft in place; one of values alone gets a first level, for there is where editing begins."""
    path = draft_path(folder, variable)
    make_private_folder(path.parent)
    begun = rows if len(rows[0]) > 1 else insert_level(rows, 0)
    write_csv(from_rows(variable, begun), path)
    return path


def _read_column(source: ProjectArg, variable: str) -> tuple[Project, Column]:
    project = open_project(source)
    with open_table(project) as table_source:
        column = column_of(table_source, variable)
    refuse_untouchable(column)
    return project, column


def refuse_untouchable(column: Column, most: int = MOST_VALUES) -> None:
    """A tree would show what is veiled; a column of too many values is not a matter for hands."""
    refuse_identifier(column)
    if is_veiled(column.variable):
        raise ValuesVeiled(variable=column.variable.name)
    if len(column.values) > most:
        raise TooManyToEdit(variable=column.variable.name, values=len(column.values), most=most)


def refuse_identifier(column: Column) -> None:
    """An identifier is not published, so it has no hierarchy."""
    if column.variable.role == Role.IDENTIFIER:
        raise IdentifierHasNoHierarchy(variable=column.variable.name)
