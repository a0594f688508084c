"""Roles proposed for every column of real public files, read and agreed one by one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pytest

from celosia.model.variables import MelLabel, Role, Scale, Variable
from celosia.proposals.facts import ColumnFacts
from celosia.proposals.propose import suggest

IDENTIFIER, QUASI, SENSITIVE, PLAIN = Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.PLAIN
CAP = 20_000

DEIS_DEATHS = {
    "Año": PLAIN,  # the same in all rows
    "Fecha": QUASI,
    "Sexo": QUASI,
    "EdadTipo": QUASI,
    "Edad": QUASI,
    "Codcom": QUASI,
    "Comuna": QUASI,
    "Región": QUASI,
    "ID_DP": SENSITIVE,
    "ID_Nivel 1": SENSITIVE,
    "ID_Nivel 2": SENSITIVE,
    "ID_Nivel 3": SENSITIVE,
    "Diagnóstico Principal INT": SENSITIVE,
    "ID_CEXTDETALLEint": SENSITIVE,
    "Lugar": QUASI,
}
DEIS_COVID = {
    "año": PLAIN,
    "fecha": QUASI,
    "género": QUASI,
    "edad": QUASI,
    "comuna_código": QUASI,
    "comuna": QUASI,
    "región": QUASI,
    "código_detalle": SENSITIVE,
    "causa_detalle": SENSITIVE,
    "código": SENSITIVE,
    "causa": SENSITIVE,
}
INS_COVID = {
    "ID de caso": IDENTIFIER,
    "Fecha de diagnóstico": QUASI,
    "Atención**": SENSITIVE,
    "Edad": QUASI,
    "Sexo": QUASI,
    "Ciudad de ubicación": QUASI,
    "Tipo*": QUASI,
    "Estado": SENSITIVE,
    "Departamento o Distrito": QUASI,
    "País de procedencia": QUASI,
    "fecha de_notificaci_n": QUASI,
    "fecha recuperado": QUASI,
    "fecha_de_muerte": QUASI,
}
PERU_VACCINATION = {
    "id_persona": IDENTIFIER,
    "fecha_vacunacion": QUASI,
    "dosis": SENSITIVE,
    "edad": QUASI,
    "sexo": QUASI,
    "ubigeo_persona": QUASI,
    "grupo_riesgo": SENSITIVE,
    "fabricante": SENSITIVE,
    "id_eess": QUASI,
    "eess_ubigeo": QUASI,
}
# Of the hundred columns of the survey, those that are not codes without a name that speaks.
DANE_ECV = {
    "DIRECTORIO": QUASI,  # a dwelling and a household: they name nobody
    "LLAVEHOG": QUASI,
    "P797S5A1": IDENTIFIER,  # free text: why the household disagrees
    "P5682S1": IDENTIFIER,  # free text
    "P5191S1A1": SENSITIVE,  # amounts of money
    "P5191S2A1": SENSITIVE,
    "SECUENCIA_P": PLAIN,  # the same in all rows
    "FEX_C": PLAIN,
    **dict.fromkeys(("P9025", "P784", "P5191", "P1072", "P1077", "P795", "P797", "P5676"), PLAIN),  # empty
}


def facts_of(path: Path) -> list[ColumnFacts]:
    """Count every column; a very distinct one keeps an even sample of its values."""
    source = f"'{path}'" if path.suffix == ".parquet" else f"read_csv('{path}', all_varchar=true)"
    with duckdb.connect() as engine:
        engine.execute(f"create table t as from {source}")
        names = [row[0] for row in engine.sql("describe t").fetchall()]
        return [_facts(engine, name) for name in names]


def _facts(engine: duckdb.DuckDBPyConnection, name: str) -> ColumnFacts:
    column = 'coalesce("' + name.replace('"', '""') + "\", '')"
    rows, distinct = engine.sql(f"select count(*), count(distinct {column}) from t").fetchall()[0]
    counted = f"select {column} as v, count(*) as n, row_number() over (order by v) as place from t group by 1"
    step = max(distinct // CAP, 1)
    kept = engine.sql(f"select v, n from ({counted}) where place % {step} = 0 order by v").fetchall()
    return ColumnFacts(name, [v for v, _ in kept], np.array([n for _, n in kept]), rows, distinct)


@cache
def proposed(path: Path) -> dict[str, Variable]:
    return {variable.name: variable for variable in suggest(facts_of(path))}


@pytest.mark.shared
@pytest.mark.requirement("M01", "M02")
@pytest.mark.parametrize(
    ("file", "roles"),
    [
        ("cl_deis_deaths_2024_release1.csv", DEIS_DEATHS),
        ("cl_deis_deaths_2024_release2.csv", DEIS_DEATHS),
        ("cl_deis_covid_deaths_2020-07-30.csv", DEIS_COVID),
        ("cl_deis_covid_deaths_2020-08-06.csv", DEIS_COVID),
        ("co_ins_covid_2020-06-11.csv", INS_COVID),
        pytest.param("pe_vaccination_2021w06_w18.parquet", PERU_VACCINATION, marks=pytest.mark.slow),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_column_of_a_register_gets_its_role(shared: Path, file: str, roles: dict[str, Role]) -> None:
    assert {name: variable.role for name, variable in proposed(shared / "data" / file).items()} == roles


@pytest.mark.shared
@pytest.mark.requirement("M01", "M05", "P04", "P05")
def test_a_survey_of_codes_is_quasi_but_for_keys_text_money_and_weight(shared: Path) -> None:
    found = proposed(shared / "data" / "co_dane_ecv_households.csv")
    assert {name: v.role for name, v in found.items()} == {name: DANE_ECV.get(name, QUASI) for name in found}
    assert [n for n, v in found.items() if v.scale is Scale.FREE_TEXT] == ["P797S5A1", "P5682S1"]
    assert {n for n, v in found.items() if v.mel_label is MelLabel.DIRECT} == {
        "SECUENCIA_ENCUESTA",
        "SECUENCIA_P",
        "ORDEN",
    }
    assert found["LLAVEHOG"].mel_label is MelLabel.OTHER
    assert found["FEX_C"].scale is Scale.CONTINUOUS


@pytest.mark.shared
def test_codes_of_unknown_are_told_in_a_real_file(shared: Path) -> None:
    deaths = proposed(shared / "data" / "cl_deis_deaths_2024_release2.csv")
    assert deaths["Codcom"].unknown == ("00000", "99999")
    assert deaths["Edad"].unknown == ()


@pytest.mark.shared
@pytest.mark.slow
def test_na_is_told_and_not_applied_in_a_real_file(shared: Path) -> None:
    vaccination = proposed(shared / "data" / "pe_vaccination_2021w06_w18.parquet")
    assert vaccination["sexo"].missing == ()
    assert "«NA»" in vaccination["sexo"].evidence
