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

from celosia.errors import BadInput, CelosiaError, Refusal, WrongUse
from celosia.hierarchy import BUILDERS, from_rows, level_range, natural_order, write_csv
from celosia.hierarchy.official import LISTS, lookup
from celosia.model import dictionary
from celosia.model.hierarchies import (
    DRAFT,
    PROPOSED,
    BuilderForm,
    HierarchyForms,
    HierarchyLine,
    HierarchyList,
    HierarchyTrial,
    OfficialForm,
    ParameterForm,
    SavedHierarchy,
)
from celosia.model.parameters import Param
from celosia.model.variables import Role, Variable
from celosia.pipeline import _hierarchy_draft as drafts
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._edit_settings import settings_edited
from celosia.pipeline._hierarchy_start import starting_spec
from celosia.pipeline._hierarchy_trial import (
    MOST_GROUPS,
    Column,
    Made,
    column_of,
    made_over,
    origin_of,
    proposed_spec,
    trial_of,
)
from celosia.pipeline._kept import digest_of_file, refuse_edited
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._policy import without_bounds
from celosia.pipeline._project import Project, open_project, read_toml

Spec = Mapping[str, Any]
_BOUNDS = ("minimum", "maximum")


# --- what there is ------------------------------------------------------------------------------------


def hierarchy_builders() -> HierarchyForms:
    """Every builder with its declared parameters, and the official lists with their levels."""
    builders = tuple(
        BuilderForm(builder.name, tuple(_parameter(*item) for item in builder.all_params.items()))
        for builder in BUILDERS
    )
    return HierarchyForms(builders, tuple(OfficialForm(name, tuple(lookup(name).levels)) for name in LISTS))


def _parameter(name: str, param: Param) -> ParameterForm:
    default = param.default
    if param.kind == "number" and default is not None:
        default = int(default)
    return ParameterForm(name, param.kind, default, param.required, param.choices, param.minimum)


def project_hierarchies(folder: Place, *, measured: bool = True) -> HierarchyList:
    """The variables of a project that have or may have a hierarchy: quasi-identifiers first, then sensitive ones.

    Their heights and problems need a look at every column: `measured=False` spares it.
    """
    project = open_project(folder)
    path = project.folder / "celosia.toml"
    digest, document = digest_of_file(path), read_toml(path)
    specs, needed = document.get("hierarchies", {}), _asked_by_criteria(document)
    with opened(project.folder) as found:
        published = {variable.name for variable in dictionary.published(found.variables)}
        lines = [
            _line(variable, specs.get(variable.name), variable.name in needed, published, project.folder)
            for role in (Role.QUASI, Role.SENSITIVE)
            for variable in found.variables
            if variable.role == role
        ]
        if measured:
            lines = [_measured(found, project.folder, line, specs.get(line.variable)) for line in lines]
    return HierarchyList(tuple(lines), digest)


def _asked_by_criteria(document: Mapping[str, Any]) -> set[str]:
    """The sensitive variables whose criterion measures distances in a tree."""
    criteria = document.get("policy", {}).get("criteria", ())
    return {str(one.get("variable")) for one in criteria if one.get("distance") == "hierarchical"}


def _line(variable: Variable, stored: Spec | None, asked: bool, published: set[str], folder: Path) -> HierarchyLine:
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


def _measured(found: Opened, folder: Path, line: HierarchyLine, stored: Spec | None) -> HierarchyLine:
    if not line.origin:
        return line
    height, problem = _height(found, folder, line.variable, without_bounds(stored or {}))
    return replace(line, height=height, problem=problem)


def _height(found: Opened, folder: Path, name: str, spec: Spec) -> tuple[int | None, str]:
    """The highest level of a hierarchy and what stops it, if anything does."""
    try:
        column = column_of(found, name)
        made = made_over(column, spec or proposed_spec(column), folder)
    except (BadInput, Refusal, WrongUse) as refused:
        return None, str(refused)
    return made.compiled.height, "" if made.stops is None else str(made.stops)


# --- trying -------------------------------------------------------------------------------------------


def try_hierarchy(folder: Place, variable: str, spec: Spec | None = None, *, show_gaps: bool = False) -> HierarchyTrial:
    """What a description would do to the values of a variable, without writing anything.

    Without a description, the project's own; an empty one is the proposal. `{"draft": true}` is the tree edited by
    hand. The values without a group are cells: given with `show_gaps` only, and never those of an identifier.
    """
    home, column = _opened_column(folder, variable)
    stored = _stored(home, variable)
    chosen, origin = _chosen(column, stored if spec is None else spec)
    trial = trial_of(column, chosen, home, origin, show_gaps)
    return _with_bounds(trial, stored)


def begin_hierarchy(folder: Place, variable: str, builder: str) -> HierarchyTrial:
    """A first description of a kind, fitted to the values that occur, tried."""
    home, column = _opened_column(folder, variable)
    spec = starting_spec(builder, column.plain)
    return _with_bounds(trial_of(column, spec, home, builder, False), _stored(home, variable))


def export_tried(folder: Place, variable: str, target: Place, spec: Spec | None = None) -> int:
    """Write what a description makes of the values that occur, in ARX's layout, saved or not; give the lines."""
    home, column = _opened_column(folder, variable)
    drafts.refuse_untouchable(column)
    chosen, _ = _chosen(column, _stored(home, variable) if spec is None else spec)
    rows = drafts.rows_over(column, made_over(column, chosen, home))
    write_csv(from_rows(variable, rows), Path(target))
    return len(rows)


def values_in_order(folder: Place, variable: str) -> tuple[str, ...]:
    """The values of a column that a person may put in order by hand: numbers by size, others by code point."""
    _, column = _opened_column(folder, variable)
    drafts.refuse_untouchable(column, MOST_GROUPS)
    return natural_order(column.plain)


def _with_bounds(trial: HierarchyTrial, stored: Spec) -> HierarchyTrial:
    return replace(trial, minimum=stored.get("minimum"), maximum=stored.get("maximum"))


def _chosen(column: Column, spec: Spec) -> tuple[dict[str, Any], str]:
    """A description in full, and where it comes from; what is impossible to propose is left empty."""
    described = without_bounds(spec)
    if described.pop("draft", False):
        return {**described, "file": drafts.draft_name(column.variable.name)}, DRAFT
    if described:
        return described, origin_of(described)
    with contextlib.suppress(CelosiaError):
        return proposed_spec(column), PROPOSED
    return {}, PROPOSED


# --- saving -------------------------------------------------------------------------------------------


def save_hierarchy(
    folder: Place, variable: str, spec: Spec | None = None, minimum: int | None = None, maximum: int | None = None,
    *, expected: str | None = None, now: datetime | None = None,
) -> SavedHierarchy:  # fmt: skip
    """Write a description and the levels allowed into celosia.toml, after checking that it covers every value.

    Without a description the project's own stays and its levels change; an empty one is the proposal, of which only
    the levels are written. `{"draft": true}` saves the tree edited by hand as a file of the project.
    """
    project = open_project(folder)
    config = project.folder / "celosia.toml"
    refuse_edited(config, expected)
    home, column = _opened_column(folder, variable)
    given = without_bounds(_stored(home, variable) if spec is None else spec)
    made = _usable(column, given, home, minimum, maximum)
    bounds = {name: level for name, level in zip(_BOUNDS, (minimum, maximum), strict=True) if level is not None}
    with settings_edited(project, expected) as document:
        written = _file_of_draft(project, column, made, given) if given.get("draft") else dict(given)
        _describe(document, variable, {**written, **bounds})
    if spec is not None:  # whatever was being edited by hand was saved, or given up for this
        drafts.discard_tree(folder, variable)
    saved = SavedHierarchy(variable, origin_of(written), made.compiled.height, minimum, maximum, digest_of_file(config))
    _note(project, saved, now)
    return saved


def reset_hierarchy(
    folder: Place, variable: str, *, expected: str | None = None, now: datetime | None = None
) -> SavedHierarchy:
    """Go back to the proposed hierarchy and all its levels; a file of the project stays where it is."""
    project = open_project(folder)
    with settings_edited(project, expected) as document:
        _describe(document, variable, {})
    home, column = _opened_column(folder, variable)
    height = 0
    with contextlib.suppress(CelosiaError):  # a sensitive variable may have no proposal
        height = made_over(column, proposed_spec(column), home).compiled.height
    saved = SavedHierarchy(variable, PROPOSED, height, None, None, digest_of_file(home / "celosia.toml"))
    _note(project, saved, now)
    return saved


def _usable(column: Column, given: Spec, home: Path, minimum: int | None, maximum: int | None) -> Made:
    """The hierarchy that a description makes, refused with gaps or with levels that it does not have."""
    drafts.refuse_identifier(column)
    chosen, _ = _chosen(column, given)
    made = made_over(column, chosen or proposed_spec(column), home)
    if made.stops is not None:
        raise made.stops
    level_range(made.compiled, minimum, maximum)
    return made


def _file_of_draft(project: Project, column: Column, made: Made, given: Spec) -> dict[str, Any]:
    """Put the draft among the project's hierarchies; give the description that names it."""
    name = column.variable.name
    others = {key: spec for key, spec in _all_stored(project.folder).items() if key != name}
    file = f"hierarchies/{drafts.file_stem(name)}.csv"
    if any(spec.get("file") == file for spec in others.values()):
        file = f"hierarchies/{drafts.own_stem(name)}.csv"
    (project.folder / "hierarchies").mkdir(exist_ok=True)
    write_csv(from_rows(name, drafts.draft_rows(project.folder, name)), project.folder / file)
    return {"file": file, **{key: value for key, value in given.items() if key == "uncovered"}}


def _describe(document: Any, variable: str, wanted: Spec) -> None:
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


def _note(project: Project, saved: SavedHierarchy, now: datetime | None) -> None:
    facts: dict[str, object] = {"variable": saved.variable, "origin": saved.origin, "levels": saved.height + 1}
    bounds = dict(zip(_BOUNDS, (saved.minimum, saved.maximum), strict=True))
    facts |= {name: level for name, level in bounds.items() if level is not None}
    _journal.append(project.journal_path, "hierarchy", moment(now), facts)


# --- trees --------------------------------------------------------------------------------------------


def begin_tree(folder: Place, variable: str, spec: Spec | None = None) -> str:
    """Make a draft, to be edited by hand, of a description (without one, of the project's own); give its digest."""
    home, column = _opened_column(folder, variable)
    chosen, _ = _chosen(column, _stored(home, variable) if spec is None else spec)
    return digest_of_file(drafts.start_tree(home, column, chosen or {"builder": "identity"}))


def take_hierarchy(folder: Place, variable: str, source: Place) -> HierarchyTrial:
    """Make a draft of a hierarchy file from outside and try it: its gaps are listed before anything is replaced."""
    home, column = _opened_column(folder, variable)
    drafts.take_file(home, column, Path(source))
    return try_hierarchy(folder, variable, {"draft": True}, show_gaps=True)


def _opened_column(folder: Place, variable: str) -> tuple[Path, Column]:
    home = open_project(folder).folder
    with opened(home) as found:
        return home, column_of(found, variable)


def _stored(home: Path, variable: str) -> dict[str, Any]:
    return dict(_all_stored(home).get(variable, {}))


def _all_stored(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_toml(home / "celosia.toml").get("hierarchies", {})
    return found
