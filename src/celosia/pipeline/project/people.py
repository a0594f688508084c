"""The people of a project and their public keys: `people.toml`.

Knows names, roles and keys. Ignores what anybody signed. Two spellings of one name, or of one key, are one person.
Source: MINSAL, Roles y Responsabilidades 1, Verificación 4; MEL IV.2.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.model.errors import UnknownFormat
from celosia.model.people import PEOPLE_FORMAT, ROLES, Person
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.project.curve_points import is_signing_point
from celosia.pipeline.project.errors import BadPeople, NameNeeded, PersonRepeats, RolesClash
from celosia.pipeline.project.files import read_toml

_LONGEST_NAME = 120

# Letters that are drawn like a Latin one. Sources: Unicode Technical Standard 39; only what a name may hold.
_DRAWN = {
    "a": "аᎪɑαΑАᴀ",
    "b": "вЬьВΒβʙᏴ",
    "c": "сСᴄϲᏟ",
    "d": "ԁᴅᎠđ",
    "e": "еЕεΕᴇᎬ",
    "f": "ƒϝ",
    "g": "ɡցɢԌ",
    "h": "һНΗнհʜħᎻ",
    "i": "іІιΙıɪl1ӏӀⅼᏞᎥłʟ",
    "j": "јЈϳᎫᴊ",
    "k": "кКκΚᴋᏦĸ",
    "m": "мМΜᴍᎷ",
    "n": "пΝηոɴ",
    "o": "оОοΟ0օσᴏø",
    "p": "рРρΡᴘᏢ",
    "q": "ԛգզ",
    "r": "гʀᎡ",
    "s": "ѕЅꜱᏚ",
    "t": "тТτΤᴛᎢ",
    "u": "υսᴜμ",
    "v": "νᴠѵᏙ",
    "w": "ԝωшᴡᎳ",
    "x": "хХχΧ",
    "y": "уУγΥүʏ",
    "z": "ΖᴢᏃ",
}
_LATIN = {ord(drawn): letter for letter, others in _DRAWN.items() for drawn in others}
_PAIRS = (("rn", "m"), ("vv", "w"))
# Letters and marks that leave nothing on the page, and words of names of letters that tell no script.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_EAST_ASIAN = ("CJK", "HANGUL", "HIRAGANA", "KATAKANA", "BOPOMOFO")
_ORDINALS = "ªº"

# One spelling for one key: blanks and capitals would make it look like two.
_KEY = re.compile(r"[0-9a-f]{64}")


def role_words(role: str) -> str:
    """What a role is called in the language that is spoken; files and options hold its English name."""
    return messages.text(f"protocols.role.{role}") if role in ROLES else role


def read_people(path: Path) -> tuple[Person, ...]:
    """Everybody that a people.toml lists; none where there is no file."""
    if not path.is_file():
        return ()
    document = read_toml(path)
    if document.get("format") != PEOPLE_FORMAT:
        raise UnknownFormat(path=str(path), found=str(document.get("format")), expected=PEOPLE_FORMAT)
    lines = document.get("people", [])
    if not isinstance(lines, list):
        raise BadPeople(path=str(path))
    people: list[Person] = []
    for line in lines:
        person = _person(line, str(path))
        refuse_wrong_person(person, people)
        people.append(person)
    return tuple(people)


def is_name(text: str) -> bool:
    """Whether a name can be shown on one line as it is, and hides nothing: one script, no sign that is not seen."""
    seen = 0 < len(text) <= _LONGEST_NAME and text.isprintable() and _BLANK.search(text) is None
    return seen and text == " ".join(text.split()) and len({_script(sign) for sign in text if sign.isalpha()}) <= 1


def _script(letter: str) -> str:
    """The script of a letter, by the first word of its name."""
    script = unicodedata.name(letter, "?").partition(" ")[0].partition("-")[0]
    return "LATIN" if letter in _ORDINALS else "CJK" if script in _EAST_ASIAN else script


def same_name(first: str, second: str) -> bool:
    """Whether two spellings are one name: capitals, blanks and ways of writing an accent do not make two people."""
    return _plain_name(first) == _plain_name(second)


def looks_alike(first: str, second: str) -> bool:
    """Whether a reader may take two names for one: as they are drawn, without accents, blanks and points."""
    return same_name(first, second) or _drawing(first) == _drawing(second)


def _drawing(name: str) -> str:
    """A name as a hurried reader sees it, in plain Latin letters."""
    plain = unicodedata.normalize("NFKD", name).translate(_LATIN).casefold()
    drawn = "".join(sign for sign in plain.translate(_LATIN) if sign.isalnum())
    for pair, letter in _PAIRS:
        drawn = drawn.replace(pair, letter)
    return drawn


def is_key(text: str) -> bool:
    """Whether a text is a public key that its holder alone can sign for, in its one spelling: 64 lower-case digits."""
    return _KEY.fullmatch(text) is not None and is_signing_point(bytes.fromhex(text))


def _person(line: Any, path: str) -> Person:
    if not isinstance(line, Mapping) or not isinstance(line.get("roles"), list):
        raise BadPeople(path=path)
    name, key = line.get("name"), line.get("key")
    if not isinstance(name, str) or not isinstance(key, str) or not is_key(key.strip().lower()):
        raise BadPeople(path=path)
    roles, cover = tuple(str(role) for role in line["roles"]), str(line.get("cover", ""))
    return Person(" ".join(name.split()), roles, key.strip().lower(), cover)


def refuse_wrong_person(person: Person, known: Sequence[Person]) -> None:
    """Refuse a person without name, role or key, with roles that exclude each other, or who is there already."""
    if not person.name:
        raise NameNeeded()
    if not person.roles or not set(person.roles) <= set(ROLES):
        given = ", ".join(role for role in person.roles if role not in ROLES)
        raise ValueOutOfRange(parameter="role", given=given, allowed=", ".join(ROLES))
    if not is_key(person.key):
        raise ValueOutOfRange(parameter="key", given="", allowed="Ed25519, 64 × 0–9 a–f")
    if {"executor", "verifier"} <= set(person.roles):
        raise RolesClash(name=person.name)  # who did it does not check it (MINSAL Verificación 4)
    for other in known:
        if looks_alike(other.name, person.name) or other.key == person.key:
            raise PersonRepeats(name=person.name)


def _plain_name(name: str) -> str:
    return unicodedata.normalize("NFKC", " ".join(name.split()).casefold())
