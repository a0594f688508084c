"""Hospital discharges as a ministry's raw file holds them, before anyone has treated it.

Knows the columns and their faults: `*` of an earlier masking, 99999 and 88888, gaps, names inside free text.
Ignores files. All of it is invented: any likeness to a person, a number or an establishment is chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from celosia.demo.synthetic import ids as _ids
from celosia.demo.synthetic import words as _words
from celosia.demo.synthetic.calendar import age_in_years_and_months, date_texts, days_of, weekday_and_month
from celosia.demo.synthetic.diagnoses import SECOND, diagnoses
from celosia.demo.synthetic.draws import (
    Index,
    Weighted,
    Words,
    below,
    chance,
    chunks,
    generator,
    join_texts,
    number_text,
    where,
    zero_padded,
)
from celosia.demo.synthetic.files import write_raw_csv
from celosia.demo.synthetic.people import People, make_people
from celosia.demo.synthetic.stays import Stays, make_stays, people_of_rows
from celosia.demo.synthetic.territory import territory

_STREAM = 1
MASKED_ROWS = 0.03
NAMED_IN_TEXT = 0.012

_SEXES = Words(["HOMBRE", "MUJER", "INTERSEX"])
_INSURANCE = Words(["1", "2", "3", "4", "5", "96", "99"], [775, 150, 15, 12, 3, 30, 15])
_FONASA, _ISAPRE = 0, 1
_BRACKETS = Words(["A", "B", "C", "D"], [25, 40, 15, 20])
_MEMBERSHIP = pa.array(["No perteneciente al SNSS", "Perteneciente al SNSS"])
_OUTCOMES = pa.array(["1", "2"])  # alive, dead

MASKABLE = tuple(
    """
    COMUNA GLOSA_COMUNA REGION SEXO EDAD_CANT EDAD_TIPO EDAD_AÑOS PUEBLO_ORIGINARIO PAIS_ORIGEN PREVISION
    BENEFICIARIO DIAG1
    """.split()
)
# Which of them an earlier masking hid together, and how often: mostly the comuna under a visible region, up to all.
_MASKINGS = (
    (40, MASKABLE[:2]),
    (15, MASKABLE[:3]),
    (10, ("PUEBLO_ORIGINARIO",)),
    (10, MASKABLE[:4]),
    (8, MASKABLE[:7]),
    (7, ("PAIS_ORIGEN", "PUEBLO_ORIGINARIO")),
    (5, MASKABLE[:11]),
    (3, MASKABLE),
    (2, ("REGION",)),
)
_MASKING = Weighted([weight for weight, _ in _MASKINGS])


def discharges(rows: int, seed: int, *, year: int = 2024) -> pa.Table:
    """Invented hospital discharges as a table of text columns; empty text is missing."""
    return pa.Table.from_batches(discharge_batches(rows, seed, year=year))


def discharge_batches(rows: int, seed: int, *, year: int = 2024) -> Iterator[pa.RecordBatch]:
    """The same rows in bounded batches, for tables larger than memory."""
    days_of(year)
    return chunks(rows, lambda chunk: _chunk(seed, chunk, year), limit=_ids.PEOPLE_LIMIT)


def write_discharges(path: str | Path, rows: int, seed: int, *, year: int = 2024) -> Path:
    """Write the discharges as the ministry would: `;`, ISO-8859-1, CRLF."""
    return write_raw_csv(path, discharge_batches(rows, seed, year=year))


def _chunk(seed: int, chunk: int, year: int) -> pa.RecordBatch:
    """One chunk of rows; nothing in it depends on the other chunks."""
    rng = generator(seed, _STREAM, chunk)
    person = people_of_rows(rng)
    people = make_people(rng, int(person[-1]) + 1, seed, chunk, territory())
    insurance = _INSURANCE.draw(rng, len(people))
    bracket = where(insurance == _FONASA, _BRACKETS.draw_texts(rng, len(people)), "")
    stays = make_stays(rng, person, people, year)
    columns = (
        _identity(stays, people)
        | _traits(rng, stays, people)
        | {"PREVISION": _trait_by_row(insurance, stays, _INSURANCE.array), "BENEFICIARIO": _per_row(bracket, stays)}
        | _hospital_columns(rng, stays, people, insurance)
        | {"OBSERVACIONES": _remarks(rng, stays, people)}
    )
    return pa.RecordBatch.from_pydict(_add_masks(rng, columns))


def _per_row(texts: pa.Array, stays: Stays) -> pa.Array:
    """A text of the person for each of the person's rows."""
    return texts.take(pa.array(stays.person))


def _trait_by_row(positions: Index, stays: Stays, texts: pa.Array) -> pa.Array:
    """A coded trait of the person for each of the person's rows."""
    return texts.take(pa.array(positions[stays.person]))


def _identity(stays: Stays, people: People) -> dict[str, pa.Array]:
    """What names the person."""
    texts = {
        "RUN": people.run,
        "NOMBRE": people.given,
        "APELLIDOS": people.surnames,
        "NOMBRE_SOCIAL": people.social_name,
        "DIRECCION": people.address,
        "TELEFONO": people.phone,
        "CORREO": people.mail,
    }
    return {name: _per_row(column, stays) for name, column in texts.items()}


def _traits(rng: np.random.Generator, stays: Stays, people: People) -> dict[str, pa.Array]:
    """What describes the person: sex, age, origin, home."""
    place = territory()
    no_birth_date = chance(rng, 0.002, len(people))[stays.person]
    return {
        "SEXO": _trait_by_row(people.sex, stays, _SEXES.array),
        "FECHA_NACIMIENTO": where(no_birth_date, "", date_texts(stays.birth)),
        **_age_columns(rng, stays),
        "PUEBLO_ORIGINARIO": _per_row(people.indigenous, stays),
        "PAIS_ORIGEN": _per_row(people.country, stays),
        "COMUNA": _trait_by_row(people.comuna, stays, place.codes),
        "GLOSA_COMUNA": _trait_by_row(people.comuna, stays, place.names),
        "REGION": _trait_by_row(people.comuna, stays, place.regions),
    }


def _age_columns(rng: np.random.Generator, stays: Stays) -> dict[str, pa.Array]:
    """Age at admission: an amount, its unit (1 years, 2 months, 3 days, 4 hours) and completed years."""
    years, months = age_in_years_and_months(stays.birth, stays.admission)
    days = stays.admission - stays.birth
    kinds = [years >= 1, months >= 1, days >= 1]
    amount = np.select(kinds, [years, months, days], default=below(rng, 24, len(days)))
    kind = np.select(kinds, [1, 2, 3], default=4)
    return {"EDAD_CANT": number_text(amount), "EDAD_TIPO": number_text(kind), "EDAD_AÑOS": number_text(years)}


def _hospital_columns(rng: np.random.Generator, stays: Stays, people: People, insurance: Index) -> dict[str, pa.Array]:
    """Where the person was treated, when, of what, and how it ended."""
    establishments, listed = territory().establishments, diagnoses()
    establishment = _establishments(rng, stays, people, insurance)
    diagnosis = pa.array(stays.diagnosis)
    _, month = weekday_and_month(stays.discharge)
    return {
        "ESTABLECIMIENTO": establishments.codes.take(pa.array(establishment)),
        "GLOSA_ESTABLECIMIENTO": establishments.names.take(pa.array(establishment)),
        "PERTENENCIA_ESTABLECIMIENTO_SALUD": _MEMBERSHIP.take(
            pa.array(establishments.public[establishment].astype(np.int64))
        ),
        "FECHA_INGRESO": date_texts(stays.admission),
        "FECHA_EGRESO": date_texts(stays.discharge),
        "MES_EGRESO": zero_padded(month + 1, 2),
        "DIAS_ESTADA": number_text(np.maximum(1, stays.discharge - stays.admission)),
        "CONDICION_EGRESO": _OUTCOMES.take(pa.array(stays.dead.astype(np.int64))),
        "DIAG1": listed.texts.take(diagnosis),
        "CAPITULO_DIAG1": listed.chapters.take(diagnosis),
        "DIAG2": where(stays.has_second, SECOND.texts(stays.second), ""),
        "INTERVENCION": stays.procedure,
    }


def _establishments(rng: np.random.Generator, stays: Stays, people: People, insurance: Index) -> Index:
    """Mostly in the region of residence, private ones mostly for the privately insured."""
    count = len(stays.person)
    region = territory().region_number[people.comuna[stays.person]]
    region = np.where(chance(rng, 0.04, count), territory().capital, region)
    share = np.where(insurance[stays.person] == _ISAPRE, 0.85, 0.12)
    return territory().establishments.draw(rng, region, chance(rng, share, count))


def _remarks(rng: np.random.Generator, stays: Stays, people: People) -> pa.Array:
    """Free text in a third of the rows; sometimes it says who the patient or a relative is."""
    count = len(stays.person)
    first, second = (_words.SENTENCES.draw_texts(rng, count) for _ in range(2))
    text = join_texts(
        _words.OPENINGS.draw_texts(rng, count), where(chance(rng, 0.5, count), join_texts(first, second, by=" "), first)
    )
    text = where(chance(rng, 0.34, count), text, "")
    named = np.flatnonzero(chance(rng, NAMED_IN_TEXT, count))
    flags = np.zeros(count, dtype=bool)
    flags[named] = True
    return pc.replace_with_mask(text, pa.array(flags), _naming_remarks(rng, stays.person[named], people))


def _naming_remarks(rng: np.random.Generator, patient: Index, people: People) -> pa.Array:
    """`Se informa a su madre Rosa Soto Vera, RUN 12345678-5; …`, or the patient's own name and number."""
    count = len(patient)
    relative = below(rng, len(people), count)
    own = chance(rng, 0.5, count)
    who = np.where(own, patient, relative)
    start = where(own, "Paciente", join_texts("Se informa a", _words.RELATIVES.draw_texts(rng, count), by=" "))
    given, surnames, run = (part.take(pa.array(who)) for part in (people.given, people.surnames, people.run))
    return join_texts(
        start,
        given,
        join_texts(surnames, ", RUN"),
        join_texts(run, ";"),
        _words.SENTENCES.draw_texts(rng, count),
        by=" ",
    )


def _add_masks(rng: np.random.Generator, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """The columns with the asterisks of an earlier masking."""
    count = len(columns["RUN"])
    masked, masking = chance(rng, MASKED_ROWS, count), _MASKING.draw(rng, count)
    hidden = dict(columns)
    for name in MASKABLE:
        hides = np.array([name in names for _, names in _MASKINGS])
        hidden[name] = where(masked & hides[masking], "*", columns[name])
    return hidden
