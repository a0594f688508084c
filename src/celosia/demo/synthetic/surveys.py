"""A rural household survey and a register of study grants, Colombian in shape.

Knows the columns such files have. Ignores hospitals. All of it is invented: any likeness is chance.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from celosia.demo.synthetic import words as _words
from celosia.demo.synthetic.draws import (
    CHUNK_ROWS,
    Index,
    Weighted,
    Words,
    below,
    chance,
    chunks,
    generator,
    join_texts,
    number_text,
    weighted_words,
    where,
    zero_padded,
)
from celosia.demo.synthetic.ids import run_numbers
from celosia.hierarchy.official import lookup

_SURVEY_STREAM, _GRANTS_STREAM = 2, 3
_SAMPLED_DEPARTMENTS = ("13", "19", "27", "52", "86")
_TOGETHER = Weighted([0, 12, 22, 24, 20, 12, 6, 3, 1])
_AGE_BANDS = Weighted([17, 18, 17, 15, 12, 9, 7, 4, 1])
_SCHOOLING = Words(
    ["Primaria", "Secundaria", "Media", "Ninguno", "Técnica", "Universitaria", "99"], [38, 25, 18, 8, 6, 4, 1]
)
_SCALE = Words(["1", "2", "3", "4", "5", "99"], [12, 20, 30, 24, 10, 4])
_DEPARTMENTS = weighted_words(
    """
    Bogotá, D.C. 520; Cundinamarca 130; Antioquia 60; Valle del Cauca 50; Boyacá 45; Tolima 40; Santander 35;
    Atlántico 30; Bolívar 25; Nariño 20; Huila 18; Meta 15; Cauca 12; Chocó 6; La Guajira 4; Amazonas 1
    """
)
_ETHNIC = Words(["Ninguno", "Afrocolombiano", "Indígena", "Raizal", "Palenquero", "Rrom"], [860, 90, 42, 4, 3, 1])
_FAITHS = Words(
    ["Católica", "Ninguna", "Evangélica", "Adventista", "Testigo de Jehová", "Judía", ""], [62, 18, 14, 2, 2, 1, 1]
)
_LEVELS = Words(["Bachiller", "Técnico", "Tecnólogo", "Profesional", "Especialización", "Maestría", "Doctorado"])


def survey(rows: int, seed: int) -> pa.Table:
    """Invented household survey, one row per person: places, household, contact, opinions and weight."""
    return pa.Table.from_batches(chunks(rows, lambda chunk: _survey_chunk(seed, chunk)))


def education_requests(rows: int, seed: int) -> pa.Table:
    """Invented requests for study grants, one row per person."""
    return pa.Table.from_batches(chunks(rows, lambda chunk: _grants_chunk(seed, chunk)))


def _survey_chunk(seed: int, chunk: int) -> pa.RecordBatch:
    rng, count = generator(seed, _SURVEY_STREAM, chunk), CHUNK_ROWS
    home = np.repeat(np.arange(count), _TOGETHER.draw(rng, count))[:count]
    order = np.arange(count) - np.searchsorted(home, home)
    woman, age = chance(rng, 0.51, count), _years(rng, count)
    age = np.where(order == 0, np.maximum(age, 18 + below(rng, 30, count)), age)
    columns = _survey_places(rng, home, chunk) | {
        "ORDEN": number_text(order + 1),
        **_survey_contact(rng, seed, chunk, home, woman),
        "SEXO": where(woman, "2", "1"),
        "EDAD": number_text(age),
        "NIVEL_EDUCATIVO": where(age < 5, "", _SCHOOLING.draw_texts(rng, count)),
        "AREA_PREDIO_HA": _area(rng, home),
        "CONFIANZA_ALCALDIA": where(age < 18, "", _SCALE.draw_texts(rng, count)),
        "PERCEPCION_SEGURIDAD": where(age < 18, "", _SCALE.draw_texts(rng, count)),
        "FACTOR_EXPANSION": _decimal(800 + below(rng, 9000, count)[home]),
    }
    return pa.RecordBatch.from_pydict(columns)


def _survey_places(rng: np.random.Generator, home: Index, chunk: int) -> dict[str, pa.Array]:
    """Where the household is; some municipalities and most veredas hold fewer than fifty persons."""
    homes = int(home[-1]) + 1
    sampled = [code for code in lookup("co-divipola").codes() if code[:2] in _SAMPLED_DEPARTMENTS][::9]
    municipality = Words(sampled)
    place = municipality.draw(rng, homes)
    vereda = below(rng, 12, homes)
    name = join_texts("Vereda", _words.STREETS.texts((place * 5 + vereda) % len(_words.STREETS.words)), by=" ")
    codes = municipality.texts(place[home])
    return {
        "DEPARTAMENTO": Words([code[:2] for code in sampled]).texts(place[home]),
        "MUNICIPIO": codes,
        "VEREDA": name.take(pa.array(home)),
        "UPM": join_texts(codes, zero_padded(vereda[home] + 1, 3)),
        "HOGAR_ID": join_texts("H", zero_padded(chunk * CHUNK_ROWS + home, 8)),
    }


def _survey_contact(
    rng: np.random.Generator, seed: int, chunk: int, home: Index, woman: np.ndarray
) -> dict[str, pa.Array]:
    """Names and numbers, also of the interviewer."""
    count = len(home)
    first = where(woman, _words.WOMEN.draw_texts(rng, count), _words.MEN.draw_texts(rng, count))
    father, mother = (_words.SURNAMES.draw(rng, count) for _ in range(2))
    phone = join_texts("3", zero_padded(below(rng, 10**9, count), 9))
    staff = join_texts(_words.WOMEN.texts(home % 20), _words.SURNAMES.texts(home % 13), by=" ")
    return {
        "NOMBRES": first,
        "APELLIDOS": join_texts(_words.SURNAMES.texts(father[home]), _words.SURNAMES.texts(mother), by=" "),
        "DOCUMENTO": _documents(seed, chunk, count),
        "TELEFONO": where(chance(rng, 0.35, count), "", phone),
        "ENCUESTADOR": staff,
    }


def _grants_chunk(seed: int, chunk: int) -> pa.RecordBatch:
    rng, count = generator(seed, _GRANTS_STREAM, chunk), CHUNK_ROWS
    level = _LEVELS.draw(rng, count)
    age = 17 + level * 2 + (rng.random(count) * rng.random(count) * 40).astype(np.int64)
    income = (600 + level * 450 + (rng.random(count) * rng.random(count) * 6000).astype(np.int64)) * 1000
    columns = {
        "ID": number_text(chunk * CHUNK_ROWS + np.arange(count) + 1),
        "Documento": _documents(seed, chunk, count),
        "Edad": number_text(age),
        "Departamento": _DEPARTMENTS.draw_texts(rng, count),
        "Nivel de escolaridad": _LEVELS.texts(level),
        "Grupo étnico": _ETHNIC.draw_texts(rng, count),
        "Religión": _FAITHS.draw_texts(rng, count),
        "Ingresos": where(chance(rng, 0.02, count), "", number_text(income)),
    }
    return pa.RecordBatch.from_pydict(columns)


def _documents(seed: int, chunk: int, count: int) -> pa.Array:
    """A cédula of ten digits for each person: it has no check digit."""
    return number_text(1_000_000_000 + run_numbers(chunk * CHUNK_ROWS + np.arange(count), seed))


def _years(rng: np.random.Generator, count: int) -> Index:
    """Ages of a young rural population."""
    return _AGE_BANDS.draw(rng, count) * 10 + below(rng, 10, count)


def _area(rng: np.random.Generator, home: Index) -> pa.Array:
    """Plot of the household in hectares, two decimals, many small and few large."""
    homes = int(home[-1]) + 1
    hundredths = (rng.random(homes) * rng.random(homes) * rng.random(homes) * 8000).astype(np.int64)
    return _decimal(hundredths[home])


def _decimal(hundredths: Index) -> pa.Array:
    """`12,34`: decimal comma, as in the region."""
    return join_texts(number_text(hundredths // 100), zero_padded(hundredths % 100, 2), by=",")
