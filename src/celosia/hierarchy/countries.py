"""Countries: ISO 3166 codes and the Spanish and English names people write.

Knows alpha-2, alpha-3 and numeric codes, names, formal names and common short forms. Ignores regions of the world.
Source: lists/countries.txt (Unicode CLDR, United Nations) and lists/country-names.txt (names in Latin American files).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from typing import NamedTuple

from celosia.hierarchy.territories import Node, OfficialList, fold_name, list_lines

_BEFORE_THE_NAME = ("de", "del", "de la", "de las", "de los")


class Country(NamedTuple):
    """A country of ISO 3166: its codes, its names and what its state is called."""

    alpha2: str
    alpha3: str
    numeric: str
    spanish: tuple[str, ...]
    english: tuple[str, ...]
    state: str


@cache
def _countries() -> dict[str, Country]:
    """The countries in force, by alpha-2."""
    countries = {}
    for line in list_lines("countries"):
        codes, spanish, english, state = line.split("|")
        alpha2, alpha3, numeric = codes.split()
        countries[alpha2] = Country(
            alpha2, alpha3, numeric, tuple(spanish.split(";")), tuple(english.split(";")), state
        )
    return countries


@cache
def _local_names() -> dict[str, tuple[str, str]]:
    """Of each country in our list: names that ISO does not list, separated by `;`, and what a national is called."""
    rows = (line.partition(" ") for line in list_lines("country-names"))
    parts = ((alpha2, rest.partition("|")) for alpha2, _, rest in rows)
    return {alpha2: (names, national) for alpha2, (names, _, national) in parts}


def demonym(alpha2: str) -> str | None:
    """What a national of the country is called in Spanish, where we know it; other countries need their own labels."""
    return _local_names().get(alpha2, ("", ""))[1] or None


class CountryList(OfficialList):
    """Countries by any of their codes or names; the official code is alpha-2."""

    id = "countries"
    levels = ("country",)

    def canonical(self, value: str) -> str | None:
        return self._codes_by_text.get(fold_name(value))

    def path(self, value: str) -> tuple[Node, ...] | None:
        code = self.canonical(value)
        return None if code is None else (Node(code, self.name(code)),)

    def codes(self) -> tuple[str, ...]:
        return tuple(sorted(_countries()))

    def name(self, code: str) -> str:
        """Spanish name of the country."""
        if code not in _countries():
            return _local_names()[code][0].partition(";")[0]
        return _countries()[code].spanish[0]

    def find_name(self, name: str) -> tuple[str, ...]:
        code = self.canonical(name)
        return (code,) if code is not None else ()

    @cached_property
    def _codes_by_text(self) -> dict[str, str]:
        codes: dict[str, str] = {}
        for alpha2, text in (*self._own_texts(), *self._other_names()):
            codes.setdefault(fold_name(text), alpha2)
        return codes

    def _own_texts(self) -> Iterator[tuple[str, str]]:
        for country in _countries().values():
            yield from ((country.alpha2, text) for text in (country.alpha2, country.alpha3, country.numeric))
            yield from ((country.alpha2, name) for name in (*country.spanish, *country.english))

    def _other_names(self) -> Iterator[tuple[str, str]]:
        """Names in use beside ISO's, formal names, and «Micronesia» for «Micronesia, …» where only one is so called."""
        for alpha2, (names, _) in _local_names().items():
            yield from ((alpha2, text) for text in names.split(";") if text)
        yield from _formal_names()
        short = [(a, c.english[0].partition(",")[0]) for a, c in _countries().items() if "," in c.english[0]]
        times = Counter(name for _, name in short)
        yield from ((alpha2, name) for alpha2, name in short if times[name] == 1)


def _formal_names() -> Iterator[tuple[str, str]]:
    """«República de Chile» and, as lists sort it, «Chile, República de», from each name of the country."""
    for alpha2, country in _countries().items():
        if country.state:
            for name in (*country.spanish, *_local_names().get(alpha2, ("", ""))[0].split(";")):
                for particle in _BEFORE_THE_NAME if name else ():
                    yield alpha2, f"{country.state} {particle} {name}"
                    yield alpha2, f"{name}, {country.state} {particle}"
