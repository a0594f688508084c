"""MINSAL's Anexo I: every field of the norm's form, each published variable once with one box, nothing invented."""

from __future__ import annotations

from dataclasses import replace

import pytest

from celosia import messages
from celosia.dossier.document import Checks, Document, Fields, Items, Note, Signatures, Table
from celosia.dossier.docx import to_docx
from celosia.dossier.minsal import AnexoI, Attempts, anexo_i
from celosia.dossier.page import to_html
from celosia.dossier.pdf import to_pdf
from celosia.dossier.technique import level_words
from celosia.model.people import Person
from celosia.model.variables import Role, Variable
from tests.dossier.pdf_text import text_of
from tests.dossier.samples import CHECK, FORM, NOW, PLAN, ROLES, UNSIGNED, VARIABLES

# The form as the norm prints it, in its order.
FIELDS = (
    "Anexo I: Formulario de anonimización", "Fecha", "Departamento responsable de la base de datos",
    "Encargados/as del procedimiento de anonimización", "La base de datos cuenta con",
    "Acto administrativo que aprueba registro", "Validación de datos", "Diccionario de variables",
    "Homologación de datos", "Propósito de publicación como datos abiertos", "Listado de variables",
    "Identificador explícito", "Cuasi-identificador", "Atributo sensible", "Atributo no sensible",
    "técnica de anonimización", "Encargados/as de verificar correcta anonimización",
    "Realizó prueba del intruso motivado y hallazgos", "Firma del jefe de Depto", "procedimiento de anonimización",
    "verificar correcta anonimización", "Fecha de publicación como datos abiertos", "Periodicidad de actualización",
)  # fmt: skip
ANSWERS = (
    "2026-11-15", "Departamento de Estadísticas", "Ana Pérez", "Conocer los egresos.", "Bruno Díaz", "Carla Núñez",
    "archivo: 12", "2026-12-01", "anual", "2026-11-16",
)  # fmt: skip


def rows_of(made: Document) -> dict[str, str]:
    return {label: value for block in made.blocks if isinstance(block, Fields) for label, value in block.rows}


def checks_of(made: Document) -> dict[str, bool | None]:
    return {label: answer for block in made.blocks if isinstance(block, Checks) for label, answer in block.rows}


def variables_of(made: Document) -> Table:
    return next(block for block in made.blocks if isinstance(block, Table))


def technique_of(made: Document) -> str:
    return "\n".join(item for block in made.blocks if isinstance(block, Items) for item in block.items)


@pytest.mark.requirement("M33")
def test_every_field_of_the_form_is_there_in_its_order() -> None:
    page = to_html(anexo_i(FORM))
    places = []
    for field in FIELDS:
        places.append(page.index(field, places[-1] if places else 0))
    assert places == sorted(places)


@pytest.mark.requirement("M33")
@pytest.mark.parametrize("word", [*FIELDS[1:10], *ANSWERS])
def test_the_pdf_shows_every_field_and_answer(word: str) -> None:
    drawn = text_of(to_pdf(anexo_i(FORM), NOW)).replace(" ", "")
    assert word.replace(" ", "") in drawn


@pytest.mark.requirement("M33")
def test_each_published_variable_stands_once_with_exactly_one_box() -> None:
    table = variables_of(anexo_i(FORM))
    assert [row[0] for row in table.rows] == list(ROLES)
    assert all(sum(cell is True for cell in row) == 1 for row in table.rows)
    natures = ("Identificador explícito", "Cuasi-identificador", "Atributo sensible", "Atributo no sensible")
    assert table.header[1:] == natures
    ticked = {str(row[0]): table.header[row.index(True)] for row in table.rows}
    assert ticked["SEXO"] == "Cuasi-identificador"
    assert ticked["DIAG1"] == "Atributo sensible"
    assert ticked["AÑO"] == "Atributo no sensible"


@pytest.mark.requirement("M33")
def test_a_variable_given_twice_is_listed_once() -> None:
    table = variables_of(anexo_i(replace(FORM, variables=(*VARIABLES, VARIABLES[0]))))
    assert [row[0] for row in table.rows] == list(ROLES)


def test_a_variable_without_nature_gets_no_box() -> None:
    table = variables_of(anexo_i(replace(FORM, variables=(Variable("X"),))))
    assert table.rows == (("X", False, False, False, False),)


@pytest.mark.parametrize("role", list(Role))
def test_every_role_has_its_own_box(role: Role) -> None:
    row = variables_of(anexo_i(replace(FORM, variables=(Variable("X", role=role),)))).rows[0]
    assert row[1:].index(True) == list(Role).index(role)


@pytest.mark.requirement("M33")
def test_the_technique_is_told_from_the_real_steps() -> None:
    told = technique_of(anexo_i(FORM))
    assert "«RUN», «NOMBRE»" in told
    assert "Agrupación en intervalos en «EDAD»: 2950 registros tratados (98,33 %)" in told
    assert "se eliminaron 7 registros" in told
    assert "«EDAD» se publica en intervalos de 10 (nivel 2 de 5 de su jerarquía)." in told
    assert "«COMUNA» se publica en el nivel 1 de su jerarquía." in told  # a plan that does not tell more
    assert "Se publican sin generalizar: «SEXO»" in told
    assert "219 de 3000 (7,30 %)" in told
    assert "el plan enmascaró «DIAG1» («*»): 12 de 3000" in told
    assert "14,11 %" in told
    assert "k = 3, contado en personas" in told


DETAILS = [
    ({"builder": "top"}, "en una sola categoría, sin detalle"),
    ({"builder": "intervals", "size": "20"}, "en intervalos de 20"),
    ({"builder": "intervals"}, "en los intervalos declarados"),
    ({"builder": "mask", "unit": "right", "size": "3"}, "con los últimos 3 caracteres ocultos"),
    ({"builder": "mask", "unit": "left", "size": "1"}, "con el primer carácter oculto"),
    *(({"builder": "dates", "unit": unit}, f"por {word}")
      for unit, word in [("month", "mes"), ("quarter", "trimestre"), ("semester", "semestre"), ("year", "año")]),
    ({"builder": "dates", "unit": "span", "size": "5"}, "en períodos de 5 años"),
    ({"builder": "official", "unit": "region"}, "según su lista oficial: región"),
    ({"builder": "order", "size": "4"}, "en grupos de 4 categorías vecinas"),
    ({"builder": "groups"}, "en los grupos declarados"),
    ({"builder": "tree"}, "en los grupos de su árbol"),
    ({"builder": "frequency"}, "con las categorías poco frecuentes reunidas"),
    ({"builder": "file"}, "según el archivo de su jerarquía"),
]  # fmt: skip


@pytest.mark.parametrize(("detail", "words"), DETAILS)
def test_what_a_level_shows_is_told_in_words(detail: dict[str, str], words: str) -> None:
    assert level_words(detail) == words


@pytest.mark.parametrize("method", ["full-domain", "local", "recipe", "cells"])
def test_every_method_is_told(method: str) -> None:
    told = technique_of(anexo_i(replace(FORM, plan=replace(PLAN, method=method))))
    assert messages.text(f"documents.method.{method}", order="–") in told


@pytest.mark.parametrize(
    ("definition", "loss", "words"),
    [("loss (geometric)", 0.5, "50,00 %"), ("discernibility", 12000.0, "12.000"), ("average_class_size", 2.5, "2,50")],
)
def test_a_loss_is_told_in_its_own_unit(definition: str, loss: float, words: str) -> None:
    told = technique_of(anexo_i(replace(FORM, plan=replace(PLAN, loss_definition=definition, loss=loss))))
    assert f"Información perdida: {words}" in told


def test_a_fully_masked_file_is_told_without_inventing_a_k() -> None:
    told = technique_of(anexo_i(replace(FORM, check=replace(CHECK, k=None, k_persons=None, classes=0))))
    assert "no queda ninguna combinación" in told
    assert "k = None" not in told


@pytest.mark.requirement("M33")
def test_what_nobody_answered_stays_empty() -> None:
    made = anexo_i(AnexoI())
    assert set(rows_of(made).values()) == {""}
    assert set(checks_of(made).values()) == {None}
    assert variables_of(made).rows == ()
    signers = next(block for block in made.blocks if isinstance(block, Signatures)).signers
    assert [(one.name, one.when, one.signature) for one in signers] == [("", "", "")] * 3
    assert "X" not in text_of(to_pdf(made, NOW)).split("<?xpacket")[0]
    assert to_docx(made, NOW)


def test_a_no_is_an_answer_and_silence_is_not() -> None:
    answers = checks_of(anexo_i(FORM))
    assert answers["Validación de datos"] is False
    assert answers["Homologación de datos"] is None
    assert answers["Acto administrativo que aprueba registro"] is True


@pytest.mark.requirement("M33")
def test_three_people_sign_and_each_signature_is_printed() -> None:
    signers = next(block for block in anexo_i(FORM).blocks if isinstance(block, Signatures)).signers
    assert [one.name for one in signers] == ["Carla Núñez", "Ana Pérez", "Bruno Díaz"]
    drawn = text_of(to_pdf(anexo_i(FORM), NOW)).replace(" ", "")
    assert all(one.signature in drawn for one in signers)


def test_before_signing_only_a_known_name_is_printed() -> None:
    signers = next(block for block in anexo_i(UNSIGNED).blocks if isinstance(block, Signatures)).signers
    assert [(one.name, one.when, one.signature) for one in signers] == [
        ("Carla Núñez", "", ""),
        ("", "", ""),
        ("",) * 3,
    ]


def test_with_two_people_in_a_role_nobody_is_chosen_for_them() -> None:
    both = (Person("Uno", ("head",), "a" * 64), Person("Dos", ("head",), "b" * 64))
    signers = next(b for b in anexo_i(replace(UNSIGNED, people=both)).blocks if isinstance(b, Signatures)).signers
    assert signers[0].name == ""


@pytest.mark.requirement("M29", "M33")
@pytest.mark.parametrize(
    ("attempts", "answer", "words"),
    [
        (Attempts(12, 0, True), True, "en ninguno se identificó"),
        (Attempts(12, 2, True), True, "en 2 se identificó"),
        (Attempts(12, 0, False), False, "debe repetirse"),
        (None, None, ""),
    ],
)
def test_the_intruder_test_and_its_findings(attempts: Attempts | None, answer: bool | None, words: str) -> None:
    made = anexo_i(replace(FORM, attempts=attempts))
    assert checks_of(made)["Realizó prueba del intruso motivado"] is answer
    assert words in rows_of(made)["Hallazgos"]
    assert bool(rows_of(made)["Hallazgos"]) == bool(words)


def test_what_differs_from_the_norm_shows_with_its_reason() -> None:
    notes = [block.text for block in anexo_i(FORM).blocks if isinstance(block, Note)]
    assert any("la base es pequeña" in note for note in notes)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_the_form_speaks_both_languages(language: str) -> None:
    made = anexo_i(FORM, language)
    assert made.language == language
    assert messages.section(language, "documents")["minsal.update_period"] in to_html(made)
    assert messages.language() == "es"


def test_equal_forms_give_equal_bytes() -> None:
    assert to_pdf(anexo_i(FORM), NOW) == to_pdf(anexo_i(FORM), NOW)
    assert to_docx(anexo_i(FORM), NOW) == to_docx(anexo_i(FORM), NOW)
