"""`request`: who asks for what, why and within which limits, written down in `request.toml` before anything is made.

Knows the items, their kinds and the dictionary's names. Ignores data: no cell is read here.
Sources: ATENEA 4.2.1 (six items, two legal questions); MINSAL Planificación 2 and Anexo I; MEL I and IV.3.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import tomlkit

from celosia.data.files import replacing
from celosia.errors import (
    RequestIncomplete,
    RequestMissing,
    RequestVariablesUnknown,
    UnknownFormat,
    ValueOutOfRange,
    WrongSetting,
)
from celosia.evaluation.properties import PROPERTIES as CHECKED
from celosia.model import dictionary
from celosia.model.plan import digest_of
from celosia.model.requests import DEMANDED, PROPERTIES, REQUEST_FORMAT, Request, request_from
from celosia.model.variables import Role
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._kept import editing
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._request_template import OPEN, request_template
from celosia.pipeline._settings import _FLAG, _TABLE, _TEXT, _TEXTS, Setting, _tables, _texts, refuse_wrong_settings

KINDS = ("internal", "external")
_DAY = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_KNOWN = tuple(dict.fromkeys((*PROPERTIES, *CHECKED)))
_PAIRS, _MODELS = ("test",), ("model", "significance")


def _day(value: Any) -> bool:
    return value == "" or type(value) is date or (isinstance(value, str) and _DAY.fullmatch(value) is not None)


def _tolerance(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and 0 <= float(value) < float("inf")
    except (TypeError, ValueError):
        return False


def _property(value: Any) -> bool:
    """A property with as many variables as it needs, and the period of a trend."""
    if not isinstance(value, Mapping) or value.get("property") not in _KNOWN:
        return False
    name, variables = value["property"], value.get("variables", ())
    if not _texts(variables) or (name == "trend") > bool(value.get("period")):
        return False
    needed = {**dict.fromkeys(_PAIRS, (2, 2)), **dict.fromkeys(_MODELS, (2, 99))}.get(name, (0, 99))
    return needed[0] <= len(variables) <= needed[1] and not (name.startswith("correlation") and len(variables) == 1)


_DATE = Setting("day", _day)
ITEMS: Mapping[str, Setting] = {
    **dict.fromkeys(("title", "requester", "aggregation", "authorisation", "use"), _TEXT),
    "kind": Setting("choice", lambda value: isinstance(value, str) and value in ("", *KINDS), KINDS),
    "variables": _TEXTS,
    "properties": Setting("tables", _tables),
    **dict.fromkeys(("legal.protected_by_law", "legal.subject_authorisation"), _FLAG),
    "legal.limited": _TEXTS,
    **dict.fromkeys(("source.name", "source.unit", "source.department"), _TEXT),
    **dict.fromkeys(("source.period_from", "source.period_until"), _DATE),
    "source.responsible": _TEXTS,
    **dict.fromkeys(("minsal.administrative_act", "minsal.dictionary"), _FLAG),
    **dict.fromkeys(("minsal.validated", "minsal.homologated"), _FLAG),
    "minsal.purpose": _TEXT,
    "mel.consent": _TEXT,
    "mel.contrast": _TEXTS,
    **dict.fromkeys(("publication.contact", "publication.licence", "publication.update_period"), _TEXT),
    "publication.next_review": _DATE,
}
_PROPERTY_KEYS: Mapping[str, Setting] = {
    "property": _TEXT, "variables": _TEXTS, "tolerance": Setting("tolerance", _tolerance), "period": _TEXT,
}  # fmt: skip
_SECTIONS = tuple(dict.fromkeys(key.split(".")[0] for key in ITEMS if "." in key))
_TOP = ("format", *dict.fromkeys(key.split(".")[0] for key in ITEMS))
_REQUEST: Mapping[str, Setting] = {
    **dict.fromkeys(_SECTIONS, _TABLE),
    **ITEMS,
    "properties.#": Setting("property", _property, _KNOWN),
    **{f"properties.#.{key}": kind for key, kind in _PROPERTY_KEYS.items()},
}
_CLOSED = {
    **{name: tuple(key.split(".")[1] for key in ITEMS if key.startswith(f"{name}.")) for name in _SECTIONS},
    "properties.#": tuple(_PROPERTY_KEYS),
}


def request_path(folder: Place) -> Path:
    """Where a project keeps its request."""
    return Path(folder) / "request.toml"


def read_request(folder: Place) -> Request:
    """The request of a project; an unknown key, kind or variable is refused by its name."""
    path = request_path(folder)
    if not path.is_file():
        raise RequestMissing(path=str(path))
    return _understood(read_toml(path), path, open_project(folder))


def write_request(
    folder: Place, *, why: str = "", now: datetime | None = None, expected: str | None = None, **answers: Any
) -> Request:
    """Write answers into request.toml, made with every item explained if it is not there; comments stay.

    An answer is named as in the file: `kind="internal"`, `source={"name": …}` or `**{"source.name": …}`.
    """
    project, path = open_project(folder), request_path(folder)
    given = dict(_flat(answers))
    for key, value in given.items():
        if key not in ITEMS:
            raise ValueOutOfRange(parameter="request", given=key, allowed=", ".join(ITEMS))
        if not ITEMS[key].fits(value):
            raise ValueOutOfRange(parameter=key, given="", allowed=ITEMS[key].expected)
    with editing(project.folder, path, expected):
        text = _answered(_standing(project, path), given)
        request = _understood(tomllib.loads(text), path, project)
        with replacing(path, 0o644) as draft:
            draft.write_text(text, "utf-8")
        facts = {"items": sorted(given), "request": digest_of(request.as_dict())}
        _journal.append(project.journal_path, "request", moment(now), facts, why=why)
    return request


def _standing(project: Project, path: Path) -> str:
    """The text of the request; where there is none, that of one with every item explained."""
    if not path.is_file():
        return request_template(_demanded(project.config.protocols))
    read_toml(path)  # a syntax error names its line
    return path.read_text("utf-8-sig")


def missing_items(request: Request, protocols: Sequence[str]) -> tuple[str, ...]:
    """The items that the protocols demand, by their list or by a rule of theirs, and nobody answered."""
    return tuple(key for key in _demanded(protocols) if request.item(key) in (None, "", (), []))


def extract_requested(folder: Place, *, now: datetime | None = None) -> tuple[str, ...]:
    """Publish what was asked for and nothing else: the request's use becomes the purpose of its variables (A30).

    A purpose that somebody wrote for a requested variable stays; identifiers and limited variables get none.
    """
    project, request = open_project(folder), read_request(folder)
    empty = [key for key in ("variables", "use") if not request.item(key)]
    if empty:
        raise RequestIncomplete(path=str(request_path(folder)), items=", ".join(empty))
    wanted = set(request.variables) - set(request.limited)
    after = []
    with editing(project.folder, project.dictionary_path):
        for line in project.variables():
            chosen = line.name in wanted and line.role != Role.IDENTIFIER
            after.append(replace(line, purpose=(line.purpose.strip() or request.use) if chosen else ""))
        with replacing(project.dictionary_path, 0o644) as draft:
            draft.write_text(dictionary.dump(after), "utf-8")
    names = tuple(line.name for line in after if line.purpose)
    _journal.append(project.journal_path, "extract", moment(now), {"variables": list(names)}, why=request.use)
    return names


def parsed_property(words: str, known: Sequence[str]) -> dict[str, Any]:
    """A property as a command names it: `mean`, `mean:INCOME:0.01`, `correlations:A:B`, `trend:A:period=YEAR:0.05`."""
    name, *parts = [part.strip() for part in words.split(":")]
    made: dict[str, Any] = {"property": name}
    if parts and parts[-1] not in known and _tolerance(parts[-1].replace(",", ".")):
        made["tolerance"] = parts.pop().replace(",", ".")
    variables = [part for part in parts if part and not part.startswith("period=")]
    periods = [part.removeprefix("period=") for part in parts if part.startswith("period=")]
    if variables:
        made["variables"] = variables
    if periods:
        made["period"] = periods[0]
    if not _property(made):
        raise ValueOutOfRange(parameter="property", given=words, allowed=_REQUEST["properties.#"].expected)
    return made


def _demanded(protocols: Sequence[str]) -> tuple[str, ...]:
    from celosia.protocols import load

    listed = [key for name in protocols for key in DEMANDED.get(name.split("-")[0], ())]
    rules = [rule for name in protocols for rule in load(name).rules if rule.measure == "request_items"]
    return tuple(dict.fromkeys((*listed, *(key for rule in rules for key in rule.asked["items"] if key in ITEMS))))


def _understood(document: Mapping[str, Any], path: Path, project: Project) -> Request:
    found = str(document.get("format"))
    if found != REQUEST_FORMAT:
        raise UnknownFormat(path=str(path), found=found, expected=REQUEST_FORMAT)
    refuse_wrong_settings({"request": document}, str(path), {"request": _TABLE}, (), {"request": _TOP})
    refuse_wrong_settings(document, str(path), _REQUEST, (), _CLOSED)
    request = request_from(_dates_as_text(document))
    _refuse_period(request, path)
    _refuse_unknown_variables(request, project, path)
    return request


def _refuse_period(request: Request, path: Path) -> None:
    first, last = (str(request.source.get(key) or "") for key in ("period_from", "period_until"))
    if first and last and first[: len(last)] > last:  # 2024-03 lies within 2024
        raise WrongSetting(path=str(path), setting="source.period_until", expected=Setting("later", _day).expected)


def _refuse_unknown_variables(request: Request, project: Project, path: Path) -> None:
    known = {variable.name for variable in project.variables()}
    named: dict[str, Sequence[str]] = {
        "variables": request.variables,
        "legal.limited": request.legal.get("limited", ()),
        "mel.contrast": request.mel.get("contrast", ()),
    }
    for number, one in enumerate(request.properties, start=1):
        period = [one["period"]] if one.get("period") else []
        named[f"properties.{number}"] = [*one.get("variables", ()), *period]
    for setting, names in named.items():
        absent = [name for name in names if name not in known]
        if absent:
            raise RequestVariablesUnknown(path=str(path), setting=setting, variables=", ".join(absent))


def _dates_as_text(document: Mapping[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(one) for key, one in value.items()}
        return value.isoformat() if isinstance(value, date) else value

    return {key: plain(value) for key, value in document.items()}


def _flat(answers: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in answers.items():
        if key in _SECTIONS and isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", one) for inner, one in value.items())
        else:
            yield key, list(value) if isinstance(value, tuple) else value


def _answered(text: str, given: Mapping[str, Any]) -> str:
    """The file's text with the answers in place; a question that waited as a comment gives way to its answer."""
    for key, value in given.items():
        if isinstance(value, bool):
            name = key.rpartition(".")[2]
            waiting = rf"^# {name} = {re.escape(OPEN)}$"
            text = re.sub(waiting, f"{name} = {str(value).lower()}", text, count=1, flags=re.M)
    document = tomlkit.parse(text)
    for key, value in given.items():
        section, _, inner = key.partition(".")
        if inner and section not in document:
            document[section] = tomlkit.table()
        table: Any = document[section] if inner else document
        table[inner or key] = _item(value)
    return tomlkit.dumps(document)


def _item(value: Any) -> Any:
    """A value as the file shows it: a list of tables stays one key, a line each."""
    if not isinstance(value, list):
        return value
    made = tomlkit.array()
    for one in value:
        line = one
        if isinstance(one, Mapping):
            line = tomlkit.inline_table()
            line.update(one)
        made.append(line)
    return made.multiline(bool(value) and isinstance(value[0], Mapping))
