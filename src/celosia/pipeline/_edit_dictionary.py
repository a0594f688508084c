"""Edits of the annotated dictionary, line by line or many at once; exceptions with their reason; who is a person.

Knows the fields that a person may change and the words each accepts. Ignores cells. An edit says on which state of the
file it was made and is refused on any other; the journal names fields and counts.
Source: MINSAL Implementación 3; ATENEA guide 4.2.2–4.2.3; MEL protocol IV.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import tomlkit
from tomlkit import TOMLDocument

from celosia import messages
from celosia.data.files import replacing
from celosia.errors import NotExcepted, ReasonNeeded, ValueOutOfRange
from celosia.model import dictionary
from celosia.model.dictionary_view import DictionaryEdit, cancelled
from celosia.model.exceptions import with_reason, without_reason
from celosia.model.protocols import Rule
from celosia.model.schema import Schema
from celosia.model.variables import Kind, MelLabel, Role, Scale, Traits, Treatment, Variable
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._edit_settings import (
    put_in_unit,
    read_settings,
    settings_edited,
    without_unit,
    write_settings,
)
from celosia.pipeline._kept import digest_of_file, editing, refuse_edited
from celosia.pipeline._project import Project, open_project
from celosia.protocols import combined

ENUMS: Mapping[str, type[StrEnum]] = {
    "role": Role, "scale": Scale, "kind": Kind, "mel_label": MelLabel, "treatment": Treatment,
}  # fmt: skip
TRAITS = tuple(field.name for field in fields(Traits))
FLAGS = ("strong", "special")
TEXTS = ("purpose", "label")
LISTS = ("missing", "unknown")
EDITABLE = (*ENUMS, *TRAITS, *FLAGS, *TEXTS, *LISTS)
COVERED = ("dictionary", "plan", "residual")  # approvals that a change of the dictionary cancels
_LONGEST = 2_000  # characters of a text; a dictionary is read by people
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")  # no file of text holds half a character


# --- lines of the dictionary ----------------------------------------------------------------------


def edit_dictionary(
    folder: Place,
    changes: Mapping[str, Mapping[str, Any]],
    *,
    expected: str | None = None,
    why: str = "",
    now: datetime | None = None,
) -> DictionaryEdit:
    """Change fields of some lines: variable → {field: value}, values by their id; tell what was changed."""
    project = open_project(folder)
    with editing(project.folder, project.dictionary_path, expected):
        return _edited_lines(project, changes, expected, why, moment(now))


def _edited_lines(
    project: Project, changes: Mapping[str, Mapping[str, Any]], expected: str | None, why: str, now: datetime
) -> DictionaryEdit:
    path = project.dictionary_path
    before = project.variables()
    schema = Schema(tuple(variable.name for variable in before))
    for name in schema.chosen(changes, "changes"):
        _refuse_unknown_fields(changes[name])
    after = [edited(variable, changes.get(variable.name, {})) for variable in before]
    touched = _changed_fields(before, after)
    if not touched:
        return DictionaryEdit(0, (), digest_of_file(path))
    approved = standing_approvals(project)
    with messages.speaking(project.config.language), replacing(path, 0o644) as draft:
        draft.write_text(dictionary.dump(after), "utf-8")  # the words of the file stay in the project's language
        refuse_edited(path, expected)  # an editor of text asks nobody
    lines = sum(one != other for one, other in zip(before, after, strict=True))
    _journal.append(project.journal_path, "dictionary", now, {"changed": lines, "fields": list(touched)}, why=why)
    return DictionaryEdit(lines, touched, digest_of_file(path), cancelled(approved, standing_approvals(project)))


def edited(variable: Variable, changes: Mapping[str, Any]) -> Variable:
    """A line with some of its fields changed; nothing is written."""
    values = {field: _value(field, given) for field, given in changes.items()}
    answers = {field: values.pop(field) for field in TRAITS if field in values}
    return replace(variable, **values, traits=replace(variable.traits, **answers))


def standing_approvals(project: Project) -> tuple[str, ...]:
    """What is approved now and covers the dictionary."""
    if not (project.folder / "approvals.jsonl").is_file():
        return ()
    from celosia.pipeline._approve import valid_approvals

    return tuple(what for what in COVERED if valid_approvals(project.folder, what))


def _refuse_unknown_fields(changes: Mapping[str, Any]) -> None:
    for field in changes:
        if field not in EDITABLE:
            raise ValueOutOfRange(parameter="field", given=field, allowed=", ".join(EDITABLE))


def _changed_fields(before: Sequence[Variable], after: Sequence[Variable]) -> tuple[str, ...]:
    """The fields in which two states of the dictionary differ, in the order in which they are declared."""
    pairs = list(zip(before, after, strict=True))
    return tuple(field for field in EDITABLE if any(_held(one, field) != _held(other, field) for one, other in pairs))


def _held(variable: Variable, field: str) -> Any:
    return getattr(variable.traits if field in TRAITS else variable, field)


def _value(field: str, given: Any) -> Any:
    """What a field would hold, in its own type."""
    if field in ENUMS:
        return _word(field, given)
    if field in TRAITS:
        return _answer(field, given, (True, False, None))
    if field in FLAGS:
        return _answer(field, given, (True, False))
    return _codes(field, given) if field in LISTS else _text(field, given)


def _word(field: str, given: Any) -> StrEnum | None:
    words = [one.value for one in ENUMS[field]]
    if given in ("", None):
        return None
    if given not in words:
        raise ValueOutOfRange(parameter=field, given=given, allowed=", ".join(words))
    return ENUMS[field](given)


def _answer(field: str, given: Any, allowed: Sequence[bool | None]) -> bool | None:
    if not any(given is one for one in allowed):
        raise ValueOutOfRange(parameter=field, given=given, allowed=", ".join(str(one).lower() for one in allowed))
    return given


def _text(field: str, given: Any) -> str:
    if not isinstance(given, str) or len(given) > _LONGEST or _UNWRITABLE.search(given):
        allowed = messages.text("dictionary.allowed.text", longest=_LONGEST)
        raise ValueOutOfRange(parameter=field, given=type(given).__name__, allowed=allowed)
    return " ".join(given.split())


def _codes(field: str, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        allowed = messages.text("dictionary.allowed.codes")
        raise ValueOutOfRange(parameter=field, given=type(given).__name__, allowed=allowed)
    texts = [_text(field, one) for one in given]
    return tuple(dict.fromkeys(text for text in texts if text))


# --- exceptions -----------------------------------------------------------------------------------


def except_variable(
    folder: Place, variable: str, rule: str, reason: str, *, expected: str | None = None, now: datetime | None = None
) -> str:
    """Let a variable depart from a rule (`mel.labels`, `minsal.free_text`…) for a written reason; the file's digest."""
    project = open_project(folder)
    _refuse_unknown_variable(project, variable)
    found = _excepting(project, rule)
    if not reason.strip():
        raise ReasonNeeded(variable=variable, rule=rule)
    with settings_edited(project, expected) as document:
        table = _override_of(document, found)
        asked = table.setdefault("asked", tomlkit.inline_table())
        asked["allowed"] = [*dict.fromkeys([*asked.get("allowed", ()), variable])]
        table["reason"] = tomlkit.string(with_reason(str(table.get("reason", "")), variable, reason), multiline=True)
    facts = {"variable": variable, "rule": rule}
    _journal.append(project.journal_path, "exception", moment(now), facts, why=" ".join(reason.split()))
    return digest_of_file(project.folder / "celosia.toml")


def withdraw_exception(
    folder: Place, variable: str, rule: str, *, expected: str | None = None, why: str = "", now: datetime | None = None
) -> str:
    """Hold a variable to a rule again; the digest of celosia.toml after it."""
    project = open_project(folder)
    found = _excepting(project, rule)
    with settings_edited(project, expected) as document:
        table = document.get("overrides", {}).get(found.protocol, {}).get(found.id, {})
        if variable not in table.get("asked", {}).get("allowed", ()):
            raise NotExcepted(variable=variable, rule=rule)
        _without(document, table, found, variable)
    facts = {"variable": variable, "rule": rule}
    _journal.append(project.journal_path, "exception-withdrawn", moment(now), facts, why=why)
    return digest_of_file(project.folder / "celosia.toml")


def excepting_rules(protocols: Sequence[str]) -> dict[str, Rule]:
    """The rules of some protocols that a variable may be excepted from, by `protocol.rule`."""
    return {f"{rule.protocol}.{rule.id}": rule for rule in combined(protocols) if "allowed" in rule.asked}


def _excepting(project: Project, rule: str) -> Rule:
    known = excepting_rules(project.config.protocols)
    if rule not in known:
        raise ValueOutOfRange(parameter="rule", given=rule, allowed=", ".join(known) or "–")
    return known[rule]


def _override_of(document: TOMLDocument, rule: Rule) -> Any:
    """The table of an override, made with its parents where it is absent."""
    norms = document.setdefault("overrides", tomlkit.table(is_super_table=True))
    rules = norms.setdefault(rule.protocol, tomlkit.table(is_super_table=True))
    rules.setdefault(rule.id, tomlkit.table())
    return document["overrides"][rule.protocol][rule.id]


def _without(document: Any, table: Any, rule: Rule, variable: str) -> None:
    """Take a variable out of an override, and the override out of the file once it says nothing."""
    asked = table["asked"]
    others = [name for name in asked["allowed"] if name != variable]
    more = any(key != "allowed" for key in asked)
    if not others and not more:
        del document["overrides"][rule.protocol][rule.id]
        return
    asked["allowed"] = others
    reason = without_reason(str(table.get("reason", "")), variable, others, needed=more)
    table["reason"] = tomlkit.string(reason or str(table.get("reason", "")), multiline="\n" in reason)


# --- persons and households -----------------------------------------------------------------------


def choose_unit(
    folder: Place,
    *,
    person: str | None = None,
    household: str | None = None,
    expected: str | None = None,
    why: str = "",
    now: datetime | None = None,
) -> str:
    """Say which column tells one person, or one household, from another; empty: none. The digest of celosia.toml."""
    project = open_project(folder)
    chosen = {key: value for key, value in (("person", person), ("household", household)) if value is not None}
    for name in filter(None, chosen.values()):
        _refuse_unknown_variable(project, name)
    with editing(project.folder, project.folder / "celosia.toml", expected):
        document = read_settings(project)
        for key, value in chosen.items():
            document = put_in_unit(document, key, value) if value else without_unit(document, key)
        write_settings(project, document, expected)
    if chosen:
        _journal.append(project.journal_path, "unit", moment(now), chosen, why=why)
    return digest_of_file(project.folder / "celosia.toml")


def _refuse_unknown_variable(project: Project, name: str) -> None:
    Schema(project.names()).position(name)


__all__ = [
    "COVERED", "EDITABLE", "choose_unit", "edit_dictionary", "edited", "except_variable", "excepting_rules",
    "standing_approvals", "withdraw_exception",
]  # fmt: skip
