"""What happens to the people of a chunk: discharges with their dates, diagnoses and outcomes.

Knows persons as arrays of sex, age and residence. Ignores names. Stays of one person never overlap, and nobody is
discharged after dying.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.demo.synthetic.calendar import days_of, weekday_and_month
from celosia.demo.synthetic.diagnoses import BANDS_FROM_DAYS, diagnoses, second_diagnoses
from celosia.demo.synthetic.draws import (
    CHUNK_ROWS,
    Flags,
    Index,
    Weighted,
    Words,
    below,
    chance,
    join_texts,
    nearly_shuffled,
    where,
)
from celosia.demo.synthetic.people import People

# One discharge for four persons in five, then fewer and fewer; a few come back for every cycle of treatment.
_DISCHARGES = Weighted([0, 8000, 1180, 400, 180, 90, 55, 30, 20, 15, 10, 8, 6, 3, 2, 1])
_MONTH_WEIGHTS = np.array([95, 88, 99, 100, 107, 108, 110, 108, 98, 101, 97, 92])
_WEEKDAY_WEIGHTS = np.array([15, 16, 16, 16, 18, 11, 8])

# Sixteenths of the length of stay in days: the shape of each kind of stay.
_STAY_SHAPES = np.array(
    [
        [0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8, 12, 20],  # medical and surgical
        [1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 7],  # birth
        [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 3],  # short: cycles, eye, ear
        [1, 3, 5, 7, 8, 10, 12, 14, 16, 18, 21, 24, 28, 35, 45, 60],  # mental health
        [1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 11, 14, 18, 30],  # heart and lungs
    ]
)
_STAY_OF_LETTER = np.zeros(26, dtype=np.int64)
for _letters, _shape in (("OP", 1), ("HZ", 2), ("F", 3), ("IJA", 4)):
    _STAY_OF_LETTER[[ord(letter) - ord("A") for letter in _letters]] = _shape
_DEATH_BY_BAND = np.array([0.008, 0.003, 0.001, 0.002, 0.008, 0.045, 0.12])
_BORN_HERE = 5  # days: a baby younger than this has been in since birth
_NO_DEATH = [ord(letter) - ord("A") for letter in "OHZ"]

# Two digits of the procedure group for each first letter of the diagnosis, and how often there is a procedure.
_GROUPS = "04 04 17 18 18 09 11 12 17 13 18 16 21 19 20 20 21 17 21 21 17 04 04 04 04 20"
_PROCEDURE_GROUPS = pa.array(_GROUPS.split())
_PROCEDURE_SHARE = np.array(
    [3, 3, 45, 50, 20, 2, 15, 60, 25, 20, 60, 25, 70, 40, 35, 3, 50, 8, 60, 40, 3, 0, 0, 0, 0, 15]
)
_PROCEDURES = Words(
    """
    02003 02006 03011 01004 02013 03028 04001 01017 02020 03035 04012 01029 02031 03044 04023 01036 02047 03059
    04030
    """.split()
)
_CAESAREAN, _DELIVERY = "2004006", "2004003"


@dataclass(frozen=True, slots=True)
class Stays:
    """One entry for each discharge, in the order of the file."""

    person: Index
    birth: Index
    admission: Index
    discharge: Index
    diagnosis: Index
    second: Index
    has_second: Flags
    dead: Flags
    procedure: pa.Array


def people_of_rows(rng: np.random.Generator) -> Index:
    """The person behind each row of a chunk, rows of one person together."""
    times = _DISCHARGES.draw(rng, CHUNK_ROWS)
    return np.repeat(np.arange(CHUNK_ROWS), times)[:CHUNK_ROWS]


def make_stays(rng: np.random.Generator, person: Index, people: People, year: int) -> Stays:
    """Draw the discharges of a chunk."""
    order, discharge = _discharge_days(rng, person, year)
    first = np.concatenate(([True], person[1:] != person[:-1]))
    birth = (discharge[first] - people.age_days)[person]
    age = discharge - birth
    sex = people.sex[person]
    diagnosis = diagnoses().draw(rng, sex, age, _is_winter(discharge))
    letter = diagnoses().letters[diagnosis]
    admission = _admissions(rng, letter, discharge, birth, first)
    injury = np.isin(letter, [ord("S") - ord("A"), ord("T") - ord("A")])
    stays = Stays(
        person=person,
        birth=birth,
        admission=admission,
        discharge=discharge,
        diagnosis=diagnosis,
        second=second_diagnoses(rng, injury),
        has_second=chance(rng, np.where(injury, 0.95, 0.14), len(person)),
        dead=_deaths(rng, age, letter, first),
        procedure=_procedures(rng, diagnosis, letter),
    )
    return reorder_stays(stays, order)


def _discharge_days(rng: np.random.Generator, person: Index, year: int) -> tuple[Index, Index]:
    """The file order of the rows, and a day of the year for each, rising within a person."""
    days = days_of(year)
    weekday, month = weekday_and_month(days)
    drawn = days[Weighted(_MONTH_WEIGHTS[month] * _WEEKDAY_WEIGHTS[weekday]).draw(rng, len(person))]
    rising = drawn[np.lexsort((drawn, person))]
    return nearly_shuffled(rng, len(person)), rising


def _is_winter(days: Index) -> Index:
    """1 from May to August."""
    _, month = weekday_and_month(days)
    return ((month >= 4) & (month <= 7)).astype(np.int64)


def _admissions(rng: np.random.Generator, letter: Index, discharge: Index, birth: Index, first: Flags) -> Index:
    """Admission days: not before birth, nor before the same person's previous discharge."""
    count = len(letter)
    shape = _STAY_SHAPES[_STAY_OF_LETTER[letter], below(rng, 16, count)]
    stay = shape + np.where(chance(rng, 0.02, count), below(rng, 60, count), 0)
    previous = np.where(first, birth, np.roll(discharge, 1))
    stay = np.where(first & (discharge - birth < _BORN_HERE), discharge - birth, stay)
    return np.maximum(discharge - stay, np.maximum(birth, previous))


def _deaths(rng: np.random.Generator, age: Index, letter: Index, first: Flags) -> Flags:
    """Who dies: only at the last discharge of a person."""
    last = np.roll(first, -1)
    band = np.searchsorted(BANDS_FROM_DAYS, age, side="right") - 1
    return last & ~np.isin(letter, _NO_DEATH) & chance(rng, _DEATH_BY_BAND[band], len(age))


def _procedures(rng: np.random.Generator, diagnosis: Index, letter: Index) -> pa.Array:
    """The main procedure, often none."""
    count = len(letter)
    plain = join_texts(_PROCEDURE_GROUPS.take(pa.array(letter)), _PROCEDURES.draw_texts(rng, count))
    plain = where(letter == ord("O") - ord("A"), _DELIVERY, plain)
    some = where(chance(rng, _PROCEDURE_SHARE[letter] / 100, count), plain, "")
    return where(diagnoses().caesarean[diagnosis], _CAESAREAN, some)


def reorder_stays(stays: Stays, order: Index) -> Stays:
    """The same discharges in another order."""
    parts: dict[str, NDArray | pa.Array] = {}
    for name in Stays.__slots__:
        value = getattr(stays, name)
        parts[name] = value.take(pa.array(order)) if isinstance(value, pa.Array) else value[order]
    return Stays(**parts)
