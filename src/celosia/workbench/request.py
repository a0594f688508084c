"""The request as a form: each item with its kind, its answer, whether the protocols demand it and whether it lacks.

Knows request.toml and the dictionary's names. Ignores data. What a form sends is what the command line writes.
Sources: ATENEA 4.2.1 (six items, two legal questions, properties); MINSAL Planificación 2; MEL IV.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from celosia import messages
from celosia.model.requests import PROPERTIES, Request
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Role
from celosia.pipeline.project.edits import write_request
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import ProjectArg, open_project
from celosia.pipeline.project.request import ITEMS, PROPERTY_KEYS, QUESTIONS, demanded_items, is_property, missing_items
from celosia.workbench.errors import PropertyIncomplete
from celosia.workbench.views.request import RequestForm, RequestItem, RequestVariable

_PROTOCOL_SECTIONS = ("minsal", "mel")  # sections that only one protocol asks about
_VARIABLES = ("variables", "legal.limited", "mel.contrast")  # lists of names of the dictionary


def request_form(source: ProjectArg) -> RequestForm:
    """Every item of a project's request as a form shows it; without a request the answers are empty."""
    project = open_project(source)
    path, protocols = project.paths.request, project.config.protocols
    request = project.request or Request()
    demanded, missing = demanded_items(protocols), missing_items(request, protocols)
    return RequestForm(
        digest=digest_of_file(path),
        written=path.is_file(),
        items=tuple(
            RequestItem(key, kind_of(key), _json_value(request.item(key)), key in demanded, key in missing)
            for key in QUESTIONS
            if _concerns_project(key, protocols, request)
        ),
        variables=tuple(
            RequestVariable(
                variable.name, str(variable.role) if variable.role else None, variable.role == Role.IDENTIFIER
            )
            for variable in project.variables
        ),
        limited=tuple(request.limited),
        properties=tuple(PROPERTIES),
    )


def edit_request(
    source: ProjectArg,
    answers: dict[str, Any],
    *,
    expected: str | None = None,
    why: str = "",
    now: datetime | None = None,
) -> RequestForm:
    """Write answers under the names they have in the file, on the state the form showed; give the form afterwards."""
    project = open_project(source)
    write_request(project, why=why, now=now, expected=expected, **answers)
    return request_form(project.reread())


def checked_property(asked: dict[str, Any]) -> dict[str, Any]:
    """A property to preserve as the file writes it, without what was left empty; one that lacks a part is refused."""
    given = {key: value for key, value in asked.items() if value not in (None, "", [], ())}
    if "tolerance" in given:
        given["tolerance"] = str(given["tolerance"]).strip().replace(",", ".")
    for key, value in given.items():
        if key not in PROPERTY_KEYS:
            raise ValueOutOfRange(parameter=key, given=str(value), allowed=", ".join(PROPERTY_KEYS))
        if not PROPERTY_KEYS[key].accepts(value):
            raise ValueOutOfRange(parameter=key, given=str(value), allowed=PROPERTY_KEYS[key].expected_text)
    if not is_property(given):
        raise PropertyIncomplete(property=messages.text(f"atenea.property.{given.get('property', 'mean')}"))
    return given


def kind_of(key: str) -> str:
    """How an item is answered: text, choice, flag, day, names (of the dictionary), texts or properties."""
    kind = ITEMS[key].expected_key
    return "names" if key in _VARIABLES else "properties" if kind == "tables" else kind


def _concerns_project(key: str, protocols: tuple[str, ...], request: Request) -> bool:
    """Whether an item concerns this project; what was answered is always shown."""
    families = {name.split("-")[0] for name in protocols}
    section = key.split(".")[0]
    return section not in _PROTOCOL_SECTIONS or section in families or request.item(key) not in (None, "", (), [])


def _json_value(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [dict(item) if hasattr(item, "items") else item for item in value]
    return value
