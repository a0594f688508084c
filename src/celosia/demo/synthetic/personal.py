"""A PERSONAL database of a digital census, Paraguayan in shape: users, their jobs, their studies and their events.

Knows four tables that hang on `user_id`, with names, cédulas, e-mails, coordinates and instants as such a database
holds them. Ignores what may be published of it. All of it is invented: any likeness is chance.
"""

from __future__ import annotations

from datetime import UTC

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.demo.synthetic import words as _words
from celosia.demo.synthetic.calendar import days_of
from celosia.demo.synthetic.draws import (
    Index,
    Weighted,
    Words,
    below,
    chance,
    generator,
    join_texts,
    number_text,
    where,
    zero_padded,
)
from celosia.demo.synthetic.events import CITIES, INSTITUTIONS, SOUTH, WEST

_STREAM = 5
_DAY = 86_400
_GENDERS = Words(["F", "M", "X", ""], [515, 460, 10, 15])
_SECTORS = Words(
    ["comercio", "servicios", "construcción", "agropecuario", "industria", "educación", "salud", "minería"],
    [300, 250, 150, 120, 90, 50, 38, 2],
)
_CONTRACTS = Words(["indefinido", "plazo fijo", "por obra", "sin contrato"], [40, 25, 15, 20])
_INSTITUTIONS = Words(INSTITUTIONS, [30, 34, 24, 12])
_EVENTS = Words(["login", "job_search", "job_application", "course_enrolment", "profile_update"])
_SCREENS = Words(["inicio", "empleos", "cursos", "perfil"], [45, 30, 15, 10])
_JOBS, _STUDIES = Weighted([35, 45, 15, 5]), Weighted([55, 35, 10])
_TIMES = Weighted([4, 30, 20, 14, 10, 8, 6, 4, 3, 1])


def personal_database(users: int, seed: int, *, year: int = 2024) -> dict[str, pa.Table]:
    """The four tables of the database by name; every instant is in UTC and within the year."""
    rng = generator(seed, _STREAM, 0)
    days = days_of(year)
    registered = _instants(rng, days, users)
    return {
        "users": _users(rng, users, registered, int(days[0])),
        "jobs": _jobs(rng, users, days),
        "studies": _studies(rng, users, year),
        "events": _events(rng, users, days),
    }


def _ids(ordinals: Index) -> pa.Array:
    return join_texts("u", zero_padded(ordinals, 9))


def _users(rng: np.random.Generator, count: int, registered: Index, first_day: int) -> pa.Table:
    women, men = _words.WOMEN.draw(rng, count), _words.MEN.draw(rng, count)
    gender, surname = _GENDERS.draw(rng, count), _words.SURNAMES.draw(rng, count)
    feminine = gender == 0
    given = where(feminine, _words.WOMEN.texts(women), _words.MEN.texts(men))
    plain = where(feminine, _words.PLAIN_WOMEN.texts(women), _words.PLAIN_MEN.texts(men))
    mail = join_texts(
        plain, ".", _words.PLAIN_SURNAMES.texts(surname), number_text(np.arange(count)), "@correo.example"
    )
    city = CITIES.draw(rng, count)
    born = first_day - 15 * 365 - (rng.random(count) * rng.random(count) * 60 * 365).astype(np.int64)
    return pa.table(
        {
            "user_id": _ids(np.arange(count)),
            "full_name": join_texts(given, _words.SURNAMES.texts(surname), by=" "),
            "document": _cedulas(rng, count),
            "email": mail,
            "phone": join_texts("+5959", zero_padded(below(rng, 10**8, count), 8)),
            "birth_date": pa.array(born.astype(np.int32)).cast(pa.date32()),
            "gender": _GENDERS.texts(gender),
            "city": CITIES.texts(city),
            "zone": join_texts(CITIES.texts(city), number_text(1 + below(rng, 4, count)), by=" zona "),
            "lat": pa.array(-(SOUTH[city] + below(rng, 600, count) - 300) / 10_000),
            "lng": pa.array(-(WEST[city] + below(rng, 600, count) - 300) / 10_000),
            "created_at": _stamps(registered),
            "updated_at": _stamps(registered),
        }
    )


def _jobs(rng: np.random.Generator, users: int, days: Index) -> pa.Table:
    who = np.repeat(np.arange(users), _JOBS.draw(rng, users))
    count = len(who)
    company = join_texts(_words.PLACES.draw_texts(rng, count), " ", number_text(1 + below(rng, 40, count)), " S.A.")
    started = _instants(rng, days, count)
    return pa.table(
        {
            "job_id": _ids(10**6 + np.arange(count)),
            "user_id": _ids(who),
            "company_name": company,
            "sector": _SECTORS.draw_texts(rng, count),
            "contract_type": _CONTRACTS.draw_texts(rng, count),
            "salary": pa.array(_amounts(rng, count, 3_000)),
            "started_at": _stamps(started),
        }
    )


def _studies(rng: np.random.Generator, users: int, year: int) -> pa.Table:
    who = np.repeat(np.arange(users), _STUDIES.draw(rng, users))
    count = len(who)
    return pa.table(
        {
            "user_id": _ids(who),
            "institution": _INSTITUTIONS.draw_texts(rng, count),
            "certificate": join_texts("Certificado ", number_text(1 + below(rng, 60, count))),
            "finished": pa.array(year - 1 - below(rng, 20, count)),
        }
    )


def _events(rng: np.random.Generator, users: int, days: Index) -> pa.Table:
    who = np.repeat(np.arange(users), _TIMES.draw(rng, users))
    count = len(who)
    when = _instants(rng, days, count)
    return pa.table(
        {
            "user_id": _ids(who),
            "event_type": _EVENTS.draw_texts(rng, count),
            "screen": where(chance(rng, 0.02, count), "", _SCREENS.draw_texts(rng, count)),
            "created_at": _stamps(when),
            "updated_at": _stamps(when),
        }
    )


def _cedulas(rng: np.random.Generator, count: int) -> pa.Array:
    """`4.123.456`: the number of an identity card as people write it."""
    number = 1_000_000 + below(rng, 6_500_000, count)
    return join_texts(
        number_text(number // 10**6), zero_padded(number // 1000 % 1000, 3), zero_padded(number % 1000, 3), by="."
    )


def _amounts(rng: np.random.Generator, count: int, most: int) -> NDArray[np.float64]:
    cents = 2_000 + (rng.random(count) * rng.random(count) * most * 100).astype(np.int64)
    return cents / 100


def _instants(rng: np.random.Generator, days: Index, count: int) -> Index:
    """Seconds since 1970, somewhere in the year."""
    return days[below(rng, len(days), count)] * _DAY + below(rng, _DAY, count)


def _stamps(seconds: Index) -> pa.Array:
    return pa.array(seconds * 1_000_000, pa.timestamp("us", tz=str(UTC)))
