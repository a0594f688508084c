"""Events of the users of an application, as a PERSONAL table holds them; Paraguayan in shape.

Knows users with several events each. Ignores what may be published of them. All of it is invented.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from celosia.demo.synthetic.calendar import date_texts, days_of
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
    nearly_shuffled,
    number_text,
    where,
    zero_padded,
)

_STREAM = 4
_TIMES = Weighted([0, 40, 22, 13, 8, 5, 4, 3, 2, 2, 1])
_GENDERS = Words(["female", "male", "other", ""], [520, 455, 10, 15])
# City, weight, and ten-thousandths of a degree south and west of its centre.
_PLACES = (
    ("Asunción", 300, 252637, 575759),
    ("San Lorenzo", 130, 253400, 575100),
    ("Luque", 120, 252700, 574900),
    ("Capiatá", 110, 253560, 574450),
    ("Ciudad del Este", 130, 255100, 546110),
    ("Lambaré", 70, 253460, 576060),
    ("Encarnación", 60, 273300, 558660),
    ("Pedro Juan Caballero", 40, 225470, 557330),
    ("Villarrica", 30, 257500, 564330),
    ("Concepción", 30, 234060, 574340),
    ("Coronel Oviedo", 25, 254470, 564400),
    ("Pilar", 10, 268580, 583000),
    ("Filadelfia", 6, 223500, 600330),
    ("Bahía Negra", 1, 202200, 581700),
)
CITIES = Words([c[0] for c in _PLACES], [c[1] for c in _PLACES])
SOUTH, WEST = np.array([c[2] for c in _PLACES]), np.array([c[3] for c in _PLACES])
_EVENTS = Words(["login", "job_search", "job_application", "payment", "course_enrolment", "profile_update"])
_PAYING = [_EVENTS.words.index(name) for name in ("payment", "course_enrolment")]
INSTITUTIONS = (
    "Instituto Técnico Los Lapachos",
    "Universidad del Mbaracayá",
    "Centro de Oficios Tajy",
    "Colegio Tres Arroyos",
)
_INSTITUTIONS = Words(["", *INSTITUTIONS], [60, 15, 12, 8, 5])


def events(rows: int, seed: int, *, year: int = 2024) -> pa.Table:
    """Invented events of users: birth date, place, time, kind and amount."""
    return pa.Table.from_batches(chunks(rows, lambda chunk: _chunk(seed, chunk, year)))


def _chunk(seed: int, chunk: int, year: int) -> pa.RecordBatch:
    rng, count = generator(seed, _STREAM, chunk), CHUNK_ROWS
    user = np.repeat(np.arange(count), _TIMES.draw(rng, count))[:count][nearly_shuffled(rng, count)]
    days, kind = days_of(year), _EVENTS.draw(rng, count)
    city = CITIES.draw(rng, count)[user]
    born = days[0] - 16 * 365 - (rng.random(count) * rng.random(count) * 55 * 365).astype(np.int64)
    paid = where(np.isin(kind, _PAYING), _amounts(rng, count), "")
    columns = {
        "user_id": join_texts("u", zero_padded(chunk * CHUNK_ROWS + user, 9)),
        "birth_date": date_texts(born[user]),
        "gender": _GENDERS.texts(_GENDERS.draw(rng, count)[user]),
        "city": CITIES.texts(city),
        "lat": _degrees(SOUTH[city] + below(rng, 600, count)[user] - 300),
        "lng": _degrees(WEST[city] + below(rng, 600, count)[user] - 300),
        "created_at": _instants(rng, days[below(rng, len(days), count)]),
        "event_type": _EVENTS.texts(kind),
        "amount": where(chance(rng, 0.01, count), "", paid),
        "institution": _INSTITUTIONS.texts(_INSTITUTIONS.draw(rng, count)[user]),
    }
    return pa.RecordBatch.from_pydict(columns)


def _degrees(ten_thousandths: Index) -> pa.Array:
    """`-25.2637`: south and west are negative."""
    return join_texts("-", number_text(ten_thousandths // 10_000), ".", zero_padded(ten_thousandths % 10_000, 4))


def _amounts(rng: np.random.Generator, count: int) -> pa.Array:
    """Amounts from 5.00 to 3,000.00, mostly small."""
    cents = 500 + (rng.random(count) * rng.random(count) * rng.random(count) * 300_000).astype(np.int64)
    return join_texts(number_text(cents // 100), zero_padded(cents % 100, 2), by=".")


def _instants(rng: np.random.Generator, days: Index) -> pa.Array:
    """`2024-01-17T09:30:05-04:00`."""
    seconds = below(rng, 86_400, len(days))
    clock = join_texts(
        zero_padded(seconds // 3600, 2), zero_padded(seconds // 60 % 60, 2), zero_padded(seconds % 60, 2), by=":"
    )
    return join_texts(date_texts(days), "T", clock, "-04:00")
