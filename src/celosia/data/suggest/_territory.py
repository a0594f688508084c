"""Areas by code and by name, over the official lists of `celosia.hierarchy.official`.

Knows what a cell as typed may be (a lost leading zero, «Región de…»). The lists themselves know codes and names.
"""

from __future__ import annotations

from functools import cache

from celosia.data.suggest._shape import normal
from celosia.hierarchy.official import lookup

LISTS = ("cl-cut", "co-divipola", "py-distritos", "pe-ubigeo")
_WIDTHS = {"cl-cut": 5, "co-divipola": 5, "py-distritos": 4, "pe-ubigeo": 6}
_OPENINGS = (
    "region de la ",
    "region del ",
    "region de los ",
    "region de ",
    "region ",
    "departamento de ",
    "de la ",
    "de los ",
    "del ",
    "de ",
)


def is_area_code(code_list: str, value: str) -> bool:
    """A code of the list, also when a program ate its leading zero."""
    text, known = value.strip(), lookup(code_list)
    width = _WIDTHS[code_list]
    return len(text) >= width - 1 and text.isdigit() and known.knows(text.zfill(width))


def is_area_name(value: str) -> bool:
    """The name of a comuna, municipality, district or province."""
    return normal(value) in _area_names()


def is_region_name(value: str) -> bool:
    """The name of a region or department."""
    text = normal(value)
    return text in _region_names() or any(
        text.startswith(opening) and text.removeprefix(opening) in _region_names() for opening in _OPENINGS
    )


@cache
def _area_names() -> frozenset[str]:
    places = (lookup(code_list) for code_list in LISTS)
    return frozenset(normal(known.name(code)) for known in places for code in known.codes())


@cache
def _region_names() -> frozenset[str]:
    names = set()
    for known in map(lookup, LISTS):
        for code in known.codes():
            names |= {normal(node.name) for node in (known.path(_full(known.id, code)) or ())}
    return frozenset(
        names | {"metropolitana de santiago", "metropolitana", "libertador bernardo o higgins", "bogota d c"}
    )


def _full(code_list: str, code: str) -> str:
    return code + "01" if code_list == "pe-ubigeo" else code  # its list holds provinces; a district lies in one
