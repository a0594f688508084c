"""Countries: ISO 3166 codes and the Spanish and English names people write.

Knows alpha-2, alpha-3 and numeric codes, names and common short forms. Ignores regions of the world.
Source: pycountry, with its own Spanish translations (read from its folder, no network).
"""

from __future__ import annotations

import gettext
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

from celosia.hierarchy.territories import Node, OfficialList, fold_name, list_lines


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
        return tuple(sorted(self._countries))

    def name(self, code: str) -> str:
        """Spanish name of the country."""
        if code not in self._countries:
            return _local_names()[code][0].partition(";")[0]
        country = self._countries[code]
        return self._spanish(getattr(country, "common_name", country.name))

    def find_name(self, name: str) -> tuple[str, ...]:
        code = self.canonical(name)
        return (code,) if code is not None else ()

    @cached_property
    def _countries(self) -> dict[str, Any]:
        import pycountry  # reads its JSON on first use

        return {country.alpha_2: country for country in pycountry.countries}

    @cached_property
    def _translation(self) -> gettext.NullTranslations:
        import pycountry

        return gettext.translation("iso3166-1", pycountry.LOCALES_DIR, languages=["es"], fallback=True)

    def _spanish(self, name: str) -> str:
        return self._translation.gettext(name)

    @cached_property
    def _codes_by_text(self) -> dict[str, str]:
        codes: dict[str, str] = {}
        for alpha2, text in (*self._own_texts(), *self._other_names()):
            codes.setdefault(fold_name(text), alpha2)
        return codes

    def _own_texts(self) -> Iterator[tuple[str, str]]:
        for alpha2, country in self._countries.items():
            yield from ((alpha2, text) for text in (alpha2, country.alpha_3, country.numeric))
            for field in ("name", "common_name", "official_name"):
                name = getattr(country, field, "")
                if name:
                    yield from ((alpha2, name), (alpha2, self._spanish(name)))

    def _other_names(self) -> Iterator[tuple[str, str]]:
        """Names in use beside ISO's, and «Micronesia» for «Micronesia, Federated States of» where only one."""
        for alpha2, (names, _) in _local_names().items():
            yield from ((alpha2, text) for text in names.split(";") if text)
        short = [(a, c.name.partition(",")[0]) for a, c in self._countries.items() if "," in c.name]
        times = Counter(name for _, name in short)
        yield from ((alpha2, name) for alpha2, name in short if times[name] == 1)
