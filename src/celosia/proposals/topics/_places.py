"""Places: administrative areas, survey areas, establishments.

Knows the official code lists of Chile, Colombia, Paraguay and Peru (`celosia.hierarchy.official`) by code and by name.
Ignores two-digit codes without a name that says region: they may be anything.
Source: MINSAL, Implementación 3; MEL protocol IV.2.a.i (the fourteen geographic names).
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from celosia.hierarchy.official import lookup
from celosia.model.variables import Kind, MelLabel, Role, Scale
from celosia.proposals.shape import Shape, normal
from celosia.proposals.topic import Topic, ValueTest, headers
from celosia.proposals.topics._people import says

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
            names |= {normal(node.name) for node in (known.path(_complete_code(known.id, code)) or ())}
    return frozenset(
        names | {"metropolitana de santiago", "metropolitana", "libertador bernardo o higgins", "bogota d c"}
    )


def _complete_code(code_list: str, code: str) -> str:
    return code + "01" if code_list == "pe-ubigeo" else code  # its list holds provinces; a district lies in one


def codes_of_one_length(shape: Shape) -> bool:
    """Whole numbers of one length or one less (a lost zero), a few marks such as NA aside."""
    usual = int(np.max(shape.lengths[shape.lengths <= 6], initial=0))
    return shape.integer_share >= 0.9 and shape.share((shape.lengths == usual) | (shape.lengths == usual - 1)) >= 0.95


def _area(name: str, *patterns: str, test: ValueTest | None = None, weak: str = "") -> Topic:
    return Topic(
        name,
        Role.QUASI,
        headers(*patterns),
        headers(weak),
        kind=Kind.LOCATION,
        scale=Scale.CATEGORICAL,
        mel=MelLabel.GEOGRAPHIC,
        test=test,
    )


_ESTABLISHMENT_WORDS = """hospital* clinica* cesfam cecosf posta* consultorio* sapu sar samu centro* ips policlinico*
    instituto* ambulatorio* puesto ubs usf sanatorio* cosam crs cdt"""

# Words of a census that are as often a class of vehicle, an area of a field or a section of a form: alone, or beside
# words that say a place.
_CENSUS = "clase seccion segmento fraccion cluster"
_BEFORE = "cod* id nombre tipo".split()
_AFTER = "censal* urb* rural* res* geo* dane muest* hogar vivienda electoral encuesta nac* ubicac*".split()
_ONLY_OF_PLACES = ", ".join(
    f"={pattern}"
    for word in _CENSUS.split()
    for pattern in (word, *(f"{before} {word}" for before in _BEFORE), *(f"{word} {after}" for after in _AFTER))
)

TOPICS = (
    _area(
        "commune_code",
        """cut, codigo unico territorial, divipola, ubigeo*, cod com*, codcom, codigo com*, cod mun*, codmun*, codigo
            mun*, codigo dane, cod dane, cod dist*""",
    ),
    _area(
        "establishment",
        """establecimiento*, estab*, eess, hospital*, clinica*, centro salud, centro atencion, lugar atencion, lugar
            def*, lugar*, ips, prestador*, servicio salud, serv salud, cesfam, cesfam*, facility, unidad salud,
            seremi, place of care, local votacion, colegio*, escuela*, liceo*, institucion*, institution*,
            universidad*, unidad operativa, upgd, red salud, microred, diresa, ss estab*, cod estab*, renaes,
            renipress, sede*""",
        test=ValueTest(says(_ESTABLISHMENT_WORDS, 14), 0.03, 0.6, 3, in_words=True),
    ),
    *(
        _area(
            f"area_{code_list.replace('-', '_')}",
            test=ValueTest(partial(is_area_code, code_list), 0.03, 0.85, 10, codes_of_one_length),
        )
        for code_list in LISTS
    ),
    _area(
        "commune",
        """comuna*, com, municip*, mpio, mun, muni, distrito*, dist, ciudad*, localidad*, corregimiento*, city, town,
            district, municipality, =residencia, com res*, poblado*, centro poblado, pueblo residencia, procedencia,
            lugar nac*, lugar res*""",
        test=ValueTest(is_area_name, 0.02, 0.7, 8, in_words=True),
    ),
    _area("province", "provincia*, prov, province, county, subregion*, canton"),
    _area(
        "region",
        """region*, departamento*, depto*, dpto*, dep, reg, region res*, estado residencia, department, state,
            macroregion*, entidad fed*, macrozona""",
        test=ValueTest(is_region_name, 0.01, 0.8, 4, in_words=True),
    ),
    _area("postal_code", "codigo postal, cod postal, zip*, postal*, postcode, cpostal"),
    _area(
        "survey_area",
        f"""urbano*, rural*, vereda*, barrio*, manzana*, upm, usm, upz, estrato muest*, conglomerado*, psu, ssu,
            varunit, varstrat, uv, unidad vecinal, =vivienda, =hogar, dwelling, =household, centro pob*, resguardo*,
            territorio*, =cuadra, radio censal, {_ONLY_OF_PLACES}""",
        weak="area*, zona*, sector*",
    ),
)
