"""Places: administrative areas, survey areas, establishments.

Knows the official code lists of Chile, Colombia, Paraguay and Peru (`celosia.hierarchy.official`) by code and by name.
Ignores two-digit codes without a name that says region: they may be anything.
Source: MINSAL, Implementación 3; MEL protocol IV.2.a.i (the fourteen geographic names).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from celosia.data.suggest._shape import Shape
from celosia.data.suggest._territory import LISTS, is_area_code, is_area_name, is_region_name
from celosia.data.suggest._topic import Topic, ValueTest, headers
from celosia.data.suggest.topics._people import says
from celosia.model.variables import Kind, MelLabel, Role, Scale


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


_ESTABLISHMENT_WORDS = """
        hospital* clinica* cesfam cecosf posta* consultorio* sapu sar samu centro* ips policlinico*
        instituto* ambulatorio* puesto ubs usf sanatorio* cosam crs cdt
        """

TOPICS = (
    _area(
        "commune_code",
        """
            cut, codigo unico territorial, divipola, ubigeo*, cod com*, codcom, codigo com*, cod mun*,
            codmun*, codigo mun*, codigo dane, cod dane, cod dist*
            """,
    ),
    _area(
        "establishment",
        """
            establecimiento*, estab*, eess, hospital*, clinica*, centro salud, centro atencion,
            lugar atencion, lugar def*, lugar*, ips, prestador*, servicio salud, serv salud, cesfam,
            cesfam*, facility, unidad salud, seremi, place of care, local votacion, colegio*, escuela*,
            liceo*, institucion*, institution*, universidad*, unidad operativa, upgd, red salud, microred,
            diresa, ss estab*, cod estab*, renaes, renipress, sede*
            """,
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
        """
            comuna*, com, municip*, mpio, mun, muni, distrito*, dist, ciudad*, localidad*, corregimiento*,
            city, town, district, municipality, =residencia, com res*, poblado*, centro poblado,
            pueblo residencia, procedencia, lugar nac*, lugar res*
            """,
        test=ValueTest(is_area_name, 0.02, 0.7, 8, in_words=True),
    ),
    _area("province", "provincia*, prov, province, county, subregion*, canton"),
    _area(
        "region",
        """
            region*, departamento*, depto*, dpto*, dep, reg, region res*, estado residencia, department,
            state, macroregion*, entidad fed*, macrozona
            """,
        test=ValueTest(is_region_name, 0.01, 0.8, 4, in_words=True),
    ),
    _area("postal_code", "codigo postal, cod postal, zip*, postal*, postcode, cpostal"),
    _area(
        "survey_area",
        """
            area*, zona*, clase, urbano*, rural*, vereda*, barrio*, sector*, seccion*, manzana*, upm, usm,
            upz, segmento*, estrato muest*, conglomerado*, cluster, psu, ssu, varunit, varstrat, vereda, uv,
            unidad vecinal, =vivienda, =hogar, dwelling, =household, centro pob*, resguardo*, territorio*,
            cuadra, radio censal, fraccion*
            """,
    ),
)
