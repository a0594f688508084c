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

from celosia.data.files import private_folder
from celosia.data.preview import is_veiled
from celosia.errors import FileMissing, IdentifierHasNoHierarchy, TooManyToEdit, ValueOutOfRange, ValuesVeiled
from celosia.hierarchy import (
    from_rows,
    placed,
    read_csv,
    regrouped,
    renamed,
    to_rows,
    under_star,
    with_level,
    without_level,
    write_csv,
)
from celosia.model.hierarchies import TreeItem, TreePage
from celosia.model.values import SUPPRESSED
from celosia.model.variables import Role
from celosia.pipeline._call import Place
from celosia.pipeline._hierarchy_trial import Column, Made, column_of, made_over
from celosia.pipeline._kept import digest_of_file, editing
from celosia.pipeline._open import opened
from celosia.pipeline._project import open_project

MOST_VALUES = 20_000
_DRAFTS = ("private", "hierarchies")
_CHANGES = ("group", "rename", "add_level", "remove_level", "top")
Rows = list[tuple[str, ...]]


def draft_name(variable: str) -> str:
    """The draft of a variable, as a description names it; no two variables share one."""
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
    made = made_over(column, spec, folder)
    lacking = set(made.gaps)
    rows = rows_over(column, made)
    kept = [row for row in rows if row[0] not in lacking] or rows
    only_star = all(row[1:] == (SUPPRESSED,) for row in kept)
    return _write(folder, column.variable.name, with_level(kept, 0) if only_star else kept)


def take_file(folder: Path, column: Column, source: Path) -> Path:
    """Make a draft of a hierarchy file from outside, after checking its shape."""
    refuse_untouchable(column)
    hierarchy, _ = read_csv(source, column.variable.name)
    return _write(folder, column.variable.name, to_rows(hierarchy))


def tree_page(
    folder: Place, variable: str, level: int = 1, *, contains: str = "", only_gaps: bool = False, start: int = 0,
    at_most: int = 100,
) -> TreePage:  # fmt: skip
    """Some members of a level of the draft, with their groups: those whose text holds what is looked for."""
    home, column = _opened_column(folder, variable)
    rows = draft_rows(home, variable)
    height = len(rows[0]) - 1
    if not 1 <= level <= height:
        raise ValueOutOfRange(parameter="level", given=level, allowed=f"1 – {height}")
    items = _items(column, rows, level)
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
        gap_values=len(_lacking(column, rows)),
        digest=digest_of_file(draft_path(home, variable)),
    )


def edit_tree(folder: Place, variable: str, change: Mapping[str, Any], *, expected: str | None = None) -> str:
    """Make one change to the draft of a variable; give the draft's digest.

    `{"do": "group", "level": 1, "members": […], "name": "…"}`,
    `{"do": "rename", "level": 1, "group": "…", "name": "…"}`, `{"do": "add_level", "after": 1}`,
    `{"do": "remove_level", "level": 2}`, `{"do": "top"}`.
    """
    home, column = _opened_column(folder, variable)
    path = draft_path(home, variable)
    with editing(home, path, expected):
        _write(home, variable, _changed(draft_rows(home, variable), change, column))
        return digest_of_file(path)


def discard_tree(folder: Place, variable: str) -> None:
    """Throw the draft of a variable away; the project's hierarchy stays as it was."""
    draft_path(open_project(folder).folder, variable).unlink(missing_ok=True)


def draft_rows(folder: Path, variable: str) -> Rows:
    """The rows of a draft."""
    path = draft_path(folder, variable)
    if not path.is_file():
        raise FileMissing(path=draft_name(variable))
    return to_rows(read_csv(path, variable, delimiter=";", encoding="utf-8")[0])


def _changed(rows: Rows, change: Mapping[str, Any], column: Column) -> Rows:
    match change.get("do"):
        case "group":
            return _grouped(rows, change, column)
        case "rename":
            return renamed(rows, int(change["level"]), str(change["group"]), str(change["name"]))
        case "add_level":
            return with_level(rows, int(change["after"]))
        case "remove_level":
            return without_level(rows, int(change["level"]))
        case "top":
            return under_star(rows)
    raise ValueOutOfRange(parameter="do", given=str(change.get("do")), allowed=", ".join(_CHANGES))


def _grouped(rows: Rows, change: Mapping[str, Any], column: Column) -> Rows:
    """Members sent to a group; at level 1, values of the column that the draft lacked are added to it."""
    level, members, name = int(change["level"]), {str(one) for one in change["members"]}, str(change["name"])
    moved = regrouped(rows, level, members, name)
    new = [value for value in column.values if value in members] if level == 1 else []
    return placed(moved, new, name)


def _items(column: Column, rows: Sequence[tuple[str, ...]], level: int) -> list[TreeItem]:
    """The members of a level in the draft's order, after those that wait for a group (level 1 only)."""
    rows_of = column.rows_of
    behind: dict[str, int] = {}
    group: dict[str, str] = {}
    for row in rows:
        member = row[level - 1]
        behind[member] = behind.get(member, 0) + rows_of.get(row[0], 0)
        group[member] = row[level]
    waiting = _lacking(column, rows) if level == 1 else []
    return [TreeItem(value, "", rows_of[value], False) for value in waiting] + [
        TreeItem(member, group[member], behind[member], True) for member in group
    ]


def _lacking(column: Column, rows: Sequence[tuple[str, ...]]) -> list[str]:
    known = {row[0] for row in rows}
    return [value for value in column.plain if value not in known]


def rows_over(column: Column, made: Made) -> Rows:
    """The compiled levels as rows, in the order of the hierarchy."""
    compiled = made.compiled
    rank = {leaf: place for place, leaf in enumerate(made.hierarchy.leaves)}
    order = sorted(range(len(column.values)), key=lambda code: (rank.get(column.values[code], len(rank)), code))
    levels = range(compiled.height + 1)
    return [tuple(compiled.labels[j][compiled.maps[j][code]] for j in levels) for code in order]


def _write(folder: Path, variable: str, rows: Rows) -> Path:
    """Put the draft in place; one of values alone gets a first level, for there is where editing begins."""
    path = draft_path(folder, variable)
    private_folder(path.parent)
    begun = rows if len(rows[0]) > 1 else with_level(rows, 0)
    write_csv(from_rows(variable, begun), path)
    return path


def _opened_column(folder: Place, variable: str) -> tuple[Path, Column]:
    home = open_project(folder).folder
    with opened(home) as found:
        column = column_of(found, variable)
    refuse_untouchable(column)
    return home, column


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
