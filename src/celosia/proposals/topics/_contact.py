"""Names, telephones, addresses and accounts of a person.

Knows spellings of names common in Spanish America, telephone plans (phonenumbers), street words, e-mail, social
handles, web pages, IP addresses, coordinates and plates. Source: MINSAL, Implementación 3; MEL protocol III.2 and
IV.2.a (address and field staff are direct).
"""

from __future__ import annotations

import ipaddress
import re
from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np

from celosia.model.variables import Kind, MelLabel, Role, Scale
from celosia.proposals.names import frequent_names
from celosia.proposals.shape import Shape, normal, number
from celosia.proposals.topic import Topic, ValueTest, headers

_PARTICLES = frozenset(
    """
    de del la las los y da do dos san santa van von der di mc mac jr
    """.split()
)
_INSTITUTIONS = frozenset(
    """
    hospital clinica cesfam cecosf posta consultorio centro salud escuela colegio liceo universidad instituto ltda spa
    sa eirl sas cia empresa comercial fundacion corporacion municipalidad servicio ministerio barrio villa poblacion
    avenida calle pasaje plaza parque san santa santo ips eps region provincia comuna puerto rio lago
    """.split()
)
_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[A-Za-z]{2,}")
_HANDLE = re.compile(r"@[A-Za-z0-9_.]{2,30}")
_SOCIAL = re.compile(
    r"(?:https?://)?(?:www\.|m\.)?(?:facebook|fb|twitter|x|instagram|tiktok|linkedin|t|threads)\.(?:com|me|net)/\S+",
    re.I,
)
_URL = re.compile(r"(?:https?://|www\.)\S+\.\S+", re.I)
_STREET = re.compile(
    r"\b(calle|cll|cl|av|avda|avd|avenida|pasaje|psje|pje|camino|carrera|cra|kra|cr|kr|diagonal|diag|dg|transversal|"
    r"transv|tv|jiron|jr|mz|manzana|lote|lt|block|blk|depto|dpto|apto|casa|villa|poblacion|pobl|ruta|km|parcela|"
    r"sitio|conjunto|edificio|torre|esquina|esq|barrio|street|st|ave|road|rd|urb)\b"
)
_MOBILE = re.compile(r"(?:56)?9\d{8}|(?:57)?3\d{9}|(?:51)?9\d{8}|(?:595)?0?9\d{8}|(?:549)?11\d{8}")
_REGIONS = ("CL", "CO", "PE", "PY", "AR")
_PLATES = (
    re.compile(r"[BCDFGHJKLPRSTVWXYZ]{4}[.\s-]?\d{2}"),  # Chile since 2007: no vowels, no Ñ, M, N or Q
    re.compile(r"[A-Z]{2}[.\s-]?\d{2}[.\s-]?\d{2}"),  # Chile before
    re.compile(r"[A-Z]{3}[.\s-]?\d{3}"),  # Colombia, Peru, Paraguay, Argentina before 2016
    re.compile(r"[A-Z]\d[A-Z\d][.\s-]?\d{3}"),  # Peru
    re.compile(r"[A-Z]{4}[.\s-]?\d{3}"),  # Paraguay, Mercosur
    re.compile(r"[A-Z]{2}[.\s-]?\d{3}[.\s-]?[A-Z]{2}"),  # Argentina, Mercosur
)
_POINT_PAIR = re.compile(r"\(?\s*(-?\d{1,2}\.\d{3,})\s*[,;\s]\s*(-?\d{1,3}\.\d{3,})\s*\)?|POINT\s*\(.+\)", re.I)


@cache
def _phonenumbers() -> ModuleType:
    return import_module("phonenumbers")  # its tables are large: loaded when a column looks like telephones


def is_person_name(value: str) -> bool:
    """One to six words, at least half of them common given names or surnames, none of an institution."""
    words = [w for w in normal(value).split() if w not in _PARTICLES - {"san", "santa"}]
    if not 1 <= len(words) <= 6 or any(w.isdigit() or w in _INSTITUTIONS for w in words):
        return False
    known = sum(w in frequent_names() for w in words)
    return 2 * known >= len(words)


def is_email(value: str) -> bool:
    """An e-mail address."""
    return _EMAIL.fullmatch(value.strip()) is not None


def is_handle(value: str) -> bool:
    """A social-network user: @someone, or a profile's address."""
    text = value.strip()
    return _HANDLE.fullmatch(text) is not None or _SOCIAL.fullmatch(text) is not None


def is_web_page(value: str) -> bool:
    """A web address."""
    return _URL.fullmatch(value.strip()) is not None


def is_address(value: str) -> bool:
    """A street word together with a number."""
    text = normal(value)
    return any(c.isdigit() for c in text) and len(text) >= 8 and _STREET.search(text) is not None


def is_phone(value: str) -> bool:
    """A telephone number valid in Chile, Colombia, Peru, Paraguay or Argentina, or with its own prefix."""
    text = value.strip()
    digits = re.sub(r"\D", "", text)
    if not 7 <= len(digits) <= 15 or re.fullmatch(r"[\d\s()+./-]+", text) is None:
        return False
    return any(_valid_phone(text, region) for region in ((None,) if text.startswith("+") else _REGIONS))


def _valid_phone(text: str, region: str | None) -> bool:
    phonenumbers = _phonenumbers()
    try:
        return bool(phonenumbers.is_valid_number(phonenumbers.parse(text, region)))
    except phonenumbers.NumberParseException:
        return False


def is_written_as_phone(shape: Shape) -> bool:
    """Numbers written as one dials them: with +, or all of them mobiles. Random digits are not."""
    written = np.array([v.strip().startswith(("+", "(")) for v in shape.values])
    mobile = np.array([_MOBILE.fullmatch(re.sub(r"[\s()+./-]", "", v)) is not None for v in shape.values])
    return shape.share(written | mobile) >= 0.9 and _first_digits_agree(shape)


def _first_digits_agree(shape: Shape) -> bool:
    """Mobiles share a beginning: whole numbers spread over all beginnings are something else."""
    starts = [re.sub(r"\D", "", v)[:1] for v in shape.values]
    return max(map(starts.count, set(starts)), default=0) >= 0.8 * len(starts)


def is_ip(value: str) -> bool:
    """An IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(value.strip())
    except ValueError:
        return False
    return True


def is_plate(value: str) -> bool:
    """A vehicle plate of Chile, Colombia, Peru, Paraguay or Argentina."""
    text = value.strip().upper()
    return any(pattern.fullmatch(text) for pattern in _PLATES)


def one_plate_per_row(shape: Shape) -> bool:
    """Plates hardly repeat; product codes of the same look do."""
    return shape.repetition >= 0.5


def is_point(value: str) -> bool:
    """A latitude and a longitude in one cell."""
    return _POINT_PAIR.fullmatch(value.strip()) is not None


def is_latitude(value: str) -> bool:
    """A latitude of Spanish America with four decimals or more."""
    return _degrees(value, -56.5, 33.0)


def is_longitude(value: str) -> bool:
    """A longitude of Spanish America with four decimals or more."""
    return _degrees(value, -118.0, -34.0)


def _degrees(value: str, low: float, high: float) -> bool:
    text = value.strip().replace(",", ".")
    degrees = number(text)
    return degrees is not None and low <= degrees <= high and len(text.partition(".")[2]) >= 4


def _direct(name: str, *patterns: str, test: ValueTest | None = None, strong: bool = False, weak: str = "") -> Topic:
    return Topic(
        name,
        Role.IDENTIFIER,
        headers(*patterns),
        headers(weak),
        kind=Kind.IDENTIFICATION,
        scale=Scale.CATEGORICAL,
        mel=MelLabel.DIRECT,
        strong=strong,
        test=test,
        needs_many_values=True,
    )


def _location(name: str, *patterns: str, test: ValueTest | None = None, needs_topic: str = "") -> Topic:
    return Topic(
        name,
        Role.IDENTIFIER,
        headers(*patterns),
        kind=Kind.LOCATION,
        mel=MelLabel.DIRECT,  # a precise place is contact, not geography (MEL note 3)
        strong=True,
        test=test,
        needs_topic=needs_topic,
        needs_many_values=True,
    )


_NAME_TEST = ValueTest(is_person_name, 0.02, 0.45, 8)
_CONFIRMS_NAME = ValueTest(is_person_name, 0.02, None)  # values tell a name, not which of a person's names

TOPICS = (
    _direct(
        "email",
        "email*, mail, e mail, correo*, emails",
        test=ValueTest(is_email, 0.001, 0.5, 3, hard=True),
        strong=True,
    ),
    _direct("ip", "ip, direccion ip, ip address, ipv*", test=ValueTest(is_ip, 0.001, 0.8, 3, hard=True)),
    _direct(
        "phone",
        "fono*, telef*, tel, tfno, celular*, cel, movil*, tel movil, phone*, mobile, whatsapp, fax, numero contacto",
        test=ValueTest(is_phone, 0.48, 0.9, 8, is_written_as_phone),
        strong=True,
    ),
    _direct(
        "social",
        "twitter, instagram, facebook, tiktok, linkedin, red* social*, usuario red*, fb, snapchat, telegram, handle",
        test=ValueTest(is_handle, 0.001, 0.6, 3, hard=True),
        strong=True,
    ),
    _direct(
        "web",
        "web, sitio web, pagina web, url, blog, website, homepage, =sitio, pagina personal, web personal",
        test=ValueTest(is_web_page, 0.001, 0.6, 3, hard=True),
        strong=True,
    ),
    _direct(
        "password",
        "contrasen*, contrasena, clave acceso, clave unica, =clave, password*, pass, passwd, pwd, pin, =token",
    ),
    _direct("user", "=usuario, nombre usuario, user, username, login, =cuenta, cod usuario, user name"),
    _location(
        "work_address",
        "dir* laboral, dir* trabajo, dir* empresa, domicilio laboral, lugar trabajo direccion, work address",
    ),
    _location(
        "home_address",
        """direccion*, domicilio*, calle*, =dir, dir particular, numero casa, nro casa, num casa, numero calle,
            address*, street, dir res*, nombre calle, numero domicilio, =numero direccion""",
        test=ValueTest(is_address, 0.02, 0.6, 6),
    ),
    _location(
        "point",
        "geo*, coordenada*, geometry, ubicacion gps, gps, latlon*, latlng",
        test=ValueTest(is_point, 0.001, 0.8, 3, hard=True),
    ),
    _location(
        "latitude",
        "lat, latitud*, coord y, coordenada y, utm n*",
        test=ValueTest(is_latitude, 0.05, 0.95, 20),
        needs_topic="longitude",
    ),
    _location(
        "longitude",
        "lon, lng, long, longitud*, coord x, coordenada x, utm e*",
        test=ValueTest(is_longitude, 0.05, 0.95, 20),
        needs_topic="latitude",
    ),
    _direct(
        "plate",
        "patente*, placa*, matricula vehic*, license plate, ppu",
        test=ValueTest(is_plate, 0.02, 0.95, 20, one_plate_per_row),
        strong=True,
    ),
    _direct(
        "staff_name",
        """encuestador*, entrevistador*, supervisor*, digitador*, critico, coordinador*, medico tratante, nombre
            medico, nombre profesional, nombre funcionario, interviewer*, enumerator*, profesional tratante, =medico""",
    ),
    _direct("social_name", "nombre social, social name", test=_CONFIRMS_NAME),
    _direct(
        "surname",
        """apellido*, paterno, materno, ap pat*, ap mat*, ape pat*, ape mat*, apepat*, apemat*, appat*, apmat*,
            surname, last name, lastname, family name""",
        test=_CONFIRMS_NAME,
    ),
    _direct(
        "name",
        """=nombre, nombres, =nom, primer nombre, segundo nombre, nombre completo, nombre apellido*, nombre paciente,
            nombre persona, nombre madre, nombre padre, nombre titular, nombre benef*, nombre encuest*, =name, first
            name, full name, given name, fullname, firstname, nombre pila, nombre jefe*, nombre contacto, contacto
            emergencia, nombre alumno, nombre tutor, nombre apoderado, razon social, nombre hijo*, alias, apodo""",
        test=_NAME_TEST,
        weak="nombre, nom, name",
    ),
)
