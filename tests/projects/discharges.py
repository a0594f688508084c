"""Synthetic hospital discharges as a MINSAL project, up to what a release needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from celosia.demo.synthetic.discharges import write_discharges
from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import Identity
from tests.projects import steps
from tests.projects.steps import NOW, make_intruder_test, write_dictionary

QUASI = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION")
ROLES = {"head": "Ana Rojas", "executor": "Beto Soto", "verifier": "Carla Díaz"}
REQUEST = """\
format = "celosia/request/1"
title = "Egresos hospitalarios 2024"
[source]
name = "Egresos"
period_from = "2024-01-01"
period_until = "2024-12-31"
unit = "egreso"
responsible = ["Ana Rojas"]
department = "Estadísticas"
[minsal]
administrative_act = true
dictionary = true
validated = true
homologated = false
particularly_sensitive = false
purpose = "Datos abiertos"
[publication]
contact = "datos@example.cl"
licence = "CC BY 4.0"
"""


def make_keys(home: Path) -> dict[str, Identity]:
    """A key for each role, outside any project."""
    return steps.make_keys(home, ROLES)


def make_project(folder: Path, people: dict[str, Identity], extra: str = "", rows: int = 800) -> Path:
    """A project with its dictionary, request and people; nothing planned yet. `extra` is added to celosia.toml."""
    raw = write_discharges(folder.parent / "egresos.csv", rows, 11)
    init(str(raw), folder, ("minsal",), now=NOW)
    return describe_project(folder, people, extra)


def describe_project(folder: Path, people: dict[str, Identity], extra: str = "") -> Path:
    """Give a fresh project of the synthetic discharges its dictionary, request and people."""
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(extra)
    published = (*QUASI, "DIAG1")
    variables = [
        replace(
            variable,
            purpose="estudio" if variable.name in published else "",
            label=variable.label or f"Etiqueta {variable.name}",
        )
        for variable in open_project(folder).variables
    ]
    write_dictionary(folder, variables)
    (folder / "request.toml").write_text(REQUEST, "utf-8")
    steps.register_people(folder, people, {role: (role,) for role in people})
    return folder


def run_to_approved_candidate(folder: Path, people: dict[str, Identity], **plan_options: object) -> Path:
    """Planned, approved, run, tried by an intruder and approved by the verifier."""
    make_plan(folder, now=NOW, **plan_options)
    approve(folder, "plan", people["head"], "head", now=NOW)
    run_plan(folder, now=NOW)
    approve_candidate(folder, people)
    return folder


def approve_candidate(folder: Path, people: dict[str, Identity]) -> None:
    """What stands between a candidate and its release: the intruder's attempts and the verifier's approval."""
    make_intruder_test(folder, people["verifier"])
    approve(folder, "candidate", people["verifier"], "verifier", now=NOW)
