"""The ATENEA walk, from the request to a published release that anybody can verify: `python -m examples.atenea.walk`.

The commands are those of docs/*/guide-atenea.md, in the same order; a test holds both together.
"""

from __future__ import annotations

from pathlib import Path

from examples.atenea.make_data import make_data
from examples.walker import Step, append, cards, identities, introduction, passphrase_file, run_as_script, sign_with

PROJECT = "becas-2024"
RELEASE = f"{PROJECT}/releases/2026-11-16"
USE = "Estudio de acceso a la educación superior"
PEOPLE = (("clara", "Clara Ruiz", "lead"), ("jorge", "Jorge Peña", "executor"), ("nidia", "Nidia Mora", "verifier"))
VARIABLES = "Edad,Departamento,Nivel de escolaridad,Ingresos"
MICROAGGREGATION = """
[[steps]]
technique = "microaggregate"
columns = ["Ingresos"]
k = 3
"""


def choose_technique(folder: Path) -> None:
    """Incomes by the mean of groups of three: the total and the mean stay (ATENEA 4.2.4)."""
    append(folder / PROJECT / "celosia.toml", MICROAGGREGATION)


STEPS = (
    Step("Una frase de paso para practicar (en la vida real cada persona guarda la suya)", passphrase_file),
    *identities(PEOPLE),
    Step("export CELOSIA_IDENTITY=llaves/jorge.key"),
    Step(f"celosia init solicitudes.csv --into {PROJECT} --protocol atenea --dictionary diccionario.csv"),
    introduction(PROJECT, PEOPLE),
    Step(
        f'celosia request {PROJECT} --title "Solicitudes de becas 2024" --kind external'
        f' --requester "Universidad de la Sabana Grande" --official "Clara Ruiz" --received 2026-11-02'
        f' --variables "{VARIABLES}"'
        ' --aggregation "un registro por persona" --authorisation "Acta 12 de 2026, Subgerencia de Analítica"'
        f' --use "{USE}" --property total:Ingresos:0.001 --property mean:Ingresos:0.001'
        ' --protected-by-law --subject-authorisation --limited "Religión,Grupo étnico"'
        ' --source-name "Registro de solicitudes" --contact datos@agencia.example --licence CC-BY-4.0'
    ),
    Step(f"celosia profile {PROJECT}"),
    Step(
        f'celosia risk {PROJECT} --scenario "Edad,Departamento"'
        ' --scenario "Edad,Departamento,Nivel de escolaridad" --declare'
    ),
    Step(f'celosia dictionary purpose {PROJECT} --variables "{VARIABLES}" --purpose "{USE}"'),
    Step("Se escoge la microagregación de los ingresos en celosia.toml", choose_technique),
    Step(f"celosia plan {PROJECT}"),
    Step(f"celosia approve {PROJECT} plan --role lead --yes {sign_with('clara')}"),
    Step(f"celosia run {PROJECT}"),
    Step(f"celosia check {PROJECT}"),
    Step(f"celosia approve {PROJECT} candidate --role verifier --yes {sign_with('nidia')}"),
    Step(f"celosia release {PROJECT} --formats csv,parquet"),
    Step(f"celosia sign {RELEASE} --role lead {sign_with('clara')}"),
    Step(f"celosia sign {RELEASE} --role executor {sign_with('jorge')}"),
    Step(f"celosia sign {RELEASE} --role verifier {sign_with('nidia')}"),
    Step(f"celosia publish {PROJECT} {RELEASE} --date 2026-11-20 --update-period semestral {sign_with('clara')}"),
    Step(f"celosia document {PROJECT} --format pdf,docx"),
    Step(f"celosia verify {RELEASE} {cards(PEOPLE)}"),
    Step(f"celosia status {PROJECT}"),
)


if __name__ == "__main__":
    run_as_script(STEPS, make_data)
