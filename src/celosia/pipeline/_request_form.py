"""The request as a form: each item with its kind, its answer, whether the protocols demand it and whether it lacks.

Knows request.toml and the dictionary's names. Ignores data. What a form sends is what the command line writes.
Sources: ATENEA 4.2.1 (six items, two legal questions, properties); MINSAL Planificación 2; MEL IV.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from celosia import messages
from celosia.errors import PropertyIncomplete, ValueOutOfRange
from celosia.model.requests import PROPERTIES, Request
from celosia.model.variables import Role, Variable
from celosia.pipeline._call import Place
from celosia.pipeline._kept import digest_of_file
from celosia.pipeline._project import open_project
from celosia.pipeline._request import (
    _PROPERTY_KEYS,
    ITEMS,
    _demanded,
    _property,
    missing_items,
    read_request,
    request_path,
    write_request,
)
from celosia.pipeline._request_template import request_questions

FORM_FORMAT = "celosia/request-form/1"
_SECTIONS_OF = {"minsal": ("minsal",), "mel": ("mel",)}  # sections that only one protocol asks about
_VARIABLES = ("variables", "legal.limited", "mel.contrast")  # lists of names of the dictionary


def request_form(folder: Place) -> dict[str, Any]:
    """Every item of a project's request as a form shows it; a project without a request shows empty answers."""
    project, path = open_project(folder), request_path(folder)
    protocols = project.config.protocols
    request = read_request(folder) if path.is_file() else Request()
    demanded, missing = set(_demanded(protocols)), set(missing_items(request, protocols))
    held = [key for key in request_questions() if _asked(key, protocols, request)]
    return {
        "format": FORM_FORMAT,
        "digest": digest_of_file(path),
        "written": path.is_file(),
        "protocols": list(protocols),
        "items": [
            {"key": key, "kind": kind_of(key), "answer": _plain(request.item(key)), "options": list(ITEMS[key].options),
             "demanded": key in demanded, "missing": key in missing}
            for key in held
        ],
        "missing": [key for key in held if key in missing],
        "variables": [_variable(one) for one in project.variables()],
        "limited": list(request.limited),
        "properties": list(PROPERTIES),
    }  # fmt: skip


def edit_request(
    folder: Place, answers: dict[str, Any], *, expected: str | None = None, why: str = "", now: datetime | None = None
) -> dict[str, Any]:
    """Write answers under the names they have in the file, on the state the form showed; give the form as it is now."""
    write_request(folder, why=why, now=now, expected=expected, **answers)
    return request_form(folder)


def checked_property(asked: dict[str, Any]) -> dict[str, Any]:
    """A property to preserve as the file writes it, without what was left empty; one that lacks a part is refused."""
    made = {key: value for key, value in asked.items() if value not in (None, "", [], ())}
    if "tolerance" in made:
        made["tolerance"] = str(made["tolerance"]).strip().replace(",", ".")
    wrong = [key for key, value in made.items() if key not in _PROPERTY_KEYS or not _PROPERTY_KEYS[key].fits(value)]
    if wrong:
        allowed = _PROPERTY_KEYS[wrong[0]].expected if wrong[0] in _PROPERTY_KEYS else ", ".join(_PROPERTY_KEYS)
        raise ValueOutOfRange(parameter=wrong[0], given=str(made[wrong[0]]), allowed=allowed)
    if not _property(made):
        raise PropertyIncomplete(property=messages.text(f"atenea.property.{made.get('property', 'mean')}"))
    return made


def kind_of(key: str) -> str:
    """How an item is answered: text, choice, flag, day, names (of the dictionary), texts or properties."""
    if key in _VARIABLES:
        return "names"
    return {"tables": "properties"}.get(ITEMS[key].words, ITEMS[key].words)


def _asked(key: str, protocols: tuple[str, ...], request: Request) -> bool:
    """Whether an item concerns this project; what was answered is always shown."""
    families = {name.split("-")[0] for name in protocols}
    section = key.split(".")[0]
    return section not in _SECTIONS_OF or section in families or request.item(key) not in (None, "", (), [])


def _variable(one: Variable) -> dict[str, Any]:
    role = str(one.role) if one.role else None
    return {"name": one.name, "label": one.label, "role": role, "direct": one.role == Role.IDENTIFIER}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [dict(one) if hasattr(one, "items") else one for one in value]
    return value
