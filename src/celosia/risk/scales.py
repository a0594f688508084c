"""Categories with a customary order: levels of education, months and days of the week.

Knows words of Spanish, compared without case or accents. Decides only the order of printed lines, never a figure: the
order of a sensitive variable is declared by hand. Source of the first scale: the levels of the Colombian school system,
as in the table of the ATENEA guide, section 4.2.3.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from celosia.model.values import MISSING, is_masked

_SCHOOL = """ninguno, preescolar, primaria, basica primaria, basica, secundaria, basica secundaria, media,
bachillerato, tecnico, tecnica, tecnologo, tecnologica, universitario, universitaria, pregrado, profesional,
especializacion, posgrado, postgrado, maestria, magister, doctorado"""
_MONTHS = "enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre"
_DAYS = "lunes, martes, miercoles, jueves, viernes, sabado, domingo"
_SCALES = tuple(scale.replace("\n", " ").split(", ") for scale in (_SCHOOL, _MONTHS, _DAYS))


def sort_by_known_scale(values: Sequence[str]) -> list[str] | None:
    """The values in the order of the scale that holds all of them; None where there is none."""
    plain = {value: _bare_text(value) for value in values if value != MISSING and not is_masked(value)}
    scale = next((scale for scale in _SCALES if len(plain) > 1 and set(plain.values()) <= set(scale)), None)
    if scale is None:
        return None
    others = sorted(value for value in values if value not in plain)
    return [*others, *sorted(plain, key=lambda value: (scale.index(plain[value]), value))]


def _bare_text(value: str) -> str:
    parts = unicodedata.normalize("NFD", value.strip().casefold())
    return "".join(character for character in parts if not unicodedata.combining(character))
