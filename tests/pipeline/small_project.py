"""A small project that a few tests walk: made-up people, planted names, persons with two rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from celosia.model import dictionary
from celosia.model.variables import MelLabel, Role, Scale, Treatment
from celosia.pipeline import add_person, approve, init, make_plan, new_identity, open_project, run_plan, write_request

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
PHRASE = "una frase larga"
PLANTED = "Zutanita Quiñimán"  # in the data, and nowhere else
PUBLISHED = {"SEXO": Role.QUASI, "ZONA": Role.QUASI, "INGRESO": Role.PLAIN, "DIAG": Role.SENSITIVE}
ANSWERS: Mapping[str, Any] = {
    "title": "Encuesta", "kind": "external", "requester": "Universidad", "variables": list(PUBLISHED),
    "aggregation": "registro", "properties": [{"property": "mean", "variables": ["INGRESO"], "tolerance": "0.01"}],
    "authorisation": "Convenio 3", "use": "estudio",
    "legal": {"protected_by_law": False, "subject_authorisation": True},
    "source": {"name": "DEIS", "period_from": "2024-01", "period_until": "2024", "unit": "persona",
               "responsible": ["Ana Díaz"], "department": "Estadística"},
    "minsal": {"purpose": "datos abiertos", "administrative_act": True, "dictionary": True, "validated": True,
               "homologated": False},
}  # fmt: skip


def write_source(path: Path, rows: int = 120) -> Path:
    """People with an income; one of them has the planted name."""
    lines = ["RUT,NOMBRE,SEXO,ZONA,INGRESO,DIAG"]
    for i in range(rows):
        name = PLANTED if i == 7 else f"Persona{i}"
        sex, zone, income = "HM"[i % 2], "norte" if i % 3 else "sur", 731000 + 1000 * (i % 7)
        lines.append(f"{12000000 + i}-{i % 10},{name},{sex},{zone},{income},D{i % 5}")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def make_project(place: Path, protocols: Sequence[str] = ("minsal",)) -> Path:
    """A project whose dictionary is complete; nothing is planned yet."""
    source = write_source(place / "encuesta.csv")
    folder = init(str(source), place / "p", protocols, now=NOW).project.folder
    state(folder)
    return Path(folder)


def state(folder: Path) -> None:
    """Describe every variable, as a person would in the dictionary."""
    lines = []
    for line in open_project(folder).variables():
        kept = line.name in PUBLISHED
        lines.append(replace(
            line, label=f"Etiqueta de {line.name}", role=PUBLISHED.get(line.name, Role.IDENTIFIER),
            purpose="estudio" if kept else "", scale=Scale.DISCRETE if line.name == "INGRESO" else Scale.CATEGORICAL,
            mel_label=MelLabel.OTHER if kept else MelLabel.DIRECT,
            treatment=Treatment.KEEP if kept else Treatment.REMOVE,
        ))  # fmt: skip
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")


def identities(folder: Path, **roles: Sequence[str]) -> dict[str, Any]:
    """People of the project by a short name, each with a key of their own outside it."""
    made = {}
    for name, held in roles.items():
        made[name] = new_identity(f"{name.title()} Díaz", PHRASE, folder.parent / "keys" / f"{name}.key")
        add_person(folder, made[name].name, held, made[name].key, now=NOW)
    return made


def walked(folder: Path) -> dict[str, Any]:
    """Request, people, plan, approval and candidate."""
    people = identities(folder, ana=["executor"], luis=["verifier"], eva=["head"])
    write_request(folder, now=NOW, **ANSWERS)
    make_plan(folder, now=NOW)
    approve(folder, "plan", people["eva"], "head", "visto", now=NOW)
    run_plan(folder, now=NOW)
    return people
