"""Roles, scales, kinds and labels proposed for columns that are not direct identifiers."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.hierarchy.official import lookup
from celosia.model.variables import (
    IdentifierClass,
    Kind,
    MelLabel,
    Role,
    Scale,
    Treatment,
    Variable,
    classify_identifier,
)
from celosia.proposals.facts import ColumnFacts
from celosia.proposals.propose import suggest
from tests.proposals import made_columns as made

QUASI, SENSITIVE, PLAIN = Role.QUASI, Role.SENSITIVE, Role.PLAIN
ICD = [code.replace(".", "") for code in lookup("icd10").codes()[::60] if "-" not in code]


def codes_of(code_list: str, ending: str = "") -> list[str]:
    return [chosen + ending for chosen in lookup(code_list).codes()[::3]]


def names_of(code_list: str) -> list[str]:
    return [lookup(code_list).name(chosen) for chosen in lookup(code_list).codes()[::5]]


@pytest.mark.requirement("M02")
def test_minsal_discharges_get_the_roles_of_the_norm() -> None:
    cells = {
        "RUN": made.runs(),
        "SEXO": made.some("1", "2"),
        "EDAD": [str(i % 95) for i in range(200)],
        "COMUNA": made.some("05302", "13101", "13120"),
        "PREVISION": made.some("FONASA", "ISAPRE"),
        "FECHA_EGRESO": made.days("%d/%m/%Y"),
        "DIAG1": made.some("J18.9", "E86X", "I21.9"),
    }
    table = [ColumnFacts.of(name, column) for name, column in cells.items()]
    expected = [Role.IDENTIFIER, QUASI, QUASI, QUASI, QUASI, QUASI, SENSITIVE]
    assert [v.role for v in suggest(table)] == expected
    assert [v.role for v in suggest([ColumnFacts.of(name, []) for name in cells])] == expected


BY_HEADER = {
    QUASI: """
        género, sexo_paciente, fecha_nacimiento, FECNAC, FechaNac, edad_anos, ocupación, estado_civil,
        nacionalidad, país, lugar_atencion, establecimiento, comuna_residencia, CODCOM, cod_mun, región,
        previsión, isapre, EPS, fecha de egreso, FECHA_DEFUNCION, grupo etario, EdadTipo, nivel_educacional,
        escolaridad, cargo, tipo_documento, zona, etnia, parentesco, cod_depto, provincia, id_eess,
        NOMBRE_COMUNA, nombre_establecimiento, dob, gender, postal_code, ORDEN
        """,
    SENSITIVE: """
        diagnóstico, DIAG_PRINC, cie10, causa_muerte, procedimiento, intervención principal, vacuna, dosis,
        religión, partido_politico, sindicato, discapacidad, orientación sexual, ingreso_mensual, sueldo,
        grupo_riesgo, condicion_egreso, medicamento, comorbilidad, peso_nacimiento, salario
        """,
    PLAIN: """
        rubro, rubro_trabajo, actividad económica, FEX_C, factor_expansion, ponderador, satisfacción,
        fecha_carga, fabricante
        """,
}


@pytest.mark.requirement("M02", "A12")
@pytest.mark.parametrize(("role", "header"), [(r, h.strip()) for r, t in BY_HEADER.items() for h in t.split(",")])
def test_a_header_tells_the_role(role: Role, header: str) -> None:
    assert made.of_one(header, []).role is role
    assert made.of_one(header, made.some("1", "2", "3")).role is role


BY_VALUE = {
    "sex in words": (made.some("Hombre", "Mujer"), QUASI),
    "sex in letters": (made.some("F", "M"), QUASI),
    "sex, H and M": (made.some("H", "M", "Indeterminado"), QUASI),
    "marital status": (made.some("Soltero/a", "Casado/a", "Viudo/a", "Otro"), QUASI),
    "insurance": (made.some("FONASA A", "FONASA B", "ISAPRE", "CAPREDENA"), QUASI),
    "education": (made.some("Básica completa", "Secundaria", "Universitaria", "Ninguna"), QUASI),
    "people": (made.some("Mapuche", "Aymara", "Rapa Nui", "Ninguno"), QUASI),
    "religion": (made.some("Católica", "Evangélica", "Ateo", "Otra"), SENSITIVE),
    "orientation": (made.some("Heterosexual", "Homosexual", "Bisexual"), SENSITIVE),
    "countries": (made.some("Chile", "Perú", "Haití", "Estados Unidos", "Venezuela"), QUASI),
    "peoples": (made.some("Chilena", "Peruana", "Haitiana", "Boliviana"), QUASI),
    "country codes": (made.some("CL", "PE", "HT", "VE", "CO", "BO", "AR", "NA", "US"), QUASI),
    "comunas": (codes_of("cl-cut"), QUASI),
    "comunas without zero": ([str(int(c)) for c in codes_of("cl-cut")], QUASI),
    "municipalities": (codes_of("co-divipola"), QUASI),
    "Paraguayan districts": (codes_of("py-distritos"), QUASI),
    "ubigeo": (codes_of("pe-ubigeo", "01"), QUASI),
    "names of comunas": (names_of("cl-cut"), QUASI),
    "names of municipalities": (names_of("co-divipola"), QUASI),
    "regions": (made.some("Región de Valparaíso", "Región de Los Ríos", "Metropolitana", "Antofagasta"), QUASI),
    "hospitals": (made.some("Hospital San Borja", "CESFAM Lo Prado", "Clínica Alemana", "Posta Rural"), QUASI),
    "jobs": (made.some("Profesora", "Ingeniero", "Obrero", "Enfermera", "Abogado", "Chofer"), QUASI),
    "dates": (made.days(), QUASI),
    "dates, day first": (made.days("%d/%m/%Y"), QUASI),
    "dates with hyphens": (made.days("%d-%m-%Y"), QUASI),
    "compact dates": (made.days("%Y%m%d"), QUASI),
    "dates with hour": (made.days("%Y-%m-%d 10:30:00"), QUASI),
    "age bands": (made.some("0 a 4", "5 a 9", "10 a 14", "15 a 19", "80 y más"), QUASI),
    "ICD-10": (ICD, SENSITIVE),
    "ICD-10 with X": (sorted({c[:3] + "X" if i % 2 else c for i, c in enumerate(ICD)}), SENSITIVE),
    "states of health": (made.some("Leve", "Moderado", "Grave", "Fallecido"), SENSITIVE),
    "amounts": ([str(n * 50_000) for n in range(1, 60)] * 3, SENSITIVE),
}
SAYS = {
    "comunas": "código único territorial",
    "municipalities": "DIVIPOLA",
    "Paraguayan districts": "Paraguay",
    "ubigeo": "UBIGEO",
    "ICD-10": "CIE-10",
    "compact dates": "fechas",
    "names of comunas": "nombres de comunas",
    "people": "grupos étnicos",
    "countries": "países",
    "jobs": "ocupaciones",
}


@pytest.mark.requirement("M02", "A06", "A12")
@pytest.mark.parametrize("kind", BY_VALUE)
def test_values_alone_tell_the_role(kind: str) -> None:
    cells, role = BY_VALUE[kind]
    proposal = made.of_one("x1", cells)
    assert proposal.role is role
    assert "Nada indica" not in proposal.evidence
    assert SAYS.get(kind, "") in proposal.evidence


@pytest.mark.requirement("A12")
@pytest.mark.parametrize(
    "header",
    [
        "grupo étnico",
        "religión",
        "orientación política",
        "sindicato",
        "diagnóstico",
        "vida sexual",
        "huella",
        "discapacidad",
    ],
)
def test_special_categories_are_marked(header: str) -> None:
    assert made.of_one(header, made.some("1", "2", "3", "4")).special or made.of_one(header, []).special


@pytest.mark.requirement("P03", "A06")
@pytest.mark.parametrize(
    "header",
    [
        "departamento",
        "municipio",
        "región",
        "área",
        "zona",
        "vereda",
        "barrio",
        "vivienda",
        "hogar",
        "sector",
        "sección",
        "manzana",
        "UPM",
        "USM",
        "segmento",
        "clase",
        "cod_clase",
        "AREA_RESIDENCIA",
        "Sector censal",
        "ZONA_UR",
        "tipo de zona",
    ],
)
def test_mel_geographic_names_are_labelled_geographic(header: str) -> None:
    proposal = made.of_one(header, made.some("1", "2", "3"))
    assert (proposal.mel_label, proposal.kind) == (MelLabel.GEOGRAPHIC, Kind.LOCATION)


@pytest.mark.requirement("P02", "P05")
@pytest.mark.parametrize(
    "header", ["edad", "educación", "area_predio", "id_hogar", "LLAVEHOG", "ID_VIVIENDA", "opinion1", "DIRECTORIO"]
)
def test_other_variables_and_household_ids_are_other(header: str) -> None:
    proposal = made.of_one(header, made.random_digits(6), "mel")
    assert (proposal.mel_label, proposal.treatment) == (MelLabel.OTHER, Treatment.KEEP)


@pytest.mark.requirement("M01", "P05")
@pytest.mark.parametrize("header", ["id_hogar", "LLAVEHOG", "ID_VIVIENDA", "DIRECTORIO", "household_id"])
def test_a_household_id_names_nobody_and_is_not_published_unless_mel_keeps_it(header: str) -> None:
    proposal = made.of_one(header, made.random_digits(6))
    assert (proposal.role, proposal.kind, proposal.treatment) == (QUASI, Kind.IDENTIFICATION, Treatment.REMOVE)
    assert "no nombra a nadie" in proposal.evidence
    assert made.of_one(header, made.random_digits(6), "mel").treatment is Treatment.KEEP


@pytest.mark.requirement("M01")
@pytest.mark.parametrize("cases", [200, 400])
def test_the_number_of_a_case_that_several_rows_share_is_no_plain_attribute(cases: int) -> None:
    """A docket repeated on each vehicle of an accident: fewer values than rows, so no key by itself."""
    numbers = made.random_digits(3, cases)
    cells = [f"16{index:04}{digits[-1]}" for index, digits in enumerate(numbers) for _ in range(1 + index % 4)]
    proposal = made.of_one("x1", cells)
    assert (proposal.role, proposal.strong, proposal.mel_label) == (QUASI, True, MelLabel.DIRECT)
    amounts = [str(1_000 * (1 + index * index % 997)) for index in range(600)] * 2
    assert made.of_one("x1", amounts).mel_label is MelLabel.OTHER


@pytest.mark.requirement("M01")
@pytest.mark.parametrize("header", ["Año", "sexo", "COMUNA", "edad", "x1"])
def test_a_value_that_all_rows_share_tells_nobody_apart(header: str) -> None:
    proposal = made.of_one(header, ["2024"] * 200)
    assert (proposal.role, proposal.treatment) == (PLAIN, Treatment.KEEP)
    assert "odas las filas tienen el mismo valor: no distingue a nadie" in proposal.evidence
    assert made.of_one("Año", ["2024"] * 200 + [""]).role is QUASI
    assert made.of_one("Año", ["2024"] * 5).role is QUASI


@pytest.mark.requirement("M01")
def test_a_diagnosis_that_all_rows_share_stays_sensitive() -> None:
    proposal = made.of_one("diagnostico", ["U071"] * 200)
    assert proposal.role is SENSITIVE
    assert "sabe también este dato" in proposal.evidence


@pytest.mark.requirement("P02")
def test_mel_keeps_an_area_only_above_fifty_units_in_every_category() -> None:
    for fewest, treatment in ((51, Treatment.KEEP), (50, Treatment.REMOVE)):
        assert made.of_one("municipio", ["a"] * fewest + ["b"] * 200, "mel").treatment is treatment
    assert made.of_one("municipio", ["a"] * 60 + ["b"] * 200 + [""] * 3, "mel").treatment is Treatment.KEEP


@pytest.mark.requirement("X8")
def test_days_of_stay_become_quasi_beside_a_date() -> None:
    stay = ColumnFacts.of("Días de estada", [str(i % 30) for i in range(200)])
    date = ColumnFacts.of("FECHA_EGRESO", made.days())
    assert suggest([stay])[0].role is PLAIN
    assert suggest([stay, date])[0].role is QUASI
    assert "junto a una fecha" in suggest([stay, date])[0].evidence


@pytest.mark.requirement("A05")
def test_scales_are_read_from_the_values() -> None:
    assert made.of_one("sexo", made.some("1", "2")).scale is Scale.CATEGORICAL
    assert made.of_one("x", codes_of("cl-cut")).scale is Scale.CATEGORICAL
    assert made.of_one("x", made.some("1", "2", "3")).scale is Scale.CATEGORICAL
    assert made.of_one("hijos_x", made.some("0", "1", "2", "3", "7")).scale is Scale.DISCRETE
    assert made.of_one("edad", [str(i % 90) for i in range(300)]).scale is Scale.DISCRETE
    assert made.of_one("x", [f"{i * 1.37:.2f}" for i in range(300)]).scale is Scale.CONTINUOUS
    assert made.of_one("x", [f"{i * 1.37:.2f}".replace(".", ",") for i in range(300)]).scale is Scale.CONTINUOUS
    assert made.of_one("ingreso", made.some("0-100", "100-500", "más")).scale is Scale.CATEGORICAL
    assert made.of_one("x", made.days()).scale is Scale.DATE


@pytest.mark.requirement("A06")
def test_kinds_are_identification_location_and_thematic() -> None:
    assert made.of_one("documento", made.random_digits(8)).kind is Kind.IDENTIFICATION
    assert made.of_one("departamento", made.some("05", "11")).kind is Kind.LOCATION
    assert made.of_one("ingreso", made.random_digits(6)).kind is Kind.THEMATIC


@pytest.mark.requirement("A09", "A10", "A11")
def test_the_traits_lead_atenea_to_its_three_classes() -> None:
    document = made.of_one("documento", made.random_digits(8))
    age = made.of_one("edad", [str(i % 90) for i in range(2_000)])
    sex = made.of_one("sexo", made.some("1", "2"))
    assert classify_identifier(document.traits, unique_alone=True) is IdentifierClass.DIRECT
    assert classify_identifier(age.traits, unique_alone=False) is IdentifierClass.INDIRECT
    assert sex.traits.distinguishable is False
    assert classify_identifier(sex.traits, unique_alone=False) is IdentifierClass.NOT_CONFIDENTIAL


@pytest.mark.requirement("P18", "P19")
def test_rare_posts_and_rare_diseases_make_a_column_strong() -> None:
    common = made.some("Profesora", "Obrero", "Enfermera")
    assert made.of_one("cargo", [*common, "Presidenta"]).strong
    assert not made.of_one("cargo", common).strong
    assert made.of_one("diagnostico", [*made.some("J189", "I219"), "E752"]).strong
    assert "valores que aparecen en 3 filas o menos: 1" in made.of_one("cargo", [*common, "Presidenta"]).evidence


def test_unknown_codes_are_proposed_at_the_end_of_a_domain() -> None:
    assert made.of_one("comuna", [*codes_of("cl-cut"), "99999", "88888"]).unknown == ("88888", "99999")
    assert made.of_one("region", made.some("01", "05", "16", "99")).unknown == ("99",)
    assert made.of_one("sexo", made.some("1", "2", "9")).unknown == ("9",)
    assert made.of_one("edad", [*(str(i) for i in range(100)), "999"]).unknown == ("999",)
    assert made.of_one("edad", [str(i) for i in range(100)]).unknown == ()
    assert made.of_one("x", made.some(*(str(i) for i in range(1, 10)))).unknown == ()
    assert made.of_one("distrito", codes_of("py-distritos")).unknown == ()  # 0000 is Asunción


def test_na_is_told_and_never_applied() -> None:
    proposal = made.of_one("pais", made.some("CL", "PE", "NA"))
    assert proposal.missing == ()
    assert "«NA»" in proposal.evidence


@pytest.mark.requirement("M06")
def test_no_purpose_is_ever_invented() -> None:
    assert made.of_one("edad", ["1", "2"]).purpose == ""


def complete(variable: Variable) -> bool:
    fields = (variable.role, variable.scale, variable.kind, variable.mel_label, variable.treatment, variable.evidence)
    return all(fields) and None not in (variable.traits.distinguishable, variable.traits.knowable)


@pytest.mark.requirement("M01", "A09", "P02")
@settings(max_examples=80, deadline=None)
@given(st.text(max_size=12), st.lists(st.text(max_size=8) | st.sampled_from(["", "*", "**", "99", "1"]), max_size=40))
def test_every_column_gets_every_field(name: str, cells: list[str]) -> None:
    variable = made.of_one(name, cells)
    assert complete(variable)
    assert variable.name == name
    assert suggest([ColumnFacts.of(name, reversed(cells))]) == (variable,)


@pytest.mark.requirement("M01")
def test_a_sampled_vocabulary_keeps_the_true_number_of_values() -> None:
    cells = sorted(set(made.runs(n=3_000)))
    whole = ColumnFacts.of("x1", cells)
    part = ColumnFacts("x1", cells[::10], whole.counts[::10], whole.rows, total_distinct=whole.distinct)
    assert suggest([part])[0].role is Role.IDENTIFIER
    assert "3000" in suggest([part])[0].evidence or f"{whole.distinct}" in suggest([part])[0].evidence


def test_a_spreadsheet_serial_is_a_date_only_by_its_header() -> None:
    base = dt.date(1899, 12, 30)
    serials = [str((dt.date.fromisoformat(day) - base).days) for day in made.days()]
    assert made.of_one("fecha_egreso", serials).scale is Scale.DATE
    assert made.of_one("x1", serials).scale is not Scale.DATE
