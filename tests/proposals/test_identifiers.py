"""Direct identifiers are found by header and, where values can tell, under a meaningless header."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from celosia.model.variables import MelLabel, Role, Scale, Treatment
from celosia.proposals.facts import ColumnFacts
from celosia.proposals.propose import suggest
from tests.proposals import made_columns as made

BY_VALUE: dict[str, Callable[[], list[str]]] = {
    "RUN with dots": made.runs,
    "RUN with hyphen": lambda: made.runs("12345678-5"),
    "RUN glued": lambda: made.runs("123456785"),
    "RUN with small k": lambda: made.runs("12345678-k"),
    "IPE": made.ipes,
    "NIT": made.nits,
    "Paraguayan RUC": made.paraguayan_rucs,
    "CUIT": made.cuits,
    "Peruvian RUC": made.peruvian_rucs,
    "full names": made.full_names,
    "names in capitals": made.shouted_names,
    "given names": made.given_names,
    "surnames": made.surnames,
    "phones with prefix": made.chilean_mobiles,
    "Chilean mobiles": made.bare_mobiles,
    "Colombian mobiles": made.colombian_mobiles,
    "addresses": made.addresses,
    "e-mails": made.emails,
    "handles": made.handles,
    "web pages": made.pages,
    "IP addresses": made.ips,
    "coordinates in one cell": made.points,
    "plates": made.plates,
    "UUID": made.uuids,
    "SHA-256": made.digests,
    "MD5": lambda: made.digests(32),
    "row numbers": lambda: [str(i) for i in range(1, 301)],
    "folios": lambda: [f"A-{i:05}" for i in range(7, 3000, 17)],
    "free text": made.notes,
    "JSON": lambda: [f'{{"a": {i}}}' for i in range(100)],
}

BY_HEADER = """
RUN, RUT, rut_paciente, Rut Paciente, RUTPACIENTE, RUN_DV, N_DOC, NUM_DOCUMENTO, Nro. Documento,
pasaporte, N° Pasaporte, ID_EXTRANJERO, cedula_origen, NIP, IPE, IPA, NIC, nombre, NOMBRES, Nombre
Paciente, nombre_social, NOMBRE SOCIAL, apellidos, AP_PATERNO, apellido2, Primer Nombre, nombreCompleto,
fono, FONO_CONTACTO, teléfono, tel_movil, celular, direccion, DIRECCIÓN, calle, domicilio,
direccion_laboral, dirección trabajo, e_mail, E-MAIL, correo electrónico, mail, usuario, nombre_usuario,
clave, pass, contraseña, PASSWORD, twitter, instagram, facebook, red_social, web, sitio, pagina_web, DNI,
cédula, CC, NIT, CUIT, RUC, ip, direccion_ip, latitud, LON, coordenadas, patente, placa, ficha_clinica,
historia clínica, huella, id_persona, IdPaciente, ID de caso, folio, uuid, observaciones, comentario,
encuestador, CI, mrun, RADICADO, No. Radicado, Número de expediente, nro_acta, NUM_COMPARENDO, Consecutivo,
ID_SINIESTRO, num_parte, N° denuncia
"""


@pytest.mark.requirement("M03", "M04", "M05", "A11")
@pytest.mark.parametrize("kind", BY_VALUE)
def test_values_alone_betray_an_identifier(kind: str) -> None:
    proposal = made.of_one("x1", BY_VALUE[kind]())
    assert proposal.role is Role.IDENTIFIER
    assert proposal.treatment is Treatment.REMOVE


@pytest.mark.requirement("M03")
@pytest.mark.parametrize("header", [h.strip() for h in BY_HEADER.replace("\n", " ").split(",")])
def test_a_header_alone_betrays_an_identifier(header: str) -> None:
    """Distinct values that say nothing by themselves: 8 digits fit a passport, a cédula or a NIP."""
    assert made.of_one(header, made.random_digits(8)).role is Role.IDENTIFIER
    assert made.of_one(header, []).role is Role.IDENTIFIER


@pytest.mark.requirement("M04")
def test_random_numbers_of_eight_digits_are_not_a_run() -> None:
    for seed in range(20):
        proposal = made.of_one("x1", made.random_digits(8, seed=seed))
        assert proposal.role is not Role.IDENTIFIER
        assert "RUN" not in proposal.evidence


@pytest.mark.requirement("M04")
def test_the_evidence_of_a_run_tells_the_share_that_passes() -> None:
    cells = [*made.runs("12345678-5")[:195], *("1-1", "11111111-2", "22222222-3", "x", "y")]
    proposal = made.of_one("x1", cells)
    assert proposal.evidence == "El 97,5 % de los 200 valores distintos son RUN con dígito verificador válido."


@pytest.mark.requirement("M03")
def test_a_run_without_check_digit_is_believed_by_its_header_only() -> None:
    cells = made.runs("no digit")
    assert made.of_one("RUN", cells).role is Role.IDENTIFIER
    assert made.of_one("x1", cells).role is not Role.IDENTIFIER


@pytest.mark.requirement("M04")
def test_a_run_hidden_under_an_innocent_header_is_found() -> None:
    for header in ("comuna", "observaciones", "edad", "valor"):
        assert made.of_one(header, made.runs()).role is Role.IDENTIFIER


@pytest.mark.requirement("M04")
def test_a_column_that_mixes_runs_with_passports_is_found() -> None:
    passports = [f"AB{number}" for number in made.random_digits(6, 250)]
    assert "RUN" in made.of_one("x1", [*made.runs(), *passports]).evidence


@pytest.mark.requirement("M04")
def test_a_run_filled_with_zeros_is_still_a_run() -> None:
    assert "RUN" in made.of_one("x1", [run.zfill(12) for run in made.runs("12345678-5")]).evidence


@pytest.mark.requirement("M03")
def test_latitude_and_longitude_are_found_as_a_pair() -> None:
    latitude = ColumnFacts.of("a", made.degrees(-40, -20))
    longitude = ColumnFacts.of("b", made.degrees(-72, -69))
    assert [v.role for v in suggest([latitude, longitude])] == [Role.IDENTIFIER, Role.IDENTIFIER]
    assert suggest([longitude])[0].role is Role.PLAIN  # a measure alone may be anything


@pytest.mark.requirement("M05")
def test_free_text_is_dropped_whatever_its_header() -> None:
    for header in ("x1", "diagnostico", "observaciones", "ocupacion"):
        proposal = made.of_one(header, made.notes())
        assert (proposal.scale, proposal.treatment) == (Scale.FREE_TEXT, Treatment.REMOVE)


@pytest.mark.requirement("M03")
def test_a_yes_or_no_about_a_telephone_is_not_a_telephone() -> None:
    proposal = made.of_one("tiene_telefono", made.some("Sí", "No"))
    assert proposal.role is Role.QUASI
    assert proposal.evidence.startswith("El nombre «tiene_telefono» indica el teléfono, pero")


@pytest.mark.requirement("P18")
def test_plate_phone_address_mail_and_page_are_strong() -> None:
    for make in (made.plates, made.chilean_mobiles, made.addresses, made.emails, made.pages):
        assert made.of_one("x1", make()).strong


@pytest.mark.requirement("P04")
def test_address_and_field_staff_are_direct_for_mel() -> None:
    for header in ("direccion", "encuestador", "nombre_encuestador", "ORDEN", "telefono", "apellidos", "facebook"):
        proposal = made.of_one(header, made.random_digits(6), "mel")
        assert (proposal.mel_label, proposal.treatment) == (MelLabel.DIRECT, Treatment.REMOVE)
