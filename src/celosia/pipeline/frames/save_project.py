"""An anonymous frame becomes a project folder: the same source, dictionary, policy and plan, for the command line.

Knows the files of a project. Ignores how the plan was found. The folder appears whole or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.hierarchy.csv import write_csv
from celosia.model.paths import ProjectPaths
from celosia.model.plan import Plan
from celosia.pipeline.frames.anonymized_frame import ProjectMaterial
from celosia.pipeline.frames.errors import FrameChanged, FrameUnavailable
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import write_plan
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.folder import open_project
from celosia.storage import AlreadyExists, atomic_write, move, temporary_folder_beside


def save_project(plan: Plan, material: ProjectMaterial, folder: Path, now: datetime | None) -> Path:
    """Write the project of a frame and its plan; give its folder."""
    if folder.exists():
        raise AlreadyExists(path=str(folder))
    if material.source is None:
        raise FrameUnavailable()
    with temporary_folder_beside(folder) as scratch:
        draft = scratch / folder.name
        made = init(material.source, draft, person=material.columns.person, now=now)
        if made.project.config.source.digest != plan.source:
            raise FrameChanged()
        _write_settings(ProjectPaths(draft), material)
        project = open_project(draft)
        write_plan(project, plan, utc_now(now))
        move(draft, folder)
    return folder


def _write_settings(paths: ProjectPaths, material: ProjectMaterial) -> None:
    """The dictionary, the hierarchies, and the policy in celosia.toml."""
    _write(paths.dictionary, material.dictionary_text)
    for file, hierarchy in material.tables.items():
        write_csv(hierarchy, paths.folder / file)
    _write(paths.settings, _settings_text(paths.settings.read_text("utf-8"), material.document))


def _settings_text(text: str, stated: Mapping[str, Any]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    unit = document.setdefault("unit", tomlkit.table())
    # A key that `init` proposes is not one that the caller stated.
    unit.pop("person", None)
    unit.update(stated.get("unit", {}))
    for section in ("policy", "hierarchies"):
        if stated.get(section):
            document[section] = stated[section]
    return tomlkit.dumps(document)


def _write(path: Path, text: str) -> None:
    with atomic_write(path, 0o644) as draft:
        draft.write_text(text, "utf-8", newline="\n")
