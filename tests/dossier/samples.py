"""A small project in figures, for the documents: no file, no row, only what the dossier is given."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from celosia.dossier.minsal import AnexoI, Attempts, Override
from celosia.model.changes import StepChange
from celosia.model.people import Approval, Person
from celosia.model.plan import Plan, Policy
from celosia.model.requests import Request
from celosia.model.variables import Role, Variable
from celosia.model.verdict import CheckReport, State, Verdict

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ROLES = {"SEXO": Role.QUASI, "EDAD": Role.QUASI, "COMUNA": Role.QUASI, "DIAG1": Role.SENSITIVE, "AÑO": Role.PLAIN}
VARIABLES = tuple(Variable(name, role=role) for name, role in ROLES.items())
WITHHELD = ("RUN", "NOMBRE")

POLICY = Policy(
    quasi=("SEXO", "EDAD", "COMUNA"),
    sensitive=("DIAG1",),
    criteria=({"criterion": "k", "k": 3, "unit": "persons"}, {"criterion": "distinct_l", "variable": "DIAG1", "l": 2}),
    hierarchies={"EDAD": {"builder": "intervals", "width": 5}},
)
CHANGES = (
    StepChange("remove_variables", (), 3000, 3000, {}, removed=("RUN", "NOMBRE")),
    StepChange("intervals", ("EDAD",), 3000, 2950, {"EDAD": 2950}),
    StepChange("remove_records", ("EDAD",), 3000, 0, {}, rows_dropped=7),
)
PLAN = Plan(
    method="full-domain", policy=POLICY.as_dict(), source="sha256:1", dictionary="sha256:2", published=tuple(ROLES),
    followers={}, levels={"SEXO": 0, "EDAD": 2, "COMUNA": 1}, loss=0.1411, loss_definition="loss (geometric)",
    suppressed_rows=219, suppressed_share=0.073, masked_sensitive={"DIAG1": 12}, classes=231, nodes=12, nodes_checked=7,
    optimal=True, bound=0.1411, changes=tuple(change.as_dict() for change in CHANGES), seed="kept",
    notes={"detail": {"EDAD": {"builder": "intervals", "size": "10", "height": "5"}}},
)  # fmt: skip
CHECK = CheckReport(
    "data.csv", "sha256:3", 3000, 231, 219,
    (Verdict("k", {"criterion": "k", "k": 3}, None, 0, 0, State.HOLDS),), 4, 3,
)  # fmt: skip
REQUEST = Request(
    title="Egresos hospitalarios 2024",
    requester="Unidad de Estudios",
    source={
        "name": "Egresos",
        "department": "Departamento de Estadísticas",
        "responsible": ["Ana Pérez"],
        "period_from": "2024-01-01",
        "period_until": "2024-12-31",
        "unit": "egreso",
    },
    minsal={"administrative_act": True, "dictionary": True, "validated": False, "purpose": "Conocer los egresos."},
    publication={"contact": "deis@minsal.cl", "licence": "CC BY 4.0", "update_period": "anual"},
)
PEOPLE = (
    Person("Carla Núñez", ("head",), "a" * 64),
    Person("Ana Pérez", ("executor",), "b" * 64),
    Person("Bruno Díaz", ("verifier",), "c" * 64),
)
SIGNATURES = tuple(
    Approval("release", "sha256:4", role, person.name, person.key, "2026-11-16T09:00:00+00:00", signature=mark * 32)
    for person, role, mark in zip(PEOPLE, ("head", "executor", "verifier"), ("0a1b", "2c3d", "4e5f"), strict=True)
)
OVERRIDE = Override("minsal", "Idealmente cada combinación se repite más de 3 veces", "la base es pequeña")
FORM = AnexoI(
    date="2026-11-15", request=REQUEST, variables=VARIABLES, withheld=WITHHELD, plan=PLAN, check=CHECK,
    overrides=(OVERRIDE,), people=PEOPLE, signatures=SIGNATURES, attempts=Attempts(12, 0, True),
    publication_date="2026-12-01", update_period="anual",
)  # fmt: skip
UNSIGNED = replace(FORM, signatures=(), people=PEOPLE[:1], publication_date="", attempts=None)
