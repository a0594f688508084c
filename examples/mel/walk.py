"""The MEL walk, from the base and its dictionary to the four files of the delivery: `python -m examples.mel.walk`.

The commands are those of docs/*/guide-mel.md, in the same order; a test holds both together.
"""

from __future__ import annotations

from pathlib import Path

from examples.mel.make_data import make_data
from examples.walker import (
    Step,
    append,
    cards,
    identities,
    introduction,
    passphrase_file,
    replace,
    run_as_script,
    sign_with,
)

PROJECT = "encuesta-2024"
RELEASE = f"{PROJECT}/releases/2026-11-16"
PEOPLE = (("clara", "Clara Ruiz", "lead"), ("jorge", "Jorge Peña", "executor"), ("nidia", "Nidia Mora", "verifier"))
KEPT = (
    "DEPARTAMENTO,MUNICIPIO,HOGAR_ID,SEXO,EDAD,NIVEL_EDUCATIVO,AREA_PREDIO_HA,CONFIANZA_ALCALDIA,"
    "PERCEPCION_SEGURIDAD,FACTOR_EXPANSION"
)
RENUMBERING = """
[[steps]]
technique = "renumber"
columns = ["HOGAR_ID"]
"""


def keep_households_together(folder: Path) -> None:
    """The household's number groups rows and locates nobody: it stays, renumbered by chance (MEL IV.2.a.iii)."""
    project = folder / PROJECT
    rows = [row.split(",") for row in (project / "dictionary.csv").read_text("utf-8").splitlines()]
    role = next(",".join(row[:3]) for row in rows if row[0] == "HOGAR_ID")
    replace(project / "dictionary.csv", role, "HOGAR_ID,Identificador del hogar,atributo no sensible")
    config = project / "celosia.toml"
    line = next(line for line in config.read_text("utf-8").splitlines() if line.startswith("# household"))
    replace(config, line, 'household = "HOGAR_ID"')
    append(config, RENUMBERING)


STEPS = (
    Step("Una frase de paso para practicar (en la vida real cada persona guarda la suya)", passphrase_file),
    *identities(PEOPLE),
    Step("export CELOSIA_IDENTITY=llaves/jorge.key"),
    Step(f"celosia init encuesta.csv --into {PROJECT} --protocol mel --dictionary diccionario.csv"),
    introduction(PROJECT, PEOPLE),
    Step(
        f'celosia request {PROJECT} --title "Encuesta de hogares rurales 2024"'
        ' --source-name "Encuesta de hogares rurales"'
        ' --consent "Consentimiento informado leído y aceptado al comenzar la encuesta"'
        " --contrast MUNICIPIO,SEXO,EDAD,AREA_PREDIO_HA --contact datos@evaluacion.example --licence CC-BY-4.0"
        " --period-from 2024-03 --period-until 2024-06"
    ),
    Step(
        "El número del hogar permanece, renumerado: se anota en dictionary.csv y celosia.toml", keep_households_together
    ),
    Step(
        f'celosia dictionary purpose {PROJECT} --variables {KEPT} --purpose "Biblioteca pública de datos de evaluación"'
    ),
    Step(f"celosia dictionary export {PROJECT} diccionario-anotado.xlsx"),
    Step(f"celosia plan {PROJECT}"),
    Step(f"celosia run {PROJECT}", code=1),
    Step(f"celosia approve {PROJECT} dictionary --role lead --yes {sign_with('clara')}"),
    Step(f"celosia run {PROJECT}"),
    Step(f"celosia approve {PROJECT} residual --role lead --yes {sign_with('clara')}"),
    Step(f"celosia check {PROJECT}"),
    Step(f"celosia approve {PROJECT} candidate --role verifier --yes {sign_with('nidia')}"),
    Step(f"celosia release {PROJECT}"),
    Step(f"celosia sign {RELEASE} --role lead {sign_with('clara')}"),
    Step(f"celosia sign {RELEASE} --role executor {sign_with('jorge')}"),
    Step(f"celosia sign {RELEASE} --role verifier {sign_with('nidia')}"),
    Step(f"celosia deliver {PROJECT}"),
    Step(f"celosia publish {PROJECT} {RELEASE} --date 2026-11-20 --update-period anual {sign_with('clara')}"),
    Step(f"celosia document {PROJECT} --format pdf,docx"),
    Step(f"celosia verify {RELEASE} {cards(PEOPLE)}"),
    Step(f"celosia status {PROJECT}"),
)


if __name__ == "__main__":
    run_as_script(STEPS, make_data)
