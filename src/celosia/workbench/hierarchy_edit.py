"""Building and editing the hierarchies of a project: what there is, what a description would do, saving it.

Trying writes nothing; saving is refused while a value lacks a group, before anything is overwritten.
Sources: MINSAL, Anexo II.1, sections 5 to 7 (order, intervals, minimum and maximum level).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.hierarchy.compile import level_range
from celosia.hierarchy.csv import write_csv
from celosia.hierarchy.groups import natural_order
from celosia.hierarchy.official import LISTS, lookup
from celosia.hierarchy.registry import BUILDERS
from celosia.hierarchy.rows import from_rows
from celosia.model import dictionary
from celosia.model.variables import Role, Variable
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.planning.policy import without_bounds
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.edits import edit_settings
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import Project, ProjectArg, open_project, refuse_edited
from celosia.workbench import hierarchy_draft as drafts
from celosia.workbench.hierarchy_start import starting_spec
from celosia.workbench.hierarchy_trial import (
    MOST_GROUPS,
    STOPPING_ERRORS,
    BuiltHierarchy,
    Column,
    build_over,
    column_of,
    origin_of,
    proposed_spec,
    trial_of,
)
from celosia.workbench.views.hierarchies import (
    DRAFT,
    PROPOSED,
    BuilderForm,
    HierarchyForms,
    HierarchyLine,
    HierarchyList,
    HierarchyTrial,
    OfficialForm,
    SavedHierarchy,
)

Spec = Mapping[str, Any]
_BOUNDS = ("minimum", "maximum")


# --- what there is ------------------------------------------------------------------------------------


def hierarchy_builders() -> HierarchyForms:
    """Every builder with its declared parameters, and the official lists with their levels."""
    builders = tuple(
        BuilderForm(builder.name, tuple(param.form(name) for name, param in builder.all_params.items()))
        for builder in BUILDERS
    )
    return HierarchyForms(builders, tuple(OfficialForm(name, tuple(lookup(name).levels)) for name in LISTS))


def project_hierarchies(source: ProjectArg, *, measured: bool = True) -> HierarchyList:
    """The variables of a project that have or may have a hierarchy: quasi-identifiers first, then sensitive ones.

    Their heights and problems need a look at every column: `measured=False` spares it.
    """
    project = open_project(source)
    specs, criteria = _stored_specs(project), project.settings.get("policy", {}).get("criteria", ())
    # The sensitive variables whose criterion measures distances in a tree.
    needed = {str(asked.get("variable")) for asked in criteria if asked.get("distance") == "hierarchical"}
    with open_table(project) as table_source:
        published = {variable.name for variable in dictionary.publishable_variables(table_source.variables)}
        lines = [
            _hierarchy_line(variable, specs.get(variable.name), variable.name in needed, published, project.folder)
            for role in (Role.QUASI, Role.SENSITIVE)
            for variable in table_source.variables
            if variable.role == role
        ]
        if measured:
            lines = [_measure_line(table_source, project.folder, line, specs.get(line.variable)) for line in lines]
    return HierarchyList(tuple(lines), project.settings_digest)


def _hierarchy_line(
    variable: Variable, stored: Spec | None, asked: bool, published: set[str], folder: Path
) -> HierarchyLine:
    needed = asked or variable.role == Role.QUASI
    spec = without_bounds(stored or {})
    return HierarchyLine(
        variable=variable.name,
        label=variable.label,
        role=str(variable.role),
        published=variable.name in published,
        needed=needed,
        origin=origin_of(spec) if needed or spec else "",
        height=None,
        minimum=(stored or {}).get("minimum"),
        maximum=(stored or {}).get("maximum"),
        problem="",
        draft=drafts.draft_path(folder, variable.name).is_file(),
    )


def _measure_line(table_source: OpenTable, folder: Path, line: HierarchyLine, stored: Spec | None) -> HierarchyLine:
    """The line with the highest level of its hierarchy and what stops it, if anything does."""
    if not line.origin:
        return line
    try:
        column = column_of(table_source, line.variable)
        built = build_over(column, without_bounds(stored or {}) or proposed_spec(column), folder)
    except STOPPING_ERRORS as refused:
        return replace(line, problem=str(refused))
    return replace(line, height=built.compiled.height, problem="" if built.stops is None else str(built.stops))


# --- trying -------------------------------------------------------------------------------------------


def try_hierarchy(
    source: ProjectArg, variable: str, spec: Spec | None = None, *, show_gaps: bool = False
) -> HierarchyTrial:
    """What a description would do to the values of a variable, without writing anything.

    Without a description, the project's own; an empty one is the proposal. `{"draft": true}` is the tree edited by
    hand. The values without a group are cells: given with `show_gaps` only, and never those of an identifier.
    """
    project, column = _read_column(source, variable)
    stored = _stored_spec(project, variable)
    chosen, origin = _full_spec(column, stored if spec is None else spec)
    trial = trial_of(column, chosen, project.folder, origin, show_gaps)
    return _add_bounds(trial, stored)


def begin_hierarchy(source: ProjectArg, variable: str, builder: str) -> HierarchyTrial:
    """A first description of a kind, fitted to the values that occur, tried."""
    project, column = _read_column(source, variable)
    trial = trial_of(column, starting_spec(builder, column.plain), project.folder, builder, False)
    return _add_bounds(trial, _stored_spec(project, variable))


def export_tried(source: ProjectArg, variable: str, target: PathArg, spec: Spec | None = None) -> int:
    """Write what a description makes of the values that occur, in ARX's layout, saved or not; give the lines."""
    project, column = _read_column(source, variable)
    drafts.refuse_untouchable(column)
    chosen, _ = _full_spec(column, _stored_spec(project, variable) if spec is None else spec)
    rows = drafts.rows_over(column, build_over(column, chosen, project.folder))
    write_csv(from_rows(variable, rows), Path(target))
    return len(rows)


def values_in_order(source: ProjectArg, variable: str) -> tuple[str, ...]:
    """The values of a column that a person may put in order by hand: numbers by size, others by code point."""
    _, column = _read_column(source, variable)
    drafts.refuse_untouchable(column, MOST_GROUPS)
    return natural_order(column.plain)


def _add_bounds(trial: HierarchyTrial, stored: Spec) -> HierarchyTrial:
    return replace(trial, minimum=stored.get("minimum"), maximum=stored.get("maximum"))


def _full_spec(column: Column, spec: Spec) -> tuple[dict[str, Any], str]:
    """A description in full, and where it comes from; what is impossible to propose is left empty."""
    described = without_bounds(spec)
    if described.pop("draft", False):
        return {**described, "file": drafts.draft_name(column.variable.name)}, DRAFT
    if described:
        return described, origin_of(described)
    with contextlib.suppress(*STOPPING_ERRORS):
        return proposed_spec(column), PROPOSED
    return {}, PROPOSED


# --- saving -------------------------------------------------------------------------------------------


def save_hierarchy(
    source: ProjectArg,
    variable: str,
    spec: Spec | None = None,
    minimum: int | None = None,
    maximum: int | None = None,
    *,
    expected: str | None = None,
    now: datetime | None = None,
) -> SavedHierarchy:
    """Write a description and the levels allowed into celosia.toml, after checking that it covers every value.

    Without a description the project's own stays and its levels change; an empty one is the proposal, of which only
    the levels are written. `{"draft": true}` saves the tree edited by hand as a file of the project.
    """
    project = open_project(source)
    config = project.paths.settings
    refuse_edited(config, expected)
    _, column = _read_column(project, variable)
    given = without_bounds(_stored_spec(project, variable) if spec is None else spec)
    built = _usable_hierarchy(column, given, project.folder, minimum, maximum)
    bounds = {name: level for name, level in zip(_BOUNDS, (minimum, maximum), strict=True) if level is not None}
    with edit_settings(project, expected) as document:
        written = _write_draft_file(project, column, given) if given.get("draft") else dict(given)
        _put_description(document, variable, {**written, **bounds})
    if spec is not None:  # whatever was being edited by hand was saved, or given up for this
        drafts.discard_tree(project, variable)
    height, digest = built.compiled.height, digest_of_file(config)
    saved = SavedHierarchy(variable, origin_of(written), height, minimum, maximum, digest)
    _note_saved(project, saved, now)
    return saved


def reset_hierarchy(
    source: ProjectArg, variable: str, *, expected: str | None = None, now: datetime | None = None
) -> SavedHierarchy:
    """Go back to the proposed hierarchy and all its levels; a file of the project stays where it is."""
    project = open_project(source)
    with edit_settings(project, expected) as document:
        _put_description(document, variable, {})
    _, column = _read_column(project, variable)
    height = 0
    with contextlib.suppress(*STOPPING_ERRORS):  # a sensitive variable may have no proposal
        height = build_over(column, proposed_spec(column), project.folder).compiled.height
    saved = SavedHierarchy(variable, PROPOSED, height, None, None, digest_of_file(project.paths.settings))
    _note_saved(project, saved, now)
    return saved


def _usable_hierarchy(
    column: Column, spec: Spec, folder: Path, minimum: int | None, maximum: int | None
) -> BuiltHierarchy:
    """The hierarchy that a description makes, refused with gaps or with levels that it does not have."""
    drafts.refuse_identifier(column)
    chosen, _ = _full_spec(column, spec)
    built = build_over(column, chosen or proposed_spec(column), folder)
    if built.stops is not None:
        raise built.stops
    level_range(built.compiled, minimum, maximum)
    return built


def _write_draft_file(project: Project, column: Column, given: Spec) -> dict[str, Any]:
    """Put the draft among the project's hierarchies; give the description that names it."""
    name = column.variable.name
    others = {key: spec for key, spec in _stored_specs(project).items() if key != name}
    file = f"hierarchies/{drafts.file_stem(name)}.csv"
    if any(spec.get("file") == file for spec in others.values()):
        file = f"hierarchies/{drafts.own_stem(name)}.csv"
    project.paths.hierarchies.mkdir(exist_ok=True)
    write_csv(from_rows(name, drafts.draft_rows(project.folder, name)), project.folder / file)
    return {"file": file, **{key: value for key, value in given.items() if key == "uncovered"}}


def _put_description(document: Any, variable: str, wanted: Spec) -> None:
    """Make `[hierarchies.<variable>]` hold exactly this, key by key: a comment beside a key that stays is kept."""
    section: Any = document.setdefault("hierarchies", {})
    table = section.setdefault(variable, {})
    for key in [key for key in table if key not in wanted]:
        del table[key]
    for key, value in wanted.items():
        if key not in table or table[key] != value:
            table[key] = value
    if not wanted:
        del section[variable]
    if not section:
        del document["hierarchies"]


def _note_saved(project: Project, saved: SavedHierarchy, now: datetime | None) -> None:
    facts: dict[str, object] = {"variable": saved.variable, "origin": saved.origin, "levels": saved.height + 1}
    bounds = dict(zip(_BOUNDS, (saved.minimum, saved.maximum), strict=True))
    facts |= {name: level for name, level in bounds.items() if level is not None}
    _journal.append_entry(project.paths.journal, "hierarchy", utc_now(now), facts)


# --- trees --------------------------------------------------------------------------------------------


def begin_tree(source: ProjectArg, variable: str, spec: Spec | None = None) -> str:
    """Make a draft, to be edited by hand, of a description (without one, of the project's own); give its digest."""
    project, column = _read_column(source, variable)
    chosen, _ = _full_spec(column, _stored_spec(project, variable) if spec is None else spec)
    return digest_of_file(drafts.start_tree(project.folder, column, chosen or {"builder": "identity"}))


def take_hierarchy(source: ProjectArg, variable: str, file: PathArg) -> HierarchyTrial:
    """Make a draft of a hierarchy file from outside and try it: its gaps are listed before anything is replaced."""
    project, column = _read_column(source, variable)
    drafts.take_file(project.folder, column, Path(file))
    return try_hierarchy(project, variable, {"draft": True}, show_gaps=True)


def _read_column(source: ProjectArg, variable: str) -> tuple[Project, Column]:
    project = open_project(source)
    with open_table(project) as table_source:
        return project, column_of(table_source, variable)


def _stored_spec(project: Project, variable: str) -> dict[str, Any]:
    return dict(_stored_specs(project).get(variable, {}))


def _stored_specs(project: Project) -> dict[str, Any]:
    specs: dict[str, Any] = project.settings.get("hierarchies", {})
    return specs
