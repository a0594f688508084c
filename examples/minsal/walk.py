"""The MINSAL walk, from the raw file to a published release that anybody can verify: `python -m examples.minsal.walk`.

The commands are those of docs/*/guide-minsal.md, in the same order; a test holds both together.
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

from examples.minsal.make_data import make_data
from examples.walker import Step, cards, identities, introduction, passphrase_file, run_as_script, sign_with

PROJECT = "egresos-2024"
RELEASE = f"{PROJECT}/releases/2026-11-16"
PURPOSE = "Estudio de morbilidad por territorio"
PEOPLE = (("ana", "Ana Rojas", "head"), ("luis", "Luis Soto", "executor"), ("marta", "Marta Díaz", "verifier"))
PUBLISH = (
    f"celosia publish {PROJECT} {RELEASE} --consultation 2026-11-02 --date 2026-11-20 --update-period anual"
    f" {sign_with('ana')}"
)
OUTSIDER = "Persona externa 1"  # a code is enough: nobody has to be named
SOURCES = ("redes sociales y prensa local", "obituarios y registros públicos", "buscadores de internet")
MINUTES = ("12", "15", "8", "15", "10", "6", "15", "9", "12", "8")
HOW = "Supervisé la prueba en una sala sin acceso a los datos originales"


def note_attempts(folder: Path) -> None:
    """What the motivated intruder tried on this very candidate, filled into the form that celosia wrote."""
    form = folder / PROJECT / "claims.csv"
    rows = list(csv.reader(form.read_text("utf-8").splitlines()))
    answers = {"outsider": OUTSIDER, "independent": "sí", "date": datetime.now(UTC).date().isoformat()}
    head = [[row[0], answers[row[0]]] if row[0] in answers else row for row in rows[:7]]
    targets = [row[0] for row in rows[7:]]
    attempts = [
        [target, SOURCES[place % len(SOURCES)], "", "", "no", minutes, ""]
        for place, (target, minutes) in enumerate(zip(targets, MINUTES, strict=False))
    ]
    with form.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([*head, *attempts])


STEPS = (
    Step("Una frase de paso para practicar (en la vida real cada persona guarda la suya)", passphrase_file),
    *identities(PEOPLE),
    Step("export CELOSIA_IDENTITY=llaves/luis.key"),
    Step(f"celosia init egresos.csv --into {PROJECT} --protocol minsal --dictionary diccionario.csv"),
    introduction(PROJECT, PEOPLE),
    Step(f"celosia status {PROJECT}", code=1),
    Step(
        f'celosia request {PROJECT} --title "Egresos hospitalarios 2024" --purpose "{PURPOSE}"'
        ' --source-name "Registro de egresos hospitalarios" --period-from 2024-01-01 --period-until 2024-12-31'
        ' --unit "egreso hospitalario" --department "Departamento de Estadísticas" --responsible "Ana Rojas"'
        " --administrative-act --has-dictionary --validated --not-homologated --not-particularly-sensitive"
        " --contact estadisticas@salud.example --licence CC-BY-4.0 --update-period anual"
    ),
    Step(
        f'celosia dictionary purpose {PROJECT} --variables SEXO,EDAD_AÑOS,COMUNA,PREVISION,DIAG1 --purpose "{PURPOSE}"'
    ),
    Step(f"celosia plan {PROJECT}"),
    Step(f"celosia approve {PROJECT} plan --role head --yes {sign_with('ana')}"),
    Step(f"celosia run {PROJECT}"),
    Step(f"celosia claims {PROJECT}"),
    Step("El intruso motivado anota sus intentos en claims.csv", note_attempts),
    Step(f"celosia claims {PROJECT}"),
    Step(f"celosia check {PROJECT}"),
    Step(f'celosia approve {PROJECT} intruder candidate --role verifier --note "{HOW}" --yes {sign_with("marta")}'),
    Step(f"celosia release {PROJECT}"),
    Step(PUBLISH, code=1),
    Step(f"celosia sign {RELEASE} --role executor {sign_with('luis')}"),
    Step(f"celosia sign {RELEASE} --role verifier {sign_with('marta')}"),
    Step(f"celosia sign {RELEASE} --role head {sign_with('ana')}"),
    Step(PUBLISH),
    Step(f"celosia document {PROJECT} --format pdf,docx"),
    Step(f"celosia verify {RELEASE} {cards(PEOPLE)}"),
    Step(f"celosia status {PROJECT}"),
    Step(f"celosia recheck {RELEASE}"),
)


if __name__ == "__main__":
    run_as_script(STEPS, make_data)
