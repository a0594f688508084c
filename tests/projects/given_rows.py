"""A project over rows that the test itself writes, with roles and a policy of its own."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from celosia.model.variables import Role, Scale
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.folder import open_project
from tests.projects.steps import NOW, add_settings, write_dictionary


def write_source(path: Path, header: str, rows: Sequence[str]) -> Path:
    """A CSV file of a header and rows, each as it is to be written."""
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return path


def make_project(folder: Path, header: str, rows: Sequence[str], roles: Mapping[str, Role], policy: str) -> Path:
    """A project in which every variable is categorical, is published and has the given role."""
    init(str(write_source(folder.parent / "tabla.csv", header, rows)), folder, now=NOW, header=True)
    variables = [
        replace(v, role=roles[v.name], purpose="estudio", treatment=None, scale=Scale.CATEGORICAL, unknown=())
        for v in open_project(folder).variables
    ]
    write_dictionary(folder, variables)
    add_settings(folder, f"[policy]\n{policy}")
    return folder


def candidate_rows(folder: Path) -> list[dict[str, str]]:
    """The rows of the written candidate."""
    with (folder / "private" / "candidate" / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
