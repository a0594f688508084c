"""A survey of 120 made-up people for MINSAL or ATENEA; one of them has a planted name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from celosia.model.variables import MelLabel, Role, Scale, Treatment
from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import write_request
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import Identity
from tests.projects.steps import NOW, make_keys, register_people, write_dictionary

# In the data, and nowhere else.
PLANTED = "Zutanita Quiñimán"
PUBLISHED = {"SEXO": Role.QUASI, "ZONA": Role.QUASI, "INGRESO": Role.PLAIN, "DIAG": Role.SENSITIVE}
ANSWERS: Mapping[str, Any] = {
    "title": "Encuesta",
    "kind": "external",
    "requester": "Universidad",
    "official": "Nora Gil",
    "received": "2026-10-01",
    "variables": list(PUBLISHED),
    "aggregation": "registro",
    "properties": [{"property": "mean", "variables": ["INGRESO"], "tolerance": "0.01"}],
    "authorisation": "Convenio 3",
    "use": "estudio",
    "legal": {"protected_by_law": False, "subject_authorisation": True},
    "source": {
        "name": "DEIS",
        "period_from": "2024-01",
        "period_until": "2024",
        "unit": "persona",
        "responsible": ["Ana Díaz"],
        "department": "Estadística",
    },
    "minsal": {
        "purpose": "datos abiertos",
        "administrative_act": True,
        "dictionary": True,
        "validated": True,
        "homologated": False,
        "particularly_sensitive": False,
    },
}


def write_source(path: Path, rows: int = 120) -> Path:
    """People with an income; one of them has the planted name."""
    lines = ["RUT,NOMBRE,SEXO,ZONA,INGRESO,DIAG"]
    for i in range(rows):
        name = PLANTED if i == 7 else f"Persona{i}"
        sex, zone, income = "HM"[i % 2], "norte" if i % 3 else "sur", 731000 + 1000 * (i % 7)
        lines.append(f"{12000000 + i}-{i % 10},{name},{sex},{zone},{income},D{i % 5}")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def make_project(folder: Path, protocols: Sequence[str] = ("minsal",)) -> Path:
    """A project whose dictionary is complete, and its source beside it; nothing is planned yet."""
    source = write_source(folder.parent / "encuesta.csv")
    init(str(source), folder, protocols, now=NOW)
    describe_project(folder)
    return folder


def describe_project(folder: Path) -> None:
    """Describe every variable, as a person would in the dictionary."""
    variables = []
    for variable in open_project(folder).variables:
        published = variable.name in PUBLISHED
        described = replace(
            variable,
            label=f"Etiqueta de {variable.name}",
            role=PUBLISHED.get(variable.name, Role.IDENTIFIER),
            purpose="estudio" if published else "",
            scale=Scale.DISCRETE if variable.name == "INGRESO" else Scale.CATEGORICAL,
            mel_label=MelLabel.OTHER if published else MelLabel.DIRECT,
            treatment=Treatment.KEEP if published else Treatment.REMOVE,
        )
        variables.append(described)
    write_dictionary(folder, variables)


def add_people(folder: Path, **roles: Sequence[str]) -> dict[str, Identity]:
    """People of the project by a short name, each with a key of their own outside it."""
    people = make_keys(folder.parent / "keys", {short: f"{short.title()} Díaz" for short in roles})
    register_people(folder, people, roles)
    return people


def run_to_candidate(folder: Path) -> dict[str, Identity]:
    """Request, people, plan, approval and candidate."""
    people = add_people(folder, ana=["executor"], luis=["verifier"], eva=["head"])
    write_request(folder, now=NOW, **ANSWERS)
    make_plan(folder, now=NOW)
    approve(folder, "plan", people["eva"], "head", "visto", now=NOW)
    run_plan(folder, now=NOW)
    return people
