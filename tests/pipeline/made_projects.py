"""A small MINSAL project walked up to the release, with its people; made by the real verbs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from celosia.data.synthetic import write_discharges
from celosia.model import dictionary
from celosia.pipeline import init, make_plan, open_project, run_plan
from celosia.pipeline._approve import approve
from celosia.pipeline._claims import write_claims_form
from celosia.pipeline._identity import Identity, new_identity
from celosia.pipeline._people import add_person

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
PHRASE = "una frase de paso"
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
purpose = "Datos abiertos"
[publication]
contact = "datos@example.cl"
licence = "CC BY 4.0"
"""


def people_of(home: Path) -> dict[str, Identity]:
    """A key for each role, outside any project."""
    return {role: new_identity(name, PHRASE, home / f"{role}.key") for role, name in ROLES.items()}


def described(folder: Path, people: dict[str, Identity], extra: str = "", rows: int = 800) -> Path:
    """A project with its dictionary, request and people; nothing planned yet. `extra` is added to celosia.toml."""
    raw = write_discharges(folder.parent / "egresos.csv", rows, 11)
    init(str(raw), folder, ("minsal",), now=NOW)
    return minsal(folder, people, extra)


def minsal(folder: Path, people: dict[str, Identity], extra: str = "") -> Path:
    """A fresh project of the synthetic discharges with its dictionary, request and people."""
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(extra)
    wanted = (*QUASI, "DIAG1")
    lines = [
        replace(v, purpose="estudio" if v.name in wanted else "", label=v.label or f"Etiqueta {v.name}")
        for v in open_project(folder).variables()
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    (folder / "request.toml").write_text(REQUEST, "utf-8")
    for role, person in people.items():
        add_person(folder, person.name, (role,), person.key, now=NOW)
    return folder


def walked(folder: Path, people: dict[str, Identity], **asked: object) -> Path:
    """Planned, approved, run, tried by an intruder and approved by the verifier."""
    make_plan(folder, now=NOW, **asked)
    approve(folder, "plan", people["head"], "head", now=NOW)
    run_plan(folder, now=NOW)
    approved(folder, people)
    return folder


def approved(folder: Path, people: dict[str, Identity]) -> None:
    """What stands between a candidate and its release: the intruder's attempts and the verifier's approval."""
    form = write_claims_form(folder, replace=True)
    with form.open("a", encoding="utf-8") as file:
        file.write("prensa,diarios,,,,90,sin resultado\n")
    approve(folder, "candidate", people["verifier"], "verifier", now=NOW)
