"""A hierarchy tried over the values of a column: its levels, their groups and what it leaves out; nothing is written.

Knows one column's values with their counts. Ignores rows and policies. A file may be named only inside the project.
Source: MINSAL, Anexo II.1, sections 5 to 7; the gaps are counted, and named on request only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.data.preview import VEIL, is_veiled
from celosia.errors import BadInput, CelosiaError, Refusal, WrongUse
from celosia.hierarchy.compile import compile_for, gaps
from celosia.hierarchy.csv import read_csv
from celosia.hierarchy.errors import HierarchyGap
from celosia.hierarchy.masks import short_numbers
from celosia.hierarchy.model import CompiledHierarchy, Hierarchy
from celosia.hierarchy.registry import BUILDERS, build
from celosia.model.errors import UnknownVariable
from celosia.model.parameters import read_parameters
from celosia.model.paths import SETTINGS
from celosia.model.values import CellKind, kind_of
from celosia.model.variables import Role, Variable
from celosia.pipeline.intake.open_table import OpenTable
from celosia.pipeline.intake.proposed_hierarchies import default_spec
from celosia.pipeline.planning.hierarchies import sensitive_spec
from celosia.storage import FileMissing
from celosia.workbench.views.hierarchies import PROPOSED, GroupView, HierarchyTrial, LevelView

MOST_GROUPS = 200
_LONGEST_LABEL = 160
_BUILDERS = {builder.name: builder for builder in BUILDERS}
STOPPING_ERRORS = (BadInput, Refusal, WrongUse)


@dataclass(frozen=True, slots=True)
class Column:
    """A variable with the values it takes and how many rows hold each."""

    variable: Variable
    values: tuple[str, ...]
    counts: NDArray[np.int64]

    @property
    def plain(self) -> list[str]:
        """The values that a hierarchy must place."""
        return [value for value in self.values if kind_of(value, self.variable.unknown) is CellKind.PLAIN]

    @property
    def rows_of(self) -> dict[str, int]:
        """How many rows hold each value."""
        return dict(zip(self.values, self.counts.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class BuiltHierarchy:
    """A hierarchy over a column, what it was made from, and the values it could not place."""

    spec: Mapping[str, Any]
    hierarchy: Hierarchy
    compiled: CompiledHierarchy
    gaps: tuple[str, ...]
    stops: CelosiaError | None  # why it cannot be used as it is


def column_of(table_source: OpenTable, name: str) -> Column:
    """The values of a column, in code-point order."""
    variables = {variable.name: variable for variable in table_source.variables}
    if name not in variables:
        raise UnknownVariable(variable=name, known=", ".join(variables))
    frequencies = table_source.table.frequencies(name)
    return Column(variables[name], tuple(frequencies.values.to_pylist()), frequencies.counts)


def proposed_spec(column: Column) -> dict[str, Any]:
    """What is proposed for a column that nobody described."""
    if column.variable.role == Role.SENSITIVE:
        return sensitive_spec(column.variable, column.values)
    return default_spec(column.variable, column.values)


def build_over(column: Column, spec: Mapping[str, Any], folder: Path) -> BuiltHierarchy:
    """The hierarchy that a description makes of a column, with its gaps sent to `*`."""
    return _build_from_file(column, spec, folder) if "file" in spec else _build_from_spec(column, spec)


def _build_from_file(column: Column, spec: Mapping[str, Any], folder: Path) -> BuiltHierarchy:
    path = file_inside(folder, str(spec["file"]))
    hierarchy, _ = read_csv(path, column.variable.name)
    unknown = column.variable.unknown
    missing = gaps(hierarchy, column.values, unknown)
    compiled = compile_for(hierarchy, column.values, unknown=unknown, gap="suppress", file=path.name)
    suppress = spec.get("uncovered") == "suppress"
    name = re.sub(r"-[0-9a-f]{8}(?=\.csv$)", "", path.name)  # a draft is named as the file it will become
    stops = HierarchyGap(variable=column.variable.name, missing=len(missing), file=name)
    return BuiltHierarchy(spec, hierarchy, compiled, missing, stops if missing and not suppress else None)


def _build_from_spec(column: Column, spec: Mapping[str, Any]) -> BuiltHierarchy:
    chosen = {"unknown": list(column.variable.unknown), **spec}
    name, counts = column.variable.name, column.rows_of
    tolerant = build({**chosen, "uncovered": "suppress"}, column.values, variable=name, counts=counts)
    missing = _unplaced_values(column, chosen, counts)
    stops = None
    if missing and chosen.get("uncovered") != "suppress":
        try:
            build(chosen, column.values, variable=name, counts=counts)
        except STOPPING_ERRORS as refused:
            stops = refused
    compiled = compile_for(tolerant, column.values, unknown=column.variable.unknown, file=SETTINGS)
    return BuiltHierarchy(spec, tolerant, compiled, missing, stops)


def _unplaced_values(column: Column, chosen: Mapping[str, Any], counts: Mapping[str, int]) -> tuple[str, ...]:
    """The plain values that the builder has no group for."""
    builder = _BUILDERS[str(chosen["builder"])]
    settings = read_parameters(builder.name, builder.all_params, {k: v for k, v in chosen.items() if k != "builder"})
    plain = [value for value in column.values if kind_of(value, settings["unknown"]) is CellKind.PLAIN]
    known = builder.place(plain, {**settings, "counts": counts}).labels
    return tuple(value for value in plain if value not in known)


def file_inside(folder: Path, file: str) -> Path:
    """A file of the project; one outside it is as if it did not exist."""
    path = (folder / file).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise FileMissing(path=file)
    return path


# --- what a person sees of it -------------------------------------------------------------------------


def trial_of(
    column: Column, spec: Mapping[str, Any], folder: Path, origin: str, show_gaps: bool, at_most: int = MOST_GROUPS
) -> HierarchyTrial:
    """The levels that a description makes of a column, or the sentence that says why it makes none."""
    levels: tuple[LevelView, ...] = ()
    missing: tuple[str, ...] = ()
    try:
        built = build_over(column, spec, folder)
    except STOPPING_ERRORS as refused:
        problem = str(refused)
    else:
        problem = "" if built.stops is None else str(built.stops)
        levels, missing = levels_of(column, built, at_most), built.gaps
    veiled = is_veiled(column.variable)
    rows_of = column.rows_of
    shown = tuple(VEIL if veiled else value for value in missing[:MOST_GROUPS]) if show_gaps else ()
    short, width = short_numbers(column.plain, spec) if levels else (0, 0)
    return HierarchyTrial(
        variable=column.variable.name,
        role=str(column.variable.role or ""),
        origin=origin,
        spec=dict(spec),
        values=len(column.values),
        rows=int(column.counts.sum()),
        levels=tuple(replace(level, groups=_veil_groups(level.groups)) for level in levels) if veiled else levels,
        gap_values=len(missing),
        gap_rows=sum(rows_of[value] for value in missing),
        gaps=shown,
        problem=problem,
        veiled=veiled,
        short_values=short,
        short_width=width,
    )


def levels_of(column: Column, built: BuiltHierarchy, at_most: int = MOST_GROUPS) -> tuple[LevelView, ...]:
    """Each level's groups in the order of the hierarchy, with the values and rows behind them."""
    compiled = built.compiled
    return tuple(
        _level_view(
            built.hierarchy, compiled, level, column.counts, at_most, _interval_width(built.spec, level, compiled)
        )
        for level in range(compiled.height + 1)
    )


def _level_view(
    hierarchy: Hierarchy, compiled: CompiledHierarchy, level: int, counts: NDArray[np.int64], at_most: int, width: str
) -> LevelView:
    labels, codes = compiled.labels[level], compiled.maps[level]
    rows = np.bincount(codes, weights=counts, minlength=len(labels)).astype(np.int64)
    values = np.bincount(codes, minlength=len(labels))
    parents = _parent_places(hierarchy, compiled, level)
    groups = [
        GroupView(_shorten_label(labels[code], level), int(values[code]), int(rows[code]), parents[code])
        for code in _ordered_codes(hierarchy, labels, level)[:at_most]
    ]
    return LevelView(level, tuple(groups), len(labels), int(rows.min(initial=counts.sum())), width)


def _ordered_codes(hierarchy: Hierarchy, labels: Sequence[str], level: int) -> list[int]:
    """Codes of the labels as the hierarchy has them (numbers by size, dates by time), the added ones last."""
    rank = {label: place for place, label in enumerate(hierarchy.labels[level])}
    return sorted(range(len(labels)), key=lambda code: (rank.get(labels[code], len(rank)), labels[code]))


def _parent_places(hierarchy: Hierarchy, compiled: CompiledHierarchy, level: int) -> list[int]:
    """For each group of a level, the place of its group in the next one."""
    if level == compiled.height:
        return [-1] * len(compiled.labels[level])
    place = np.argsort(np.asarray(_ordered_codes(hierarchy, compiled.labels[level + 1], level + 1), np.int64))
    parent = np.zeros(len(compiled.labels[level]), np.int64)
    parent[compiled.maps[level]] = place[compiled.maps[level + 1]]
    parents: list[int] = parent.tolist()
    return parents


def _shorten_label(label: str, level: int) -> str:
    """The name of a group that lists its members may be as long as they are many; a value is never cut."""
    return label if level == 0 or len(label) <= _LONGEST_LABEL else label[:_LONGEST_LABEL] + "…"


def _interval_width(spec: Mapping[str, Any], level: int, compiled: CompiledHierarchy) -> str:
    """The width of the intervals of a level: 10, 20, 40… where a base width was given (M25)."""
    if spec.get("builder") != "intervals" or "width" not in spec or "coarser" in spec or level == 0:
        return ""
    if level == compiled.height and compiled.labels[level] == ("*",):
        return ""
    return f"{Decimal(str(spec['width'])) * int(spec.get('factor', 2)) ** (level - 1):f}"


def _veil_groups(groups: Sequence[GroupView]) -> tuple[GroupView, ...]:
    return tuple(GroupView(VEIL, group.values, group.rows, group.parent) for group in groups)


def origin_of(spec: Mapping[str, Any]) -> str:
    """Where a described hierarchy comes from: a file or a builder, by its name."""
    return str(spec.get("file") or spec.get("builder") or PROPOSED)
