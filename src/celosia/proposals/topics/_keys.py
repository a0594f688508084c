"""Keys: of a record, a person, a household; pseudonyms and hashes.

Knows uniqueness, sequences and the look of machine-made keys. Ignores what the key opens.
Source: ATENEA guide 4.2.3; MEL protocol IV.2.a (order number is direct; ids of a household only group rows).
"""

from __future__ import annotations

import math
import re
from collections import Counter

from celosia.model.variables import Kind, MelLabel, Role, Scale, Treatment
from celosia.proposals.shape import Shape
from celosia.proposals.topic import Topic, ValueTest, headers

_UUID = re.compile(r"\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?", re.I)
_HEX = re.compile(
    r"(0x)?([0-9a-f]{16}|[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})",
    re.I,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")


def is_pseudonym(value: str) -> bool:
    """A UUID, a hexadecimal digest or a long string without visible order."""
    text = value.strip()
    if _UUID.fullmatch(text) or (_HEX.fullmatch(text) and not text.isdigit()):
        return True
    return _BASE64.fullmatch(text) is not None and _has_mixed_characters(text) and _bits_per_sign(text) >= 3.3


def _has_mixed_characters(text: str) -> bool:
    kinds = (str.isdigit, str.islower, str.isupper)
    return sum(any(map(kind, text)) for kind in kinds) == 3


def _bits_per_sign(text: str) -> float:
    shares = [n / len(text) for n in Counter(text).values()]
    return -sum(p * math.log2(p) for p in shares)


def hardly_repeats(shape: Shape) -> bool:
    """A key has many values; a code list has few."""
    return shape.distinct >= 6 and (shape.repetition >= 0.05 or shape.distinct >= 1_000)


def _key(
    name: str,
    *patterns: str,
    role: Role = Role.IDENTIFIER,
    mel: MelLabel = MelLabel.DIRECT,
    weak: str = "",
    test: ValueTest | None = None,
) -> Topic:
    return Topic(
        name,
        role,
        headers(*patterns),
        headers(weak),
        kind=Kind.IDENTIFICATION,
        scale=Scale.CATEGORICAL,
        mel=mel,
        test=test,
        needs_many_values=True,
    )


_PAPERS = """acta parte comparendo denuncia tramite solicitud informe proceso sentencia resolucion ticket reclamo
    accidente siniestro atencion receta factura radica*"""
_NUMBERED = ", ".join(f"{number} {paper}" for paper in _PAPERS.split() for number in ("num*", "nro", "n"))

TOPICS = (
    _key(
        "pseudonym",
        "hash*, uuid, guid, seudonimo, pseudonym, encriptad*, anonimizado id, id anonim*, id encript*, id cifrad*",
        test=ValueTest(is_pseudonym, 0.001, 0.9, 3, hardly_repeats, hard=True),
    ),
    _key(
        "household_key",
        """id hogar, hogar id, id viv*, vivienda id, viv id, id vivienda, llave hog*, llavehog, llave viv*, clave
            hog*, clave viv*, cod hog*, cod viv*, directorio, idhogar, id household, household id, hhid, hh id, folio
            hogar, folio viv*, folio hog*, num* hogar, nro hogar, n hogar, n viv*, nro viv*, num* viv*, codigo hogar,
            codigo viv*, identificador hogar, identificador viv*, id hog, nhogar, key hogar""",
        role=Role.QUASI,  # it names nobody, and tells who lives with whom
        mel=MelLabel.OTHER,
    ),
    _key(
        "person_key",
        """id persona*, persona id, paciente id, user id, usuario id, individuo id, id user, id pac*, id paciente*, id
            individuo, id usuari*, id benef*, id alumno, id estudiante, id per, mrun, llave persona, llave per, clave
            persona, codigo persona, cod persona, codigo paciente, cod paciente, person id, patient id, subject id, id
            sujeto, id afiliad*, id trabajador, id cliente, identificador persona, idper*""",
    ),
    Topic(
        "household_order",
        Role.QUASI,
        headers("""=orden, num* orden, nro orden, n orden, orden hogar, orden persona, secuencia*, num* persona, nro
            persona, linea persona, secuencia p, order number"""),
        kind=Kind.IDENTIFICATION,
        scale=Scale.CATEGORICAL,
        mel=MelLabel.DIRECT,
        treatment=Treatment.REMOVE,
    ),
    _key(
        "record_key",
        """id caso, caso id, case id, =id, =folio, folio*, correlativo*, num* registro, nro registro, id registro,
            record id, row id, rowid, =key, llave, llave*, num* caso, nro caso, id evento, id atencion, id encuesta,
            id egreso, id hospitalizacion, id defuncion, id formulario, num* formulario, num* encuesta, id respuesta,
            response id, =fila, num* fila, objectid, oid, fid, pk, =index, =indice, num* certificado,
            nro certificado, radicado*, radicacion*, consecutivo*, =acta, =comparendo, noticia criminal, nunc, spoa,
            docket*, case number, file number, ticket number, id accidente, id siniestro, =serial""",
        _NUMBERED,
        weak="id, clave, key, identificador",
    ),
)
