"""Files unlike the examples, and the shortest walk of each norm on them: emergency visits, traders, bus passes.

Knows what people type and write down. Nobody here exists; the same seed gives the same bytes.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from stdnum.cl import rut

from examples.walker import Step, append, cards, identities, introduction, passphrase_file, sign_with

Rows = Sequence[Sequence[object]]
NAMES = ("Elba", "Omar", "Inés", "Raúl", "Nora", "Hugo", "Alma", "Iván", "Rita", "Saúl")
SURNAMES = ("Cea", "Lillo", "Vidal", "Neira", "Parra", "Ojeda", "Tapia", "Ulloa", "Bravo", "Meza")


def write_csv(path: Path, header: str, rows: Rows, delimiter: str = ",") -> None:
    """A file as its owner keeps it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\r\n").writerows([header.split(), *rows])


def write_labels(path: Path, labels: dict[str, str]) -> None:
    """The dictionary that comes with a file."""
    write_csv(path, "variable etiqueta", list(labels.items()))


def name_of(draw: random.Random) -> str:
    """A chance name."""
    return f"{draw.choice(NAMES)} {draw.choice(SURNAMES)} {draw.choice(SURNAMES)}"


# --- MINSAL: visits to an emergency service -------------------------------------------------------

HEALTH = "urgencias"
CAUSES = ("Bronquitis", "Fractura", "Gastroenteritis", "Cefalea", "Herida cortante", "Crisis hipertensiva", "Influenza")
VISITS = {
    "RUT_PACIENTE": "RUT de quien consulta",
    "NOMBRE_PACIENTE": "Nombre y apellidos",
    "FECHA_ATENCION": "Día de la atención",
    "SEXO": "Sexo",
    "EDAD": "Edad en años",
    "COMUNA_RESIDENCIA": "Comuna de residencia (código)",
    "FONASA_ISAPRE": "Previsión de salud",
    "CATEGORIZACION": "Categorización de la urgencia (C1 a C5)",
    "DIAGNOSTICO": "Diagnóstico de la atención",
}
HOSPITAL = (("paz", "Paz Leiva", "head"), ("teo", "Teo Marín", "executor"), ("eva", "Eva Corral", "verifier"))
OFFICE = (("ada", "Ada Prieto", "lead"), ("leo", "Leo Galvis", "executor"), ("sol", "Sol Duque", "verifier"))


def make_visits(folder: Path, rows: int = 900) -> None:
    """Visits of persons who may come more than once."""
    draw = random.Random(31)
    persons = [_person(draw) for _ in range(rows * 4 // 5)]
    visits = [
        (*person[:2], f"{draw.randint(1, 28):02}/{draw.randint(1, 12):02}/2025", *person[2:], *_visit(draw))
        for person in (draw.choice(persons) for _ in range(rows))
    ]
    write_csv(folder / "urgencias.csv", " ".join(VISITS), visits)
    write_labels(folder / "glosas.csv", VISITS)


def _person(draw: random.Random) -> tuple[object, ...]:
    number = str(draw.randint(6_000_000, 25_000_000))
    comuna = draw.choice(("13101", "13114", "13120", "5101", "5109", "8101"))
    insurance = draw.choice(("FONASA A", "FONASA B", "FONASA B", "FONASA D", "ISAPRE"))
    return (
        f"{number}-{rut.calc_check_digit(number)}",
        name_of(draw),
        draw.choice(("Mujer", "Hombre")),
        draw.randint(15, 84),
        comuna,
        insurance,
    )


def _visit(draw: random.Random) -> tuple[object, ...]:
    return draw.choice(("C2", "C3", "C3", "C4", "C5")), draw.choice(CAUSES)


def note_attempts(folder: Path) -> None:
    """What somebody from outside tried on the candidate, in the form that celosia wrote."""
    form = folder / HEALTH / "claims.csv"
    rows = list(csv.reader(form.read_text("utf-8").splitlines()))
    answers = {"outsider": "Externa 7", "independent": "sí", "date": datetime.now(UTC).date().isoformat()}
    head = [[row[0], answers[row[0]]] if row[0] in answers else row for row in rows[:7]]
    attempts = [[row[0], "prensa y redes", "", "", "no", "9", ""] for row in rows[7:]]
    with form.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([*head, *attempts])


def health_walk() -> tuple[Step, ...]:
    """From the file to a published release that verifies, with a greater k than the norm's."""
    release = f"{HEALTH}/releases/2026-11-16"
    return (
        Step("Una frase de paso", passphrase_file),
        *identities(HOSPITAL),
        Step("export CELOSIA_IDENTITY=llaves/teo.key"),
        Step(f"celosia init urgencias.csv --into {HEALTH} --protocol minsal --dictionary glosas.csv"),
        introduction(HEALTH, HOSPITAL),
        Step(
            f'celosia request {HEALTH} --title "Atenciones de urgencia 2025" --purpose "Demanda de urgencia"'
            ' --source-name "Registro de urgencia" --period-from 2025-01-01 --period-until 2025-12-31'
            ' --unit "atención" --department "Unidad de gestión de la demanda" --responsible "Paz Leiva"'
            " --administrative-act --has-dictionary --validated --homologated --not-particularly-sensitive"
            " --contact urgencias@salud.example --licence CC-BY-4.0 --update-period anual"
        ),
        Step(f'celosia dictionary purpose {HEALTH} --rest --purpose "Demanda de urgencia"'),
        Step(f"celosia plan {HEALTH} --k 5"),
        Step(f"celosia approve {HEALTH} plan --role head --yes {sign_with('paz')}"),
        Step(f"celosia run {HEALTH}"),
        Step(f"celosia claims {HEALTH}"),
        Step("La persona externa anota sus intentos", note_attempts),
        Step(
            f'celosia approve {HEALTH} intruder candidate --role verifier --note "Estuve en la sala" --yes'
            f" {sign_with('eva')}"
        ),
        Step(f"celosia release {HEALTH}"),
        Step(f"celosia sign {release} --role executor {sign_with('teo')}"),
        Step(f"celosia sign {release} --role verifier {sign_with('eva')}"),
        Step(f"celosia sign {release} --role head {sign_with('paz')}"),
        Step(
            f"celosia publish {HEALTH} {release} --consultation 2026-11-02 --date 2026-11-20"
            f" --update-period anual {sign_with('paz')}"
        ),
        Step(f"celosia verify {release} {cards(HOSPITAL)}"),
    )


# --- MEL: traders of two departments --------------------------------------------------------------

SURVEY = "tenderos"
TRADERS = {
    "CEDULA": "Cédula de quien responde",
    "NOMBRE": "Nombre de quien responde",
    "CELULAR": "Teléfono celular",
    "DEPARTAMENTO": "Departamento",
    "MUNICIPIO": "Municipio",
    "SEXO": "Sexo",
    "EDAD": "Edad en años",
    "NIVEL_EDUCATIVO": "Nivel educativo",
    "VENTAS_MES": "Ventas del mes, en miles",
    "HORAS_TRABAJO": "Horas de trabajo a la semana",
    "CONFIANZA_BANCOS": "Confianza en los bancos, de 1 a 5",
}
TOWNS = (("Cauca", "Patía", 130), ("Cauca", "Silvia", 96), ("Huila", "Garzón", 120), ("Huila", "Pitalito", 154))


def make_traders(folder: Path) -> None:
    """A survey in four towns, each of more than fifty people."""
    draw = random.Random(32)
    rows = [
        (
            draw.randint(10_000_000, 99_999_999),
            name_of(draw),
            f"3{draw.randint(0, 20):02}{draw.randint(0, 9_999_999):07}",
            department,
            town,
            draw.choice(("Mujer", "Hombre")),
            draw.randint(18, 79),
            draw.choice(("Primaria", "Secundaria", "Técnica", "Universitaria")),
            draw.randint(900, 9_000),
            draw.randint(20, 70),
            draw.randint(1, 5),
        )
        for department, town, size in TOWNS
        for _ in range(size)
    ]
    write_csv(folder / "tenderos.csv", " ".join(TRADERS), rows, ";")
    write_labels(folder / "glosas.csv", TRADERS)


def mel_walk() -> tuple[Step, ...]:
    """From the base to the four files and the publication."""
    release = f"{SURVEY}/releases/2026-11-16"
    return (
        Step("Una frase de paso", passphrase_file),
        *identities(OFFICE),
        Step("export CELOSIA_IDENTITY=llaves/leo.key"),
        Step(f"celosia init tenderos.csv --into {SURVEY} --protocol mel --dictionary glosas.csv"),
        introduction(SURVEY, OFFICE),
        Step(
            f'celosia request {SURVEY} --title "Encuesta a tenderos 2025" --source-name "Encuesta a tenderos"'
            ' --consent "Consentimiento leído y grabado al comenzar" --period-from 2025-05 --period-until 2025-06'
            " --contrast DEPARTAMENTO,SEXO,EDAD,VENTAS_MES --contact datos@comercio.example --licence CC-BY-4.0"
        ),
        Step(f'celosia dictionary purpose {SURVEY} --rest --purpose "Biblioteca de evaluaciones"'),
        Step(f"celosia plan {SURVEY}"),
        Step(f"celosia approve {SURVEY} dictionary --role lead --yes {sign_with('ada')}"),
        Step(f"celosia run {SURVEY}"),
        Step(f"celosia approve {SURVEY} residual --role lead --yes {sign_with('ada')}"),
        Step(f"celosia approve {SURVEY} candidate --role verifier --yes {sign_with('sol')}"),
        Step(f"celosia release {SURVEY}"),
        Step(f"celosia sign {release} --role lead {sign_with('ada')}"),
        Step(f"celosia sign {release} --role executor {sign_with('leo')}"),
        Step(f"celosia sign {release} --role verifier {sign_with('sol')}"),
        Step(f"celosia deliver {SURVEY}"),
        Step(f"celosia publish {SURVEY} {release} --date 2026-11-20 --update-period anual {sign_with('ada')}"),
        Step(f"celosia verify {release} {cards(OFFICE)}"),
    )


# --- ATENEA: requests for bus passes --------------------------------------------------------------

PASSES = "pasajes"
BUS = {
    "RADICADO": "Número de radicado de la solicitud",
    "NOMBRE": "Nombre de quien solicita",
    "DOCUMENTO": "Documento de identidad",
    "SEXO": "Sexo",
    "EDAD": "Edad en años",
    "LOCALIDAD": "Localidad de residencia",
    "OCUPACION": "Ocupación",
    "INGRESOS": "Ingresos del mes",
    "GRUPO_ETNICO": "Pertenencia étnica",
}
PUBLISHED = "SEXO,EDAD,LOCALIDAD,INGRESOS"
GROUPS_OF_THREE = """
[[steps]]
technique = "microaggregate"
columns = ["INGRESOS"]
k = 3
"""


def make_passes(folder: Path, rows: int = 700) -> None:
    """Requests for a pass to study in another district."""
    draw = random.Random(33)
    lines = [
        (
            f"RAD-2025-{i:06}",
            name_of(draw),
            draw.randint(1_000_000_000, 1_099_999_999),
            draw.choice(("Mujer", "Hombre")),
            draw.randint(16, 45),
            draw.choice(("Suba", "Kennedy", "Bosa", "Engativá", "Usme")),
            draw.choice(("Estudiante", "Vendedora", "Mesero", "Auxiliar", "Mensajero")),
            draw.randint(300, 3_000) * 1_000,
            draw.choice(("Ninguno", "Ninguno", "Ninguno", "Afro", "Indígena")),
        )
        for i in range(rows)
    ]
    write_csv(folder / "pasajes.csv", " ".join(BUS), lines, ";")
    write_labels(folder / "glosas.csv", BUS)


def choose_technique(folder: Path) -> None:
    """Incomes by the mean of groups of three."""
    append(folder / PASSES / "celosia.toml", GROUPS_OF_THREE)


def atenea_walk() -> tuple[Step, ...]:
    """From the request to a published release that verifies."""
    release = f"{PASSES}/releases/2026-11-16"
    return (
        Step("Una frase de paso", passphrase_file),
        *identities(OFFICE),
        Step("export CELOSIA_IDENTITY=llaves/leo.key"),
        Step(f"celosia init pasajes.csv --into {PASSES} --protocol atenea --dictionary glosas.csv"),
        introduction(PASSES, OFFICE),
        Step(
            f'celosia request {PASSES} --title "Solicitudes de pasaje 2025" --kind external'
            ' --requester "Observatorio de movilidad" --official "Ada Prieto" --received 2026-11-03'
            f' --variables {PUBLISHED} --aggregation "un registro por solicitud"'
            ' --authorisation "Acta 4 de 2026" --use "Estudio de acceso" --property mean:INGRESOS:0.001'
            " --property total:INGRESOS:0.001 --protected-by-law --subject-authorisation --limited GRUPO_ETNICO"
            ' --source-name "Registro de pasajes" --contact datos@movilidad.example --licence CC-BY-4.0 --extract'
        ),
        Step(f"celosia profile {PASSES}"),
        Step(f"celosia risk {PASSES} --scenario EDAD,LOCALIDAD --scenario SEXO,EDAD,LOCALIDAD --declare"),
        Step("Se escoge la microagregación de los ingresos en celosia.toml", choose_technique),
        Step(f"celosia plan {PASSES}"),
        Step(f"celosia approve {PASSES} plan --role lead --yes {sign_with('ada')}"),
        Step(f"celosia run {PASSES}"),
        Step(f"celosia check {PASSES}"),
        Step(f"celosia approve {PASSES} candidate --role verifier --yes {sign_with('sol')}"),
        Step(f"celosia release {PASSES}"),
        Step(f"celosia sign {release} --role lead {sign_with('ada')}"),
        Step(f"celosia sign {release} --role executor {sign_with('leo')}"),
        Step(f"celosia sign {release} --role verifier {sign_with('sol')}"),
        Step(f"celosia publish {PASSES} {release} --date 2026-11-20 --update-period semestral {sign_with('ada')}"),
        Step(f"celosia verify {release} {cards(OFFICE)}"),
    )
