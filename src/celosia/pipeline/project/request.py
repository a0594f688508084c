"""`request.toml`: who asks for what, why and within which limits, written down before anything is made.

Knows the items, their kinds, their questions and the names of the dictionary. Ignores data: no cell is read here.
Sources: ATENEA 4.2.1 (six items, two legal questions); MINSAL Planificación 2 and Anexo I; MEL I and IV.3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import tomlkit

from celosia import messages
from celosia.evaluation.properties import PROPERTIES as MEASURED_PROPERTIES
from celosia.model.errors import UnknownFormat
from celosia.model.parameters import Custom, Parameter, Text
from celosia.model.requests import DEMANDED, PROPERTIES, REQUEST_FORMAT, Request, request_from
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Variable
from celosia.pipeline.project.errors import RequestVariablesUnknown, WrongSetting
from celosia.pipeline.project.fallbacks import value_or
from celosia.pipeline.project.files import read_toml
from celosia.pipeline.project.settings_schema import FLAG, TABLE, TABLES, TEXT, TEXTS, refuse_wrong_settings

KINDS = ("internal", "external")
_DAY = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_KNOWN_PROPERTIES = tuple(dict.fromkeys((*PROPERTIES, *MEASURED_PROPERTIES)))
_VARIABLES_NEEDED = {"test": (2, 2), "model": (2, 99), "significance": (2, 99)}
_UNANSWERED: tuple[Any, ...] = (None, "", (), [])


def _is_day(value: Any) -> bool:
    return value == "" or type(value) is date or (isinstance(value, str) and _DAY.fullmatch(value) is not None)


def _is_tolerance(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and 0 <= float(value) < float("inf")
    except (TypeError, ValueError):
        return False


def is_property(value: Any) -> bool:
    """Whether a table names a property with as many variables as it needs, and the period of a trend."""
    if not isinstance(value, Mapping) or value.get("property") not in _KNOWN_PROPERTIES:
        return False
    name, variables = value["property"], value.get("variables", ())
    if not TEXTS.accepts(variables) or (name == "trend") > bool(value.get("period")):
        return False
    fewest, most = _VARIABLES_NEEDED.get(name, (0, 99))
    return fewest <= len(variables) <= most and not (name.startswith("correlation") and len(variables) == 1)


_DATE = Custom(_is_day, wording="day")
ITEMS: Mapping[str, Parameter] = {
    **dict.fromkeys(("title", "requester", "official", "aggregation", "authorisation", "use"), TEXT),
    "kind": Text(choices=KINDS, default=""),
    "received": _DATE,
    "variables": TEXTS,
    "properties": TABLES,
    **dict.fromkeys(("legal.protected_by_law", "legal.subject_authorisation"), FLAG),
    "legal.limited": TEXTS,
    **dict.fromkeys(("source.name", "source.unit", "source.department"), TEXT),
    **dict.fromkeys(("source.period_from", "source.period_until"), _DATE),
    "source.responsible": TEXTS,
    **dict.fromkeys(("minsal.administrative_act", "minsal.dictionary"), FLAG),
    **dict.fromkeys(("minsal.validated", "minsal.homologated", "minsal.particularly_sensitive"), FLAG),
    **dict.fromkeys(("minsal.purpose", "minsal.no_sensitive_attribute"), TEXT),
    "mel.consent": TEXT,
    "mel.contrast": TEXTS,
    **dict.fromkeys(("publication.contact", "publication.licence", "publication.update_period"), TEXT),
    "publication.next_review": _DATE,
}
PROPERTY_KEYS: Mapping[str, Parameter] = {
    "property": TEXT,
    "variables": TEXTS,
    "tolerance": Custom(_is_tolerance, wording="tolerance"),
    "period": TEXT,
}
_SECTIONS = tuple(dict.fromkeys(key.split(".")[0] for key in ITEMS if "." in key))
_TOP_KEYS = ("format", *dict.fromkeys(key.split(".")[0] for key in ITEMS))
_REQUEST: Mapping[str, Parameter] = {
    **dict.fromkeys(_SECTIONS, TABLE),
    **ITEMS,
    "properties.#": Custom(is_property, _KNOWN_PROPERTIES, wording="property"),
    **{f"properties.#.{key}": kind for key, kind in PROPERTY_KEYS.items()},
}
_CLOSED = {
    **{name: tuple(key.split(".")[1] for key in ITEMS if key.startswith(f"{name}.")) for name in _SECTIONS},
    "properties.#": tuple(PROPERTY_KEYS),
}
# Every item in the order of the file.
QUESTIONS = tuple(
    f"{section}.{name}".removeprefix(".")
    for section, names in (
        ("", ("title", "kind", "requester", "official", "received", "variables", "aggregation", "properties")),
        ("", ("authorisation", "use")),
        ("legal", ("protected_by_law", "subject_authorisation", "limited")),
        ("source", ("name", "period_from", "period_until", "unit", "responsible", "department")),
        ("minsal", ("administrative_act", "dictionary", "validated", "homologated", "particularly_sensitive")),
        ("minsal", ("purpose", "no_sensitive_attribute")),
        ("mel", ("consent", "contrast")),
        ("publication", ("contact", "licence", "update_period", "next_review")),
    )
    for name in names
)


def parse_request(path: Path) -> Mapping[str, Any] | None:
    """The request as it is written; None where there is none, or none that can be parsed: whoever needs it says why."""
    return value_or(None, lambda: read_toml(path)) if path.is_file() else None


def protocols_in_force(named: Sequence[str], request: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The protocols of a project: MINSAL's profile of k above 2 where the request says that its content asks for it."""
    answers = (request or {}).get("minsal", {})
    sensitive = isinstance(answers, Mapping) and answers.get("particularly_sensitive") is True
    stricter = {"minsal": "minsal-sensible"} if sensitive else {}
    return tuple(dict.fromkeys(stricter.get(name, name) for name in named))


def read_request_file(path: Path, variables: Sequence[Variable], parsed: Mapping[str, Any] | None = None) -> Request:
    """The request in a file, parsed already or not; an unknown key, kind or variable is refused by its name."""
    return request_in(read_toml(path) if parsed is None else parsed, path, variables)


def request_in(document: Mapping[str, Any], path: Path, variables: Sequence[Variable]) -> Request:
    """The request that a parsed document states."""
    stated_format = str(document.get("format"))
    if stated_format != REQUEST_FORMAT:
        raise UnknownFormat(path=str(path), found=stated_format, expected=REQUEST_FORMAT)
    refuse_wrong_settings({"request": document}, str(path), {"request": TABLE}, (), {"request": _TOP_KEYS})
    refuse_wrong_settings(document, str(path), _REQUEST, (), _CLOSED)
    request = request_from(_dates_as_text(document))
    _refuse_reversed_period(request, path)
    _refuse_unknown_variables(request, {variable.name for variable in variables}, path)
    return request


def _refuse_reversed_period(request: Request, path: Path) -> None:
    first, last = (str(request.source.get(key) or "") for key in ("period_from", "period_until"))
    if first and last and first[: len(last)] > last:  # 2024-03 lies within 2024
        raise WrongSetting(path=str(path), setting="source.period_until", expected=messages.text("plan.expected.later"))


def _refuse_unknown_variables(request: Request, known: Collection[str], path: Path) -> None:
    names_by_setting: dict[str, Sequence[str]] = {
        "variables": request.variables,
        "legal.limited": request.legal.get("limited", ()),
        "mel.contrast": request.mel.get("contrast", ()),
    }
    for number, choice in enumerate(request.properties, start=1):
        period = [choice["period"]] if choice.get("period") else []
        names_by_setting[f"properties.{number}"] = [*choice.get("variables", ()), *period]
    for setting, names in names_by_setting.items():
        absent = [name for name in names if name not in known]
        if absent:
            raise RequestVariablesUnknown(path=str(path), setting=setting, variables=", ".join(absent))


def _dates_as_text(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _dates_as_text(inner) for key, inner in value.items()}
    return value.isoformat() if isinstance(value, date) else value


def missing_items(request: Request, protocols: Sequence[str]) -> tuple[str, ...]:
    """The items that the protocols demand, by their list or by a rule of theirs, and nobody answered."""
    return tuple(key for key in demanded_items(protocols) if request.item(key) in _UNANSWERED)


def demanded_items(protocols: Sequence[str]) -> tuple[str, ...]:
    """The items that the protocols demand, by their list or by a rule of theirs."""
    from celosia.protocols.load import load

    listed = [key for name in protocols for key in DEMANDED.get(name.split("-")[0], ())]
    rules = [rule for name in protocols for rule in load(name).rules if rule.measure == "request_items"]
    return tuple(dict.fromkeys((*listed, *(key for rule in rules for key in rule.asked["items"] if key in ITEMS))))


def parse_property(text: str, known: Sequence[str]) -> dict[str, Any]:
    """A property as a command names it: `mean`, `mean:INCOME:0.01`, `correlations:A:B`, `trend:A:period=YEAR:0.05`."""
    name, *parts = [part.strip() for part in text.split(":")]
    choice: dict[str, Any] = {"property": name}
    if parts and parts[-1] not in known and _is_tolerance(parts[-1].replace(",", ".")):
        choice["tolerance"] = parts.pop().replace(",", ".")
    variables = [part for part in parts if part and not part.startswith("period=")]
    periods = [part.removeprefix("period=") for part in parts if part.startswith("period=")]
    if variables:
        choice["variables"] = variables
    if periods:
        choice["period"] = periods[0]
    if not is_property(choice):
        raise ValueOutOfRange(parameter="property", given=text, allowed=_REQUEST["properties.#"].expected_text)
    return choice


# --- the text of the file -------------------------------------------------------------------------

_OPEN_FLAG = "true | false"


def request_template(demanded: Collection[str] = ()) -> str:
    """The text of a request nobody answered yet, every item with its question; what is demanded is marked."""
    lines = [f'format = "{REQUEST_FORMAT}"', *_comment(messages.text("request.template"))]
    section = ""
    for key in QUESTIONS:
        own_section, _, name = key.rpartition(".")
        if own_section != section:
            section = own_section
            lines += ["", *_comment(messages.text(f"request.section.{section}")), f"[{section}]"]
        mark = " " + messages.text("request.demanded") if key in demanded else ""
        lines += ["", *_comment(messages.text(f"request.item.{key}") + mark), _empty_answer(key, name)]
    return "\n".join(lines) + "\n"


def _empty_answer(key: str, name: str) -> str:
    if ITEMS[key] is FLAG:
        return f"# {name} = {_OPEN_FLAG}"
    return f"{name} = []" if ITEMS[key] in (TEXTS, TABLES) else f'{name} = ""'


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in text.splitlines()]


def named_answers(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers by their dotted keys, each of the kind its item takes."""
    flat = dict(_flat_answers(answers))
    for key, value in flat.items():
        if key not in ITEMS:
            raise ValueOutOfRange(parameter="request", given=key, allowed=", ".join(ITEMS))
        if not ITEMS[key].accepts(value):
            raise ValueOutOfRange(parameter=key, given="", allowed=ITEMS[key].expected_text)
    return flat


def _flat_answers(answers: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in answers.items():
        if key in _SECTIONS and isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", answer) for inner, answer in value.items())
        else:
            yield key, list(value) if isinstance(value, tuple) else value


def with_answers(text: str, answers: Mapping[str, Any]) -> str:
    """The file's text with the answers in place; a question that waited as a comment gives way to its answer."""
    for key, value in answers.items():
        if isinstance(value, bool):
            name = key.rpartition(".")[2]
            waiting = rf"^# {name} = {re.escape(_OPEN_FLAG)}$"
            text = re.sub(waiting, f"{name} = {str(value).lower()}", text, count=1, flags=re.M)
    document = tomlkit.parse(text)
    for key, value in answers.items():
        section, _, inner = key.partition(".")
        if inner and section not in document:
            document[section] = tomlkit.table()
        table: Any = document[section] if inner else document
        table[inner or key] = _toml_item(value)
    return tomlkit.dumps(document)


def _toml_item(value: Any) -> Any:
    """A value as the file shows it: a list of tables stays one key, a line each."""
    if not isinstance(value, list):
        return value
    array = tomlkit.array()
    for element in value:
        line = element
        if isinstance(element, Mapping):
            line = tomlkit.inline_table()
            line.update(element)
        array.append(line)
    return array.multiline(bool(value) and isinstance(value[0], Mapping))
