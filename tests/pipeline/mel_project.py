"""A small MEL project: invented people of a household survey, in areas whose sizes are known."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from celosia.model import dictionary
from celosia.pipeline import init, make_plan, open_project, run_plan
from celosia.pipeline._approve import approve
from celosia.pipeline._identity import Identity, new_identity
from celosia.pipeline._people import add_person
from celosia.pipeline._request import write_request

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
HEADER = (
    "NOMBRE",
    "DOCUMENTO",
    "DEPARTAMENTO",
    "MUNICIPIO",
    "HOGAR",
    "SEXO",
    "EDAD",
    "EDUCACION",
    "INGRESO",
    "OPINION",
)
AREAS = (("Meta", "Vistahermosa", 51), ("Meta", "Granada", 80), ("Nariño", "Tumaco", 60), ("Nariño", "Ricaurte", 60))
KEPT = ("DEPARTAMENTO", "MUNICIPIO", "SEXO", "EDAD", "EDUCACION", "INGRESO", "OPINION")
CONTRAST = ("DEPARTAMENTO", "SEXO", "EDAD", "INGRESO")
PASSPHRASE = "una frase de paso larga"


def rows_of(areas: Sequence[tuple[str, str, int]] = AREAS) -> list[tuple[str, ...]]:
    """People of two to a household, area by area."""
    made = []
    for department, town, people in areas:
        for _ in range(people):
            i = len(made)
            person = (f"Persona {i}", f"{10_000_000 + 37 * i}")
            home = f"H{i // 2:04d}" if department else ""
            answers = (str(1 + i % 2), str(18 + i * 7 % 60), ("Primaria", "Media", "Superior")[i % 3])
            made.append((*person, department, town, home, *answers, f"{900 + i * 13 % 4000}", str(1 + i * 11 % 5)))
    return made


def write_base(folder: Path, rows: Sequence[tuple[str, ...]], header: Sequence[str] = HEADER) -> tuple[Path, Path]:
    """The base and the dictionary that comes with it."""
    folder.mkdir(parents=True, exist_ok=True)
    base, described = folder / "base.csv", folder / "diccionario.csv"
    for path, lines in ((base, [header, *rows]), (described, [("variable", "etiqueta"), *((n, n) for n in header)])):
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
    return base, described


def edit(folder: Path, **changes: Mapping[str, Any]) -> None:
    """Change lines of the dictionary, as a person would."""
    lines = [replace(v, **changes.get(v.name, {})) for v in open_project(folder).variables()]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")


def add_settings(folder: Path, text: str) -> None:
    """Append to celosia.toml."""
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8") + "\n" + text + "\n", "utf-8")


def made(place: Path, areas: Sequence[tuple[str, str, int]] = AREAS, protocols: Sequence[str] = ("mel",)) -> Path:
    """A project whose dictionary states purposes for everything that stays."""
    base, described = write_base(place / "raw", rows_of(areas))
    folder = init(str(base), place / "evaluacion", protocols, described, now=NOW).project.folder
    stays = {v.name: {"purpose": "evaluación"} for v in open_project(folder).variables() if v.treatment != "remove"}
    edit(folder, **stays)
    return folder


def people(folder: Path, place: Path) -> dict[str, Identity]:
    """A lead, an executor and a verifier, each with a key of their own."""
    found = {}
    for role in ("lead", "executor", "verifier"):
        found[role] = new_identity(f"Persona {role}", PASSPHRASE, place / f"{role}.key")
        add_person(folder, f"Persona {role}", (role,), found[role].key, now=NOW)
    return found


def requested(folder: Path, contrast: Sequence[str] = CONTRAST) -> None:
    """The request of an evaluation."""
    write_request(
        folder,
        now=NOW,
        title="Evaluación de una actividad inventada",
        source={"name": "Encuesta de línea base", "period_from": "2026-01-01", "period_until": "2026-03-31"},
        mel={"consent": "Consentimiento informado firmado por cada participante", "contrast": list(contrast)},
        publication={"contact": "datos@ejemplo.org", "licence": "CC BY 4.0"},
    )


def ran(folder: Path, signers: Mapping[str, Identity]) -> None:
    """Approved, planned and applied."""
    approve(folder, "dictionary", signers["lead"], "lead", "revisado", now=NOW)
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
