"""The people of a chunk: who they are before anything happens to them.

Knows names, numbers, homes and birth. Ignores hospitals. Members of a household share the address and mostly a surname.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from celosia.demo.synthetic import ids as _ids
from celosia.demo.synthetic import words as _words
from celosia.demo.synthetic.draws import (
    CHUNK_ROWS,
    Index,
    Weighted,
    Words,
    below,
    chance,
    join_texts,
    number_text,
    weighted_words,
    where,
)
from celosia.demo.synthetic.territory import Territory

MAN, WOMAN, INTERSEX = 0, 1, 2
NO_NUMBER = 0.003
UNKNOWN_COMUNA = 0.006
ABROAD = 0.004
SOCIAL_NAME = 0.003

_SEX = Weighted([4198, 5800, 2])
# From day, to day and weight by sex (men, women, intersex) of the age at the first discharge.
_YEAR = 365.25
_OWN_CONTACT = 14 * _YEAR
_AGES = (
    (1, 5, 150, 105),
    (5, 29, 12, 8),
    (29, 365, 38, 22),
    (1 * _YEAR, 5 * _YEAR, 62, 36),
    (5 * _YEAR, 15 * _YEAR, 85, 52),
    (15 * _YEAR, 20 * _YEAR, 38, 48),
    (20 * _YEAR, 25 * _YEAR, 42, 92),
    (25 * _YEAR, 30 * _YEAR, 44, 120),
    (30 * _YEAR, 35 * _YEAR, 46, 116),
    (35 * _YEAR, 40 * _YEAR, 46, 84),
    (40 * _YEAR, 50 * _YEAR, 92, 96),
    (50 * _YEAR, 60 * _YEAR, 116, 92),
    (60 * _YEAR, 70 * _YEAR, 128, 92),
    (70 * _YEAR, 80 * _YEAR, 108, 82),
    (80 * _YEAR, 90 * _YEAR, 50, 54),
    (90 * _YEAR, 104 * _YEAR, 8, 16),
)
_AGE_FROM = np.array([int(a[0]) for a in _AGES])
_AGE_TO = np.array([int(a[1]) for a in _AGES])
_AGE_OF = (Weighted([a[2] for a in _AGES]), Weighted([a[3] for a in _AGES]))

_COUNTRIES = weighted_words(
    """
    Chile 92000; Venezuela 2600; Perú 1400; Haití 1000; Colombia 950; Bolivia 750; Argentina 350; Ecuador 230;
    República Dominicana 130; España 70; Cuba 90; Brasil 110; China 80; México 50; Alemania 40; 99 150
    """
)
_PEOPLES = Words(
    ["96", "1", "2", "4", "9", "5", "6", "3", "10", "7", "8", "99", ""],
    [8700, 820, 60, 40, 40, 20, 15, 10, 15, 3, 2, 200, 75],
)
_STYLES = Weighted([75, 15, 10])
_LIVING_TOGETHER = Weighted([0, 70, 20, 7, 3])


@dataclass(frozen=True, slots=True)
class People:
    """One entry for each person; texts are Arrow arrays."""

    sex: Index
    age_days: Index
    comuna: Index
    foreign: np.ndarray
    run: pa.Array
    given: pa.Array
    surnames: pa.Array
    social_name: pa.Array
    address: pa.Array
    phone: pa.Array
    mail: pa.Array
    indigenous: pa.Array
    country: pa.Array

    def __len__(self) -> int:
        return len(self.sex)


def make_people(rng: np.random.Generator, count: int, seed: int, chunk: int, territory: Territory) -> People:
    """Draw the people of a chunk; their numbers are theirs alone in the whole file."""
    sex = _SEX.draw(rng, count)
    age_days = _ages(rng, sex)
    home = _homes(rng, count)
    comuna, country = _residence(rng, home, territory)
    foreign = country != 0
    given, surnames, mail = _names(rng, sex, age_days, home)
    ordinals = chunk * CHUNK_ROWS + np.arange(count)
    return People(
        sex=sex,
        age_days=age_days,
        comuna=comuna,
        foreign=foreign,
        run=_numbers(rng, ordinals, seed, foreign),
        given=given,
        surnames=surnames,
        social_name=where(
            chance(rng, SOCIAL_NAME, count) & (age_days > _OWN_CONTACT), _given_names(rng, below(rng, 2, count)), ""
        ),
        address=_addresses(rng, home),
        phone=where(chance(rng, 0.08, count), "", _ids.mobile_texts(rng, count)),
        mail=mail,
        indigenous=where(foreign, "96", _PEOPLES.draw_texts(rng, count)),
        country=_COUNTRIES.texts(country),
    )


def _ages(rng: np.random.Generator, sex: Index) -> Index:
    """Age in days at the first discharge."""
    men, women = (weighted.draw(rng, len(sex)) for weighted in _AGE_OF)
    band = np.where(sex == WOMAN, women, men)
    return _AGE_FROM[band] + below(rng, _AGE_TO[band] - _AGE_FROM[band], len(sex))


def _homes(rng: np.random.Generator, count: int) -> Index:
    """The household number of each person; people of one household stand together."""
    return np.repeat(np.arange(count), _LIVING_TOGETHER.draw(rng, count))[:count]


def _residence(rng: np.random.Generator, home: Index, territory: Territory) -> tuple[Index, Index]:
    """Comuna and country of each person; whoever lives abroad comes from abroad."""
    homes = int(home[-1]) + 1
    comuna = territory.draw(rng, homes)
    comuna = np.where(chance(rng, UNKNOWN_COMUNA, homes), territory.unknown, comuna)
    comuna = np.where(chance(rng, ABROAD, homes), territory.abroad, comuna)[home]
    country = _COUNTRIES.draw(rng, len(home))
    return comuna, np.where((comuna == territory.abroad) & (country == 0), 6, country)


def _given_names(rng: np.random.Generator, sex: Index) -> pa.Array:
    """One given name."""
    count = len(sex)
    return where(sex == WOMAN, _words.WOMEN.draw_texts(rng, count), _words.MEN.draw_texts(rng, count))


def _names(rng: np.random.Generator, sex: Index, age_days: Index, home: Index) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Given names, surnames and an e-mail address made of them (half of them have none)."""
    count = len(sex)
    women, men = _words.WOMEN.draw(rng, count), _words.MEN.draw(rng, count)
    first = where(sex == WOMAN, _words.WOMEN.texts(women), _words.MEN.texts(men))
    given = where(chance(rng, 0.8, count), join_texts(first, _given_names(rng, sex), by=" "), first)
    father, mother = (_words.SURNAMES.draw(rng, count) for _ in range(2))
    father = np.where(chance(rng, 0.75, count), father[home], father)
    mother = np.where(age_days < 25 * _YEAR, mother[home], mother)
    surnames = join_texts(_words.SURNAMES.texts(father), _words.SURNAMES.texts(mother), by=" ")
    plain = where(sex == WOMAN, _words.PLAIN_WOMEN.texts(women), _words.PLAIN_MEN.texts(men))
    user = join_texts(plain, ".", _words.PLAIN_SURNAMES.texts(father), number_text(below(rng, 1000, count)))
    mail = join_texts(user, _words.MAIL_HOSTS.draw_texts(rng, count), by="@")
    return given, surnames, where(chance(rng, 0.4, count) | (age_days < _OWN_CONTACT), "", mail)


def _numbers(rng: np.random.Generator, ordinals: Index, seed: int, foreign: np.ndarray) -> pa.Array:
    """The RUN of each person, always written alike; some foreigners hold a provisional number or a passport."""
    count = len(ordinals)
    texts = _ids.run_texts(_ids.run_numbers(ordinals, seed), _STYLES.draw(rng, count))
    other = foreign & chance(rng, 0.25, count)
    passport = chance(rng, 0.4, count)
    texts = where(other & ~passport, _ids.provisional_texts(ordinals), texts)
    texts = where(other & passport, _ids.passport_texts(ordinals), texts)
    return where(chance(rng, NO_NUMBER, count), "", texts)


def _addresses(rng: np.random.Generator, home: Index) -> pa.Array:
    """The address of each person's household."""
    homes = int(home[-1]) + 1
    street = join_texts(_words.STREET_KINDS.draw_texts(rng, homes), _words.STREETS.draw_texts(rng, homes), by=" ")
    numbered = join_texts(street, number_text(1 + below(rng, 4999, homes)), by=" ")
    address = join_texts(numbered, _words.UNITS.draw_texts(rng, homes))
    return pc.take(where(chance(rng, 0.012, homes), "", address), pa.array(home))
