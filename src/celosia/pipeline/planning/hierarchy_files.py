"""Hierarchies of a project: viewed, imported from a file, exported to one."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from celosia.hierarchy.compile import gaps
from celosia.hierarchy.csv import read_csv, write_csv
from celosia.hierarchy.errors import HierarchyGap
from celosia.hierarchy.masks import short_numbers
from celosia.hierarchy.model import CompiledHierarchy
from celosia.hierarchy.rows import from_rows
from celosia.model.values import CellKind, kind_of
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.planning.hierarchies import compiled_hierarchies
from celosia.pipeline.planning.policy import hierarchy_specs
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, open_for_editing, open_project
from celosia.storage import atomic_write
from celosia.system.paths import unreserved_name
from celosia.tuples.table import Tuples


@dataclass(frozen=True, slots=True)
class HierarchyView:
    """Levels of a hierarchy over the values that occur: how many groups, how large the smallest."""

    variable: str
    origin: str  # a file, the builder's name, or "default"
    values: int
    groups: tuple[int, ...]
    smallest_rows: tuple[int, ...]
    short_values: int = 0  # numbers that a mask hides whole at level 1, because others are longer …
    short_width: int = 0  # … and the width that would keep them

    def as_dict(self) -> dict[str, Any]:
        """The view as its versioned JSON."""
        return {"format": "celosia/hierarchy/1", **asdict(self)}


def view_hierarchy(folder: ProjectArg, variable: str) -> HierarchyView:
    """What a project's hierarchy of a variable does to the values that occur."""
    project = open_project(folder)
    with open_table(project) as source:
        tuples, compiled = _compile_for(source, project, variable)
    unknown = next(described.unknown for described in source.variables if described.name == variable)
    spec = project.settings.get("hierarchies", {}).get(variable, {})
    rows = [_rows_behind(tuples, compiled, level) for level in range(compiled.height + 1)]
    origin = str(spec.get("file") or spec.get("builder") or "default")
    groups, least = tuple(len(level) for level in rows), tuple(min(level, default=0) for level in rows)
    plain = [value for value in compiled.labels[0] if kind_of(value, unknown) is CellKind.PLAIN]
    return HierarchyView(variable, origin, len(compiled.labels[0]), groups, least, *short_numbers(plain, spec))


def export_hierarchy(folder: ProjectArg, variable: str, target: PathArg) -> int:
    """Write a variable's hierarchy over the values that occur, in ARX's layout; give the number of lines."""
    project = open_project(folder)
    with open_table(project) as source:
        _, compiled = _compile_for(source, project, variable)
    rows = [
        tuple(compiled.labels[level][compiled.maps[level][code]] for level in range(compiled.height + 1))
        for code in range(len(compiled.labels[0]))
    ]
    write_csv(from_rows(variable, rows), Path(target))
    return len(rows)


def import_hierarchy(folder: ProjectArg, variable: str, source: PathArg, *, now: datetime | None = None) -> int:
    """Take a hierarchy file into the project after checking that it covers every value; give its number of levels."""
    project = open_project(folder)
    hierarchy, _ = read_csv(Path(source), variable)
    uncovered = uncovered_values(project, variable, source)
    if uncovered:
        raise HierarchyGap(variable=variable, missing=len(uncovered), file=str(source))
    file = project.paths.hierarchies / hierarchy_file_name(variable)
    with open_for_editing(project, project.paths.settings):
        write_csv(hierarchy, file)
        _name_in_config(project.paths.settings, variable, file.relative_to(project.folder).as_posix())
    levels = hierarchy.height + 1
    _journal.append_entry(project.paths.journal, "hierarchy", utc_now(now), {"variable": variable, "levels": levels})
    return levels


def hierarchy_file_name(variable: str) -> str:
    """A plain file name after a variable."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", variable).strip("-").lower() or "variable"
    return unreserved_name(f"{name}.csv")


def uncovered_values(folder: ProjectArg, variable: str, source: PathArg) -> tuple[str, ...]:
    """The values that a hierarchy file does not cover; they are cells, so only on request."""
    hierarchy, _ = read_csv(Path(source), variable)
    with open_table(open_project(folder)) as opened_source:
        described = {v.name: v for v in opened_source.variables}
        vocabulary = opened_source.table.tuples([variable]).vocabularies[0]
    unknown = described[variable].unknown
    plain = [value for value in vocabulary if kind_of(value, unknown) is CellKind.PLAIN]
    return gaps(hierarchy, plain, unknown)


def _compile_for(source: OpenTable, project: Project, variable: str) -> tuple[Tuples, CompiledHierarchy]:
    tuples = source.table.tuples([variable])
    described = {v.name: v for v in source.variables}
    specs = hierarchy_specs(project.settings)
    return tuples, compiled_hierarchies(tuples, described, specs, project.folder)[variable]


def _rows_behind(tuples: Tuples, compiled: CompiledHierarchy, level: int) -> list[int]:
    group, size = compiled.maps[level][tuples.codes[:, 0]], len(compiled.labels[level])
    return np.bincount(group, weights=tuples.rows, minlength=size).astype(int).tolist()


def _name_in_config(path: Path, variable: str, file: str) -> None:
    """Point celosia.toml to the file; what people wrote there, comments too, stays."""
    import tomlkit

    document = tomlkit.parse(path.read_text("utf-8"))
    section = document.setdefault("hierarchies", tomlkit.table(is_super_table=True))
    before = dict(section.get(variable, {}))
    section[variable] = {"file": file} | {key: before[key] for key in ("minimum", "maximum") if key in before}
    with atomic_write(path, 0o644) as draft:
        draft.write_text(tomlkit.dumps(document), "utf-8", newline="\n")
