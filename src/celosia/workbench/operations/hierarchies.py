"""Operations of the hierarchies page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.workbench.operation import PREPARE, operation

if TYPE_CHECKING:
    from celosia.workbench.views.hierarchies import (
        HierarchyForms,
        HierarchyList,
        HierarchyTrial,
        SavedHierarchy,
        TreePage,
    )

Spec = Mapping[str, Any]


@operation(PREPARE)
def hierarchy_builders() -> HierarchyForms:
    """Every builder with its declared parameters, and the official lists with their levels."""
    from celosia.workbench import hierarchy_edit

    return hierarchy_edit.hierarchy_builders()


@operation(PREPARE)
def project_hierarchies(folder: Path, *, measured: bool = True) -> HierarchyList:
    """The variables that have or may have a hierarchy: quasi-identifiers first, then sensitive ones.

    Their heights and problems need a look at every column: `measured=False` spares it.
    """
    from celosia.workbench import hierarchy_edit

    return hierarchy_edit.project_hierarchies(folder, measured=measured)


@operation(PREPARE)
def begin_hierarchy(folder: Path, variable: str, builder: str) -> HierarchyTrial:
    """A first description of a kind, fitted to the values that occur, tried."""
    from celosia.workbench import hierarchy_edit

    return hierarchy_edit.begin_hierarchy(folder, variable, builder)


@operation(PREPARE)
def take_hierarchy(folder: Path, variable: str, source: Path) -> HierarchyTrial:
    """Make a draft of an uploaded hierarchy file and try it: its gaps are listed before anything is replaced."""
    from celosia.workbench import hierarchy_edit

    return hierarchy_edit.take_hierarchy(folder, variable, source)


@operation(PREPARE)
def try_hierarchy(folder: Path, variable: str, spec: Spec | None = None, *, show_gaps: bool = False) -> HierarchyTrial:
    """What a description would do to the values of a variable, without writing anything.

    Without a description, the project's own; an empty one is the proposal; `{"draft": true}` is the tree edited by
    hand. The values without a group are cells: given with `show_gaps` only, and never those of an identifier.
    """
    from celosia.workbench import hierarchy_edit

    return hierarchy_edit.try_hierarchy(folder, variable, spec, show_gaps=show_gaps)


@operation(PREPARE)
def values_in_order(folder: Path, variable: str) -> tuple[str, ...]:
    """The values of a column that a person may put in order by hand: numbers by size, others by code point."""
    from celosia.workbench import hierarchy_edit

    return hierarchy_edit.values_in_order(folder, variable)


@operation(PREPARE)
def save_hierarchy(
    folder: Path,
    variable: str,
    spec: Spec | None = None,
    minimum: int | None = None,
    maximum: int | None = None,
    *,
    expected: str | None = None,
) -> SavedHierarchy:
    """Write a description and the levels allowed into celosia.toml, after checking that it covers every value."""
    from celosia.workbench import hierarchy_edit

    return hierarchy_edit.save_hierarchy(folder, variable, spec, minimum, maximum, expected=expected)


@operation(PREPARE)
def reset_hierarchy(folder: Path, variable: str, *, expected: str | None = None) -> SavedHierarchy:
    """Go back to the proposed hierarchy and all its levels; a file of the project stays where it is."""
    from celosia.workbench import hierarchy_edit

    return hierarchy_edit.reset_hierarchy(folder, variable, expected=expected)


@operation(PREPARE)
def export_tried(folder: Path, variable: str, target: Path, spec: Spec | None = None) -> int:
    """Write what a description makes of the values that occur, in ARX's layout; give the number of lines."""
    from celosia.workbench import hierarchy_edit

    return hierarchy_edit.export_tried(folder, variable, target, spec)


@operation(PREPARE)
def begin_tree(folder: Path, variable: str, spec: Spec | None = None) -> str:
    """Make a draft, to be edited by hand, of a description (by default the project's own); give its digest."""
    from celosia.workbench import hierarchy_edit

    return hierarchy_edit.begin_tree(folder, variable, spec)


@operation(PREPARE)
def tree_page(
    folder: Path,
    variable: str,
    level: int = 1,
    *,
    contains: str = "",
    only_gaps: bool = False,
    start: int = 0,
    at_most: int = 100,
) -> TreePage:
    """Some members of a level of the draft, with their groups: those whose text holds what is looked for."""
    from celosia.workbench import hierarchy_draft

    return hierarchy_draft.tree_page(
        folder, variable, level, contains=contains, only_gaps=only_gaps, start=start, at_most=at_most
    )


@operation(PREPARE)
def edit_tree(folder: Path, variable: str, change: Mapping[str, Any], *, expected: str | None = None) -> str:
    """Make one change to the draft of a variable; give the draft's digest."""
    from celosia.workbench import hierarchy_draft

    return hierarchy_draft.edit_tree(folder, variable, change, expected=expected)


@operation(PREPARE)
def discard_tree(folder: Path, variable: str) -> None:
    """Throw the draft of a variable away; the project's hierarchy stays as it was."""
    from celosia.workbench import hierarchy_draft

    hierarchy_draft.discard_tree(folder, variable)
