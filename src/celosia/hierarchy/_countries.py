"""Countries: ISO 3166 codes and the Spanish and English names people write.

Knows alpha-2, alpha-3 and numeric codes, names and common short forms. Ignores regions of the world.
Source: pycountry, with its own Spanish translations (read from its folder, no network).
"""

from __future__ import annotations

import gettext
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from celosia.hierarchy._places import Node, OfficialList, folded

# Short and older names in use in Latin American registers that ISO does not list.
_ALSO = {
    "AE": "Emiratos Arabes",
    "AN": "Antillas Neerlandesas;Antillas Holandesas",
    "BO": "Bolivia",
    "BY": "Belarús;Belarus",
    "CD": "República Democrática del Congo;Congo (Rep. Dem.)",
    "CI": "Costa de Marfil",
    "CZ": "República Checa",
    "DE": "Alemania",
    "DO": "Dominicana;Santo Domingo",
    "GB": "Inglaterra;Escocia;Gran Bretaña;Reino Unido de Gran Bretaña",
    "IR": "Irán",
    "KE": "Kenya",
    "KP": "Corea del Norte",
    "KR": "Corea del Sur;Corea",
    "LA": "Laos",
    "MD": "Moldavia",
    "MM": "Birmania",
    "MX": "Mejico",
    "NL": "Holanda",
    "PS": "Palestina",
    "RU": "Rusia",
    "SA": "Arabia Saudí;Arabia Saudita",
    "SY": "Siria",
    "TW": "Taiwán",
    "TZ": "Tanzania",
    "US": "Estados Unidos;Estados Unidos de América;Estados Unidos de Norteamérica;EE.UU.;EEUU;USA",
    "VE": "Venezuela",
    "VN": "Vietnam;Viet Nam",
}

# What a national is called in the published label (M16); other home countries need labels of their own.
_DEMONYMS = {
    "AR": "Argentino",
    "BO": "Boliviano",
    "CL": "Chileno",
    "CO": "Colombiano",
    "CR": "Costarricense",
    "CU": "Cubano",
    "DO": "Dominicano",
    "EC": "Ecuatoriano",
    "ES": "Español",
    "GT": "Guatemalteco",
    "HN": "Hondureño",
    "MX": "Mexicano",
    "NI": "Nicaragüense",
    "PA": "Panameño",
    "PE": "Peruano",
    "PY": "Paraguayo",
    "SV": "Salvadoreño",
    "UY": "Uruguayo",
    "VE": "Venezolano",
}


def demonym(alpha2: str) -> str | None:
    """What a national of the country is called in Spanish, where we know it."""
    return _DEMONYMS.get(alpha2)


class CountryList(OfficialList):
    """Countries by any of their codes or names; the official code is alpha-2."""

    id = "countries"
    levels = ("country",)

    def canonical(self, value: str) -> str | None:
        return self._codes_by_text.get(folded(value))

    def path(self, value: str) -> tuple[Node, ...] | None:
        code = self.canonical(value)
        return None if code is None else (Node(code, self.name(code)),)

    def codes(self) -> tuple[str, ...]:
        return tuple(sorted(self._countries))

    def name(self, code: str) -> str:
        """Spanish name of the country."""
        if code not in self._countries:
            return _ALSO[code].partition(";")[0]
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
        found: dict[str, str] = {}
        for alpha2, text in (*self._own_texts(), *self._other_names()):
            found.setdefault(folded(text), alpha2)
        return found

    def _own_texts(self) -> Iterator[tuple[str, str]]:
        for alpha2, country in self._countries.items():
            yield from ((alpha2, text) for text in (alpha2, country.alpha_3, country.numeric))
            for field in ("name", "common_name", "official_name"):
                name = getattr(country, field, "")
                if name:
                    yield from ((alpha2, name), (alpha2, self._spanish(name)))

    def _other_names(self) -> Iterator[tuple[str, str]]:
        """Names in use beside ISO's, and «Micronesia» for «Micronesia, Federated States of» where only one."""
        for alpha2, names in _ALSO.items():
            yield from ((alpha2, text) for text in names.split(";"))
        short = [(a, c.name.partition(",")[0]) for a, c in self._countries.items() if "," in c.name]
        times = Counter(name for _, name in short)
        yield from ((alpha2, name) for alpha2, name in short if times[name] == 1)
