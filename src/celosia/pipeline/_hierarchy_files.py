"""Hierarchies of a project: looked at, brought in as a file, taken out as one."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.data.files import replacing
from celosia.errors import HierarchyGap
from celosia.hierarchy import CompiledHierarchy, from_rows, gaps, read_csv, short_numbers, write_csv
from celosia.model.values import CellKind, kind_of
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._hierarchies import compiled_hierarchies
from celosia.pipeline._kept import editing
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._policy import without_bounds
from celosia.pipeline._project import open_project, read_toml
from celosia.tuples import Tuples


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


def view_hierarchy(folder: Place, variable: str) -> HierarchyView:
    """What a project's hierarchy of a variable does to the values that occur."""
    project = open_project(folder)
    with opened(project.folder) as found:
        tuples, compiled = _compiled(found, project.folder, variable)
    unknown = next(one.unknown for one in found.variables if one.name == variable)
    spec = read_toml(project.folder / "celosia.toml").get("hierarchies", {}).get(variable, {})
    rows = [_rows_behind(tuples, compiled, level) for level in range(compiled.height + 1)]
    origin = str(spec.get("file") or spec.get("builder") or "default")
    groups, least = tuple(len(level) for level in rows), tuple(min(level, default=0) for level in rows)
    plain = [value for value in compiled.labels[0] if kind_of(value, unknown) is CellKind.PLAIN]
    return HierarchyView(variable, origin, len(compiled.labels[0]), groups, least, *short_numbers(plain, spec))


def export_hierarchy(folder: Place, variable: str, target: Place) -> int:
    """Write a variable's hierarchy over the values that occur, in ARX's layout; give the number of lines."""
    project = open_project(folder)
    with opened(project.folder) as found:
        _, compiled = _compiled(found, project.folder, variable)
    rows = [
        tuple(compiled.labels[level][compiled.maps[level][code]] for level in range(compiled.height + 1))
        for code in range(len(compiled.labels[0]))
    ]
    write_csv(from_rows(variable, rows), Path(target))
    return len(rows)


def import_hierarchy(folder: Place, variable: str, source: Place, *, now: datetime | None = None) -> int:
    """Take a hierarchy file into the project after checking that it covers every value; give its number of levels."""
    project = open_project(folder)
    folder = project.folder
    hierarchy, _ = read_csv(Path(source), variable)
    uncovered = uncovered_values(folder, variable, source)
    if uncovered:
        raise HierarchyGap(variable=variable, missing=len(uncovered), file=str(source))
    name = re.sub(r"[^A-Za-z0-9]+", "-", variable).strip("-").lower() or "variable"
    with editing(folder, folder / "celosia.toml"):
        write_csv(hierarchy, folder / "hierarchies" / f"{name}.csv")
        _name_in_config(folder / "celosia.toml", variable, f"hierarchies/{name}.csv")
    levels = hierarchy.height + 1
    _journal.append(project.journal_path, "hierarchy", moment(now), {"variable": variable, "levels": levels})
    return levels


def uncovered_values(folder: Place, variable: str, source: Place) -> tuple[str, ...]:
    """The values that a hierarchy file does not cover; they are cells, so only on request."""
    hierarchy, _ = read_csv(Path(source), variable)
    with opened(open_project(folder).folder) as found:
        described = {v.name: v for v in found.variables}
        vocabulary = found.table.tuples([variable]).vocabularies[0]
    unknown = described[variable].unknown
    plain = [value for value in vocabulary if kind_of(value, unknown) is CellKind.PLAIN]
    return gaps(hierarchy, plain, unknown)


def _compiled(found: Opened, folder: Path, variable: str) -> tuple[Tuples, CompiledHierarchy]:
    tuples = found.table.tuples([variable])
    specs = read_toml(folder / "celosia.toml").get("hierarchies", {})
    own = {name: without_bounds(spec) for name, spec in specs.items()}
    described = {v.name: v for v in found.variables}
    return tuples, compiled_hierarchies(tuples, described, own, folder)[variable]


def _rows_behind(tuples: Tuples, compiled: CompiledHierarchy, level: int) -> list[int]:
    rows = [0] * len(compiled.labels[level])
    for code, count in zip(tuples.codes[:, 0].tolist(), tuples.rows.tolist(), strict=True):
        rows[int(compiled.maps[level][code])] += count
    return rows


def _name_in_config(path: Path, variable: str, file: str) -> None:
    """Point celosia.toml to the file; what people wrote there, comments too, stays."""
    import tomlkit

    document = tomlkit.parse(path.read_text("utf-8"))
    section = document.setdefault("hierarchies", tomlkit.table(is_super_table=True))
    before = dict(section.get(variable, {}))
    section[variable] = {"file": file} | {key: before[key] for key in ("minimum", "maximum") if key in before}
    with replacing(path, 0o644) as draft:
        draft.write_text(tomlkit.dumps(document), "utf-8")
