"""Columns that look a little like identifiers and are not."""

from __future__ import annotations

import pytest

from celosia.model.variables import Kind, MelLabel, Role, Scale
from tests.proposals import made_columns as made

INNOCENT = {
    "counts": [str(i * i % 17) for i in range(400)],
    "large counts": made.random_digits(4, 2_000),
    "weights": [f"{100 + i * 3.777:.9f}" for i in range(400)],
    "codes of three digits": made.some(*(str(i) for i in range(101, 180))),
    "measures": [f"{i * 0.013:.3f}" for i in range(400)],
    "negative measures": [f"{-70 - (i % 97) * 0.01:.2f}" for i in range(400)],
    "product codes": made.some(*(f"A{i:02}" for i in range(1, 40))),
    "sizes": made.some("S", "M", "L", "XL"),
    "yes and no": made.some("Sí", "No", "No sabe"),
    "colours": made.some("rojo", "verde", "azul", "amarillo"),
    "versions": made.some("1.2", "1.3", "2.0"),
    "grades": made.some("4,5", "5,0", "6,3", "7,0"),
    "years": made.some("2019", "2020", "2021", "2022", "2023"),
    "percentages": made.some("10%", "20%", "35%"),
    "letters": made.some(*"ABCDEFGH"),
    "asterisks": ["*"] * 50 + made.some("1", "2"),
    "statuses": made.some("pendiente", "aprobado", "rechazado"),
}


@pytest.mark.requirement("M04")
@pytest.mark.parametrize("kind", INNOCENT)
def test_an_innocent_column_is_not_an_identifier(kind: str) -> None:
    proposal = made.of_one("x1", INNOCENT[kind])
    assert proposal.role in (Role.QUASI, Role.PLAIN)
    assert not proposal.special


@pytest.mark.requirement("M04")
@pytest.mark.parametrize("length", range(5, 16))
def test_random_digits_of_any_length_are_no_document_nor_telephone(length: int) -> None:
    for seed in range(5):
        proposal = made.of_one("x1", made.random_digits(length, 500, seed))
        assert proposal.role is not Role.IDENTIFIER
        assert "válido" not in proposal.evidence


@pytest.mark.requirement("M04")
def test_unexplained_unique_numbers_are_strong_quasi_identifiers() -> None:
    proposal = made.of_one("x1", made.random_digits(8))
    assert (proposal.role, proposal.strong) == (Role.QUASI, True)


@pytest.mark.requirement("M02")
@pytest.mark.parametrize(
    "header",
    ["nombre_producto", "nombre_vacuna", "nombre_region", "numero_hijos", "id_region", "cod_pais", "tipo_telefono"],
)
def test_a_generic_word_in_a_header_is_no_proof(header: str) -> None:
    assert made.of_one(header, made.some("1", "2", "3")).role is not Role.IDENTIFIER


@pytest.mark.requirement("M02", "P03")
@pytest.mark.parametrize(
    "header",
    [
        "CLASE DE VEHICULO",
        "CLASE DE ACCIDENTE",
        "clase_servicio",
        "Sección del formulario",
        "segmento de ruta",
        "fracción del turno",
        "área de trabajo",
        "SECTOR ECONOMICO",
        "región anatómica",
        "ZONA DEL CUERPO",
    ],
)
def test_a_word_of_the_census_about_something_else_is_no_geography(header: str) -> None:
    proposal = made.of_one(header, made.some("Bus", "Moto", "Camión", "Automóvil"))
    assert proposal.kind is not Kind.LOCATION
    assert proposal.mel_label is not MelLabel.GEOGRAPHIC


@pytest.mark.requirement("M02")
@pytest.mark.parametrize(
    "header", ["Horas de trabajo", "HORAS_TRABAJADAS", "hours-per-week", "años de trabajo", "Duración del contrato"]
)
def test_how_long_somebody_works_is_neither_an_occupation_nor_an_hour_of_the_day(header: str) -> None:
    proposal = made.of_one(header, [str(20 + i % 40) for i in range(400)])
    assert (proposal.role, proposal.strong, proposal.scale) == (Role.QUASI, False, Scale.DISCRETE)
    assert "cuánto se trabaja" in proposal.evidence


@pytest.mark.requirement("P03")
def test_an_area_in_square_metres_is_no_area_of_a_map() -> None:
    assert made.of_one("AREA", [f"{30 + i * 0.37:.2f}" for i in range(300)]).kind is not Kind.LOCATION
    assert made.of_one("AREA", made.some("1", "2")).kind is Kind.LOCATION


@pytest.mark.requirement("M01")
@pytest.mark.parametrize("header", ["experiencia", "EXPUESTO", "expectativa"])
def test_a_word_that_begins_like_expansion_is_no_weight(header: str) -> None:
    assert made.of_one(header, made.some("1", "2", "3")).role is not Role.PLAIN
    assert made.of_one("EXP", [f"{i * 1.7:.3f}" for i in range(300)]).role is Role.PLAIN
