"""MEL's documents: the annotated dictionary for the lead, and the contrast report."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from celosia.dossier.document import Items, Note, Signatures, Table
from celosia.dossier.mel import annotated_document, annotated_rows, contrast_document, residual_sentence
from celosia.dossier.page import to_html
from celosia.dossier.pdf import to_pdf
from celosia.model.people import Approval
from celosia.model.reports.evaluation import ContrastLine
from celosia.model.reports.geography import UnitKind
from celosia.model.reports.mel import (
    AnnotatedDictionary,
    AnnotatedLine,
    AreaCounts,
    ContrastReport,
    Fault,
    FrequencyPair,
)

NOW = datetime(2026, 11, 15, tzinfo=UTC)
SMALL = AreaCounts(
    level=0, areas=3, smallest=40, small_areas=1, small_units=40, missing=7, passes=False, finest=1
)  # fmt: skip
LINES = (
    AnnotatedLine("NOMBRE", "Nombre", "direct", "remove", ("remove",)),
    AnnotatedLine("MUNICIPIO", "Municipio", "geographic", "keep", ("recode", "remove"), SMALL, "Lo pide el contrato"),
    AnnotatedLine("VEREDA", "Vereda", "geographic", "keep", ("remove",), SMALL, "", (Fault.AREA_STAYS,)),
    AnnotatedLine("EDAD", "Edad", "other", "keep", ("keep",)),
)
ANNOTATED = AnnotatedDictionary(UnitKind.KEY, "DOCUMENTO", 50, LINES)
FIGURES = {"variables": ["EDAD"], "unit": "persons", "units": 600, "k": 1, "threshold": "0.3", "at_risk": 12,
           "share": 0.02}  # fmt: skip


def blocks_of(document, kind):
    return [block for block in document.blocks if isinstance(block, kind)]


@pytest.mark.requirement("P02", "P06", "P09")
def test_the_lead_sees_every_variable_the_exceptions_and_what_is_wrong():
    document = annotated_document(ANNOTATED, FIGURES)
    table = blocks_of(document, Table)[0]
    assert table.header[2:4] == ("Identificación", "Tratamiento potencial")
    assert [row[3] for row in table.rows] == ["se elimina", "permanece", "permanece", "permanece"]
    faults, exceptions = blocks_of(document, Items)
    assert "VEREDA" in faults.items[0]
    assert exceptions.items == ("MUNICIPIO: Lo pide el contrato",)
    assert "más de 50" in to_html(document)


@pytest.mark.requirement("X16")
def test_a_larger_division_is_offered_where_one_passes():
    sentence = blocks_of(annotated_document(ANNOTATED), Items)[0].items[0]
    assert "minimum = 1" in sentence
    assert "elimínela" in sentence


@pytest.mark.requirement("X18", "P20")
def test_the_figure_to_be_signed_is_said_with_its_variables():
    told = "Con EDAD: k = 1, contado en personas. Quedan con indicador de riesgo de 0,3 o más 12 de 600 (2,00 %)."
    assert residual_sentence(FIGURES) == told
    assert blocks_of(annotated_document(ANNOTATED, FIGURES), Note)[0].text == told
    assert "ningún identificador indirecto" in residual_sentence({**FIGURES, "k": None})


@pytest.mark.requirement("P10")
def test_the_validation_is_a_place_to_sign_or_the_signature():
    empty = blocks_of(annotated_document(ANNOTATED), Signatures)[0].signers
    assert [(one.name, one.signature) for one in empty] == [("", "")]
    approval = Approval("dictionary", "sha256:0", "lead", "Ana", "00", "2026-11-15T12:00:00", signature="ab" * 64)
    signed = blocks_of(annotated_document(ANNOTATED, None, (approval,)), Signatures)[0].signers
    assert (signed[0].name, signed[0].signature) == ("Ana", "ab" * 64)


def test_the_workbook_has_a_row_per_variable_and_says_what_is_allowed():
    header, *rows = annotated_rows(ANNOTATED)
    assert len({len(row) for row in (header, *rows)}) == 1
    assert rows[1][4:9] == ["3", "40", "7", "permanece recodificada, se elimina", "Lo pide el contrato"]


PAIRS = {"mean": (30.5, 30.5), "variance": (4.0, 4.0), "minimum": (18.0, 18.0), "maximum": (70.0, 70.0),
         "median": (30.0, 30.0)}  # fmt: skip
CONTRAST = ContrastReport(
    rows_before=600,
    rows_after=600,
    lines=(
        ContrastLine("EDAD", "other", "continuous", True, PAIRS),
        ContrastLine("DEPARTAMENTO", "geographic", "categorical", True, {"categories": (3.0, 3.0)}),
    ),
    removed=("NOMBRE",),
    frequencies={"DEPARTAMENTO": (FrequencyPair("Meta", 300, 300), FrequencyPair("", 300, 300))},
)


@pytest.mark.requirement("P12", "P14", "P15")
def test_the_contrast_shows_observations_five_statistics_and_frequency_tables():
    document = contrast_document(CONTRAST)
    continuous, categorical, frequencies = blocks_of(document, Table)
    assert [row[2] for row in continuous.rows] == ["media", "varianza", "mínimo", "máximo", "mediana (p50)"]
    assert categorical.rows[0][-1] == "sí"
    assert frequencies.rows[0] == ("Meta", "300", "300", "sí")
    assert blocks_of(document, Note)[0].text.startswith("Las 2 variables contrastadas dicen lo mismo")


@pytest.mark.requirement("P12", "X21")
def test_what_differs_is_named():
    line = ContrastLine("EDAD", "other", "continuous", False, PAIRS)
    page = to_html(contrast_document(ContrastReport(600, 599, (line,), (), changed=("EDAD",))))
    assert "el contraste no se cumple" in page
    assert "Difieren entre ambas bases: EDAD." in page
    assert "Variables publicadas con cambios" in page


@pytest.mark.parametrize("language", ["es", "en"])
def test_both_documents_render_in_both_languages(language):
    for document in (annotated_document(ANNOTATED, FIGURES, (), language), contrast_document(CONTRAST, language)):
        assert document.language == language
        assert to_pdf(document, NOW).startswith(b"%PDF")
