"""A household survey as a MEL project: invented people, in areas whose sizes are known."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import write_request
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import Identity
from tests.projects.steps import NOW, edit_dictionary, make_keys, register_people

HEADER = tuple("NOMBRE DOCUMENTO DEPARTAMENTO MUNICIPIO HOGAR SEXO EDAD EDUCACION INGRESO OPINION".split())
AREAS = (("Meta", "Vistahermosa", 51), ("Meta", "Granada", 80), ("Nariño", "Tumaco", 60), ("Nariño", "Ricaurte", 60))
PUBLISHED = ("DEPARTAMENTO", "MUNICIPIO", "SEXO", "EDAD", "EDUCACION", "INGRESO", "OPINION")
CONTRAST = ("DEPARTAMENTO", "SEXO", "EDAD", "INGRESO")
ROLES = ("lead", "executor", "verifier")


def area_rows(areas: Sequence[tuple[str, str, int]] = AREAS) -> list[tuple[str, ...]]:
    """People of two to a household, area by area."""
    rows: list[tuple[str, ...]] = []
    for department, town, size in areas:
        for _ in range(size):
            i = len(rows)
            person = (f"Persona {i}", f"{10_000_000 + 37 * i}")
            household = f"H{i // 2:04d}" if department else ""
            answers = (str(1 + i % 2), str(18 + i * 7 % 60), ("Primaria", "Media", "Superior")[i % 3])
            figures = (f"{900 + i * 13 % 4000}", str(1 + i * 11 % 5))
            rows.append((*person, department, town, household, *answers, *figures))
    return rows


def write_source(folder: Path, rows: Sequence[tuple[str, ...]], header: Sequence[str] = HEADER) -> tuple[Path, Path]:
    """The survey, and the dictionary that comes with it."""
    folder.mkdir(parents=True, exist_ok=True)
    source, labels = folder / "base.csv", folder / "diccionario.csv"
    _write_csv(source, [header, *rows])
    _write_csv(labels, [("variable", "etiqueta"), *((name, name) for name in header)])
    return source, labels


def _write_csv(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def make_project(
    folder: Path, areas: Sequence[tuple[str, str, int]] = AREAS, protocols: Sequence[str] = ("mel",)
) -> Path:
    """A project whose dictionary states a purpose for everything that is published."""
    source, labels = write_source(folder.parent / "raw", area_rows(areas))
    init(str(source), folder, protocols, labels, now=NOW)
    published = [variable.name for variable in open_project(folder).variables if variable.treatment != "remove"]
    edit_dictionary(folder, **{name: {"purpose": "evaluación"} for name in published})
    return folder


def add_people(folder: Path, home: Path) -> dict[str, Identity]:
    """A lead, an executor and a verifier, each with a key of their own in `home`."""
    people = make_keys(home, {role: f"Persona {role}" for role in ROLES})
    register_people(folder, people, {role: (role,) for role in ROLES})
    return people


def answer_request(folder: Path, contrast: Sequence[str] = CONTRAST) -> None:
    """The request of an evaluation."""
    write_request(
        folder,
        now=NOW,
        title="Evaluación de una actividad inventada",
        source={"name": "Encuesta de línea base", "period_from": "2026-01-01", "period_until": "2026-03-31"},
        mel={"consent": "Consentimiento informado firmado por cada participante", "contrast": list(contrast)},
        publication={"contact": "datos@ejemplo.org", "licence": "CC BY 4.0"},
    )


def run_to_candidate(folder: Path, people: Mapping[str, Identity]) -> None:
    """Dictionary approved, planned and run."""
    approve(folder, "dictionary", people["lead"], "lead", "revisado", now=NOW)
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
