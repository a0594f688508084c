"""Dates, years, hours and ages.

Knows ISO dates, dd/mm/yyyy, dd-mm-yyyy, yyyymmdd, dates with an hour, spreadsheet serials (only with a name that
says date), and age bands. Source: MINSAL, Implementación 3 (birth date, age and discharge date are quasi-identifiers).
"""

from __future__ import annotations

import datetime as dt
import re

from celosia.model.variables import Role, Scale
from celosia.proposals.shape import Shape, plain_text
from celosia.proposals.topic import Topic, ValueTest, headers

_TIME = r"(?:[T\s]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[ap]\.?m\.?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME, re.I)
_DMY = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})" + _TIME, re.I)
_COMPACT = re.compile(r"(19|20)\d{6}")
_MONTH_NAME = re.compile(
    r"(\d{1,2})[-/ .](ene|feb|mar|abr|may|jun|jul|ago|sep|oct|nov|dic|jan|apr|aug|dec)\w*[-/ .](\d{2,4})" + _TIME, re.I
)
_YEAR_MONTH = re.compile(r"(19|20)\d{2}[-/](0[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/](19|20)\d{2}")
_HOUR = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?")
_BAND = re.compile(
    r"(?:menor(?:es)? (?:de|a) |< ?|<= ?)?(\d{1,3})(?: ?(?:a|-|–|y|to|hasta) ?(\d{1,3}))?"
    r"(?: ?(?:y mas|o mas|\+|and over|ymas))?(?: ?(?:anos?|meses|dias|horas|years))?(?: y mas| o mas)?"
)


def is_date(value: str) -> bool:
    """A calendar day, with or without hour, in one of the usual writings."""
    text = value.strip()
    if match := _ISO.fullmatch(text):
        return _exists(match[1], match[3], match[4])
    if match := _DMY.fullmatch(text):
        return _exists(match[4], match[3], match[1]) or _exists(match[4], match[1], match[3])
    if _COMPACT.fullmatch(text):
        return _exists(text[:4], text[4:6], text[6:])
    return _MONTH_NAME.fullmatch(text) is not None


def _exists(year: str, month: str, day: str) -> bool:
    full = int(year) + (0 if len(year) == 4 else 2000)
    try:
        dt.date(full, int(month), int(day))
    except ValueError:
        return False
    return 1850 <= full <= 2100


def is_year(value: str) -> bool:
    """A year from 1900 to 2039."""
    return re.fullmatch(r"(19\d|20[0-3])\d", value.strip()) is not None


def is_month(value: str) -> bool:
    """A year with its month."""
    return _YEAR_MONTH.fullmatch(value.strip()) is not None


def is_hour(value: str) -> bool:
    """An hour of the day."""
    return _HOUR.fullmatch(value.strip()) is not None


def is_age_band(value: str) -> bool:
    """`20 a 24`, `80 y más`, `< 1`: an interval of ages."""
    text = plain_text(value).strip()
    match = _BAND.fullmatch(text)
    if match is None or text.isdigit():
        return False
    low, high = int(match[1]), int(match[2] or match[1])
    return low <= high <= 130 and high - low <= 40


def is_age(value: str) -> bool:
    """A whole number up to 120, or a band."""
    text = value.strip()
    return (text.isdigit() and int(text) <= 120) or is_age_band(text)


def several_bands(shape: Shape) -> bool:
    """Bands of ages come as a ladder of at least four."""
    return shape.distinct >= 4 and sum(map(is_age_band, shape.values)) >= 4


def _date(name: str, *patterns: str, role: Role = Role.QUASI, test: ValueTest | None = None) -> Topic:
    spoken = test or ValueTest(is_date, 0.001, None)  # values confirm; only the general topic lets them decide
    return Topic(name, role, headers(*patterns), scale=Scale.DATE, knowable=role is Role.QUASI, test=spoken)


TOPICS = (
    _date(
        "birth_date",
        "fec* nac*, fecnac*, fech* nac*, fnac*, f nac*, dia nac*, birth date, date birth, dob, birthdate, mes nac*",
    ),
    Topic(
        "birth_year",
        Role.QUASI,
        headers("ano nac*, anio nac*, year birth, birth year, agno nac*"),
        scale=Scale.DISCRETE,
    ),
    _date("death_date", "fec* def*, fec* muerte, fec* fall*, fdef*, fech* def*, death date, date death, fecha obito"),
    _date("discharge_date", "fec* egr*, fec* alta, fegr*, fech* egr*, discharge date, fecha salida hosp*"),
    _date(
        "process_date",
        """fec* carga, fec* actual*, fec* corte, fec* proceso, fec* extrac*, fec* digit*, fec* report* web, fecha web,
            last update, timestamp carga, fec* public*""",
        role=Role.PLAIN,
    ),
    _date(
        "date",
        "fecha*, fec, fech, date, =dia, periodo fecha, datetime, timestamp, fec*",
        test=ValueTest(is_date, 0.001, 0.9, 2),
    ),
    Topic(
        "month",
        Role.QUASI,
        headers("mes, meses, month, periodo, trimestre, semestre, semana*, sem epi*, week"),
        scale=Scale.CATEGORICAL,
        test=ValueTest(is_month, 0.001, 0.9, 2),
    ),
    Topic(
        "hour",
        Role.QUASI,
        headers("hora*, hour, time"),
        scale=Scale.CATEGORICAL,
        test=ValueTest(is_hour, 0.001, 0.9, 2),
    ),
    Topic(
        "year",
        Role.QUASI,
        headers("ano, anio, year, agno"),
        scale=Scale.DISCRETE,
        test=ValueTest(is_year, 0.02, 0.99, 4),
    ),
    Topic(
        "age_type",
        Role.QUASI,
        headers("""edad tipo, tipo edad, unidad edad, unidad medida edad, edad unidad, edad medida, medida edad, age
            unit"""),
        scale=Scale.CATEGORICAL,
    ),
    Topic(
        "age_band",
        Role.QUASI,
        headers("""grupo edad, grupo etar*, grup* edad, rango edad, rango etar*, tramo edad, tramo etar*, quinquenio*,
            age group, edad grupo, edad rango, edad tramo, ciclo vital, grupo quinq*, edad quinq*, edad cat*"""),
        scale=Scale.CATEGORICAL,
        test=ValueTest(is_age_band, 0.01, 0.9, 4, several_bands),
    ),
    Topic(
        "age",
        Role.QUASI,
        headers("edad*, age, ed cumplida, anos cumplidos, edad anos"),
        test=ValueTest(is_age, 0.5, None),
    ),
)
