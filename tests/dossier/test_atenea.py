"""ATENEA's documents: the guide's tables with its columns in its order, and nothing that it does not ask."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

import pytest

from celosia.dossier.atenea import (
    evaluation_document,
    profile_document,
    request_document,
    risk_document,
    techniques_document,
)
from celosia.dossier.document import Checks, Fields, Items, Table
from celosia.dossier.docx import to_docx
from celosia.dossier.page import to_html
from celosia.dossier.pdf import to_pdf
from celosia.model.reports.closing import ClosingReport
from celosia.model.reports.evaluation import PropertyCheck, RiskComparison, RiskSide
from celosia.model.requests import Request
from celosia.model.variables import Role, Variable
from celosia.pipeline.assessment.scenario_risk import scenario_risk
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.intake.profile import profile_table

NOW = datetime(2026, 11, 15, tzinfo=UTC)
LEVELS, GROUPS = ("Primaria", "Secundaria", "Universitario", "Posgrado"), ("Afrodescendiente", "Gitano", "Ninguno")
FREQUENCIES = (5, 0, 10, 0, 0, 15, 7, 3, 40, 2, 2, 0)  # the guide's table, row by row


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The people of the guide's worked example, one row each, and a column that singles nobody out."""
    cells = [(level, group) for level in LEVELS for group in GROUPS]
    rows = [cell for cell, many in zip(cells, FREQUENCIES, strict=True) for _ in range(many)]
    path = tmp_path_factory.mktemp("atenea") / "ejemplo.csv"
    lines = [f"{level},{group},{1000 + 10 * i},SI" for i, (level, group) in enumerate(rows)]
    path.write_text("\n".join(["Escolaridad,Grupo,Ingresos,Activo", *lines]) + "\n", "utf-8")
    return path


def blocks_of(document, kind):
    return [block for block in document.blocks if isinstance(block, kind)]


@pytest.mark.requirement("A18")
def test_the_risk_report_has_the_guides_columns_and_order(example):
    scenarios = [("Activo",), ("Escolaridad", "Grupo"), {"variables": ["Grupo"], "threshold": "0.5"}]
    report = scenario_risk(example, scenarios)
    table = blocks_of(risk_document(report), Table)[0]
    assert table.header == (
        "Orden Riesgo",
        "Variables Involucradas",
        "Criterio de riesgo (¿cuándo una unidad de observación se considera en riesgo?)",
        "Cantidad de Unidades de Observación en Riesgo",
        "Proporción de Unidades de Observación en Riesgo",
    )
    assert [row[0] for row in table.rows] == ["Riesgo 1", "Riesgo 2", "Riesgo 3"]
    first = table.rows[0]
    assert first[1] == "Escolaridad, Grupo"
    assert first[2].startswith("RI ≥ 0,3")
    assert first[3:] == ("7", "8,33 %")
    assert [row[1] for row in table.rows[1:]] == ["Activo", "Grupo"]  # no risk: fewer variables, then by name


@pytest.mark.requirement("A14", "A15", "A16")
def test_the_frequency_table_reads_as_in_the_guide(example):
    categories = {"Escolaridad": list(LEVELS), "Grupo": list(GROUPS)}
    stated = {"variables": ["Escolaridad", "Grupo"], "categories": categories}
    table = blocks_of(risk_document(scenario_risk(example, [stated], table=True)), Table)[1]
    assert table.header == ("No Fila", "Escolaridad", "Grupo", "Frecuencia", "Indicador de Riesgo")
    assert [row[3] for row in table.rows] == [str(many) for many in FREQUENCIES]
    printed = ("0,2", "0,0", "0,1", "0,0", "0,0", "0,1", "0,1", "0,3", "0,0", "0,5", "0,5", "0,0")
    assert tuple(row[4] for row in table.rows) == printed


REQUEST = Request(
    title="Becas",
    kind="external",
    requester="Universidad inventada",
    variables=("Documento", "Edad", "Religión"),
    aggregation="Departamento",
    properties=({"property": "mean", "variables": ["Edad"], "tolerance": "0.01"}, {"property": "frequencies"}),
    authorisation="No requiere datos personales",
    use="Estudio de deserción",
    legal={"protected_by_law": True, "subject_authorisation": False, "limited": ["Religión"]},
)
VARIABLES = (
    Variable("Documento", role=Role.IDENTIFIER),
    Variable("Edad", role=Role.QUASI),
    Variable("Religión", "Creencia", role=Role.SENSITIVE, special=True),
)


@pytest.mark.requirement("A01", "A02")
def test_the_request_record_holds_the_six_items_and_the_two_questions():
    document = request_document(REQUEST, VARIABLES)
    told = {label: text for block in blocks_of(document, Fields) for label, text in block.rows}
    assert told["Tipo de usuario"] == "externo"
    assert told["Nivel de agregación"] == "Departamento"
    assert told["Uso de la información"] == "Estudio de deserción"
    assert told["Variables que no se pueden entregar"] == "Religión"
    assert [row[2] for row in blocks_of(document, Table)[0].rows] == [
        "identificador directo",
        "identificador indirecto",
        "dato sensible",
    ]
    assert blocks_of(document, Items)[0].items == (
        "promedios (tolerancia 0.01): Edad",
        "frecuencias: todas las variables que la tengan",
    )
    assert [answer for _, answer in blocks_of(document, Checks)[0].rows] == [True, False]


def test_an_empty_request_is_a_form_to_be_filled_by_hand():
    document = request_document(Request(), ())
    assert [answer for _, answer in blocks_of(document, Checks)[0].rows] == [None, None]
    assert to_html(document)


@pytest.mark.requirement("A04", "A05", "A06", "A07", "A08")
def test_the_exploratory_analysis_has_dimensions_kinds_measures_and_frequencies(example):
    with open_table(example) as found:
        document = profile_document(profile_table(found))
    told = {label: text for block in blocks_of(document, Fields) for label, text in block.rows}
    assert (told["Número de registros"], told["Número de variables"]) == ("84", "4")
    kinds, numbers, *frequencies = blocks_of(document, Table)
    assert [row[0] for row in kinds.rows] == ["Escolaridad", "Grupo", "Ingresos", "Activo"]
    assert numbers.rows[0][0] == "Ingresos"
    total = sum(1000 + 10 * i for i in range(84))
    assert numbers.rows[0][2] == f"{total:,}".replace(",", ".")
    for table in frequencies:
        assert sum(int(row[1]) for row in table.rows) == 84
        shares = [Fraction(row[2].removesuffix(" %").replace(",", ".")) for row in table.rows]
        assert abs(sum(shares) - 100) <= Fraction(len(shares), 200)


CHANGES = (
    {"technique": "remove_variables", "columns": [], "removed": ["Documento"], "rows": 84, "rows_touched": 84,
     "rows_dropped": 0, "cells_touched": {}, "share": 1.0},
    {"technique": "microaggregate", "columns": ["Ingresos"], "removed": [], "rows": 84, "rows_touched": 80,
     "rows_dropped": 0, "cells_touched": {"Ingresos": 80}, "share": 80 / 84},
)  # fmt: skip


def test_the_technique_record_tells_the_two_families_in_their_order():
    document = techniques_document(CHANGES, None, "destroyed")
    rows = blocks_of(document, Table)[0].rows
    assert [row[1] for row in rows] == ["generalización o reducción", "aleatorización o perturbación"]
    assert rows[0][2:] == ("Eliminación de variables", "Documento", "84", "100,00 %")
    assert rows[1][2:] == ("Microagregación", "Ingresos", "80", "95,24 %")
    assert "La semilla se destruyó" in to_html(document)


def side(at_risk: int, k: int) -> RiskSide:
    return RiskSide(5, None, 4, k, None, at_risk, {}, 0, at_risk, at_risk / 5, 1 / k, ())


RISK = RiskComparison(("Edad",), "0.3", side(5, 1), side(5, 1), (("Edad × Región", 1.0, 1.0), ("Región", 0.4, 0.0)))
CLOSING = ClosingReport(
    candidate="sha256:0",
    request="sha256:1",
    observations=PropertyCheck("observations", "–", 5, 5, 0, 0.0, 0.0, True),
    properties=(PropertyCheck("mean", "Edad", 33.0, 33.0, 0.0, 0.0, 0.01, True),),
    limited=(),
    residual="",
    risk=RISK,
)


@pytest.mark.requirement("A28", "A29", "A30", "A31")
def test_the_evaluation_compares_risks_checks_properties_and_limits_and_never_says_no_risk():
    document = evaluation_document(CLOSING, ("Religión",))
    risks, properties = blocks_of(document, Table)
    assert [row[-1] for row in risks.rows] == ["permanece", "eliminado"]
    assert properties.rows[0][-1] == "se conserva"
    page = to_html(document)
    assert "5 de 5" in page or "5 (100,00 %)" in page
    assert "Ninguna de las variables restringidas (Religión)" in page


@pytest.mark.requirement("A30")
def test_a_limited_variable_that_is_still_there_is_told():
    from dataclasses import replace

    page = to_html(evaluation_document(replace(CLOSING, limited=("Religión",)), ("Religión",)))
    assert "Se incumple la restricción" in page


def test_before_anything_was_applied_the_documents_say_so():
    assert "Todavía" in to_html(evaluation_document(None))
    assert "Todavía" in to_html(techniques_document(None, None))


def test_every_document_is_internal_speaks_both_languages_and_renders(example):
    with open_table(example) as found:
        profile = profile_table(found)
    for language in ("es", "en"):
        documents = (
            request_document(REQUEST, VARIABLES, language),
            profile_document(profile, language),
            risk_document(scenario_risk(example, [("Escolaridad", "Grupo")]), language),
            techniques_document(CHANGES, None, "kept", language),
            evaluation_document(CLOSING, (), language),
        )
        for document in documents:
            assert document.language == language
            assert document.mark
            assert to_pdf(document, NOW).startswith(b"%PDF")
            assert to_docx(document, NOW).startswith(b"PK")
            assert "<html" in to_html(document)
